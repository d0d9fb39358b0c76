/* lu-paper: the method of the paper, with three launches per column and one thread per element of the trailing
   update. */
#include "lu.h"
#include "base/watch.h"

static bool factor(struct lu *v, struct err *e)
{
    struct lu_at A = {v->A, v->n, v->piv, v->info};
    v->ops->begin(v->dev, A);
    for (int64_t k = 0; k < v->n; k++) {
        if (!watch_tick(v->watch, "lu-paper", k, v->n, e)) return false;
        v->ops->paper(v->dev, A, k, v->b);
    }
    return true;
}

static int width(const struct lu *v)
{
    return v->n < 256 ? 8 : v->n < 1024 ? 16 : 32;
}

const struct lu_method lu_paper = {
    .name = "lu-paper",
    .about = "one column at a time; one thread per element of the trailing update, in tiles of b x b",
    .source = "LU",
    .lesson =
        "Three launches per column. One block finds the pivot. Then row k of U and column k of L are computed by\n"
        "one thread per element, with the pivot in shared memory. Then the trailing update runs in tiles of b x b,\n"
        "by one thread per element, with the tile's part of the pivot row in shared memory. Every element is read\n"
        "and written once per column for two operations, so the method is memory-bound, and for small matrices\n"
        "launch-bound.\n",
    .width = width,
    .width_most = 32,
    .factor = factor,
};
