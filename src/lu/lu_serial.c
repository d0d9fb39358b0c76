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
        "Column k: the largest element on or below the diagonal is the pivot. The pivot's row is swapped with row\n"
        "k, and the column below the pivot is divided by the pivot. Then a multiple of column k is subtracted from\n"
        "every column to the right. These trailing updates take 2/3 n^3 operations, and only they can run in\n"
        "parallel.\n",
    .host = true,
    .baseline = true,
    .factor = factor,
};
