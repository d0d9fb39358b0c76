/* Predicts all kernels of a matrix at the cost of few, and keeps the predictions with the matrix.

   Kernels are watched in the order of a lower bound of their times, which needs no emulation: the bytes that they must
   move, and a launch (model_least_us). A kernel whose lower bound exceeds the predicted times of WANTED others is not
   watched. The others are watched as closely as their sample and their rank need (modeled.c). */
#include "predictions.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "microscope/modeled.h"
#include "predicted.h"
#include "session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* WANTED: the fastest kernels whose predictions must not be lower bounds; `advise` measures as many on a GPU.
   KEPT_MOST: GPUs and precisions for which a matrix keeps predictions. */
enum { WANTED = 3, KEPT_MOST = 4 };
/* A first look that predicts a kernel to take this many times as long as the fastest is not followed by a closer one.
 */
#define FAR_BEHIND 1.5

/* ---- what is kept ---- */

struct kept_predictions {
    struct machine on;
    enum type real;
    struct predictions p;
    struct kept_predictions *next; /* used longer ago */
};

void predictions_free(struct predictions *p)
{
    mem_free(p->k);
    mem_free(p->slow);
    mem_free(p->no);
    *p = (struct predictions){0};
}

static bool predictions_new(struct predictions *p, struct err *e)
{
    int n = registry_count(&kernel_registry);
    *p = (struct predictions){.k = mem_new(n, sizeof *p->k, "the predictions", e)};
    p->slow = p->k ? mem_new(n, sizeof *p->slow, "the predictions", e) : NULL;
    p->no = p->slow ? mem_new(n, sizeof *p->no, "the predictions", e) : NULL;
    if (!p->no) predictions_free(p);
    return p->no != NULL;
}

void kept_predictions_free(struct kept_predictions *p)
{
    for (struct kept_predictions *next; p; p = next) {
        next = p->next;
        predictions_free(&p->p);
        mem_free(p);
    }
}

static bool is_for(const struct kept_predictions *p, enum type real, const struct machine *g)
{
    return p->real == real && p->on.sms == g->sms && !strcmp(p->on.name, g->name) &&
           !memcmp(&p->on.c, &g->c, sizeof g->c) && !memcmp(&p->on.is, &g->is, sizeof g->is);
}

/* Those for this GPU and precision, which become the first of the list; NULL: none. */
static struct kept_predictions *find(struct matrix *m, enum type real, const struct machine *g)
{
    for (struct kept_predictions **at = &m->predictions; *at; at = &(*at)->next) {
        struct kept_predictions *p = *at;
        if (!is_for(p, real, g)) continue;
        *at = p->next;
        p->next = m->predictions;
        return m->predictions = p;
    }
    return NULL;
}

static void forget_oldest(struct matrix *m)
{
    int n = 1;
    for (struct kept_predictions *p = m->predictions; p; p = p->next)
        if (n++ == KEPT_MOST) {
            kept_predictions_free(p->next);
            p->next = NULL;
        }
}

static struct kept_predictions *find_or_make(struct matrix *m, enum type real, const struct machine *g, struct err *e)
{
    struct kept_predictions *p = find(m, real, g);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "the predictions", e);
    if (!p || !predictions_new(&p->p, e)) return mem_free(p), NULL;
    p->on = *g;
    p->real = real;
    p->p.real = type_of_values(real, m->csr.imag != NULL);
    p->next = m->predictions;
    m->predictions = p;
    forget_oldest(m);
    return p;
}

static struct modeled *modeled_of(const struct predictions *p, const struct kernel *k)
{
    for (int i = 0; i < p->n; i++)
        if (p->k[i].kernel == k) return &p->k[i];
    return NULL;
}

static bool is_refused(const struct predictions *p, const struct kernel *k)
{
    for (int i = 0; i < p->nno; i++)
        if (p->no[i].kernel == k) return true;
    return false;
}

/* Users' kernels may change, and are not kept. */
static bool can_be_kept(const struct kernel *k)
{
    return !k->remote;
}

const struct modeled *prediction_kept(const struct matrix *m, const struct kernel *k, enum type real,
                                      const struct machine *g)
{
    const struct kept_predictions *p = m->predictions;
    while (p && !is_for(p, real, g)) p = p->next;
    return p && can_be_kept(k) ? modeled_of(&p->p, k) : NULL;
}

static void put(struct predictions *p, const struct modeled *k)
{
    struct modeled *before = modeled_of(p, k->kernel);
    int slow = 0;
    *(before ? before : &p->k[p->n++]) = *k;
    for (int i = 0; i < p->nslow; i++)
        if (p->slow[i].kernel != k->kernel) p->slow[slow++] = p->slow[i];
    p->nslow = slow;
    qsort(p->k, (size_t)p->n, sizeof *p->k, modeled_by_time);
}

static void put_slow(struct predictions *p, const struct kernel *k, double least_us)
{
    int i = 0;
    while (i < p->nslow && p->slow[i].kernel != k) i++;
    p->slow[i] = (struct slow_kernel){k, least_us};
    if (i == p->nslow) p->nslow++;
}

void prediction_keep(struct matrix *m, const struct modeled *k, enum type real, const struct machine *g)
{
    struct kept_predictions *p = can_be_kept(k->kernel) ? find_or_make(m, real, g, NULL) : NULL;
    if (p) put(&p->p, k);
}

/* ---- predicting ---- */

struct predicting {
    struct session *s;
    struct matrix *m;
    const struct machine *on;
    enum type real;
    int64_t products;
    bool users; /* predict users' kernels, instead of those that are kept */
    struct predictions *p;
    struct packed last;
};

/* A kernel, and a lower bound of its time; NaN: it cannot be predicted. */
struct waiting_kernel {
    const struct kernel *kernel;
    double least_us, format_us; /* the least of all kernels of the format */
    int index;
};

static bool predict_one(struct predicting *v, const struct kernel *k, const int64_t *param, struct err *e)
{
    struct err why = {0};
    struct predictions *p = v->p;
    struct modeled *out = mem_new(1, sizeof *out, "a prediction", e);
    if (!out) return false;
    bool gave = screen_lock_give();
    bool modeled = modeled_csr(&v->m->csr, k, param, v->real, v->on, &v->s->watch, &v->last, out, &why);
    screen_lock_back(gave);
    if (modeled) put(p, out);
    mem_free(out);
    if (modeled) return true;
    if (!err_is_refusal(&why)) return fail_at(e, why.code, why.where, "%s", why.text);
    refusal_without_force(&why, k->format->name, v->real, false);
    p->no[p->nno].kernel = k;
    snprintf(p->no[p->nno++].why, sizeof p->no->why, "%s", reason_without_name(k->name, why.text));
    return true;
}

/* The time by which kernels are compared, of one whose conversion takes prep_us. */
static double cost(const struct predicting *v, double prep_us, double us)
{
    return v->products ? prep_us + (double)v->products * us : us;
}

static double cost_of(const struct predicting *v, const struct modeled *k)
{
    return cost(v, k->kernel->format->interchange ? 0 : k->prep_us, k->time.us);
}

/* The cost of the kernel that is number n, counted from 0 and below WANTED, of those of f, or of all if f is NULL;
   infinite if there are fewer. */
static double cost_number(const struct predicting *v, const struct format *f, int n)
{
    double best[WANTED];
    for (int i = 0; i < WANTED; i++) best[i] = INFINITY;
    for (int i = 0; i < v->p->n; i++) {
        double c = cost_of(v, &v->p->k[i]);
        if (f && v->p->k[i].kernel->format != f) continue;
        for (int j = 0; j < WANTED; j++)
            if (c < best[j]) {
                double next = best[j];
                best[j] = c;
                c = next;
            }
    }
    return best[n];
}

/* Kernels of csr that prepare nothing are always predicted: conversions pay in comparison with the fastest of them. */
static bool is_slow(const struct predicting *v, const struct waiting_kernel *c, const struct format *f)
{
    const struct kernel *k = c->kernel;
    bool needed = !f && k->format->interchange && !k->prepare;
    return !needed && cost(v, 0, c->least_us) > cost_number(v, f, f ? 0 : WANTED - 1);
}

/* The sizes of the format of k; false: the matrix does not fit. */
static bool plan_of_format(const struct predicting *v, const struct kernel *k, struct plan *p)
{
    int64_t own[PARAMS_MAX];
    const int64_t *param = modeled_params(k, NULL, &v->m->csr, v->real, v->on, own);
    return format_plan(&v->m->csr, k->format, param, v->real, p, NULL) && format_allow_here(p, false, NULL);
}

/* The entries of the longest row that a warp works on alone; 0: none is known. A kernel that stops where the padding of
   a row begins works on whole rows, unless the format stores the rest of long rows with row numbers. */
static int64_t row_of_warp(const struct predicting *v, const struct kernel *k, const struct stored *S)
{
    bool whole = k->skips_padding;
    for (int i = 0; i < S->narrays; i++) whole &= S->a[i].role != ROLE_ROWS;
    return whole ? csr_longest_row(&v->m->csr) : 0;
}

static double least_us(const struct predicting *v, const struct kernel *k, const struct plan *p)
{
    int64_t x = v->m->csr.cols * (int64_t)type_size(p->shape.real); /* parts of x may not be read */
    int64_t bytes = kernel_bytes(k, &p->shape, 0) - x, row = row_of_warp(v, k, &p->shape);
    return model_least_us(k, bytes, row, v->real == T_F32, v->on);
}

static int by_least(const void *a, const void *b)
{
    const struct waiting_kernel *x = a, *y = b;
    if (x->format_us != y->format_us) return x->format_us > y->format_us ? 1 : -1;
    return x->index - y->index;
}

/* The kernels that are not predicted yet, in the order in which to watch them: those of a format one after another,
   because they share its packing. */
static int list(const struct predicting *v, const struct format *f, struct waiting_kernel *out)
{
    int n = 0;
    struct plan p = {0};
    const struct kernel *planned = NULL; /* the kernel for which p was made; it does not fit if its format is NULL */
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (k->host || k->vendor || can_be_kept(k) == v->users || (f && k->format != f)) continue;
        if (modeled_of(v->p, k) || is_refused(v->p, k)) continue;
        bool can = modeled_can(k, &v->m->csr, NULL) && kernel_takes(k, v->real, NULL);
        bool known = planned && planned->format == k->format && planned->param == k->param;
        if (can && !known && !plan_of_format(v, planned = k, &p)) p = (struct plan){0};
        out[n++] = (struct waiting_kernel){k, can && p.shape.format ? least_us(v, k, &p) : NAN, INFINITY, i};
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (out[j].kernel->format == out[i].kernel->format)
                out[i].format_us = fmin(out[i].format_us, out[j].least_us); /* NaN counts as nothing */
    qsort(out, (size_t)n, sizeof *out, by_least);
    return n;
}

/* The time of the fastest kernel with which k competes: kernels of csr among themselves, too. 0: none. */
static double rival_us(const struct predicting *v, const struct kernel *k)
{
    for (int i = 0; i < v->p->n; i++)
        if (!k->format->interchange || v->p->k[i].kernel->format == k->format) return v->p->k[i].time.us;
    return 0;
}

static bool predict_all(struct predicting *v, const struct format *f, struct err *e)
{
    struct waiting_kernel *c = mem_new(registry_count(&kernel_registry), sizeof *c, "the predictions", e);
    bool ok = c != NULL;
    int n = ok ? list(v, f, c) : 0;
    for (int i = 0; ok && i < n; i++) {
        ok = watch_tick(&v->s->watch, c[i].kernel->name, i, n, e);
        v->last.slower_than = f || v->products ? 0 : FAR_BEHIND * rival_us(v, c[i].kernel);
        if (ok && !is_slow(v, &c[i], f)) ok = predict_one(v, c[i].kernel, NULL, e);
    }
    for (int i = 0; ok && i < n; i++)
        if (!modeled_of(v->p, c[i].kernel) && !is_refused(v->p, c[i].kernel))
            put_slow(v->p, c[i].kernel, c[i].least_us);
    packed_free(&v->last);
    mem_free(c);
    return ok;
}

/* ---- giving out ---- */

/* Copy the predictions of the kernels of f, or of all if f is NULL. */
static bool copy(const struct predictions *p, const struct format *f, struct predictions *out, struct err *e)
{
    if (!predictions_new(out, e)) return false;
    out->real = p->real;
    for (int i = 0; i < p->n; i++)
        if (!f || p->k[i].kernel->format == f) out->k[out->n++] = p->k[i];
    for (int i = 0; i < p->nslow; i++)
        if (!f || p->slow[i].kernel->format == f) out->slow[out->nslow++] = p->slow[i];
    for (int i = 0; i < p->nno; i++)
        if (!f || p->no[i].kernel->format == f) out->no[out->nno++] = p->no[i];
    return true;
}

bool predictions_of(struct session *s, struct matrix *m, const struct format *f, int64_t products, enum type real,
                    const struct machine *g, struct predictions *out, struct err *e)
{
    *out = (struct predictions){0};
    struct kept_predictions *kept = find_or_make(m, real, g, e);
    if (!kept) return false;
    struct predicting v = {.s = s, .m = m, .on = g, .real = real, .products = products, .p = &kept->p};
    bool ok = predict_all(&v, f, e), copied = copy(&kept->p, f, out, ok ? e : NULL);
    if (!ok || !copied) return false;
    v.p = out;
    v.users = true;
    return predict_all(&v, f, e);
}

bool predictions_with(struct session *s, struct matrix *m, const struct format *f, const int64_t *param, enum type real,
                      const struct machine *g, struct predictions *p, struct err *e)
{
    int n = p->n, nno = p->nno;
    bool ok = true;
    p->n = p->nno = 0;
    for (int i = 0; i < n; i++)
        if (p->k[i].kernel->format != f) p->k[p->n++] = p->k[i];
    for (int i = 0; i < nno; i++)
        if (p->no[i].kernel->format != f) p->no[p->nno++] = p->no[i];
    struct predicting v = {.s = s, .m = m, .on = g, .real = real, .p = p};
    for (int i = 0; ok && kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (k->format == f && !k->host && !k->vendor) ok = predict_one(&v, k, param, e);
    }
    packed_free(&v.last);
    return ok;
}
