/* Ranks kernels for `advise`: emulates our kernels, fits the times of library kernels, and measures the best on a
   GPU. */
#include "advice.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "correction.h"
#include "formats/format.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "microscope/black_box.h"
#include "microscope/modeled.h"
#include "predicted.h"
#include "predictions.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/spmv.h"
#include "session/time_limit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order of choices ---- */

double choice_us(const struct choice *c)
{
    return !isnan(c->measured_us) ? c->measured_us : !isnan(c->predicted_us) ? c->predicted_us : c->least_us;
}

double choice_total(const struct choices *all, const struct choice *c)
{
    return (isnan(c->prep_us) ? 0 : c->prep_us) + (double)all->products * choice_us(c);
}

static double cost_of(const struct choices *all, const struct choice *c)
{
    return all->products ? choice_total(all, c) : choice_us(c);
}

/* Does only a lower bound of the time exist? */
static bool is_bounded(const struct choice *c)
{
    return isnan(c->measured_us) && !isnan(c->least_us);
}

/* Of equals, the measured kernel comes first. */
static int by_rank(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    if (x->ranked_us != y->ranked_us) return x->ranked_us > y->ranked_us ? 1 : -1;
    if (isnan(x->measured_us) != isnan(y->measured_us)) return isnan(x->measured_us) ? 1 : -1;
    return (choice_us(x) > choice_us(y)) - (choice_us(x) < choice_us(y));
}

static void rank(struct choices *all)
{
    for (int i = 0; i < all->n; i++) {
        struct choice *c = &all->c[i];
        c->ranked_us = cost_of(all, c);
        if (isnan(c->measured_us)) c->ranked_us = fmax(c->ranked_us, all->floor_us);
        if (is_bounded(c)) c->ranked_us = INFINITY; /* after all others, in the order of the lower bounds */
    }
    qsort(all->c, (size_t)all->n, sizeof *all->c, by_rank);
}

/* ---- adding choices ---- */

void choices_free(struct choices *c)
{
    mem_free(c->c);
    mem_free(c->refused);
    *c = (struct choices){0};
}

/* k NULL: this build lacks the kernel. */
static void refuse(struct choices *all, const char *name, const struct format *f, const struct kernel *k,
                   const char *why)
{
    struct refused *no = &all->refused[all->nrefused++];
    no->name = name;
    no->format = f;
    no->kernel = k;
    snprintf(no->why, sizeof no->why, "%s", reason_without_name(name, why));
}

static double known_us(const struct session *s, const struct matrix *m, const struct kernel *k, enum precision real)
{
    const struct run *r = k ? modeled_run(s, m, k, real) : NULL;
    return r ? r->us : NAN;
}

bool choices_of(const struct session *s, const struct matrix *m, const struct predictions *p, int64_t products,
                struct choices *out, struct err *e)
{
    int room = registry_count(&kernel_registry);
    for (const struct black_box *b = black_boxes; b->name; b++) room++;
    *out = (struct choices){.products = products, .room = room};
    out->c = mem_new(room, sizeof *out->c, "the ranking", e);
    out->refused = out->c ? mem_new(room, sizeof *out->refused, "the ranking", e) : NULL;
    if (!out->refused) return false;
    for (int i = 0; i < p->n; i++) {
        const struct modeled *k = &p->k[i];
        const struct format *f = k->kernel->format;
        out->c[out->n++] = (struct choice){.name = k->kernel->name,
                                           .format = f,
                                           .kernel = k->kernel,
                                           .model = k,
                                           .predicted_us = k->time.us,
                                           .measured_us = known_us(s, m, k->kernel, k->real),
                                           .least_us = NAN,
                                           .correction = 1,
                                           .prep_us = f->interchange ? 0 : k->prep_us};
    }
    for (int i = 0; i < p->nslow; i++) {
        const struct kernel *k = p->slow[i].kernel;
        out->c[out->n++] = (struct choice){.name = k->name,
                                           .format = k->format,
                                           .kernel = k,
                                           .predicted_us = NAN,
                                           .measured_us = known_us(s, m, k, p->real),
                                           .least_us = p->slow[i].least_us,
                                           .correction = 1,
                                           .prep_us = NAN};
    }
    for (int i = 0; i < p->nno; i++) {
        const struct kernel *k = p->no[i].kernel;
        refuse(out, k->name, k->format, k, p->no[i].why);
    }
    rank(out);
    return true;
}

bool choices_correct(struct choices *c, struct session *s, const struct matrix *m, enum precision real,
                     const struct machine *g, struct correction *by, struct err *e)
{
    bool ok = true;
    *by = (struct correction){0};
    if (!correction_applies(s, m)) return true;
    for (int i = 0; ok && i < c->n; i++) {
        struct correction found;
        if (!c->c[i].model || !isnan(c->c[i].measured_us)) continue;
        ok = correction_by_bench(s, c->c[i].kernel, real, g, &found, e);
        if (!ok || !found.kernels) continue;
        c->c[i].correction = found.factor;
        c->c[i].predicted_us *= found.factor;
        *by = found;
    }
    rank(c);
    return ok;
}

/* Does the matrix fit f, as far as our kernels of it show? *prep_us receives the time of the conversion; NaN: a lower
   bound stands for these kernels, so that nothing was converted. */
static bool fits_in(const struct choices *all, const struct format *f, double *prep_us)
{
    *prep_us = f->interchange ? 0 : NAN;
    bool fits = f->interchange;
    for (int i = 0; i < all->n && !f->interchange; i++) {
        const struct choice *c = &all->c[i];
        bool ours = c->format == f && (c->model || !isnan(c->least_us));
        fits |= ours;
        if (ours && c->model) *prep_us = c->prep_us;
    }
    return fits;
}

/* A library kernel without times. Returns NULL if its format is not known to fit. */
static struct choice *add_library(struct choices *all, const char *name, const struct format *f, const struct kernel *k)
{
    double prep;
    if (!fits_in(all, f, &prep)) {
        refuse(all, name, f, k, "the conversion to this format was not timed, because none of our kernels of it fits");
        return NULL;
    }
    all->c[all->n] = (struct choice){.name = name,
                                     .format = f,
                                     .kernel = k,
                                     .predicted_us = NAN,
                                     .measured_us = NAN,
                                     .least_us = NAN,
                                     .correction = 1,
                                     .prep_us = prep};
    return &all->c[all->n++];
}

static bool fit_one(struct choices *all, const struct session *s, const struct matrix *m, const struct black_box *b,
                    enum precision real, struct black_box_terms *t, struct err *e)
{
    struct err why = {0};
    bool ok = black_box_terms_of(b, &m->csr, real, t, &why);
    if (!ok && !err_is_refusal(&why)) return fail_at(e, why.code, why.where, "%s", why.text);
    if (!ok) {
        refusal_without_force(&why, b->format->name, real, false);
        refuse(all, b->name, b->format, kernel_find(b->name), why.text);
        return true;
    }
    struct choice *c = add_library(all, b->name, b->format, kernel_find(b->name));
    if (!c) return true;
    c->box = b;
    c->predicted_us = black_box_us(b, t);
    c->measured_us = known_us(s, m, c->kernel, precision_of_values(real, m->csr.imag != NULL));
    return true;
}

bool choices_fit(struct choices *c, const struct session *s, const struct matrix *m, enum precision real, struct err *e)
{
    struct black_box_terms t = {0};
    bool ok = true;
    for (const struct black_box *b = black_boxes; ok && b->name; b++) ok = fit_one(c, s, m, b, real, &t, e);
    rank(c);
    return ok;
}

/* The fits to times of library kernels hold for one GPU only. */
static bool fits_are_for(const struct session *s, const struct machine *g)
{
    return !s->gpu || !strcmp(g->name, BLACK_BOX_GPU);
}

bool choices_predicted(struct session *s, struct matrix *m, const struct predictions *p, int64_t products,
                       enum precision real, const struct machine *g, struct choices *out, struct correction *by,
                       struct err *e)
{
    return choices_of(s, m, p, products, out, e) && choices_correct(out, s, m, real, g, by, e) &&
           (!fits_are_for(s, g) || choices_fit(out, s, m, real, e));
}

/* ---- the first choice ---- */

const char *choice_stored(const struct choice *c, char *text, size_t size)
{
    bool suited = c->model && c->format->suit;
    if (suited)
        snprintf(text, size, "%s %lld", c->format->name, (long long)c->model->plan.shape.param[0]);
    else
        snprintf(text, size, "%s", c->format->name);
    return text;
}

static const struct kernel *first_modeled(const struct choices *all)
{
    for (int i = 0; i < all->n; i++)
        if (all->c[i].model) return all->c[i].kernel;
    return NULL;
}

static void note_first(const struct choices *all, const struct machine *g, struct first_choice *out)
{
    const struct choice *c = all->n ? all->c : NULL;
    if (!c || isinf(c->ranked_us)) return;
    *out = (struct first_choice){.known = true,
                                 .measured = !isnan(c->measured_us),
                                 .us = choice_us(c),
                                 .format = c->format->name,
                                 .kernel = c->name,
                                 .modeled = first_modeled(all)};
    choice_stored(c, out->stored, sizeof out->stored);
    snprintf(out->machine, sizeof out->machine, "%s", c->box && !out->measured ? BLACK_BOX_GPU : g->name);
}

static bool predict_first(struct session *s, struct matrix *m, struct first_choice *out, struct err *e)
{
    struct machine g;
    struct predictions p = {0};
    struct choices all = {0};
    struct correction by;
    bool ok = modeled_matrix(m, e) && modeled_machine(s, &g, e) && predictions_first(s, m, P_F64, &g, &p, e) &&
              choices_predicted(s, m, &p, 0, P_F64, &g, &all, &by, e);
    if (ok) note_first(&all, &g, out);
    choices_free(&all);
    predictions_free(&p);
    return ok;
}

bool first_choice_of(struct session *s, struct matrix *m, double limit_us, struct first_choice *out, struct err *e)
{
    struct err why = {0};
    struct time_limit limit;
    *out = (struct first_choice){0};
    /* processor time, so that the same matrix gets the same answer on a busy machine */
    time_limit_begin(&limit, s, worked_us, worked_us() + limit_us);
    bool ok = predict_first(s, m, out, &why);
    time_limit_end(&limit, s);
    return ok || limit.late || why.code != E_CANCELLED || fail_at(e, why.code, why.where, "%s", why.text);
}

/* ---- measuring the best ---- */

static struct choice *find(struct choices *all, const struct kernel *k)
{
    for (int i = 0; i < all->n; i++)
        if (all->c[i].kernel == k) return &all->c[i];
    return NULL;
}

/* A kernel that has no fit for this matrix can be measured nevertheless. */
static void forget_refusal(struct choices *all, const struct kernel *k)
{
    int kept = 0;
    for (int i = 0; i < all->nrefused; i++)
        if (all->refused[i].kernel != k) all->refused[kept++] = all->refused[i];
    all->nrefused = kept;
}

/* Measure k, and write the time to its choice. If only this kernel fails, move it to the refused kernels. */
static bool measure_one(struct choices *all, struct session *s, const struct spmv_request *w, const struct kernel *k,
                        measure_fn *measure, struct err *e)
{
    struct run r;
    struct err why = {0};
    struct choice *c = find(all, k);
    if (!isnan(c->measured_us)) return true;
    if (!watch_tick(&s->watch, k->name, 0, 0, e)) return false;
    struct spmv_request one = *w;
    one.kernel = k;
    if (measure(s, &one, &r, &why)) {
        c->measured_us = r.us;
        return true;
    }
    if (why.code == E_CANCELLED || w->dev->lost) return fail_at(e, why.code, why.where, "%s", why.text);
    refusal_without_force(&why, k->format->name, w->real, false);
    refuse(all, k->name, k->format, k, why.text);
    *c = all->c[--all->n];
    return true;
}

/* The best of our kernels that is not measured; NULL: none. */
static const struct kernel *next_prediction(const struct choices *all)
{
    const struct choice *next = NULL;
    for (int i = 0; i < all->n; i++) {
        const struct choice *c = &all->c[i];
        if (c->model && isnan(c->measured_us) && (!next || by_rank(c, next) < 0)) next = c;
    }
    return next ? next->kernel : NULL;
}

/* Measure the first predictions, and note the slowest of them in floor_us. */
static bool measure_first(struct choices *all, struct session *s, const struct spmv_request *w, measure_fn *measure,
                          struct err *e)
{
    const struct kernel *k;
    for (int n = 0; n < MEASURED_FIRST && (k = next_prediction(all));) {
        if (!measure_one(all, s, w, k, measure, e)) return false;
        const struct choice *c = find(all, k);
        if (!c) continue;
        all->floor_us = fmax(all->floor_us, cost_of(all, c));
        n++;
    }
    return true;
}

static bool measure_library(struct choices *all, struct session *s, const struct spmv_request *w, measure_fn *measure,
                            struct err *e)
{
    for (int i = 0; kernels[i]; i++) {
        const struct kernel *k = kernels[i];
        if (!k->vendor || !kernel_runs_on(k, w->dev)) continue;
        forget_refusal(all, k);
        if (!find(all, k) && !add_library(all, k->name, k->format, k)) continue;
        if (!measure_one(all, s, w, k, measure, e)) return false;
    }
    return true;
}

/* Drop the library kernels that have no time, because the user cancelled before they were measured. */
static void drop_unknown(struct choices *all)
{
    int kept = 0;
    for (int i = 0; i < all->n; i++)
        if (!isnan(choice_us(&all->c[i]))) all->c[kept++] = all->c[i];
    all->n = kept;
}

bool choices_measure(struct choices *c, struct session *s, const struct spmv_request *w, measure_fn *measure,
                     struct err *e)
{
    bool ok = measure_first(c, s, w, measure, e) && measure_library(c, s, w, measure, e);
    drop_unknown(c);
    rank(c);
    return ok;
}
