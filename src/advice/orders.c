/* Tries orders of the rows of a matrix: each is computed on this host, and the kernels are predicted for the matrix in
   this order, which is discarded unless it is the fastest. */
#include "orders.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "matrix/reorder.h"
#include "microscope/gpu_profile.h"
#include "microscope/model.h"
#include "microscope/modeled.h"
#include "predicted.h"
#include "predictions.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/kept_predictions.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Near the fastest kernel, the model is off by about 3 %: another order has to be faster by more than that. */
#define WORTH_MOVING 1.03

/* What all orders of a matrix are tried with. */
struct trying {
    struct session *s;
    struct matrix *m;
    const struct format *f;
    enum precision real;
    const struct machine *on;
    struct orders_tried *out;
};

static void take_prediction(struct order_tried *t, const struct modeled *k)
{
    t->kernel = k->kernel;
    t->format = k->kernel->format;
    stored_params(&k->plan.shape, t->params, sizeof t->params);
    t->us = k->time.us;
    t->prep_us = k->kernel->format->interchange ? 0 : k->prep_us;
    t->sampled = k->work.sampled;
}

/* Predict the fastest kernel for m, which is the matrix in the order of t. */
static bool predict(const struct trying *v, struct matrix *m, struct order_tried *t, struct err *e)
{
    struct predictions p = {0};
    bool ok = v->f ? predictions_of(v->s, m, v->f, 0, v->real, v->on, &p, e)
                   : predictions_first(v->s, m, v->real, v->on, &p, e);
    if (ok && p.n) take_prediction(t, p.k);
    if (ok && !p.n) snprintf(t->why, sizeof t->why, "%s", p.nno ? p.no->why : "no kernel can be predicted");
    predictions_free(&p);
    return ok;
}

/* ---- one order ---- */

static bool is_identity(const int *perm, int64_t n)
{
    int64_t i = 0;
    while (i < n && perm[i] == i) i++;
    return i == n;
}

/* The order tried before that is the same as perm; NULL: none. */
static const struct order_tried *same_before(const struct orders_tried *all, const int *perm, int64_t n)
{
    if (is_identity(perm, n)) return all->at;
    for (int i = 1; i < all->n; i++)
        if (all->perm[i] && !memcmp(all->perm[i], perm, (size_t)n * sizeof *perm)) return &all->at[i];
    return NULL;
}

/* Predict for the matrix in the order perm, which becomes out->moved if it is faster than all before. */
static bool predict_moved(const struct trying *v, struct order_tried *t, const int *perm, struct err *e)
{
    struct matrix *m = mem_zero(1, sizeof *m, "a reordered matrix", e);
    if (!m) return false;
    snprintf(m->name, sizeof m->name, "%s", v->m->name);
    double begin = now_us();
    bool ok = reorder_apply(&m->csr, &v->m->csr, perm, &v->s->watch, e);
    t->move_us = now_us() - begin;
    ok = ok && predict(v, m, t, e);
    bool moves = v->out->best->order;
    if (ok && t->us * (moves ? 1 : WORTH_MOVING) < v->out->best->us) {
        csr_free(&v->out->moved);
        v->out->moved = m->csr;
        m->csr = (struct csr){0};
        v->out->best = t;
    }
    matrix_free(m);
    return ok;
}

static void take_same(struct order_tried *t, const struct order_tried *as)
{
    struct order_tried own = *t;
    *t = *as;
    t->order = own.order;
    t->order_us = own.order_us;
    t->as = as->as ? as->as : as;
}

/* The next order of out->at. */
static bool try_order(const struct trying *v, const struct ordering *o, struct err *e)
{
    struct orders_tried *all = v->out;
    struct order_tried *t = &all->at[all->n];
    struct err why = {0};
    int64_t n = v->m->csr.rows;
    *t = (struct order_tried){.order = o, .us = NAN};
    int *perm = mem_new(n, sizeof *perm, "an ordering", e);
    if (!perm) return false;
    double begin = now_us();
    bool ok = reorder_find(o, &v->m->csr, perm, &v->s->watch, &why), refused = !ok && err_is_refusal(&why);
    t->order_us = now_us() - begin;
    if (refused) snprintf(t->why, sizeof t->why, "%s", why.text);
    const struct order_tried *as = ok ? same_before(all, perm, n) : NULL;
    if (as) take_same(t, as);
    if (ok && !as) {
        all->perm[all->n] = perm;
        perm = NULL;
        ok = predict_moved(v, t, all->perm[all->n], &why);
    }
    mem_free(perm);
    all->n++;
    return ok || refused || fail_at(e, why.code, why.where, "%s", why.text);
}

/* ---- all orders ---- */

bool orders_try(struct session *s, struct matrix *m, const struct format *f, enum precision real,
                const struct machine *g, bool quick, struct orders_tried *out, struct err *e)
{
    *out = (struct orders_tried){.n = 1, .at[0].us = NAN, .best = out->at};
    struct trying v = {.s = s, .m = m, .f = f, .real = real, .on = g, .out = out};
    if (!reorder_takes(&m->csr, e) || !modeled_matrix(m, e) || !predict(&v, m, &out->at[0], e)) return false;
    if (*out->at[0].why) return fail(e, E_UNSUPPORTED, "%s: %s", m->name, out->at[0].why);
    for (int i = 0; orderings[i] && out->n < ORDERS_MAX; i++)
        if (orderings[i]->local && !(quick && orderings[i]->slow) && !try_order(&v, orderings[i], e)) return false;
    return true;
}

static void forget_arrays(struct orders_tried *t)
{
    for (int i = 0; i < ORDERS_MAX; i++) {
        mem_free(t->perm[i]);
        t->perm[i] = NULL;
    }
    csr_free(&t->moved);
}

void orders_free(struct orders_tried *t)
{
    forget_arrays(t);
    *t = (struct orders_tried){0};
}

const struct orders_tried *orders_quick(struct session *s, struct matrix *m, enum precision real,
                                        const struct machine *g, struct err *e)
{
    struct kept_predictions *kept = kept_predictions_for(m, real, g, e);
    if (!kept || kept->orders) return kept ? kept->orders : NULL;
    struct orders_tried *t = mem_zero(1, sizeof *t, "other orders of a matrix", e);
    bool ok = t && orders_try(s, m, NULL, real, g, true, t, e);
    if (t) forget_arrays(t);
    kept = ok ? kept_predictions_for(m, real, g, e) : NULL; /* the list has moved */
    if (kept) return kept->orders = t;
    mem_free(t);
    return NULL;
}

const int *orders_best_perm(const struct orders_tried *t)
{
    return t->perm[t->best - t->at];
}

double orders_pay_after(const struct order_tried *now, const struct order_tried *t)
{
    double cost = t->order_us + t->move_us + t->prep_us - now->prep_us;
    return t->us < now->us ? ceil(fmax(cost, 0) / (now->us - t->us)) : INFINITY;
}

bool orders_may_gain(const struct csr *A, const struct kernel *k, enum precision real, double us, double gain,
                     const struct machine *g)
{
    int64_t size = (int64_t)type_size(precisions[precision_of_values(real, A->imag != NULL)].vector);
    int64_t bytes = size * (A->nnz + A->rows + A->cols);
    return A->rows == A->cols && us > gain * model_least_us(k, bytes, 0, real == P_F32, g);
}

/* ---- output ---- */

static void out_pays(struct out *o, double after)
{
    char text[32];
    bool known = isfinite(after);
    snprintf(text, sizeof text, "%.0f", after);
    out_num(o, "pays_after", NULL, known ? after : NAN, "%.0f");
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "pays after", known ? text : isnan(after) ? "-" : "never");
}

static void out_costs(struct out *o, const struct order_tried *now, const struct order_tried *t)
{
    bool moves = t->order, known = !isnan(t->us);
    out_rank(o, COLUMN_DETAIL);
    out_time(o, "order_us", "ordered in", moves ? t->order_us : NAN);
    out_time(o, "move_us", "moved in", moves && known ? t->move_us : NAN);
    out_time(o, "prep_us", "converted in", known ? t->prep_us : NAN);
    out_rank(o, COLUMN_ANSWER);
    out_pays(o, moves && known ? orders_pay_after(now, t) : NAN);
}

void out_order_tried(struct out *o, const struct matrix *m, enum precision real, const struct machine *g,
                     const struct orders_tried *all, const struct order_tried *t)
{
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "order", NULL, t->order ? t->order->name : NULL);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "order", t->order ? t->order->name : "as it is");
    out_bool(o, "best", NULL, t == all->best);
    out_str(o, "as", NULL, t->as && t->as->order ? t->as->order->name : NULL);
    out_str(o, "kernel", "kernel", t->kernel ? t->kernel->name : NULL);
    out_rank(o, COLUMN_NORMAL);
    out_str(o, "format", "format", t->format ? t->format->name : NULL);
    out_rank(o, COLUMN_DETAIL);
    out_str(o, "params", "parameters", *t->params ? t->params : NULL);
    out_str(o, "precision", NULL, precision_of(&m->csr, real));
    out_machine(o, g);
    out_rank(o, COLUMN_ANSWER);
    out_time(o, "predicted_us", "predicted", t->us);
    out_num(o, "times", "x of now", t->us / all->at[0].us, "%.2f");
    out_costs(o, all->at, t);
    out_bool(o, "sampled", NULL, t->sampled);
    out_fitting(o, *t->why ? t->why : NULL);
}

static void say_order(struct out *o, const struct order_tried *t)
{
    if (*t->why) out_text(o, "%s: %s", t->order->name, t->why);
    if (t->as) out_text(o, "%s gives the same order as %s.", t->order->name, t->as->order ? t->as->order->name : "now");
}

void out_orders_tried(struct session *s, const struct matrix *m, enum precision real, const struct machine *g,
                      const struct orders_tried *all)
{
    bool sampled = false;
    for (int i = 0; i < all->n; i++) {
        out_order_tried(s->out, m, real, g, all, &all->at[i]);
        sampled |= all->at[i].sampled;
    }
    for (int i = 1; i < all->n; i++) say_order(s->out, &all->at[i]);
    modeled_remarks(s, g, sampled);
    out_text(s->out, "Times of orders, moves and conversions were measured on this host.");
}

/* ---- the keys of the rows ---- */

static const char without_metis[] = "hosts without METIS";

static const struct field order_tried_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"order", F_TEXT | OR_NULL, "ordering of rows and columns; null: as they are", .entries = &ordering_registry},
    {"best", F_BOOLEAN, "whether a product is predicted to be the fastest in this order"},
    {"as", F_TEXT | OR_NULL, "another ordering that gives the same order; null: none, or the rows are as they were",
     .entries = &ordering_registry},
    {"kernel", F_TEXT | OR_NULL, "the kernel that is predicted to be the fastest in this order; null: not known",
     .null_on = without_metis},
    {"format", F_TEXT | OR_NULL, "its storage format; null: not known", .null_on = without_metis},
    {"params", F_TEXT | OR_NULL, "parameters of the format as resolved; null: it has none"},
    {.include = &row_precision},
    {.include = &row_machine},
    {"predicted_us", F_AMOUNT | OR_NULL, "predicted time of one SpMV, in us; null: not known",
     .null_on = without_metis},
    {"times", F_AMOUNT | OR_NULL, "this time divided by that in the order that the matrix has; null: not known",
     .null_on = without_metis},
    {"order_us", F_AMOUNT | OR_NULL, "finding the order, in us, measured on this host; null: as they are"},
    {"move_us", F_AMOUNT | OR_NULL, "moving the entries, in us, measured on this host; null: they were not moved"},
    {"prep_us", F_AMOUNT | OR_NULL, "conversion from csr, in us, measured on this host; null: not known",
     .null_on = without_metis},
    {"pays_after", F_COUNT | OR_NULL,
     "number of SpMVs after which order and format have overtaken the fastest kernel in the order that the matrix "
     "has; null: never, or not known"},
    {"sampled", F_BOOLEAN, "whether only a sample of the blocks was emulated"},
    {"fits", F_BOOLEAN, "whether the order can be used"},
    {"reason", F_TEXT | OR_NULL, "why not; null: there is no obstacle", .on = without_metis},
    {0},
};
const struct row_kind row_order_tried = {"order", "an order of the rows, with its fastest kernel", order_tried_fields};
