/* What a sweep sets aside: commands run on the session as if it held no results, and leave it as it was. */
#ifndef ASIDE_H
#define ASIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "session.h"

struct equilibrated;
struct scaling;

/* What commands may add to a matrix. */
struct aside_matrix {
    struct matrix *m;
    struct product *products; /* the newest stored form */
    struct matrix *transposed;
    struct equilibrated *equilibrated, *reordered; /* owned while they are set aside, as is scaling */
    struct scaling *scaling;
};
/* The results of the session, owned while they are set aside. */
struct results {
    struct run *runs;
    int nruns;
    double *runs_y0;
    struct matrix *runs_of;
    struct solve *solve;
    struct direct_answer *direct;
    bool direct_is_newer;
    struct eigen *eigen;
    struct race *race;
    struct lu_steps *lu;
    struct tracing *trace;
    struct timeline *timeline;
    struct roofline *roofline;
    struct sm_lives *sm;
};
struct aside {
    struct results results;
    struct explained explained;
    struct matrix *current;
    int64_t numbers; /* matrices with a higher serial number are new */
    int n;
    struct aside_matrix *matrix; /* n, owned */
};

/* Set the results aside, and keep no changes for undo. On failure, the session is unchanged. */
bool aside_begin(struct session *s, struct aside *a, struct err *e);
/* Remove what commands have added since aside_begin: matrices, stored forms and results. */
void aside_clear(struct session *s);
/* aside_clear, and bring the results back. */
void aside_end(struct session *s);

/* Exchange the results of the session with r. */
void results_swap(struct session *s, struct results *r);

#endif
