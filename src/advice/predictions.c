/* Predicts all kernels of a matrix at the cost of few, and keeps the predictions with the matrix.

   Kernels are watched in the order of a lower bound of their times, which needs no emulation: the bytes that they must
   move, and a launch (model_least_us). A kernel whose lower bound exceeds the predicted times of WANTED others is not
   watched. The others are watched as closely as their sample and their rank need (modeled.c). */
#include "predictions.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/kernel.h"
#include "microscope/modeled.h"
#include "predicted.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fastest kernels whose predictions must not be lower bounds; `advise` measures WANTED of them on a GPU, and a
   verdict names the first. */
enum { WANTED = 3, WANTED_FIRST = 1 };
/* A first look that predicts a kernel to take this many times as long as the fastest is not followed by a closer one.
 */
#define FAR_BEHIND 1.5

/* ---- predicting ---- */

struct predicting {
    struct session *s;
    struct matrix *m;
    const struct machine *on;
    enum precision real;
    int64_t products;
    int wanted; /* the fastest kernels that must be predicted */
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
    bool modeled = modeled_csr(&v->m->csr, k, param, v->real, v->on, &v->s->watch, &v->last, out, &why);
    if (modeled) predictions_put(p, out);
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

/* Kernels of csr that prepare nothing are predicted for every ranking: conversions pay in comparison with the fastest
   of them. */
static bool is_slow(const struct predicting *v, const struct waiting_kernel *c, const struct format *f)
{
    const struct kernel *k = c->kernel;
    bool needed = !f && v->wanted > WANTED_FIRST && k->format->interchange && !k->prepare;
    return !needed && cost(v, 0, c->least_us) > cost_number(v, f, f ? 0 : v->wanted - 1);
}

/* The sizes of the format of k; false: the matrix does not fit. */
static bool plan_of_format(const struct predicting *v, const struct kernel *k, struct plan *p)
{
    int64_t own[PARAMS_MAX];
    const int64_t *param = kernel_params(k, NULL, &v->m->csr, v->real, v->on->sms, own);
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
    int64_t x = v->m->csr.cols * (int64_t)type_size(precisions[p->shape.real].vector); /* parts of x may not be read */
    int64_t bytes = kernel_bytes(k, &p->shape, 0) - x, row = row_of_warp(v, k, &p->shape);
    return model_least_us(k, bytes, row, v->real == P_F32, v->on);
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
        if (k->host || k->vendor || prediction_can_be_kept(k) == v->users || (f && k->format != f)) continue;
        if (predictions_find(v->p, k) || predictions_refused(v->p, k)) continue;
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
        if (!predictions_find(v->p, c[i].kernel) && !predictions_refused(v->p, c[i].kernel))
            predictions_put_slow(v->p, c[i].kernel, c[i].least_us);
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

bool predictions_of(struct session *s, struct matrix *m, const struct format *f, int64_t products, enum precision real,
                    const struct machine *g, struct predictions *out, struct err *e)
{
    *out = (struct predictions){0};
    struct kept_predictions *kept = kept_predictions_for(m, real, g, e);
    if (!kept) return false;
    struct predicting v = {
        .s = s, .m = m, .on = g, .real = real, .products = products, .wanted = WANTED, .p = &kept->p};
    bool ok = predict_all(&v, f, e), copied = copy(&kept->p, f, out, ok ? e : NULL);
    if (!ok || !copied) return false;
    v.p = out;
    v.users = true;
    return predict_all(&v, f, e);
}

bool predictions_first(struct session *s, struct matrix *m, enum precision real, const struct machine *g,
                       struct predictions *out, struct err *e)
{
    *out = (struct predictions){0};
    struct kept_predictions *kept = kept_predictions_for(m, real, g, e);
    if (!kept) return false;
    struct predicting v = {.s = s, .m = m, .on = g, .real = real, .wanted = WANTED_FIRST, .p = &kept->p};
    return predict_all(&v, NULL, e) && copy(&kept->p, NULL, out, e);
}

bool predictions_with(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                      enum precision real, const struct machine *g, struct predictions *p, struct err *e)
{
    int n = p->n, nno = p->nno;
    bool ok = true;
    p->n = p->nno = 0;
    for (int i = 0; i < n; i++)
        if (p->k[i].kernel->format != f) p->k[p->n++] = p->k[i];
    for (int i = 0; i < nno; i++)
        if (p->no[i].kernel->format != f) p->no[p->nno++] = p->no[i];
    struct predicting v = {.s = s, .m = m, .on = g, .real = real, .wanted = WANTED, .p = p};
    for (int i = 0; ok && kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (k->format == f && !k->host && !k->vendor) ok = predict_one(&v, k, param, e);
    }
    packed_free(&v.last);
    return ok;
}
