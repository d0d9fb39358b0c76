/* lu: the fast method. A panel of b columns is factored in slices of at most lu_widest columns, and a slice in steps.
   Each step takes as many columns as one thread block or one cluster can hold in its registers. The trailing update is
   a matrix product. The trailing update runs concurrently with the factorisation of the next panel. The device never
   waits for the host. */
#include "base/watch.h"
#include "lu.h"
#include "machine/device.h"

/* look ahead only if at least this many columns are left; with fewer columns, looking ahead saves no time */
enum { AHEAD_FROM = 256 };

static struct lu_at at(const struct lu *v)
{
    return (struct lu_at){v->A, v->n, v->piv, v->info};
}

/* Factor the slice of columns j .. to-1. */
static bool slice(struct lu *v, struct device *d, int64_t j, int64_t to, struct err *e)
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

/* The columns [from, to), to which a panel or a slice is applied. */
struct columns {
    int64_t from, to;
};

/* Subtract the product of columns [j, end) and of rows [j, end) from rows [end, below) of the columns c. */
static bool multiply(struct lu *v, struct device *d, int64_t j, int64_t end, int64_t below, struct columns c,
                     struct err *e)
{
    int w = (int)(end - j);
    if (c.from >= c.to || end >= below) return true;
    if (!lu_part(v, LU_GEMM, e)) return false;
    if (d->kind == DEV_CUDA && lu_vendor_cuda.gemm(d, v->real, at(v), j, w, below, c.from, c.to)) return true;
    v->ops->gemm(d, at(v), j, w, below, c.from, c.to);
    return true;
}

static bool swap(struct lu *v, struct device *d, int64_t j, int64_t end, struct columns c, int what, struct err *e)
{
    if (c.from >= c.to) return true;
    if (!lu_part(v, LU_SWAP, e)) return false;
    v->ops->swap(d, at(v), j, (int)(end - j), c.from, c.to, what);
    return true;
}

static int64_t end_of_slice(const struct lu *v, int64_t j, int64_t to)
{
    int most = lu_widest(v->real);
    return to - j < most ? to : j + most;
}

/* Factor the panel of columns j .. to-1. */
static bool panel(struct lu *v, struct device *d, int64_t j, int64_t to, struct err *e)
{
    for (int64_t k = j, end; k < to; k = end) {
        end = end_of_slice(v, k, to);
        struct columns left = {j, k}, right = {end, to};
        if (!slice(v, d, k, end, e) || !swap(v, d, k, end, left, LU_SWAPS, e) ||
            !swap(v, d, k, end, right, LU_SWAPS | LU_SOLVES, e) || !multiply(v, d, k, end, v->n, right, e))
            return false;
    }
    return true;
}

/* Apply the panel of columns j .. j+w-1 to the columns c on its right: compute the panel's rows of U slice by slice,
   and then update the rows below the panel by one product. A slice swaps rows before a product changes some of them. */
static bool trail(struct lu *v, int64_t j, int w, struct columns c, struct err *e)
{
    int64_t to = j + w;
    for (int64_t k = j, end; k < to; k = end) {
        end = end_of_slice(v, k, to);
        if (!swap(v, v->dev, k, end, c, k == j ? LU_SWAPS | LU_SOLVES : LU_SWAPS, e)) return false;
    }
    for (int64_t k = end_of_slice(v, j, to), end; k < to; k = end) {
        end = end_of_slice(v, k, to);
        if (!multiply(v, v->dev, j, k, end, c, e) || !swap(v, v->dev, k, end, c, LU_SOLVES, e)) return false;
    }
    return multiply(v, v->dev, j, to, v->n, c, e);
}

static bool looks_ahead(const struct lu *v, int64_t columns)
{
    if (v->sampling || lu_hook.ahead < 0) return false;
    return lu_hook.ahead > 0 || (v->dev->kind == DEV_CUDA && columns >= AHEAD_FROM);
}

/* Apply the swaps of a panel to the columns of L on its left. */
static bool swap_left(struct lu *v, int64_t j, int w, struct err *e)
{
    for (int64_t k = j, end; k < j + w; k = end) {
        end = end_of_slice(v, k, j + w);
        if (!swap(v, v->dev, k, end, (struct columns){0, j}, LU_SWAPS, e)) return false;
    }
    return true;
}

/* Factor the panel at `next` as soon as its own columns are updated, in parallel with the update of the columns after
   it. The update is queued first, because the host queues an update faster than a panel. */
static bool ahead(struct lu *v, struct device *side, int64_t j, int w, int64_t next, int64_t end, struct err *e)
{
    if (!trail(v, j, w, (struct columns){next, end}, e)) return false;
    lu_vendor_cuda.after(side, v->dev);
    if (!trail(v, j, w, (struct columns){end, v->n}, e) || !swap_left(v, j, w, e) || !panel(v, side, next, end, e))
        return false;
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
            ok = trail(v, j, w, (struct columns){next, v->n}, e) && panel(v, v->dev, next, end, e) &&
                 swap_left(v, j, w, e);
    }
    return ok && lu_part(v, LU_PARTS, e);
}

static int width(const struct lu *v)
{
    if (lu_hook.outer) return lu_hook.outer;
    int64_t wide_from = v->real == T_F32 ? 8193 : 8192; /* measured on an H100; the others on an H200 */
    int fastest = v->n <= 256 ? 32 : v->n <= 2048 ? 64 : v->n < wide_from ? 128 : 256;
    return type_is_complex(v->real) && fastest > lu_widest(v->real) ? lu_widest(v->real) : fastest;
}

const struct lu_method lu_blocked = {
    .name = "lu",
    .about = "in panels of b columns; the next panel runs concurrently with the trailing update, a matrix product",
    .source = "[ours]",
    .lesson =
        "One block holds the rows of a few columns in its registers, so that a column costs two barriers and no\n"
        "memory traffic. More than 1024 rows are shared by a cluster of blocks, which show one another their best\n"
        "pivots and the two rows to exchange. The rest of the panel follows, one block per column: row swaps, a\n"
        "small triangular solve, the update. After the panel, all other columns swap rows and solve with the\n"
        "panel's triangle, one warp per column. The trailing update is one matrix product (by cuBLAS if\n"
        "available), which does b times as many operations per byte as lu-paper. For large matrices, the next\n"
        "panel is factored on a second stream at the same time. The host only queues launches.\n",
    .width = width,
    .width_most = LU_OUTERMOST,
    .has_parts = true,
    .factor = factor,
};
