/* Conversions on a device: memory, the order of the steps, and timing. The packers in gpu/packers do the actual
   conversion. */
#include "packer.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "device.h"
#include "formats/format.h"
#include "mat.h"
#include "tools.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GET_BYTES = 1 << 23 }; /* bytes copied to the host at a time */

/* ---- for packers ---- */

void *packing_room(struct packing *p, enum room r, int64_t n, size_t size, struct err *e)
{
    int64_t bytes = n * (int64_t)size;
    if (p->room[r].p && bytes <= p->room[r].bytes) return p->room[r].p;
    if (p->room[r].p) p->dev->ops->free(p->dev, p->room[r].p);
    p->room[r].p = p->dev->ops->alloc(p->dev, bytes, "room for a conversion", e);
    p->room[r].bytes = p->room[r].p ? bytes : 0;
    return p->room[r].p;
}

void *packing_state(struct packing *p, size_t bytes, void (*release)(void *state), struct err *e)
{
    if (!p->state) p->state = mem_zero(1, bytes, "the state of a packer", e);
    p->state_release = release;
    return p->state;
}

bool packing_read(struct packing *p, void *to, const void *from, int64_t bytes, struct err *e)
{
    return p->dev->ops->sync(p->dev, e) && p->dev->ops->get(p->dev, to, from, bytes, e);
}

static bool room_for_tools(struct packing *p, int64_t sorted, int64_t added, struct err *e)
{
    int64_t bytes = p->tools->bytes(p->dev, sorted, added, e);
    return bytes >= 0 && packing_room(p, ROOM_TEMP, bytes, 1, e);
}

bool packing_exclusive_scan(struct packing *p, enum room at, int64_t n, int64_t *sum, struct err *e)
{
    int64_t *places = p->room[at].p;
    return room_for_tools(p, 0, n + 1, e) &&
           p->tools->exclusive_scan(p->dev, places, n + 1, p->room[ROOM_TEMP].p, p->room[ROOM_TEMP].bytes, e) &&
           (!sum || packing_read(p, sum, places + n, sizeof *sum, e));
}

bool packing_pairs(struct packing *p, int64_t n, struct err *e)
{
    for (enum room r = ROOM_KEY; r <= ROOM_PAYLOAD2; r++)
        if (!packing_room(p, r, n, sizeof(uint64_t), e)) return false;
    return true;
}

bool packing_sort(struct packing *p, int64_t n, int from, int bits, struct err *e)
{
    struct pairs pairs = {
        n, {p->room[ROOM_KEY].p, p->room[ROOM_KEY2].p}, {p->room[ROOM_PAYLOAD].p, p->room[ROOM_PAYLOAD2].p}};
    p->sorted = 0;
    return room_for_tools(p, n, 0, e) &&
           p->tools->sort(p->dev, &pairs, from, bits, &p->sorted, p->room[ROOM_TEMP].p, p->room[ROOM_TEMP].bytes, e);
}

/* ---- plan, allocate, pack ---- */

static bool plan(struct packing *p, struct err *e)
{
    p->S = p->given;
    return p->packer->plan(p, e);
}

/* If this device has too little memory, the error is E_MEMORY, because another device may have enough. If there is too
   much padding, the error is E_LIMIT. */
static bool allowed(struct packing *p, bool force, struct err *e)
{
    int64_t there, total;
    struct err why = {0};
    struct plan all = plan_of(&p->S);
    if (!format_allow(&all, INT64_MAX, force, e) || !p->dev->ops->memory(p->dev, &there, &total, e)) return false;
    return format_allow(&all, there, true, &why) || fail(e, E_MEMORY, "%s: %s", p->dev->name, why.text);
}

static bool allocate(struct packing *p, bool force, struct err *e)
{
    if (!allowed(p, force, e)) return false;
    for (int k = 0; k < p->S.narrays; k++) {
        const struct array *a = &p->S.a[k];
        char what[80];
        snprintf(what, sizeof what, "the array %s of %s", a->name, p->S.format->name);
        p->out[k] = p->dev->ops->alloc(p->dev, a->n * (int64_t)type_size(a->type), what, e);
        if (!p->out[k]) return false;
    }
    return true;
}

bool packer_fill(const struct packer *k, struct packing *p, struct err *e)
{
    return k->pack[precisions[p->S.real].stored](p, e);
}

const struct packer *packer_for(const struct format *f, const struct device *d, enum precision real)
{
    const struct packer *k = packer_find(f, d);
    return k && k->pack[precisions[real].stored] ? k : NULL;
}

static bool fill(struct packing *p, struct err *e)
{
    return packer_fill(p->packer, p, e) && p->dev->ops->sync(p->dev, e);
}

static bool suits(const struct format *f, const struct mat *A, struct err *e)
{
    if (!A->of->format->interchange)
        return fail(e, E_INTERNAL, "%s can only be packed from csr, not from %s", f->name, A->of->format->name);
    if (packer_for(f, A->dev, A->of->real)) return true;
    return fail(e, E_UNSUPPORTED, "%s in %s has no packer for %s; pack it on the host", f->name,
                precisions[A->of->real].name, A->dev->name);
}

bool packing_begin(struct packing **p, const struct format *f, const struct mat *A, const int64_t *param, bool force,
                   struct err *e)
{
    *p = NULL;
    if (!suits(f, A, e)) return false;
    struct packing *w = mem_zero(1, sizeof *w, "a conversion", e);
    if (!w) return false;
    *w = (struct packing){.packer = packer_find(f, A->dev), .A = A, .dev = A->dev, .tools = tools_of(A->dev)};
    w->rows = A->of->rows;
    w->cols = A->of->cols;
    w->nnz = A->of->nnz;
    w->given = (struct stored){.format = f, .rows = w->rows, .cols = w->cols, .nnz = w->nnz, .real = A->of->real};
    if (format_params(f, param, &w->given, e) && plan(w, e) && allocate(w, force, e) && fill(w, e)) return *p = w, true;
    w->dev->ops->sync(w->dev, NULL); /* wait, because queued launches may still use the memory */
    packing_free(w);
    return false;
}

bool packing_repeat(struct packing *p, struct err *e)
{
    return plan(p, e) && fill(p, e);
}

bool packing_time(struct packing *p, int reps, double *us, struct err *e)
{
    double *t = mem_new(reps, sizeof *t, "the times of a conversion", e);
    bool ok = t != NULL;
    for (int i = 0; ok && i < reps; i++) {
        double from = now_us();
        ok = loop_tick(p->S.format->name, i, reps, e) && packing_repeat(p, e);
        t[i] = now_us() - from;
    }
    if (ok) *us = times_median(reps, t, NULL);
    mem_free(t);
    return ok;
}

/* ---- the result ---- */

bool packing_take(struct packing *p, struct stored *S, struct mat *M, struct err *e)
{
    struct scratch **scratch = mem_zero(1, sizeof *scratch, "a matrix on a device", e);
    if (!scratch) return false;
    *S = p->S;
    *M = (struct mat){.of = S, .dev = p->dev, .scratch = scratch};
    memcpy(M->ptr, p->out, sizeof M->ptr);
    memset(p->out, 0, sizeof p->out);
    return true;
}

void packing_free(struct packing *p)
{
    if (!p) return;
    for (int k = 0; k < ARRAYS_MAX; k++)
        if (p->out[k]) p->dev->ops->free(p->dev, p->out[k]);
    for (int r = 0; r < ROOMS; r++)
        if (p->room[r].p) p->dev->ops->free(p->dev, p->room[r].p);
    if (p->state && p->state_release) p->state_release(p->state);
    mem_free(p->state);
    mem_free(p);
}

/* Unlike a single ops->get, this copy can be ended by Ctrl-C. */
static bool get_in_pieces(const struct mat *M, int k, char *to, int64_t bytes, struct err *e)
{
    struct loop l = loop_of("copying", bytes);
    bool ok = true;
    for (int64_t at = 0; ok && at < bytes && loop_check(&l, at); at += GET_BYTES)
        ok = M->dev->ops->get(M->dev, to + at, (const char *)M->ptr[k] + at,
                              bytes - at < GET_BYTES ? bytes - at : GET_BYTES, e);
    return ok && loop_end(&l, e);
}

static bool get_array(const struct mat *M, int k, struct array *a, struct err *e)
{
    char what[64];
    snprintf(what, sizeof what, "the array %s of %s", a->name, M->of->format->name);
    a->data = mem_new(a->n, type_size(a->type), what, e);
    if (a->data && get_in_pieces(M, k, a->data, a->n * (int64_t)type_size(a->type), e)) return true;
    mem_free(a->data);
    a->data = NULL;
    return false;
}

static bool is_for_entries(const struct array *a)
{
    return a->role == ROLE_VALUES || a->role == ROLE_COLUMNS;
}

bool mat_get_layout(const struct mat *M, struct stored *S, struct err *e)
{
    bool ok = true;
    for (int k = 0; ok && k < S->narrays; k++)
        ok = S->a[k].data || is_for_entries(&S->a[k]) || get_array(M, k, &S->a[k], e);
    return ok;
}

bool mat_get(const struct mat *M, struct stored *S, struct err *e)
{
    bool ok = true;
    for (int k = 0; ok && k < S->narrays; k++) ok = S->a[k].data || get_array(M, k, &S->a[k], e);
    return ok;
}

/* ---- cost in SpMVs ---- */

double conversion_spmvs(double us, double csr_us)
{
    return us / csr_us;
}

double conversion_pays_after(double us, double csr_us, double own_us)
{
    if (isnan(us) || isnan(csr_us) || isnan(own_us)) return NAN;
    return own_us < csr_us ? ceil(us / (csr_us - own_us)) : INFINITY;
}
