/* Finds the stored form of a matrix that a command asks for, or makes it: packed by the host, packed by a device from
   its copy of the csr, or borrowed from the matrix whose transpose is stored. */
#include "stored_forms.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "in_parts.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/kernel_params.h"
#include "machine/packer.h"
#include "matrix.h"
#include "product.h"
#include "session.h"

#include <string.h>

struct form form_of(struct matrix *m, const struct format *f, const int64_t *param, enum type real)
{
    struct form w = {.matrix = m, .format = f, .real = real};
    for (int i = 0; f->params[i].name; i++) w.param[i] = param ? param[i] : f->params[i].default_value;
    return w;
}

struct form form_for(struct matrix *m, const struct kernel *k, const int64_t *param, enum type real,
                     int multiprocessors)
{
    int64_t suited[PARAMS_MAX];
    param = kernel_params(k, param, &m->csr, real, multiprocessors, suited);
    struct form w = form_of(m, k->format, param, real);
    w.kernel = k;
    return w;
}

struct form form_near(struct form w, struct device *d)
{
    w.there = d->kind == DEV_CUDA && !w.matrix->lesson;
    w.packer = w.there ? d : NULL;
    return w;
}

/* The type of the values of m in the precision `real`. */
static enum type stored_type(const struct matrix *m, enum type real)
{
    return type_of_values(real, m->csr.imag != NULL);
}

/* The stored form that an earlier request with the same parameters made, so that format_plan need not be called
   again. */
static struct product *requested_before(const struct form *w)
{
    enum type real = stored_type(w->matrix, w->real);
    for (struct product *p = w->matrix->products; p; p = p->next)
        if (p->S.format == w->format && p->S.real == real && !memcmp(p->requested, w->param, sizeof w->param)) return p;
    return NULL;
}

/* The stored form with the same resolved parameters. */
static struct product *cached(struct matrix *m, const struct stored *shape)
{
    for (struct product *p = m->products; p; p = p->next)
        if (p->S.format == shape->format && p->S.real == shape->real &&
            !memcmp(p->S.param, shape->param, sizeof shape->param))
            return p;
    return NULL;
}

bool session_is_packed(struct form w)
{
    const struct product *p = requested_before(&w);
    return p && product_is_complete(p);
}

void session_say_vanishing(struct session *s, const char *name, const struct csr *A, enum type real)
{
    struct vanishing v;
    if (!format_vanishing(A, real, &v)) return;
    out_note(s->out, "%s of %s %s below %s's smallest number, %.2g, and %s 0; use f64, or `scale` the matrix first",
             how_many(v.values, "value").text, name, v.values == 1 ? "is" : "are", type_name(v.stored), v.smallest,
             v.values == 1 ? "becomes" : "become");
}

/* Say once, not for each format. */
static void say_vanishing(struct session *s, const struct form *w)
{
    for (const struct product *p = w->matrix->products; p; p = p->next)
        if (p->S.real == stored_type(w->matrix, w->real)) return;
    session_say_vanishing(s, w->matrix->name, &w->matrix->csr, w->real);
}

/* May the matrix, which is the transpose of another, use the arrays of that matrix in another format? */
static bool can_borrow(const struct form *w)
{
    return w->matrix->transpose_of && w->format->transposed;
}

/* Make the form from the arrays of a stored form of the matrix whose transpose w->matrix is. */
static struct product *borrow(struct session *s, const struct form *w, struct err *e)
{
    struct plan plan;
    struct matrix *of = (struct matrix *)w->matrix->transpose_of;
    struct product *lender = session_product(s, form_of(of, w->format->transposed, NULL, w->real), e);
    if (!lender || !format_plan(&w->matrix->csr, w->format, NULL, w->real, &plan, e)) return NULL;
    struct product *p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p) return NULL;
    p->S = plan.shape;
    for (int k = 0; k < p->S.narrays; k++) p->S.a[k].data = lender->S.a[k].data;
    p->lender = lender;
    lender->borrower = p;
    return product_keep(w->matrix, p);
}

static struct product *pack_here(struct session *s, const struct form *w, struct err *e)
{
    const struct csr *A = &w->matrix->csr;
    struct plan plan;
    double start = now_us();
    if (!format_plan(A, w->format, w->param, w->real, &plan, e)) return NULL;
    double plan_us = now_us() - start;
    struct product *p = cached(w->matrix, &plan.shape);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p) return NULL;
    start = now_us();
    if (!format_pack_plan(A, &plan, w->force, &p->S, e)) return mem_free(p), NULL;
    p->prep_us = plan_us + now_us() - start;
    say_vanishing(s, w);
    memcpy(p->requested, w->param, sizeof p->requested);
    p->csr = A;
    return product_keep(w->matrix, p);
}

/* Turn the result of the conversion v, whose first run took `us`, into a stored form of m, unless m has the same form
   already. */
static struct product *take_over(struct matrix *m, struct packing *v, double us, struct err *e)
{
    struct product *p = cached(m, &v->S);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p || !packing_take(v, &p->S, &p->mat[0], e)) return mem_free(p), NULL;
    p->nmats = 1;
    p->csr = &m->csr;
    if (!mat_get_layout(&p->mat[0], &p->S, e)) return product_free(p), NULL;
    memcpy(p->requested, v->given.param, sizeof p->requested);
    p->prep_us = us;
    p->packed_on = v->dev;
    return product_keep(m, p);
}

static bool can_pack_there(const struct form *w)
{
    return w->packer && packer_for(w->format, w->packer, w->real) && !csr_is_large(&w->matrix->csr);
}

/* Fails with E_MEMORY if the device has too little memory for the csr or for the conversion. */
static struct product *pack_there(struct session *s, const struct form *w, struct err *e)
{
    struct packing *v;
    struct err why = {0};
    struct product *p = session_product(s, form_of(w->matrix, &format_csr, NULL, w->real), e);
    struct mat *A = p ? session_mat(s, p, w->packer, &why) : NULL;
    if (p && !A) return fail(e, why.code == E_LIMIT ? E_MEMORY : why.code, "%s", why.text), NULL;
    double start = now_us();
    if (!A || !packing_begin(&v, w->format, A, w->param, w->force, e)) return NULL;
    p = take_over(w->matrix, v, now_us() - start, e);
    packing_free(v);
    return p;
}

static struct product *make(struct session *s, const struct form *w, struct err *e)
{
    struct err why = {0};
    if (matrix_in_parts(w->matrix)) return in_parts_product(w->matrix, w->format, w->real, e);
    if (can_borrow(w)) return borrow(s, w, e);
    struct product *p = can_pack_there(w) ? pack_there(s, w, &why) : NULL;
    if (p) return p;
    if (why.code != E_NONE && why.code != E_MEMORY) return fail(e, why.code, "%s", why.text), NULL;
    return pack_here(s, w, e);
}

static bool kernel_fits(const struct kernel *k, const struct product *p, struct err *e)
{
    return !k || !k->fits || k->fits(&p->S, e);
}

struct product *session_product(struct session *s, struct form w, struct err *e)
{
    if (w.kernel && !kernel_takes(w.kernel, w.real, e)) return NULL;
    struct product *p = requested_before(&w);
    if (!p) p = make(s, &w, e);
    bool whole = !w.there || (w.kernel && w.kernel->fits_values);
    return p && (!whole || product_complete(p, e)) && kernel_fits(w.kernel, p, e) ? p : NULL;
}
