/* A solve on the ranks, as a struct solve: the commands and views of other solves work with it. */
#ifndef RANKS_SOLVE_H
#define RANKS_SOLVE_H

#include <stdbool.h>

struct err;
struct ranks;
struct rank_method;
struct solve;
struct solve_matrix;
struct solve_options;
struct solver;

struct ranks_request {
    const struct solver *solver;      /* of warpspy; NULL: PETSc's default, or `direct` */
    const struct rank_method *pre;    /* NULL: none, or PETSc's default if `solver` is NULL, too */
    const struct rank_method *direct; /* a direct solver in place of solver and pre; NULL: iterate */
    const char *options;              /* more options of PETSc; may be NULL */
    bool step;                        /* begin paused */
};
/* The ranks hold the matrix (ranks_load). r must outlive the solve, or ranks_forget_solve must be called. `o` states b,
   x0, tol, maxit and m, and what is known of the solution. Returns when the preconditioner is made. */
bool ranks_solve(struct solve **v, struct ranks *r, const struct ranks_request *q, const struct solve_matrix *A,
                 const struct solve_options *o, struct err *e);
/* Is v a solve on ranks that still runs? */
bool ranks_run(const struct solve *v);
/* The ranks are about to end: v, which may be any solve, must not use them any more. */
void ranks_forget_solve(struct solve *v);

#endif
