/* Why a solve did not converge: evidence from its history, its residual, its matrix and its right-hand side. */
#ifndef STAGNATION_H
#define STAGNATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"

struct err;
struct matrix;
struct session;
struct solve;

enum { EVIDENCE_MAX = 16, EVIDENCE_ROWS = 8 };

struct evidence {
    const char *cause;          /* a word: "scaling", "near-null", ... */
    char text[400];             /* what was found, with figures */
    char next[440];             /* a command that shows more, or that may help; empty: none */
    int64_t row[EVIDENCE_ROWS]; /* rows that matter, counted from 0, the most important first */
    int rows;
    double value; /* the figure that decides, NaN: none: a ratio of scales, an eigenvalue, a share, ... */
};

struct stagnation {
    int n;
    struct evidence at[EVIDENCE_MAX];
    bool singular;        /* A is proved singular, so that no preconditioner helps */
    bool nearly_singular; /* A is singular up to the rounding errors of fp64, also when it is equilibrated */
    char next[440];       /* the command to try, in view of all evidence; empty: none */
    const char *next_why; /* NULL: the solve proposed it */
};
/* v has ended without convergence, and solved a system with the matrix m. Direct solves that take longer than limit_us
   are left out. Ctrl-C ends the search with E_CANCELLED; *out then holds what was found before. */
bool stagnation_of(struct session *s, struct matrix *m, const struct solve *v, double limit_us, struct stagnation *out,
                   struct err *e);
/* The word `stagnates`, which a user types after `why` in place of a format or kernel. */
extern const struct registry stagnates_registry;
/* The causes that are looked for, in the order in which they are listed; NULL if i is past the last one. */
const char *stagnation_cause(int i);

#endif
