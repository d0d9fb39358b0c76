/* The live record of a solve: what the launches write for the host to read while they go on, and what becomes of it. */
#include "solver.h"

#include <math.h>
#include <time.h>

/* Beyond this factor the true residual has parted from the recursive one. */
static const double apart = 10;

enum { PROBE_EVERY = 200 }; /* iterations between two looks at the true residual: at most half a percent of the work */

bool live_new(struct solve *v, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    v->live = ops->share(v->dev, LIVE_SIZE * (int64_t)sizeof *v->live, "the live record", &v->live_there, e);
    v->s = v->live ? ops->alloc(v->dev, VEC_WORK * (int64_t)sizeof *v->s, "the scalars of the solver", e) : NULL;
    return v->s != NULL;
}

static bool resize(double **list, int64_t room, struct err *e)
{
    double *more = mem_resize(*list, room, sizeof **list, "the history of residuals", e);
    if (more) *list = more;
    return more != NULL;
}

/* Room for `need` records. */
static bool grow_history(struct solve *v, int64_t need, struct err *e)
{
    if (need <= v->hist_room) return true;
    int64_t room = need > 2 * v->hist_room ? need + 64 : 2 * v->hist_room;
    if (!resize(&v->hist, room, e) || !resize(&v->alpha, room, e) || !resize(&v->beta, room, e)) return false;
    if (!resize(&v->stamp, room, e)) return false;
    v->hist_room = room;
    return true;
}

void live_free(struct solve *v)
{
    mem_free(v->hist);
    mem_free(v->alpha);
    mem_free(v->beta);
    mem_free(v->stamp);
    mem_free(v->truth);
}

void live_compare(struct solve *v, int64_t at, double truth, double recursive)
{
    if (v->parted <= v->base && at > v->base && truth > apart * recursive && truth > v->tol) v->parted = at;
}

/* Keep what the last look at the true residual saw. */
static bool take_truth(struct solve *v, struct err *e)
{
    int64_t at = (int64_t)v->live[LIVE_TRUE_AT], n = v->ntruth;
    if (at <= 0 || at > v->iterations || (n && at <= v->truth[n - 1].iteration)) return true;
    if (n == v->truth_room) {
        struct truth *more = mem_resize(v->truth, 2 * n + 64, sizeof *more, "the true residuals", e);
        if (!more) return false;
        v->truth = more;
        v->truth_room = 2 * n + 64;
    }
    double residual = sqrt(v->live[LIVE_TRUE]) / v->b_norm;
    v->truth[v->ntruth++] = (struct truth){at, residual};
    live_compare(v, at, residual, v->hist[at]);
    return true;
}

/* The time between records that were taken together is that of iterations queued behind each other. */
static void take_time(struct solve *v, int64_t from, int64_t known)
{
    if (known <= from) return;
    double us = v->stamp[known] - v->stamp[from];
    v->free_us += us;
    v->free_n += known - from;
    v->rate_us = us / (double)(known - from);
}

bool live_take(struct solve *v, int64_t known, struct err *e)
{
    int64_t from = v->iterations + 1;
    if (!grow_history(v, known + 1, e)) return false;
    for (int64_t k = from; k <= known; k++) {
        volatile double *slot = v->live + LIVE_RING + k % RECORDS * LIVE_SLOT;
        if (k == 0) v->clock0 = slot[LIVE_STAMP];
        v->hist[k] = sqrt(slot[LIVE_RR]) / v->b_norm;
        v->alpha[k] = slot[LIVE_ALPHA];
        v->beta[k] = slot[LIVE_BETA];
        v->stamp[k] = slot[LIVE_STAMP] - v->clock0;
    }
    if (known < from) return take_truth(v, e);
    take_time(v, from, known);
    v->iterations = known;
    v->residual = v->hist[known];
    return take_truth(v, e);
}

bool live_read(struct solve *v, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    if (!v->trouble.code && ops->get(v->dev, v->mirror, v->s, SCALARS * (int64_t)sizeof *v->s, &v->trouble))
        ops->sync(v->dev, &v->trouble);
    if (v->trouble.code) return fail_at(e, v->trouble.code, v->trouble.where, "%s", v->trouble.text);
    if (!live_take(v, (int64_t)v->mirror[S_ITER] - 1, e)) return false;
    v->max_diff = v->mirror[S_MAXDIFF];
    v->reason = (enum reason)v->mirror[S_DONE];
    if (v->reason == RUNNING && v->iterations >= v->maxit) v->reason = MAX_ITERATIONS;
    return true;
}

/* Records are complete but for the one whose kernel may still run. */
bool live_poll(struct solve *v, int64_t until, struct err *e)
{
    static const struct timespec nap = {.tv_nsec = 20000};
    while ((int64_t)v->live[LIVE_KNOWN] - 1 < until && v->live[LIVE_DONE] == RUNNING && !v->dev->ops->idle(v->dev))
        nanosleep(&nap, NULL);
    if (v->live[LIVE_DONE] != RUNNING || v->dev->ops->idle(v->dev)) return solve_drain(v, e);
    return live_take(v, (int64_t)v->live[LIVE_KNOWN] - 1, e);
}

bool live_probe(struct solve *v, struct err *e)
{
    if (!v->v[AT_PROBE] || (!v->steps_left && v->queued - v->probed < PROBE_EVERY)) return true;
    v->probed = v->queued;
    if (!solve_spmv(v, v->v[0], v->v[AT_PROBE], e)) return false;
    v->ops->probe(v->dev, v->n, v->s, v->v[1], v->v[AT_PROBE]);
    return true;
}
