/* lu: the fast method. A panel of b columns is factored in steps. Each step takes as many columns as one thread block
   can hold in its registers. The trailing update is a matrix product. The trailing update runs concurrently with the
   factorisation of the next panel. The device never waits for the host. */
#include "machine/device.h"
#include "lu.h"
#include "base/watch.h"

/* look ahead only if at least this many columns are left; with fewer columns, looking ahead saves no time */
enum { AHEAD_FROM = 256 };

static struct lu_at at(const struct lu *v)
{
    return (struct lu_at){v->A, v->n, v->piv, v->info};
}

static bool panel(struct lu *v, struct device *d, int64_t j, int64_t to, struct err *e)
{
    for (int64_t k = j, w; k < to; k += w) {
        w = v->ops->panel_width(v->n - k, (int)(to - k));
        if (!lu_part(v, LU_PANEL, e)) return false;
        if (w < 1) {
            w = 1;
            v->ops->column(d, at(v), k, j, to);
            continue;
        }
        v->ops->panel(d, at(v), k, (int)w);
        if (!lu_part(v, LU_INNER, e)) return false;
        v->ops->inner(d, at(v), k, (int)w, j, to);
    }
    return true;
}

static void multiply(struct lu *v, int64_t j, int w, int64_t from, int64_t to)
{
    if (from >= to || j + w >= v->n) return;
    if (v->dev->kind == DEV_CUDA && lu_vendor_cuda.gemm(v->dev, v->real, at(v), j, w, from, to)) return;
    v->ops->gemm(v->dev, at(v), j, w, from, to);
}

/* Apply the panel of columns j .. j+w-1 to the columns [from, to) on its right. */
static bool trail(struct lu *v, int64_t j, int w, int64_t from, int64_t to, struct err *e)
{
    if (!lu_part(v, LU_SWAP, e)) return false;
    v->ops->swap(v->dev, at(v), j, w, from, to);
    if (!lu_part(v, LU_GEMM, e)) return false;
    multiply(v, j, w, from, to);
    return true;
}

static bool looks_ahead(const struct lu *v, int64_t columns)
{
    if (v->sampling || lu_hook.ahead < 0) return false;
    return lu_hook.ahead > 0 || (v->dev->kind == DEV_CUDA && columns >= AHEAD_FROM);
}

/* Apply the swaps of a panel to the columns of L on its left. */
static bool swap_left(struct lu *v, int64_t j, int w, struct err *e)
{
    if (!lu_part(v, LU_SWAP, e)) return false;
    v->ops->swap(v->dev, at(v), j, w, 0, j);
    return true;
}

/* Factor the panel at `next` as soon as its own columns are updated, in parallel with the update of the columns after
   it. The update is queued first, because the host queues an update faster than a panel. */
static bool ahead(struct lu *v, struct device *side, int64_t j, int w, int64_t next, int64_t end, struct err *e)
{
    if (!trail(v, j, w, next, end, e)) return false;
    lu_vendor_cuda.after(side, v->dev);
    if (!trail(v, j, w, end, v->n, e) || !swap_left(v, j, w, e) || !panel(v, side, next, end, e)) return false;
    lu_vendor_cuda.after(v->dev, side);
    return true;
}

static int64_t end_of(const struct lu *v, int64_t j)
{
    return v->n - j < v->b ? v->n : j + v->b;
}

static bool factor(struct lu *v, struct err *e)
{
    struct device side;
    if (!lu_vendor_cuda.side(v->dev, &side, e)) return false;
    v->ops->begin(v->dev, at(v));
    bool ok = panel(v, v->dev, 0, end_of(v, 0), e);
    for (int64_t j = 0, next; ok && j < v->n; j = next) {
        if (!watch_tick(v->watch, "lu", j, v->n, e)) return false;
        next = end_of(v, j);
        int w = (int)(next - j);
        int64_t end = end_of(v, next);
        if (next < v->n && looks_ahead(v, v->n - next))
            ok = ahead(v, &side, j, w, next, end, e);
        else
            ok = trail(v, j, w, next, v->n, e) && panel(v, v->dev, next, end, e) && swap_left(v, j, w, e);
    }
    return ok && lu_part(v, LU_PARTS, e);
}

static int width(const struct lu *v)
{
    if (lu_hook.outer) return lu_hook.outer;
    int fastest = v->n <= 256 ? 32 : v->n <= 2048 ? 64 : 128; /* in real arithmetic on an H200 */
    return fastest < lu_widest(v->real) ? fastest : lu_widest(v->real);
}

const struct lu_method lu_blocked = {
    .name = "lu",
    .about = "in panels of b columns; the next panel runs concurrently with the trailing update, a matrix product",
    .source = "[ours]",
    .lesson =
        "One block holds the rows of a few columns in its registers, so that a column costs two barriers and no\n"
        "memory traffic. More than 8192 rows are shared by a cluster of blocks, which show one another their best\n"
        "pivots and the two rows to exchange. The rest of the panel follows, one block per column: row swaps, a\n"
        "small triangular solve, the update. After the panel, all other columns swap rows and solve with the\n"
        "panel's triangle, one warp per column. The trailing update is one matrix product (by cuBLAS if\n"
        "available), which does b times as many operations per byte as lu-paper. For large matrices, the next\n"
        "panel is factored on a second stream at the same time. The host only queues launches.\n",
    .width = width,
    .width_most = LU_WIDEST,
    .has_parts = true,
    .factor = factor,
};
