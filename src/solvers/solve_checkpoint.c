/* Checkpoints: copies of a solve's vectors and scalars on the host, so that the solve can go back. */
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <string.h>

/* time between two checkpoints in us; longer if making a checkpoint takes more than 1% of that time */
static const double every_us = 1e6;

enum { PIECE = 1 << 22 }; /* bytes copied between two checks for Ctrl-C */

int64_t solve_vectors_bytes(const struct solve *v)
{
    int64_t bytes = VEC_WORK * (int64_t)sizeof *v->scalars;
    for (int i = 0; i < SOLVE_VECTORS; i++) bytes += v->vec_bytes[i];
    return bytes;
}

static int64_t used_bytes(const struct solve *v, const struct checkpoint *c, int i)
{
    if (refine_is_scratch(i)) return 0;
    if (!v->solver->used_bytes) return v->vec_bytes[i];
    return v->solver->used_bytes(v, i, c->queued - c->cycle_from);
}

/* Copy `bytes` between the host and the device, in pieces, so that Ctrl-C ends the copying. */
static bool copy_piecewise(struct solve *v, char *host, char *device, int64_t bytes, bool save, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    struct loop l = loop_of("copying the state", bytes);
    bool ok = true;
    for (int64_t at = 0; ok && at < bytes && loop_goes(&l, at); at += PIECE) {
        int64_t n = bytes - at < PIECE ? bytes - at : PIECE;
        ok = save ? ops->get(v->dev, host + at, device + at, n, e) : ops->put(v->dev, device + at, host + at, n, e);
    }
    return ok && loop_end(&l, e);
}

/* Copy the vectors and scalars that iterations change. If `save` is set, copy the vectors and scalars from the device
   to one block of host memory; otherwise copy them back to the device. */
static bool copy_state(struct solve *v, const struct checkpoint *c, bool save, struct err *e)
{
    char *data = c->data;
    int64_t bytes = VEC_WORK * (int64_t)sizeof *v->scalars;
    bool ok = copy_piecewise(v, data, (char *)v->scalars, bytes, save, e);
    for (int i = 0; ok && i < SOLVE_VECTORS; i++) {
        data += bytes;
        bytes = used_bytes(v, c, i);
        ok = copy_piecewise(v, data, v->vec[i], bytes, save, e);
    }
    ok = ok && v->dev->ops->sync(v->dev, e);
    return ok;
}

static int64_t state_bytes(const struct solve *v, const struct checkpoint *c)
{
    int64_t bytes = VEC_WORK * (int64_t)sizeof *v->scalars;
    for (int i = 0; i < SOLVE_VECTORS; i++) bytes += used_bytes(v, c, i);
    return bytes;
}

static void drop_checkpoint(struct solve *v, int i)
{
    mem_free(v->checkpoints.at[i].data);
    memmove(v->checkpoints.at + i, v->checkpoints.at + i + 1,
            (size_t)(v->checkpoints.n - i - 1) * sizeof *v->checkpoints.at);
    v->checkpoints.n--;
}

void checkpoints_free(struct solve *v)
{
    while (v->checkpoints.n) drop_checkpoint(v, v->checkpoints.n - 1);
}

/* Drop the checkpoint whose neighbours are closest to each other, but never the first or the last checkpoint. If
   several checkpoints qualify, drop the oldest. */
static void thin_out(struct solve *v)
{
    int best = 1;
    const struct checkpoint *c = v->checkpoints.at;
    for (int i = 2; i < v->checkpoints.n - 1; i++)
        if (c[i + 1].iterations - c[i - 1].iterations < c[best + 1].iterations - c[best - 1].iterations) best = i;
    drop_checkpoint(v, best);
}

static bool take_checkpoint(struct solve *v, struct err *e)
{
    struct checkpoint c = {v->iterations, v->schedule.queued, v->schedule.cycle_from,
                           v->recoveries, v->refine.now,      NULL};
    double start = now_us();
    struct err why = {0};
    c.data = mem_new(state_bytes(v, &c), 1, "a checkpoint of a solve", e);
    if (!c.data) return false;
    if (!copy_state(v, &c, true, &why)) {
        mem_free(c.data);
        if (why.code == E_CANCELLED) return true; /* the solve stops anyway, without this checkpoint */
        return fail_at(e, why.code, why.where, "%s", why.text);
    }
    if (v->checkpoints.n == CHECKPOINTS) thin_out(v);
    v->checkpoints.at[v->checkpoints.n++] = c;
    v->checkpoints.made_at = now_us();
    v->checkpoints.us = v->checkpoints.made_at - start;
    return true;
}

bool checkpoint_maybe(struct solve *v, struct err *e)
{
    int n = v->checkpoints.n;
    if (!v->checkpoints.wanted || v->cut.stage || (n && v->checkpoints.at[n - 1].iterations >= v->iterations))
        return true;
    double since = now_us() - v->checkpoints.made_at, wait = fmax(every_us, 100 * v->checkpoints.us);
    if (n && !v->steps_left && since < wait) return true;
    return take_checkpoint(v, e);
}

bool checkpoint_restore(struct solve *v, const struct checkpoint *c, struct err *e)
{
    return copy_state(v, c, false, e);
}

void checkpoints_drop_after(struct solve *v, int64_t iteration)
{
    while (v->checkpoints.n && v->checkpoints.at[v->checkpoints.n - 1].iterations > iteration)
        drop_checkpoint(v, v->checkpoints.n - 1);
}
