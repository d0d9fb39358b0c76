/* The registry of solvers. Each solver has one source file, slv_NAME.c, and one line in solvers.def. The state of a
   solve is in solve.h; the functions that the files of the solvers share are in solve_state.h. */
#ifndef SOLVER_H
#define SOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "peers.h"

struct csr;
struct err;
struct precond;

struct solve; /* solve.h */

struct solver {
    const char *name, *about, *source;
    const char *aliases; /* other names, separated by blanks; NULL: none */
    const char *needs;   /* "a square matrix with no zero on the diagonal" */
    const char *advice;  /* what to do if the solver diverges or stagnates */
    /* for `help`: the work per iteration and the number of vectors; when to choose this solver */
    const char *cost, *when;
    int vectors; /* number of vectors on the device in addition to x and b */
    /* A solve has stagnated after this many iterations without a gain of 1%: rows * window_per_row, at least `window`
       and at most window_most. */
    int window, window_per_row, window_most;
    bool symmetric; /* requires a symmetric matrix */
    bool definite;  /* requires a positive or negative definite matrix */
    bool lanczos;   /* records the alpha and beta of conjugate gradients, which give Ritz values */
    bool arnoldi;   /* keeps a Hessenberg matrix (solve_hessenberg), whose eigenvalues are Ritz values */
    bool diff;      /* measures max |x' - x|, so eps can be its stop rule */
    /* Minimises ||b - A x||: takes A of any shape, and stops when x solves A x = b or the normal equations, as
       solve_least.c judges. Its preconditioner is one for least squares (precond.h). */
    bool least_squares;
    bool transposed_products; /* multiplies by A' as well (solve_multiply_transposed) */
    /* Bit i: VEC_OWN + i has an element per row of A, like b. All other vectors have one per column, like x. */
    unsigned row_vectors;
    double omega;      /* default relaxation factor; 0: the solver has none */
    bool product_sums; /* uses the inner products that some kernels compute with the product (kernel_sums) */
    bool restarts;     /* restarts after every m iterations */
    bool alternates;   /* x alternates between VEC_X and VEC_OWN, so the launches repeat after two iterations */
    bool swaps;        /* its own vectors swap roles in every iteration, so the launches repeat after two iterations */
    bool own_precond;  /* applies the preconditioner in its own step; M must be symmetric */
    /* Stores M^-1 v for each vector v of its basis, and makes x of these, so that M may change from one iteration to
       the next, and M^-1 may be rounded. It applies M^-1 in its own step; M need not be symmetric. */
    bool flexible;
    bool no_precond; /* accepts no preconditioner */
    /* Its steps also advance several columns at a time (batch.h): they use only products, precond_diagonal and
       operations and passes by column, and the host reads no scalar between two steps. */
    bool columns;
    bool several; /* its operations exist on devices with several members (machine/member_rows.h) */
    /* Uses A only in products, so it can solve a complex system as the equivalent real system, whose unknowns are the
       real and imaginary parts of x. */
    bool products_only;
    bool complex_steps; /* its passes also exist in complex arithmetic; a solver without this trait and without
                           products_only takes real matrices only */
    bool refines; /* can start again with another b, as iterative refinement does: `init` needs only VEC_B and VEC_X */
    bool probes;  /* VEC_X always holds the x of the last record, so b - A x can be computed between iterations */
    /* Number of SpMVs with A per iteration. If there is a preconditioner, M^-1 is applied the same number of times. A
       solver that restarts has one more SpMV per cycle. */
    int products;
    /* If the preconditioner is a diagonal, the passes apply it and access this number of vectors more per iteration. 0:
       the preconditioner is applied in launches of its own. */
    int diagonal_vectors;
    double (*bytes)(const struct csr *A, size_t real, int64_t m); /* minimum number of bytes moved per iteration */
    /* For a solver that can form an iteration matrix B and iterate x' = B x + f: the minimum number of bytes moved per
       iteration in that form. NULL: the solver has no such form. */
    double (*form_bytes)(const struct solve *v);
    /* bytes on the device in addition to v->vec[]; NULL: none */
    int64_t (*held)(const struct solve *v);
    /* number of bytes at the beginning of vector i that are in use after `queued` iterations since the solver last
       started; NULL: all bytes */
    int64_t (*used_bytes)(const struct solve *v, int i, int64_t queued);
    /* allocate and compute the solver's data; record the initial residual */
    bool (*init)(struct solve *v, struct err *e);
    bool (*step)(struct solve *v, struct err *e); /* queue one iteration */
    /* Queue n iterations in one launch, which v->schedule.cluster plans: it holds A, cluster_vectors vectors and, if
       the solver has own_precond, the diagonal of the preconditioner in shared memory. If the solver restarts, the n
       iterations end with the cycle at the latest, and the restart follows. NULL: there is no such launch. */
    bool (*steps)(struct solve *v, int64_t n, struct err *e);
    int cluster_vectors;
    int64_t (*cluster_bytes)(const struct solve *v); /* bytes in addition, in each thread block; NULL: none */
    /* For a solver that refines, after its records showed convergence, the scalars were set as for `init`, and VEC_X
       was set to 0: go on with the residual in VEC_B in place of r, but keep the search direction, so that the
       iterations so far are not lost; record the residual. NULL: `init` starts again. Sources: Sleijpen and van der
       Vorst, Computing 56, 1996; van der Vorst and Ye, SIAM J. Sci. Comput. 22, 2000. */
    bool (*replace)(struct solve *v, struct err *e);
    /* Called when the records show convergence: compute the true residual; if it is too large, set s[S_DONE] = 0 to
       continue. NULL: the records are exact. */
    bool (*settle)(struct solve *v, struct err *e);
    void (*publish)(struct solve *v); /* copy what a view has asked for, for that view; may be NULL */
    /* Called after a breakdown: start again from the x of the last record, and add no record. NULL: a breakdown ends
       the solve. */
    bool (*recover)(struct solve *v, struct err *e);
    const char *(*divisor)(int what);               /* with `recover`: the quantity that was 0; what: S_WHAT */
    bool (*finish)(struct solve *v, struct err *e); /* write x to VEC_X; NULL: x is already there */
    double (*finish_bytes)(const struct solve *v);  /* the bytes that `finish` moves; NULL: few */
    void (*drop)(struct solve *v); /* free what v->solver_data refers to, if it is not NULL; may be NULL */
    /* Describe the breakdown in words; NULL: the solver cannot break down. */
    void (*explain)(const struct solve *v, char *out, size_t size);
    struct peers peers; /* its names in other libraries */
};
extern const struct solver *const solvers[]; /* terminated by NULL */
extern const struct registry solver_registry;
/* If launches of s do many iterations: also with a preconditioner that is a diagonal? */
bool cluster_takes_diagonal(const struct solver *s);
/* Is p a preconditioner that s takes, whatever the matrix? See own_precond, no_precond, `definite` and least_squares
   here, and `symmetric`, `saddle` and `least_squares` in precond.h. */
bool solver_takes(const struct solver *s, const struct precond *p);
const struct solver *solver_find(const char *name);

#endif
