/* lu-openmp: the same elimination, the columns of each trailing update spread over the host's cores. */
#include "lu.h"

static bool factor(struct lu *v, struct err *e)
{
    return v->ops->openmp((struct lu_at){v->A, v->n, v->piv, v->info}, v->watch, e);
}

const struct lu_method lu_openmp = {
    .name = "lu-openmp",
    .about = "the same, each trailing update on all cores",
    .source = "LU",
    .lesson =
        "A thread takes a stretch of columns: it swaps their two rows and takes away their multiple of column k.\n"
        "One thread finds the pivot and divides; all wait for each other once a column, and the whole matrix goes\n"
        "through the caches once a column: it is memory that decides.\n",
    .host = true,
    .factor = factor,
};
