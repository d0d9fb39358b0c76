/* lu-openmp: the elimination of lu-serial, with the columns of each trailing update split across the host's cores. */
#include <stdbool.h>

#include "base/err.h"
#include "lu.h"

static bool factor(struct lu *v, struct err *e)
{
    return v->ops->openmp((struct lu_at){v->A, v->n, v->piv, v->info}, v->watch, e);
}

const struct lu_method lu_openmp = {
    .name = "lu-openmp",
    .about = "like lu-serial, but each trailing update runs on all cores",
    .source = "LU",
    .lesson = "Each thread takes a range of columns, swaps the two rows in its columns, and subtracts multiples of\n"
              "column k. One thread finds the pivot and divides. All threads wait for each other once per column, and\n"
              "the whole matrix passes through the caches once per column, so the method is memory-bound.\n",
    .host = true,
    .factor = factor,
};
