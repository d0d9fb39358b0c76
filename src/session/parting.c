/* Divide a matrix of the session into parts, and keep them with the matrix. */
#include "parting.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "matrix.h"
#include "session.h"
#include "stale.h"

const char parting_missing[] = "the matrix was not divided into parts; use `partition 8`";

void parting_free(struct parting *p)
{
    if (!p) return;
    partition_free(&p->P);
    exchange_free(&p->x);
    mem_free(p);
}

static bool has_room(const struct way *way, const struct csr *A, int parts, struct err *e)
{
    char needed[32], left[32];
    int64_t bytes = partition_needs(way, A, parts), available = mem_available();
    if (bytes <= available) return true;
    return fail(e, E_MEMORY, "dividing the matrix by %s needs about %s of memory, but %s are available", way->name,
                show_bytes((double)bytes, needed, sizeof needed), show_bytes((double)available, left, sizeof left));
}

/* Views may have kept pointers to the old parts. */
static void put_parting(struct matrix *m, struct parting *p)
{
    SCREEN_EDIT;
    stale_all();
    parting_free(m->parting);
    m->parting = p;
}

bool session_divide(struct session *s, struct matrix *m, const struct way *way, int parts, struct err *e)
{
    if (parts >= 1 && parts <= PARTS_MAX && !has_room(way, &m->csr, parts, e)) return false;
    struct parting *p = mem_zero(1, sizeof *p, "a partition", e);
    if (!p) return false;
    double begin = now_us();
    bool ok = partition_new(&p->P, way, &m->csr, parts, &s->watch, e) && exchange_of(&p->x, &m->csr, &p->P, e);
    p->us = now_us() - begin;
    if (ok)
        put_parting(m, p);
    else
        parting_free(p);
    return ok;
}

bool session_keep_parts(struct matrix *m, const struct matrix *of, struct err *e)
{
    struct parting *p = mem_zero(1, sizeof *p, "a partition", e);
    bool ok = p && partition_sorted(&p->P, &of->parting->P, e) && exchange_of(&p->x, &m->csr, &p->P, e);
    if (!ok) return parting_free(p), false;
    p->us = of->parting->us;
    put_parting(m, p);
    return true;
}

double parting_item_bytes(const struct matrix *m)
{
    return m->csr.imag ? 2 * sizeof(double) : sizeof(double);
}
