/* Processes of PETSc on this machine or on many: warpspy starts them through mpiexec or another launcher, and sends
   them a matrix, products and solves (protocol.h). */
#ifndef RANKS_H
#define RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/coprocess.h"

struct csr;
struct err;
struct watch;

/* The columns of x that a rank needs from another, or gives it, for a product. */
struct rank_peer {
    int rank;
    int64_t columns;
};
struct rank {
    char host[64];
    int64_t pid;
    /* of the loaded matrix: rows first .. first + rows - 1, the nonzeros whose columns the rank owns and does not own,
       and the columns that it needs from others, and gives to them */
    int64_t first, rows, inside, outside, halo, gives;
    struct rank_peer *from; /* [nfrom], the owners of its halo, ascending */
    int nfrom, nto;
};

struct ranks {
    struct coprocess program;
    char launcher[256]; /* as the user named it */
    char petsc[32];     /* its version */
    char folder[512];   /* holds the files of the matrix and of the vectors */
    int n;
    struct rank *rank;        /* [n] */
    int index_bytes;          /* of a PetscInt */
    int64_t loaded;           /* the number of the matrix that the ranks hold; 0: none */
    int64_t rows, cols;       /* of that matrix */
    double write_us, load_us; /* the times to write it to the folder, and to read it there in parallel */
    /* The user cancelled a command that the ranks are still busy with: its last answer must be waited for. */
    bool busy;
    bool dead;          /* the ranks have ended; ranks_end is due */
    char prints[16384]; /* what PETSc itself has printed since the last command, for example for -ksp_view */
    size_t nprints;
};

/* Start n ranks (0: as many as the launcher says) and wait for their greeting, for at most `wait_s` seconds. */
bool ranks_start(struct ranks **out, const char *launcher, int n, double wait_s, struct watch *w, struct err *e);
/* End the ranks, and remove their files. r may be NULL. */
void ranks_end(struct ranks *r);
/* Are the ranks alive and, after a command that was cancelled, ready again? */
bool ranks_ready(struct ranks *r, struct watch *w, struct err *e);
/* Let the ranks hold A, whose number is `number`; they may hold it already. */
bool ranks_load(struct ranks *r, const struct csr *A, int64_t number, struct watch *w, struct err *e);
/* Why can the ranks not take A? Returns false with the reason. */
bool ranks_take(const struct csr *A, struct err *e);

/* y = A x, timed. `us` has room for RANKS_REPS_MAX times, *n of which are set; reps 0: as many as take about 0.3 s. */
enum { RANKS_REPS_MAX = 2000 };
bool ranks_multiply(struct ranks *r, const double *x, double *y, int64_t reps, double *us, int64_t *n, struct watch *w,
                    struct err *e);

/* An event that PETSc logged in a phase: of all ranks, the most and the least. */
struct rank_event {
    char phase[16], event[64];
    double calls;
    double time_max, time_min; /* seconds */
    double flops_max, flops_min, flops;
    double messages, bytes, reductions; /* messages and bytes: sums of all ranks */
};
/* The events of the last load, product, set-up and solve. *out is freed with mem_free. */
bool ranks_log(struct ranks *r, struct rank_event **out, int *n, struct watch *w, struct err *e);

/* The preconditioners and direct solvers of PETSc that commands name, beside those of warpspy that PETSc has too. */
struct rank_method {
    const char *name, *about, *source;
    const char *options; /* of PETSc */
};
extern const struct registry rank_precond_registry, rank_direct_registry;
const struct rank_method *rank_precond_find(const char *name);
const struct rank_method *rank_direct_find(const char *name);

#endif
