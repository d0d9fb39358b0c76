/* Iterative refinement: the solver iterates in fp32, with values stored in fp32, fp16 or bf16, on A d = r; r = b - A x
   and x += d are computed in fp64. The records of the solve are the norms of the inner residual r - A d, which is the
   residual of x + d as far as the inner precision can tell. When the solver has reduced it by the factor `aim`, or can
   do no more, b - A x is computed again. A solver with `replace` then goes on with this residual and its own search
   direction (reliable updates); other solvers start again. Sources: Wilkinson, Rounding Errors in Algebraic Processes,
   1963; Carson and Higham, SIAM J. Sci. Comput. 40, 2018; reliable updates: Sleijpen and van der Vorst, Computing 56,
   1996; Clark et al., Comput. Phys. Commun. 181, 2010. */
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/screen_lock.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/vec_ops.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>

/* A refinement that leaves more than this share of the residual is the last one. */
static const double most_left = 0.7;
/* The factor by which an inner solve first aims to reduce the residual. A solver that keeps its direction loses nothing
   by frequent updates: on a 5-point grid of 1000 x 1000, cg takes 1717 iterations in fp32 and 1715 in fp64. A solver
   that starts again aims at more. An aim that is missed is set to what was reached, but not above `least_aim`. */
static const double kept_aim = 0.1, first_aim = 1e-2, least_aim = 0.1;

/* VEC_B = b - A x in fp64, rounded to fp32, and its norm relative to b; x is a vector in fp64. Waits for the device. */
static bool residual_of(struct solve *v, const void *x, double *norm, struct err *e)
{
    double rr = NAN;
    const struct launch L = {.A = v->matrix.fine, .alpha = 1, .x = x, .y = v->vec[VEC_FINE_Q]};
    if (!solve_set(v, S_DONE, RUNNING, e) || !kernel_launch(v->matrix.kernel, &L, e)) return false;
    v->ops.vec->narrow(v->dev, v->n, v->vec[VEC_FINE_B], v->vec[VEC_FINE_Q], v->vec[VEC_B]);
    null_project_left(v, v->vec[VEC_B]);
    v->ops.vec->dot(v->dev, v->n, v->scalars, v->vec[VEC_B], v->vec[VEC_B], S_RR);
    if (!v->dev->ops->get(v->dev, &rr, v->scalars + S_RR, sizeof rr, e) || !v->dev->ops->sync(v->dev, e)) return false;
    *norm = sqrt(rr) / v->system.b_norm;
    return true;
}

static void zero_correction(struct solve *v)
{
    v->ops.vec->zero(v->dev, v->n, v->vec[VEC_X]);
}

static bool put_fine(struct solve *v, int i, const double *from, struct err *e)
{
    if (from) return v->dev->ops->put(v->dev, v->vec[i], from, v->n * (int64_t)sizeof *from, e);
    vec_ops_of(v->dev, T_F64)->zero(v->dev, v->n, v->vec[i]);
    return true;
}

bool refine_start(struct solve *v, const double *x0, struct err *e)
{
    double norm;
    if (!put_fine(v, VEC_FINE_X, x0, e) || !put_fine(v, VEC_FINE_B, v->system.b, e)) return false;
    if (!residual_of(v, v->vec[VEC_FINE_X], &norm, e)) return false;
    v->refine.now = (struct refine_state){.n = v->refine.now.n,
                                          .at = v->base,
                                          .from = v->base,
                                          .residual = norm,
                                          .gain = NAN,
                                          .aim = v->solver->replace ? kept_aim : first_aim};
    zero_correction(v);
    return solve_set(v, S_TOL2, pow(refine_inner_tol(v) * v->system.b_norm, 2), e);
}

static void end_with(struct solve *v, enum reason reason, double residual)
{
    SCREEN_EDIT;
    v->reason = reason;
    v->residual = v->history.residual[v->iterations] = residual;
}

/* The solve is over. The last record becomes that of x, whose correction is 0 from now on. */
static bool finish(struct solve *v, enum reason reason, struct err *e)
{
    struct refine_state *now = &v->refine.now;
    now->over = true;
    now->useless = reason != CONVERGED;
    end_with(v, reason, now->residual);
    zero_correction(v);
    return solve_set(v, S_DONE, reason, e);
}

/* The first record replaces the last one, but a solver that keeps its direction keeps the coefficients of the step that
   led there. */
static bool reread(struct solve *v, bool keeps, struct err *e)
{
    int64_t at = v->iterations;
    double alpha = v->history.alpha[at], beta = v->history.beta[at];
    if (!live_reread(v, e)) return false;
    if (keeps) v->history.alpha[at] = alpha, v->history.beta[at] = beta;
    return true;
}

/* Continue with d = 0 and the new r, or start again after an inner solve that did not converge. */
static bool go_on(struct solve *v, bool converged, struct err *e)
{
    v->cut.stage = 0;
    v->recoveries.at = v->iterations;
    v->schedule.cycle_from = v->schedule.queued;
    if (!solve_put_scalars(v, v->iterations, refine_inner_tol(v), e)) return false;
    zero_correction(v);
    bool replaces = converged && v->solver->replace && v->residual > 0; /* after 0, the next direction would be 0 / 0 */
    if (!replaces) v->refine.now.from = v->iterations;
    return (replaces ? v->solver->replace : v->solver->init)(v, e) && reread(v, replaces, e);
}

/* Let x be x + d, if it is better, and decide what follows. */
static bool refine(struct solve *v, struct err *e)
{
    enum reason ended = v->reason;
    struct refine_state *now = &v->refine.now;
    double norm;
    if (!solve_set(v, S_DONE, RUNNING, e) || !solve_x(v, e)) return false;
    v->ops.vec->widen(v->dev, v->n, v->vec[VEC_FINE_X], v->vec[VEC_X], v->vec[VEC_FINE_NEXT]);
    if (!residual_of(v, v->vec[VEC_FINE_NEXT], &norm, e)) return false;
    double left = norm / now->residual;
    bool better = norm < now->residual, starts = v->iterations == now->at && norm <= v->set.tol;
    now->gain = left;
    if (better) {
        void *x = v->vec[VEC_FINE_X];
        v->vec[VEC_FINE_X] = v->vec[VEC_FINE_NEXT];
        v->vec[VEC_FINE_NEXT] = x;
        now->residual = norm;
        now->n++;
        if (!live_note_truth(v, v->iterations, norm, e)) return false;
    }
    if (now->residual <= v->set.tol && (better || starts)) return finish(v, CONVERGED, e);
    if (!(left <= most_left)) return finish(v, ended == CONVERGED || ended == DIVERGED ? STAGNATED : ended, e);
    if (left > 10 * now->aim) now->aim = fmin(left, least_aim);
    now->at = v->iterations;
    return go_on(v, ended == CONVERGED, e);
}

/* Ctrl-C does not end a refinement, which is short. */
bool refine_settle(struct solve *v, struct err *e)
{
    bool due = v->reason == CONVERGED || v->reason == STAGNATED || v->reason == DIVERGED || v->reason == BROKE_DOWN ||
               v->reason == NOT_A_NUMBER;
    if (!due || v->refine.now.over) return true;
    double start = now_us();
    struct watch *w = loop_enter(NULL);
    bool ok = refine(v, e);
    loop_enter(w);
    v->refine.us += now_us() - start;
    return ok;
}
