/* The registry of solvers: one file, slv_NAME.c, and one line in solvers.def each. What a solve goes on with from step
   to step is in solve.h; what the files of the solvers share is in solve_state.h. */
#ifndef SOLVER_H
#define SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csr;
struct err;

struct solve; /* solve.h */

struct solver {
    const char *name, *about, *source;
    const char *needs;       /* "a square matrix with no zero on the diagonal" */
    const char *advice;      /* when it diverges or stagnates */
    const char *cost, *when; /* what an iteration does and how many vectors that takes; when to choose it: for `help` */
    int vectors;             /* device vectors besides x and b */
    /* It has stagnated after so many iterations without a gain of 1%: `window`, or for a matrix of many rows
       rows * window_per_row up to window_most. */
    int window, window_per_row, window_most;
    bool symmetric;   /* is only right for a symmetric matrix */
    bool lanczos;     /* its alpha and beta are those of conjugate gradients: they give Ritz values */
    bool arnoldi;     /* it keeps a Hessenberg matrix (solve_hessenberg), whose eigenvalues are Ritz values */
    bool diff;        /* measures max |x' - x|, so that eps can be its stop rule */
    double omega;     /* the default relaxation; 0: it has none */
    bool restarts;    /* every m iterations */
    bool alternates;  /* between two vectors: its launches repeat after two iterations */
    bool own_precond; /* applies the preconditioner by itself, which must be symmetric */
    bool no_precond;  /* accepts none */
    bool probes;      /* VEC_X is the x of the last record, so that b - A x can be computed between iterations */
    /* SpMVs with A per iteration, each followed by M^-1 where there is a preconditioner; one that restarts has one more
       per cycle. */
    int products;
    double (*bytes)(const struct csr *A, size_t real, int64_t m); /* no iteration can move fewer (solvers.md) */
    int64_t (*held)(const struct solve *v);                       /* bytes on its device besides v->vec[]; NULL: none */
    bool (*init)(struct solve *v, struct err *e);                 /* checks, first residual */
    bool (*step)(struct solve *v, struct err *e);                 /* queue one iteration */
    /* Called when the records show convergence: compute the true residual, or go on (s[S_DONE] = 0); NULL: the records
       are exact. */
    bool (*settle)(struct solve *v, struct err *e);
    bool (*finish)(struct solve *v, struct err *e); /* leave x in VEC_X; may be NULL */
    /* What broke down, in words; NULL for a solver that cannot. */
    void (*explain)(const struct solve *v, char *out, size_t size);
};
extern const struct solver *const solvers[]; /* ended by NULL */
extern const struct registry solver_registry;
const struct solver *solver_find(const char *name);

#endif
