/* What the files of the solvers share: solve_*.c among themselves, and what they offer to slv_*.c and pre_*.c. */
#ifndef SOLVE_STATE_H
#define SOLVE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct solve;
struct solve_options;

/* ---- for slv_*.c and pre_*.c ---- */

/* q = A p by the chosen kernel, or A M^-1 p. */
bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e);
/* Begin a phase of the iteration and end the one before; NULL ends the last. */
void phase_begin(struct solve *v, const char *name);
/* n doubles of the host to and from a device vector of v->real. */
bool solve_put(struct solve *v, void *to, const double *from, struct err *e);
bool solve_get(struct solve *v, double *to, const void *from, struct err *e);
/* A vector of the solve on its device, in v->vec[i]. */
bool solve_alloc(struct solve *v, int i, int64_t bytes, const char *what, struct err *e);
void solve_dealloc(struct solve *v, int i);
/* s[i] = value, once the launches before are done. */
bool solve_set(struct solve *v, int i, double value, struct err *e);
/* What bicgstab and qmrcgstab share (slv_bicgstab.c): q = A p and r -= alpha q; t = A r and omega; the explanation. */
bool bicg_half_step(struct solve *v, const void *p, void *q, const void *shadow, void *r, struct err *e);
bool bicg_second_product(struct solve *v, const void *r, void *t, struct err *e);
void bicg_explain(const struct solve *v, char *out, size_t size);

/* ---- solve_live.c: the live record ---- */

bool live_new(struct solve *v, struct err *e); /* and the scalars, which point to it */
/* Take the records up to number `known`, which are complete. */
bool live_take(struct solve *v, int64_t known, struct err *e);
bool live_read(struct solve *v, struct err *e); /* wait for the device; take all records and the scalars */
bool live_poll(struct solve *v, int64_t until, struct err *e); /* wait until the records up to that one are complete */
bool live_probe(struct solve *v,
                struct err *e); /* every so many iterations, queue a computation of the true residual */
/* Set separated_at if the two residuals of iteration `at` differ and those of the iterations before did not. */
void live_compare(struct solve *v, int64_t at, double truth, double recursive);
void live_free(struct solve *v);

/* ---- solve.c ---- */

/* Put x0 (NULL: 0) and the scalars, start the solver from there, write record number v->base again. */
bool solve_start(struct solve *v, const double *x0, struct err *e);
/* Let the solver confirm the convergence that it recorded, and take over the result. */
bool solve_settle(struct solve *v, struct err *e);

/* ---- solve_end.c ---- */

/* The current x of the given system in VEC_X. */
bool solve_x(struct solve *v, struct err *e);
/* Give back the vectors and the graph. */
void solve_forget(struct solve *v);
void precond_drop(struct solve *v);

/* ---- solve_check.c ---- */

/* Do omega, m, the preconditioner and the like go with the solver? */
bool solve_check_numbers(const struct solve_options *o, struct err *e);

/* ---- solve_back.c ---- */

/* Make a checkpoint if it is time for one. */
bool checkpoint_maybe(struct solve *v, struct err *e);
void checkpoints_free(struct solve *v);

#endif
