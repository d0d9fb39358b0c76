/* Go back to an earlier iteration, and change settings during a solve. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <string.h>

static bool restore(struct solve *v, const struct checkpoint *c, struct err *e)
{
    if (!checkpoint_restore(v, c, e)) return false;
    SCREEN_EDIT;
    v->iterations = c->iterations;
    v->residual = v->history.residual[c->iterations];
    v->schedule.queued = v->schedule.probed_at = c->queued;
    v->schedule.cycle_from = c->cycle_from;
    v->recoveries = c->recoveries;
    v->refine.now = c->refine;
    v->cut.stage = 0;
    v->work.repeated = true;
    v->schedule.lost = c->queued - (c->iterations - v->base);
    v->live.record[LIVE_KNOWN] = (double)c->iterations;
    v->live.record[LIVE_DONE] = RUNNING;
    v->live.record[LIVE_TRUE_AT] = 0;
    v->reason = RUNNING;
    while (v->history.ntruth && v->history.truth[v->history.ntruth - 1].iteration > c->iterations) v->history.ntruth--;
    if (v->history.separated_at > c->iterations) v->history.separated_at = 0;
    return true;
}

static bool iterate(struct solve *v, int64_t n, struct err *e)
{
    for (; n > 0 && v->reason == RUNNING; n = v->steps_left) {
        v->steps_left = n;
        if (!solve_slice(v, 1e4, e)) return false;
        if (v->cut.now) break;
    }
    v->steps_left = 0;
    solve_pause(v, true);
    if (v->cut.now && v->reason == RUNNING)
        return fail(e, E_CANCELLED, "back: cancelled; the solve is paused at iteration %lld", (long long)v->iterations);
    return true;
}

bool solve_back(struct solve *v, int64_t n, struct err *e)
{
    int64_t target = v->iterations - n;
    if (v->engine.runs) return fail(e, E_UNSUPPORTED, "a solve on %s cannot go back", v->dev->name);
    v->cut.now = false;
    if (!solve_drain(v, e)) return false;
    if (target < v->base) target = v->base;
    checkpoints_drop_after(v, target);
    if (!v->checkpoints.n)
        return fail(e, E_USAGE,
                    "this solve cannot go back, because it made no checkpoints; begin the solve with `step` or from "
                    "the screen");
    const struct checkpoint *c = &v->checkpoints.at[v->checkpoints.n - 1];
    return restore(v, c, e) && iterate(v, target - c->iterations, e);
}

/* ---- changes ---- */

static bool check_change(const struct solve *v, const struct solve_change *c, struct err *e)
{
    const struct solver *s = v->solver;
    if (!isnan(c->tol) && !(c->tol >= 0)) return fail(e, E_USAGE, "tol is %g: give 0 or more", c->tol);
    if (c->maxit >= 0 && c->maxit <= v->iterations)
        return fail(e, E_USAGE, "maxit is %lld, but %lld iterations are already done; give a larger number",
                    (long long)c->maxit, (long long)v->iterations);
    struct solve_options o = {
        .solver = s, .dev = v->dev, .omega = isnan(c->omega) ? 0 : c->omega, .m = c->m > 0 ? c->m : 0};
    o.pre = c->change_pre ? c->pre : NULL;
    o.pre_block = c->change_pre ? c->pre_block : 0;
    if (c->change_pre) o.near = c->near;
    if (c->change_pre) o.triangles = c->triangles, o.schur = c->schur;
    if (!isnan(c->omega) && !(c->omega > 0)) return fail(e, E_USAGE, "omega is %g; give a number above 0", c->omega);
    return solve_check_numbers(&o, e);
}

static void set_method(struct solve *v, const struct solve_precond *pre, double omega, int64_t m)
{
    SCREEN_EDIT;
    v->pre.method = pre->method;
    v->pre.block = pre->block;
    v->pre.near = pre->near;
    v->pre.triangles = pre->triangles;
    v->pre.schur.inner = pre->schur.inner;
    v->pre.schur.complement = pre->schur.complement;
    v->set.omega = omega;
    v->set.m = m;
}

/* Timings from before a change do not predict the iterations after it. */
static void reset_times(struct solve *v)
{
    SCREEN_EDIT;
    v->base = v->iterations;
    v->time.nphases = 0;
    v->schedule.slices = v->time.free_n = 0;
    v->time.free_us = v->time.rate_us = v->time.us_iteration = 0;
}

static bool restart(struct solve *v, const double *x, struct err *e)
{
    checkpoints_free(v);
    solve_forget(v);
    reset_times(v);
    return solve_start(v, x, e);
}

/* Ctrl-C does not end this restart, unless the restart takes long: on the emulator, or for a large matrix. */
static bool restart_anyway(struct solve *v, const double *x)
{
    bool is_long = v->dev->kind == DEV_EMU || loop_worth(v->matrix.csr->nnz / 8);
    struct watch *w = is_long ? loop_watch() : loop_enter(NULL);
    bool ok = restart(v, x, NULL);
    loop_enter(w);
    return ok;
}

/* The solve ends with this x, which it owns from now on. */
static void stop_with(struct solve *v, double *x)
{
    SCREEN_EDIT;
    v->result.x = x;
    v->iterations = v->base;
    v->reason = STOPPED;
}

/* Restart from the current x with new settings. If the restart fails, restart with the old settings. If that restart
   fails too, the solve ends with this x. */
static bool change_method(struct solve *v, const struct solve_change *c, struct err *e)
{
    const struct solve_precond before = v->pre;
    struct solve_precond changed = {
        .method = c->pre, .block = c->pre_block, .triangles = c->triangles, .schur = c->schur};
    int64_t m = v->set.m;
    double omega = v->set.omega, *x = mem_new(v->n, sizeof *x, "the solution so far", e);
    if (!x || !near_copy(&changed.near, &c->near, e) || !solve_x(v, e) || !solve_get_x(v, x, v->vec[VEC_X], e)) {
        mem_free(changed.near.coordinates);
        mem_free(x);
        return false;
    }
    scaled_undo(v, x);
    if (c->change_pre) precond_drop(v);
    if (c->change_pre) v->from_zero = false; /* the least norm is another one from now on */
    set_method(v, c->change_pre ? &changed : &before, isnan(c->omega) ? omega : c->omega,
               c->m < 0      ? m
               : c->m < v->n ? c->m
                             : v->n);
    bool ok = restart(v, x, e);
    mem_free(ok && c->change_pre ? before.near.coordinates : changed.near.coordinates);
    if (ok) {
        mem_free(x);
        return true;
    }
    precond_drop(v);
    set_method(v, &before, omega, m);
    solve_set_iterations(v, v->base); /* the failed restart had counted back by one */
    if (restart_anyway(v, x)) {
        mem_free(x);
        return false;
    }
    stop_with(v, x);
    return false;
}

/* Another program has the settings, and cannot change them. */
static bool refuse_change(const struct solve *v, struct err *e)
{
    return fail(e, E_UNSUPPORTED, "the settings of a solve on %s cannot change; begin another `solve`", v->dev->name);
}

static void set_limits(struct solve *v, const struct solve_change *c)
{
    SCREEN_EDIT;
    if (c->maxit >= 0) v->set.maxit = c->maxit;
    if (!isnan(c->tol)) v->set.tol = v->scaling.tol = c->tol;
}

bool solve_change(struct solve *v, const struct solve_change *c, struct err *e)
{
    if (v->engine.runs) return refuse_change(v, e);
    if (!solve_drain(v, e) || !check_change(v, c, e)) return false;
    set_limits(v, c);
    if (!isnan(c->tol)) {
        double tol = v->refine.on ? refine_inner_tol(v) : v->set.tol;
        if (!solve_set(v, S_TOL2, pow(tol * v->system.b_norm, 2), e)) return false;
    }
    if (isnan(c->omega) && c->m < 0 && !c->change_pre) return true;
    return change_method(v, c, e);
}
