/* Stored matrices on a device: their arrays are copied there, or borrowed from the host. */
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/mat.h"
#include "multi/multi.h"

static void *put_new(struct device *d, const void *from, int64_t bytes, const char *what, struct err *e)
{
    void *p = d->ops->alloc(d, bytes, what, e);
    if (p && d->ops->put(d, p, from, bytes, e)) return p;
    if (p) d->ops->free(d, p);
    return NULL;
}

bool mat_put(struct mat *M, const struct stored *S, struct device *d, struct err *e)
{
    struct copied before = d->put;
    if (d->members) return pieces_put(M, S, d, e);
    *M = (struct mat){.of = S, .dev = d};
    for (int k = 0; k < S->narrays; k++) {
        const struct array *a = &S->a[k];
        char what[80];
        M->lent[k] = a->lent && d->ops->plain;
        if (M->lent[k]) {
            M->ptr[k] = a->data;
            continue;
        }
        snprintf(what, sizeof what, "the array %s of %s", a->name, S->format->name);
        M->ptr[k] = put_new(d, a->data, a->n * (int64_t)type_size(a->type), what, e);
        if (!M->ptr[k]) {
            mat_free(M);
            return false;
        }
    }
    M->copied = copied_since(&d->put, &before);
    M->scratch = mem_zero(1, sizeof *M->scratch, "a matrix on a device", e);
    if (!M->scratch) mat_free(M);
    return M->scratch != NULL;
}

bool mat_borrow(struct mat *M, const struct stored *S, struct device *d, struct err *e)
{
    *M = (struct mat){.of = S, .dev = d};
    M->scratch = mem_zero(1, sizeof *M->scratch, "a matrix on a device", e);
    for (int k = 0; M->scratch && k < S->narrays; k++) {
        M->ptr[k] = S->a[k].data;
        M->lent[k] = true;
    }
    return M->scratch != NULL;
}

void mat_free(struct mat *M)
{
    scratch_free(M);
    pieces_free(M->pieces);
    for (int k = 0; k < ARRAYS_MAX; k++)
        if (M->ptr[k] && !M->lent[k]) M->dev->ops->free(M->dev, M->ptr[k]);
    *M = (struct mat){0};
}
