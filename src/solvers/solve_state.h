/* Functions that the files of src/solvers share (solve_*.c, slv_*.c, pre_*.c), lowest layer first. */
#ifndef SOLVE_STATE_H
#define SOLVE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "solve.h"

/* ---- solve_device.c: functions for all files, including slv_*.c and pre_*.c ---- */

/* Set v->ops to the operations of v->dev. */
void solve_choose_ops(struct solve *v);
/* PASS(v, minres, step, e, VECTORS(u, x)) runs the pass `step` of minres (gpu/kernels/k_minres.cu) on the device of v,
   over vectors like x; see pass_run. PASS_ROWS: over vectors like b. */
#define PASS(v, of, name, e, ...) PASS_OVER((v)->n, v, of, name, e, __VA_ARGS__)
#define PASS_ROWS(v, of, name, e, ...) PASS_OVER((v)->n_b, v, of, name, e, __VA_ARGS__)
#define PASS_OVER(numbers_of, v, of, name, e, ...)                    \
    pass_run((v)->ops.passes ? (v)->ops.passes : &passes_##of, #name, \
             &(struct pass_call){.d = (v)->dev,                       \
                                 .type = (v)->ops.type,               \
                                 .sums = (v)->ops.sums,               \
                                 .n = numbers_of,                     \
                                 .s = (v)->scalars,                   \
                                 __VA_ARGS__},                        \
             e)
/* Compute q = A p by the chosen kernel, or q = A M^-1 p if a preconditioner is applied from the right. */
bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e);
/* q = A p, without the preconditioner. */
bool solve_multiply(struct solve *v, const void *p, void *q, struct err *e);
/* y = A' u */
bool solve_multiply_transposed(struct solve *v, const void *u, void *y, struct err *e);
/* M^-1 r, without its part in the null space. */
bool solve_precondition(struct solve *v, const void *r, void *z, struct err *e);
/* Vector j of those on the device from `first` on. */
void *null_vector(const struct solve *v, void *first, int64_t j);
void null_release(struct solve *v); /* free what null_put has put */
/* Project a vector on the device: z = M^-1 r, or x; a residual, or A p. */
void null_project(struct solve *v, void *x);
void null_project_left(struct solve *v, void *r);
/* Count n operations of the current cycle. work_restarted: a cycle ends here; `whole`: it had m iterations. */
void work_count(struct solve *v, enum solve_operation op, int64_t n);
void work_restarted(struct solve *v, bool whole);
/* Begin a phase of the iteration and end the previous phase. Has no effect unless this iteration is sampled. */
void phase_begin(struct solve *v, enum solve_phase phase);
/* End the last phase of an iteration. */
void phase_end(struct solve *v);
/* Replace the time of a phase that a launch has measured itself. */
void phase_put(struct solve *v, const struct phase *p);
/* Copy v->n doubles on the host to a vector of type v->real on the device, or copy such a vector to the host.
   solve_put_b: v->n_b doubles. */
bool solve_put(struct solve *v, void *to, const double *from, struct err *e);
bool solve_put_b(struct solve *v, void *to, const double *from, struct err *e);
bool solve_get(struct solve *v, double *to, const void *from, struct err *e);
/* The numbers in v->vec[i]: v->n or v->n_b. */
int64_t solve_length(const struct solve *v, int i);
/* Allocate v->vec[i] on the device; an error message calls it `what`. solve_vectors: n vectors of solve_length numbers
   each, one after another; solve_alloc: other memory. solve_room: n vectors like x that are not in v->vec, with numbers
   of this size. */
bool solve_vectors(struct solve *v, int i, int64_t n, enum type real, const char *what, struct err *e);
bool solve_alloc(struct solve *v, int i, int64_t bytes, const char *what, struct err *e);
void *solve_room(const struct solve *v, int64_t n, size_t number, const char *what, struct err *e);
void solve_dealloc(struct solve *v, int i);
/* s[i] = value, of every column. The device assigns the value after the launches that are already queued. */
bool solve_set(struct solve *v, int i, double value, struct err *e);
/* Has the last iteration ended the solve? Always false on a GPU, where it may still be running; on a device that runs
   on the host, each iteration is complete when the call returns. */
bool solve_has_ended(const struct solve *v);
/* Free the vectors and the recorded graph. */
void solve_forget(struct solve *v);
/* Free the parts of the preconditioner. */
void precond_drop(struct solve *v);

/* ---- solve_show.c: set a field that views read, under the screen lock ---- */

void solve_set_reason(struct solve *v, enum reason reason);
void solve_set_iterations(struct solve *v, int64_t iterations);
void solve_set_base(struct solve *v); /* the solver starts at the current iteration */
void solve_set_x(struct solve *v, double *x);
void solve_set_later(struct solve *v, bool later);
void solve_set_true(struct solve *v, double residual, double error); /* relative; NaN: unknown */

/* ---- solve_scaled.c: powers of 2 that keep squares and products within range ---- */

/* The part of solve_exponents_of that needs b only, which has n numbers. */
int solve_exponent_of_b(int64_t n, const double *b, enum type real);
/* Set v->system, from v->matrix and v->b. */
bool scaled_begin(struct solve *v, struct err *e);
/* If the matrix is scaled: store it on the device, unless it is there. */
bool scaled_put(struct solve *v, struct err *e);
void scaled_release(struct solve *v); /* free what scaled_put has stored */
void scaled_free(struct solve *v);
/* The exponent of the factor by which the solver's x is larger than the user's. */
int scaled_x_exponent(const struct solve *v);
/* Turn the solver's x into that of the user. */
void scaled_undo(const struct solve *v, double *x);

/* ---- solve_equilibrated.c ---- */

/* Go from the equilibrated system to A x = b, after the last iteration, and back. No effect unless the solve scales. */
void solve_leave_scaled(struct solve *v);
void solve_enter_scaled(struct solve *v);

/* ---- solve_null.c ---- */

/* Find or take the null space of A x = b, and project v->b. v->b_norm is then that of the rest. */
bool null_begin(struct solve *v, const struct solve_options *o, struct err *e);
/* Put the vectors to the device, as those of the system that the solver iterates on. */
bool null_put(struct solve *v, struct err *e);
void null_leave(struct solve *v); /* no longer project in the iteration */
/* Project the user's x, on the host. */
void null_project_x(const struct solve *v, double *x);
/* ---- solve_cut.c: Ctrl-C within an iteration ---- */

/* The n vectors in list[] and the scalars are about to change. Copy these vectors and scalars if the device is the
   emulator, which is slow, or if `copy` is set and the matrix is large. cut_undo restores the vectors and scalars from
   this copy. Without a copy, Ctrl-C takes effect only at cut_release. Of gmres's basis, only the first column is
   copied, which a restart makes. Returns false if the user has already pressed Ctrl-C, or if the copy fails. */
bool cut_hold(struct solve *v, int n, const int *list, bool copy, struct err *e);
/* The changes since cut_hold are complete; `stage` is the part of the iteration that comes next. Returns false if the
   user pressed Ctrl-C after cut_hold. */
bool cut_release(struct solve *v, int stage, struct err *e);
/* Undo the changes since cut_hold. */
bool cut_undo(struct solve *v, struct err *e);
void cut_free(struct solve *v);

/* ---- slv_cg.c: a function that cg and minres share ---- */

/* q = A p and s[S_PQ] = p.q, in one launch if the kernel computes inner products as well; cg also needs r and, if M^-1
   is a diagonal, dinv (see the pass dots in gpu/kernels/k_cg.cu). */
bool cg_product(struct solve *v, const void *p, void *q, const void *r, const void *dinv, struct err *e);

/* ---- slv_bicgstab.c: functions that bicgstab and qmrcgstab share ---- */

bool bicg_half_step(struct solve *v, const void *p, void *q, const void *shadow, int r,
                    struct err *e); /* q = A p, r -= alpha q; r: index in v->vec */
bool bicg_second_product(struct solve *v, const void *r, void *t, struct err *e); /* t = A r, and omega */
const char *bicg_quantity(int what);                                              /* see `divisor` in solver.h */
void bicg_explain(const struct solve *v, char *out, size_t size);

/* ---- solve_least.c: solvers of least squares ---- */

/* Set the scalars of v that do not change: ||b||, the largest norm that an estimate of ||A|| can have, conlim. */
bool least_put_scalars(struct solve *v, struct err *e);
/* Set v->result.least from r[v->n_b] = b - A x on the host. NaN if the user cancels the computation. */
bool least_measure(struct solve *v, const double *r, struct err *e);
/* Does v->result.least show that x solves A x = b, or that it minimises the residual, but for the factor `drift`? */
bool least_solves(const struct solve *v, double drift);
bool least_minimises(const struct solve *v, double drift);
/* Why the solve ended with v->reason, in words; false: as other solvers. */
bool least_explain(const struct solve *v, char *out, size_t size);
/* Why the estimate of the condition ended the solve: `explain` of these solvers. */
void least_explain_condition(const struct solve *v, char *out, size_t size);

/* ---- slv_lsqr.c: the Golub-Kahan process, which lsqr and lsmr share ---- */

/* LEAST_U, of the rows, and LEAST_V are the current vectors of the process, times their norms. LEAST_Q = A v, and
   LEAST_T = A' u. */
enum { LEAST_U = VEC_OWN, LEAST_Q, LEAST_V, LEAST_T, LEAST_OWN };
enum { LEAST_ROW_VECTORS = 1 << (LEAST_U - VEC_OWN) | 1 << (LEAST_Q - VEC_OWN) };
/* Start from r = b - A x; then the next u and the next v. */
bool least_begin(struct solve *v, struct err *e);
bool least_next(struct solve *v, int n, const int *changed, struct err *e);
/* D^-1 v, times the norm of v; v itself without a preconditioner. */
const void *least_direction(const struct solve *v);
double least_bytes(const struct csr *A, size_t real, int row_vectors, int col_vectors);
/* ---- slv_gmres.c: the members of struct solver that gmres and fgmres share ---- */

bool gmres_init(struct solve *v, struct err *e);
bool gmres_step(struct solve *v, struct err *e);
bool gmres_settle(struct solve *v, struct err *e);
bool gmres_finish(struct solve *v, struct err *e);
double gmres_finish_bytes(const struct solve *v);
void gmres_publish(struct solve *v); /* copies the Hessenberg matrix if a view wants it */
void gmres_explain(const struct solve *v, char *out, size_t size);
double gmres_bytes(const struct csr *A, size_t real, int64_t m);
int64_t gmres_used_bytes(const struct solve *v, int i, int64_t queued);

/* ---- solve_cluster.c: launches that do many iterations of a small system ---- */

/* Set v->schedule.cluster. Fails if the user asked for such launches and they are not possible. */
bool cluster_choose(struct solve *v, struct err *e);
/* For `steps` of a solver: queue n iterations in one launch of this kernel, which takes the vectors v->vec[vec[i]]. */
bool cluster_steps_of(struct solve *v, const struct cluster_kernel *kernel, int nvec, const int *vec, int64_t n,
                      struct err *e);
/* Queue n iterations in one launch, or one launch per cycle if the solver restarts. */
bool cluster_queue(struct solve *v, int64_t n, struct err *e);
/* Take the times of the phases from the scalars that were last read. */
void cluster_take_phases(struct solve *v);

/* ---- solve_live.c: the live record ---- */

/* Allocate the live record, the scalars and, if the host adds sums, room for the sums of thread blocks. The scalars
   hold the address of the live record. */
bool live_new(struct solve *v, struct err *e);
/* Append the records up to number `known` to the history; these records must be complete. */
bool live_take(struct solve *v, int64_t known, struct err *e);
/* Wait for the device, then read all records and the scalars. */
bool live_read(struct solve *v, struct err *e);
/* The last record was written again: read it, and count the queued iterations from it. */
bool live_reread(struct solve *v, struct err *e);
/* Wait until the records up to number `until` are complete. Returns false if the device is idle or the solve has
   ended. */
bool live_wait(struct solve *v, int64_t until);
/* Queue a computation of the true residual if enough iterations have passed since the last computation. */
bool live_probe(struct solve *v, struct err *e);
/* Add a true residual to the history. */
bool live_note_truth(struct solve *v, int64_t at, double residual, struct err *e);
/* Set separated_at if the true and the recursive residual have separated at iteration `at` and had not separated
   before. */
void live_compare(struct solve *v, int64_t at, double truth, double recursive);
void live_free(struct solve *v);
/* Set the scalars: the next record is number `record`, and the solver stops at a residual of tol. */
bool solve_put_scalars(struct solve *v, int64_t record, double tol, struct err *e);

/* ---- solve_checkpoint.c ---- */

/* Make a checkpoint if enough time has passed since the last checkpoint. */
bool checkpoint_maybe(struct solve *v, struct err *e);
/* Copy the vectors and scalars of a checkpoint back to the device. */
bool checkpoint_restore(struct solve *v, const struct checkpoint *c, struct err *e);
void checkpoints_drop_after(struct solve *v, int64_t iteration);
void checkpoints_free(struct solve *v);
/* Bytes of the vectors and scalars on the device, which a checkpoint copies. */
int64_t solve_vectors_bytes(const struct solve *v);

/* ---- solve_check.c ---- */

/* The smallest relative residual that rounding errors allow. */
double solve_rounding(enum type real);
/* Can `pre` precondition A? NULL: no preconditioner. */
bool precond_takes(const struct precond *pre, const struct csr *A, struct err *e);

/* Are b and x0 finite? */
bool solve_check_vectors(const struct csr *A, const struct solve_options *o, struct err *e);
/* Check that the solver accepts this omega, this m and this preconditioner. */
bool solve_check_numbers(const struct solve_options *o, struct err *e);

/* ---- solve.c ---- */

bool near_copy(struct near_settings *to, const struct near_settings *from, struct err *e);
/* Copy x0 (NULL: 0) and the scalars to the device, start the solver from x0, and replace record number v->base. */
bool solve_start(struct solve *v, const double *x0, struct err *e);
/* Begin a solve of several columns: o->b and o->x0 (not NULL) have solve_numbers_of_b and solve_numbers for each
   column, row by row. The caller queues its steps and reads the scalars of its columns. */
bool solve_begin_columns(struct solve **v, const struct solve_matrix *A, const struct solve_columns *c,
                         const struct solve_options *o, struct err *e);
/* If the records show convergence, let the solver check it. The solve continues if this check fails, and after a
   breakdown from which the solver can start again. */
bool solve_settle(struct solve *v, struct err *e);

/* ---- solve_fine.c, solve_refine.c ---- */

/* Allocate the vectors in fp64, if v refines. */
bool refine_new_vectors(struct solve *v, struct err *e);
/* Is v->vec[i] computed anew in each refinement, so that checkpoints need not hold it? */
bool refine_is_scratch(int i);
/* Put x0 (NULL: 0) and b to the device, and begin the first inner solve: VEC_B = b - A x0, VEC_X = 0. */
bool refine_start(struct solve *v, const double *x0, struct err *e);
/* If the inner solve has ended: refine x, and start the next inner solve unless x is accurate or no longer improves. */
bool refine_settle(struct solve *v, struct err *e);
/* The residual, relative to b, at which the current inner solve ends. */
double refine_inner_tol(const struct solve *v);
/* Why refinement was given up. */
void refine_explain(const struct solve *v, char *out, size_t size);

/* ---- solve_try.c ---- */

/* Set v->next and v->next_why. needs_more_digits: tol is smaller than rounding allows. */
void solve_try(struct solve *v, bool needs_more_digits);
bool solve_mismatched(const struct solve *v); /* does the solver need a symmetric matrix, which A is not? */

/* ---- solve_x.c ---- */

/* Compute the current solution of A x = b in VEC_X. */
bool solve_x(struct solve *v, struct err *e);
/* Copy x to the host; `from` holds it or, if v refines, its correction. */
bool solve_get_x(struct solve *v, double *x, const void *from, struct err *e);

#endif
