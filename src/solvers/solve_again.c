/* Continue a solve that has ended, starting from its x, with a changed setting such as tol or maxit. */
#include "base/mem.h"
#include "base/screen_lock.h"
#include "machine/vec_ops.h"
#include "solve.h"
#include "solve_state.h"

#include <math.h>

/* The state of a solve at its end, which is restored if the solve cannot continue. */
struct end {
    double tol, eps, residual;
    int64_t maxit, base, iterations;
    enum reason reason;
    double *x;
};

static struct end end_of(const struct solve *v)
{
    return (struct end){v->set.tol, v->set.eps,    v->residual, v->set.maxit,
                        v->base,    v->iterations, v->reason,   v->result.x};
}

static void put_end(struct solve *v, const struct end *was)
{
    SCREEN_EDIT;
    v->result.x = was->x;
    v->base = was->base;
    v->iterations = was->iterations;
    v->residual = v->history.residual[was->iterations] = was->residual;
    v->reason = was->reason;
    v->set.tol = was->tol;
    v->set.maxit = was->maxit;
}

static void restore_end(struct solve *v, const struct end *was)
{
    double *x = v->result.x;
    solve_release(v);
    put_end(v, was);
    if (x != was->x) mem_free(x);
    solve_leave_scaled(v);
}

static void set_rules(struct solve *v, double tol, double eps, int64_t maxit)
{
    SCREEN_EDIT;
    v->set.tol = tol;
    v->set.eps = eps;
    v->set.maxit = maxit;
}

/* Start from x without stop rules, so that no rule ends the solve immediately. solve_change then sets the rules again.
 */
static bool start(struct solve *v, const struct end *was, struct err *e)
{
    set_rules(v, 0, 0, INT64_MAX);
    solve_set_base(v);
    bool ok = live_new(v, e) && solve_start(v, was->x, e);
    set_rules(v, was->tol, was->eps, was->maxit);
    if (!ok) return false;
    if (v->reason != RUNNING)
        return fail(e, E_USAGE, "the solve cannot continue from its x: %s", reason_text(v->reason));
    return solve_set(v, S_EPS, ldexp(v->set.eps, scaled_x_exponent(v)), e);
}

/* The solve is paused, and has no result. */
static void forget_end(struct solve *v)
{
    SCREEN_EDIT;
    v->result.residual_true = v->result.error_known = NAN;
    v->why[0] = v->next[0] = 0;
    v->why_detail = 0;
    v->steps_left = 0;
    v->paused = true;
}

bool solve_again(struct solve *v, const struct solve_change *given, struct err *e)
{
    struct solve_change c = *given;
    if (v->reason == RUNNING || v->engine.runs) return solve_change(v, given, e);
    if (!solve_has_x(v) || v->b_norm == 0) return fail(e, E_USAGE, "this solve has no x from which it could continue");
    if (c.maxit < 0 && v->set.maxit <= v->iterations)
        return fail(e, E_USAGE,
                    "the solve reached its limit of %lld iterations; give a larger limit: `change maxit %lld`",
                    (long long)v->set.maxit, (long long)solve_larger_limit(v));
    if (!solve_fetch_x(v, e)) return false;
    if (isnan(c.tol)) c.tol = v->set.tol;
    solve_enter_scaled(v);
    struct end was = end_of(v);
    solve_set_x(v, NULL);
    if (!start(v, &was, e) || !solve_change(v, &c, e)) {
        restore_end(v, &was);
        return false;
    }
    mem_free(was.x);
    v->checkpoints.wanted = true; /* the solve is paused, so the user may go back */
    forget_end(v);
    return true;
}

bool solve_tighten(struct solve *v)
{
    static const double MIN = 1e-16;
    if (!v->scaling.row || v->reason != DRIFTED) return false;
    struct err unseen = {0};
    bool checkpoints = v->checkpoints.wanted;
    double want = v->scaling.tol;
    struct solve_change c = {.tol = v->set.tol * fmin(0.1, want / v->result.residual_true), .omega = NAN, .m = -1};
    c.maxit = -1;
    if (c.tol < MIN || !solve_again(v, &c, &unseen)) return false;
    v->scaling.tol = want;
    v->checkpoints.wanted = checkpoints;
    solve_pause(v, false);
    return true;
}
