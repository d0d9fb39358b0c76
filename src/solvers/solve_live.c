/* The live record of a solve: kernels write it while they run, and the host copies it to the history. */
#include "base/mem.h"
#include "base/screen_lock.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "solve.h"
#include "solve_state.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* The two residuals have separated if the true residual is more than `separation` times the recursive residual. */
static const double separation = 10;

/* The solve has diverged if the residual grows by more than this factor. Before it falls, the residual of sor may grow
   by 1e8 if A is far from normal. */
static const double growth_max = 1e10;

/* number of iterations between two computations of the true residual, so that these computations take at most half a
   percent of the work */
enum { PROBE_EVERY = 200 };

bool live_new(struct solve *v, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    v->live.record =
        ops->share(v->dev, LIVE_SIZE * (int64_t)sizeof *v->live.record, "the live record", &v->live.on_device, e);
    v->scalars = v->live.record
                     ? ops->alloc(v->dev, VEC_WORK * (int64_t)sizeof *v->scalars, "the scalars of the solver", e)
                     : NULL;
    v->holds_sums = v->scalars && v->set.sums_host && device_sums_take(v->dev, VEC_SUMS, e);
    return v->scalars && v->holds_sums == v->set.sums_host;
}

static bool resize(double **list, int64_t room, struct err *e)
{
    double *more = mem_resize(*list, room, sizeof **list, "the history of residuals", e);
    if (more) *list = more;
    return more != NULL;
}

/* Make room for `need` records. */
static bool grow_history(struct solve *v, int64_t need, struct err *e)
{
    if (need <= v->history.room) return true;
    int64_t room = need > 2 * v->history.room ? need + 64 : 2 * v->history.room;
    if (!resize(&v->history.residual, room, e) || !resize(&v->history.alpha, room, e) ||
        !resize(&v->history.beta, room, e))
        return false;
    if (!resize(&v->history.stamp, room, e)) return false;
    v->history.room = room;
    return true;
}

void live_free(struct solve *v)
{
    mem_free(v->history.residual);
    mem_free(v->history.alpha);
    mem_free(v->history.beta);
    mem_free(v->history.stamp);
    mem_free(v->history.truth);
}

void live_compare(struct solve *v, int64_t at, double truth, double recursive)
{
    SCREEN_EDIT;
    if (v->history.separated_at <= v->base && at > v->base && truth > separation * recursive && truth > v->set.tol)
        v->history.separated_at = at;
}

bool live_note_truth(struct solve *v, int64_t at, double residual, struct err *e)
{
    int64_t n = v->history.ntruth;
    SCREEN_EDIT;
    if (n && at <= v->history.truth[n - 1].iteration) return true;
    if (n == v->history.truth_room) {
        struct truth *more = mem_resize(v->history.truth, 2 * n + 64, sizeof *more, "the true residuals", e);
        if (!more) return false;
        v->history.truth = more;
        v->history.truth_room = 2 * n + 64;
    }
    v->history.truth[v->history.ntruth++] = (struct truth){at, residual};
    return true;
}

/* Append the true residual that the device computed last to the history, unless it is there. */
static bool take_truth(struct solve *v, struct err *e)
{
    int64_t at = (int64_t)v->live.record[LIVE_TRUE_AT], n = v->history.ntruth;
    if (at <= 0 || at > v->iterations) return true;
    double residual = sqrt(v->live.record[LIVE_TRUE]) / v->system.b_norm;
    if (!live_note_truth(v, at, residual, e)) return false;
    if (v->history.ntruth > n) live_compare(v, at, residual, v->history.residual[at]);
    return true;
}

/* The records `from` to `known` were read together, so their iterations ran without waits: add the time between these
   records to free_us. */
static void take_time(struct solve *v, int64_t from, int64_t known)
{
    if (known <= from) return;
    double us = v->history.stamp[known] - v->history.stamp[from];
    v->time.free_us += us;
    v->time.free_n += known - from;
    v->time.rate_us = us / (double)(known - from);
}

bool solve_record(struct solve *v, int64_t n, double residual, double us, struct err *e)
{
    SCREEN_EDIT;
    if (!grow_history(v, n + 1, e)) return false;
    v->history.residual[n] = v->residual = residual;
    v->history.alpha[n] = v->history.beta[n] = NAN;
    v->history.stamp[n] = us;
    v->iterations = n;
    v->time.us = us;
    if (n) v->time.us_iteration = v->time.rate_us = us / (double)n;
    return true;
}

bool live_take(struct solve *v, int64_t known, struct err *e)
{
    int64_t from = v->iterations + 1;
    SCREEN_EDIT;
    if (!grow_history(v, known + 1, e)) return false;
    for (int64_t k = from; k <= known; k++) {
        volatile double *slot = v->live.record + LIVE_RING + k % RECORDS * LIVE_SLOT;
        if (k == 0) v->history.stamp0 = slot[LIVE_STAMP];
        v->history.residual[k] = sqrt(slot[LIVE_RR]) / v->system.b_norm;
        v->history.alpha[k] = v->negated ? -slot[LIVE_ALPHA] : slot[LIVE_ALPHA]; /* of the system that cg solves */
        v->history.beta[k] = slot[LIVE_BETA];
        v->history.stamp[k] = slot[LIVE_STAMP] - v->history.stamp0;
    }
    if (known < from) return take_truth(v, e);
    take_time(v, from, known);
    v->iterations = known;
    v->residual = v->history.residual[known];
    return take_truth(v, e);
}

bool live_read(struct solve *v, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    if (!v->time.error.code &&
        ops->get(v->dev, v->host_scalars, v->scalars, SCALARS * (int64_t)sizeof *v->scalars, &v->time.error))
        ops->sync(v->dev, &v->time.error);
    if (v->time.error.code) return fail_at(e, v->time.error.code, v->time.error.where, "%s", v->time.error.text);
    if (!live_take(v, (int64_t)v->host_scalars[S_ITER] - 1, e)) return false;
    cluster_take_phases(v);
    SCREEN_EDIT;
    v->max_diff = ldexp(v->host_scalars[S_MAXDIFF], -scaled_x_exponent(v));
    v->reason = (enum reason)v->host_scalars[S_DONE];
    if (v->reason == RUNNING && v->iterations >= v->set.maxit) v->reason = MAX_ITERATIONS;
    return true;
}

bool live_reread(struct solve *v, struct err *e)
{
    solve_set_iterations(v, v->iterations - 1);
    bool ok = live_read(v, e);
    v->schedule.lost = v->schedule.queued - (v->iterations - v->base);
    return ok;
}

bool live_wait(struct solve *v, int64_t until)
{
    static const struct timespec nap = {.tv_nsec = 20000};
    while ((int64_t)v->live.record[LIVE_KNOWN] - 1 < until && v->live.record[LIVE_DONE] == RUNNING &&
           !v->dev->ops->idle(v->dev))
        nanosleep(&nap, NULL);
    return v->live.record[LIVE_DONE] == RUNNING && !v->dev->ops->idle(v->dev);
}

bool live_probe(struct solve *v, struct err *e)
{
    if (!v->vec[VEC_PROBE] || (!v->steps_left && v->schedule.queued - v->schedule.probed_at < PROBE_EVERY)) return true;
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[VEC_PROBE], e)) return false;
    v->schedule.probed_at = v->schedule.queued;
    v->ops.vec->probe(v->dev, v->n_b, v->scalars, v->vec[VEC_B], v->vec[VEC_PROBE]);
    return true;
}

static bool put_scalars_of(struct solve *v, int column, int64_t record, double limit, struct err *e)
{
    double s[SCALARS] = {[S_ONE] = 1, [S_MAXDIFF] = INFINITY, [S_NEXT_DIFF] = INFINITY};
    s[S_EPS] = ldexp(v->set.eps, scaled_x_exponent(v));
    s[S_ITER] = (double)record;
    s[S_TOL2] = limit * limit;
    s[S_COLS] = v->columns.n;
    s[S_LIMIT2] = v->set.force ? INFINITY : growth_max * growth_max;
    s[S_BEST] = INFINITY;
    s[S_BEST_AT] = (double)record;
    s[S_WINDOW] = v->set.force ? INFINITY : (double)v->set.window;
    s[S_NONE] = v->set.force ? 0 : DBL_EPSILON;
    memcpy(&s[S_LIVE], &v->live.on_device, sizeof v->live.on_device);
    return v->dev->ops->put(v->dev, v->scalars + column * SCALARS, s, sizeof s, e);
}

bool solve_put_scalars(struct solve *v, int64_t record, double tol, struct err *e)
{
    bool ok = true;
    if (!v->columns.n) return put_scalars_of(v, 0, record, tol * v->system.b_norm, e);
    for (int c = 0; ok && c < v->columns.n; c++) ok = put_scalars_of(v, c, record, tol * v->columns.b_norm[c], e);
    return ok;
}
