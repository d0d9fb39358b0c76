/* lu-serial: the textbook right-looking elimination, on one thread of the host. */
#include <stdbool.h>

#include "base/err.h"
#include "lu.h"

static bool factor(struct lu *v, struct err *e)
{
    return v->ops->serial((struct lu_at){v->A, v->n, v->piv, v->info}, v->watch, e);
}

const struct lu_method lu_serial = {
    .name = "lu-serial",
    .about = "right-looking elimination, column by column, on one thread",
    .source = "textbook",
    .lesson =
        "Column k: the largest element on or below the diagonal is the pivot. Its row is swapped with row k, and the\n"
        "column below it is divided by it; then a multiple of column k is subtracted from every column to the right.\n"
        "These trailing updates take 2/3 n^3 operations, and only they can run in parallel.\n",
    .host = true,
    .baseline = true,
    .factor = factor,
};
