/* lu-paper: the method of the paper, with three launches per column and one thread per element of the trailing
   update. */
#include "base/watch.h"
#include "lu.h"

static void step(struct lu *v, int64_t k)
{
    v->ops->paper(v->dev, (struct lu_at){v->A, v->n, v->piv, v->info}, k, v->b);
}

static bool factor(struct lu *v, struct err *e)
{
    v->ops->begin(v->dev, (struct lu_at){v->A, v->n, v->piv, v->info});
    for (int64_t k = 0; k < v->n; k++) {
        if (!watch_tick(v->watch, "lu-paper", k, v->n, e)) return false;
        step(v, k);
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
        "Three launches per column. In the first launch, one block finds the pivot. In the second launch, row k\n"
        "of U and column k of L are computed by one thread per element, with the pivot in shared memory. In the\n"
        "third launch, the trailing update runs in tiles of b x b, by one thread per element, with the tile's\n"
        "parts of the pivot row and of the pivot column in shared memory. Every element is read and written\n"
        "once per column for two operations, so the method is memory-bound, and for small matrices launch-bound.\n",
    .width = width,
    .width_most = 32,
    .factor = factor,
    .step = step,
};
