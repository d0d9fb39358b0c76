/* The stored forms of the matrices of the session: finds the one that a command asks for, or packs it on the host or on
   a device, or borrows the arrays of the matrix whose transpose is stored; copies stored forms to devices, and frees
   the copies that no command uses when memory is needed. */
#include "product.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "equilibrated.h"
#include "formats/fmt_csr.h"
#include "formats/format.h"
#include "holding.h"
#include "in_parts.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/member_rows.h"
#include "machine/packer.h"
#include "matrix.h"
#include "session.h"
#include "stale.h"

#include <stdio.h>
#include <string.h>

/* Add p to the stored forms of m, which owns it from now on. */
static struct product *keep(struct matrix *m, struct product *p)
{
    SCREEN_EDIT;
    p->next = m->products;
    return m->products = p;
}

/* Does the host have all arrays? */
static bool is_complete(const struct product *p)
{
    for (int k = 0; !p->S.made && k < p->S.narrays; k++)
        if (!p->S.a[k].data) return false;
    return true;
}

/* Pack p again by the plan that it was packed by, and move the arrays that `whole` lacks to it. Packing gives the same
   bits on the host as on a device. */
static bool pack_again(const struct product *p, struct stored *whole, struct err *e)
{
    struct stored again;
    struct plan plan = plan_of(&p->S);
    for (int k = 0; k < plan.shape.narrays; k++) plan.shape.a[k].data = NULL;
    if (!format_pack_plan(p->csr, &plan, true, &again, e)) return false;
    for (int k = 0; k < again.narrays; k++) {
        if (whole->a[k].data) continue;
        whole->a[k].data = again.a[k].data;
        again.a[k].data = NULL;
    }
    stored_free(&again);
    return true;
}

/* Copy the arrays that only a device has to the host, or pack them again if the device has lost them. */
static bool complete(struct product *p, struct err *e)
{
    if (is_complete(p)) return true;
    struct stored whole = p->S;
    bool ok = p->nmats ? mat_get(&p->mat[0], &whole, e) : pack_again(p, &whole, e);
    SCREEN_EDIT;
    p->S = whole; /* with the arrays that it got, also after a failure */
    return ok;
}

/* Free mat i of p, but not the arrays that the lender of p owns. */
static void free_mat(struct product *p, int i)
{
    if (p->lender) memset(p->mat[i].ptr, 0, sizeof p->mat[i].ptr);
    mat_free(&p->mat[i]);
}

void product_free(struct product *p)
{
    stale_all();
    for (int i = 0; i < p->nmats; i++) free_mat(p, i);
    if (p->lender)
        p->lender->borrower = NULL;
    else
        stored_free(&p->S);
    mem_free(p);
}

/* ---- copies on devices ---- */

/* Free mat i of p, which is one copy of the stored matrix on a device, and the mat of the borrower of p that uses its
   arrays. The last mat moves into the place of mat i, and the pointers to the moved mat are updated. */
static void remove_mat(struct session *s, struct product *p, int i)
{
    struct product *b = p->borrower;
    SCREEN_EDIT;
    for (int k = b ? b->nmats : 0; k-- > 0;)
        if (b->mat[k].dev == p->mat[i].dev) remove_mat(s, b, k);
    int last = p->nmats - 1;
    holdings_drop_using(s, &p->mat[i]);
    holdings_moved(s, &p->mat[last], &p->mat[i]);
    free_mat(p, i);
    p->mat[i] = p->mat[last];
    p->put_us[i] = p->put_us[last];
    p->nmats--;
}

static void drop_matrix_from(struct session *s, struct matrix *m, const struct device *d)
{
    if (m->transposed) drop_matrix_from(s, m->transposed, d);
    if (m->equilibrated) drop_matrix_from(s, m->equilibrated->m, d);
    if (m->reordered) drop_matrix_from(s, m->reordered->m, d);
    for (struct product *p = m->products; p; p = p->next)
        for (int i = p->nmats; i-- > 0;)
            if ((!d || device_has(p->mat[i].dev, d)) && !holdings_use(s, &p->mat[i])) remove_mat(s, p, i);
}

void device_copies_drop(struct session *s, const struct device *d)
{
    for (struct matrix *m = s->matrices; m; m = m->next) drop_matrix_from(s, m, d);
}

/* Make sure that S fits in the free memory of d. If S does not fit, free the mats on d that are not in use. */
static bool make_room(struct session *s, struct device *d, const struct stored *S, struct err *e)
{
    int64_t free_bytes = 0, total = 0, need = d->ops->plain ? stored_own_bytes(S) : stored_bytes(S);
    char a[32], b[32];
    if (!d->ops->memory(d, &free_bytes, &total, e)) return false;
    if (need <= free_bytes) return true;
    device_copies_drop(s, d);
    if (!d->ops->memory(d, &free_bytes, &total, e)) return false;
    if (need <= free_bytes) return true;
    char more[80] = "";
    if (d->kind == DEV_CUDA && free_bytes > 0) {
        long long members = (need + free_bytes - 1) / free_bytes * (d->members ? d->members : 1);
        snprintf(more, sizeof more, "; about %lld such GPUs together hold it (`help devices`)", members);
    }
    return fail(e, E_LIMIT, "%s needs %s on %s, which has %s free; try f32, another format or another device%s",
                S->format->name, show_bytes((double)need, a, sizeof a), d->name,
                show_bytes((double)free_bytes, b, sizeof b), more);
}

/* Make M, a copy of S on the device of `lent`, from the arrays of `lent`. */
static bool mat_lend(struct mat *M, const struct stored *S, const struct mat *lent, struct err *e)
{
    *M = (struct mat){.of = S, .dev = lent->dev};
    M->scratch = mem_zero(1, sizeof *M->scratch, "a matrix on a device", e);
    if (M->scratch) memcpy(M->ptr, lent->ptr, sizeof M->ptr);
    return M->scratch != NULL;
}

struct mat *session_mat(struct session *s, struct product *p, struct device *d, struct err *e)
{
    for (int i = 0; i < p->nmats; i++)
        if (p->mat[i].dev == d) return &p->mat[i];
    if (p->S.made && !d->members) {
        fail(e, E_UNSUPPORTED, "%s has no members to share a matrix that was generated in parts", d->name);
        return NULL;
    }
    /* The members of a device divide the rows of A, so their parts do not serve A^T. */
    bool lends = p->lender && !d->members;
    struct mat *lent = lends ? session_mat(s, p->lender, d, e) : NULL;
    if (lends ? !lent : !make_room(s, d, &p->S, e)) return NULL;
    if (!lends && !complete(p, e)) return NULL;
    if (p->nmats == COUNT(p->mat)) remove_mat(s, p, 0);
    struct mat *M = &p->mat[p->nmats];
    double start = now_us();
    bool ok = lent ? mat_lend(M, &p->S, lent, e) : mat_put(M, &p->S, d, e);
    p->put_us[p->nmats] = now_us() - start;
    if (!ok) return NULL;
    p->nmats++;
    return M;
}

/* ---- stored forms ---- */

/* param NULL: the defaults */
static void set_params(struct form *w, const int64_t *param)
{
    const struct param *of = w->format->params;
    for (int i = 0; of[i].name; i++) w->param[i] = param ? param[i] : of[i].default_value;
}

struct form form_of(struct matrix *m, const struct format *f, const int64_t *param, enum precision real)
{
    struct form w = {.matrix = m, .format = f, .real = real};
    set_params(&w, param);
    return w;
}

struct form form_for(struct matrix *m, const struct kernel *k, const int64_t *param, enum precision real,
                     int multiprocessors)
{
    struct form w = form_of(m, k->format, param, real);
    w.kernel = k;
    w.given = param != NULL;
    w.multiprocessors = multiprocessors;
    return w;
}

struct form form_near(struct form w, struct device *d)
{
    w.there = d->kind == DEV_CUDA && !w.matrix->lesson;
    w.packer = w.there ? d : NULL;
    return w;
}

/* The stored form of m in f with these parameters, which are those of the request that made it, so that format_plan
   need not be called again, or those that the format resolved. A resolved parameter resolves to itself. */
static struct product *find(const struct matrix *m, const struct format *f, enum precision precision,
                            const int64_t *param)
{
    enum precision real = precision_of_values(precision, m->csr.imag != NULL);
    struct product *p = m->products;
    while (p && (p->S.format != f || p->S.real != real ||
                 (memcmp(p->requested, param, sizeof p->requested) != 0 &&
                  memcmp(p->S.param, param, sizeof p->S.param) != 0)))
        p = p->next;
    return p;
}

bool session_is_packed(struct form w)
{
    const struct product *p = find(w.matrix, w.format, w.real, w.param);
    return p && is_complete(p);
}

static void say_vanishing(struct session *s, const char *name, const struct vanishing *v)
{
    out_note(s->out, "%s of %s %s below %s's smallest number, %.2g, and %s 0; use f64, or `scale` the matrix first",
             how_many(v->values, "value").text, name, v->values == 1 ? "is" : "are", type_name(v->stored), v->smallest,
             v->values == 1 ? "becomes" : "become");
}

void session_say_vanishing(struct session *s, const char *name, const struct csr *A, enum precision real)
{
    struct vanishing v;
    if (format_vanishing(A, real, &v)) say_vanishing(s, name, &v);
}

/* Does m have no stored form in this precision yet? */
static bool is_first_in(const struct matrix *m, enum precision real)
{
    const struct product *p = m->products;
    while (p && p->S.real != real) p = p->next;
    return !p;
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
    return keep(w->matrix, p);
}

static struct product *pack_here(struct session *s, const struct form *w, struct err *e)
{
    const struct csr *A = &w->matrix->csr;
    struct plan plan;
    struct vanishing v;
    double start = now_us();
    if (!format_plan(A, w->format, w->param, w->real, &plan, e)) return NULL;
    double plan_us = now_us() - start;
    struct product *p = find(w->matrix, w->format, plan.shape.real, plan.shape.param);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p) return NULL;
    /* say so once, not for each format */
    bool vanishes = is_first_in(w->matrix, plan.shape.real) && format_vanishing(A, w->real, &v);
    start = now_us();
    if (!format_pack_plan(A, &plan, w->force, &p->S, e)) return mem_free(p), NULL;
    p->prep_us = plan_us + now_us() - start;
    if (vanishes) say_vanishing(s, w->matrix->name, &v);
    memcpy(p->requested, w->param, sizeof p->requested);
    p->csr = A;
    return keep(w->matrix, p);
}

/* Turn the result of the conversion v, whose first run took `us`, into a stored form of m, unless m has the same form
   already. */
static struct product *take_over(struct matrix *m, struct packing *v, double us, struct err *e)
{
    struct product *p = find(m, v->S.format, v->S.real, v->S.param);
    if (p) return p;
    p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p || !packing_take(v, &p->S, &p->mat[0], e)) return mem_free(p), NULL;
    p->nmats = 1;
    p->csr = &m->csr;
    if (!mat_get_layout(&p->mat[0], &p->S, e)) return product_free(p), NULL;
    memcpy(p->requested, v->given.param, sizeof p->requested);
    p->prep_us = us;
    p->packed_on = v->dev;
    return keep(m, p);
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

static bool only_rows(const struct matrix *m, const struct format *f, enum precision real, struct err *e)
{
    const struct format *own = format_native(&m->csr);
    if (f != own)
        return fail(e, E_UNSUPPORTED, "%s was generated in parts, as %s; it cannot be converted to %s", m->name,
                    own->name, f->name);
    return !precisions[real].narrow || fail(e, E_UNSUPPORTED, "%s was generated in parts, in f64 or f32, not in %s",
                                            m->name, precisions[real].name);
}

/* The stored form of m, which is in parts, without arrays on the host. */
static struct product *lay_out_parts(struct matrix *m, const struct format *f, enum precision real, struct err *e)
{
    struct plan plan;
    if (!only_rows(m, f, real, e) || !format_plan(&m->csr, f, NULL, real, &plan, e)) return NULL;
    struct product *p = mem_zero(1, sizeof *p, "a stored matrix", e);
    if (!p) return NULL;
    p->S = plan.shape;
    p->S.made = &m->csr;
    memcpy(p->requested, plan.shape.param, sizeof p->requested);
    return keep(m, p);
}

static struct product *make(struct session *s, const struct form *w, struct err *e)
{
    struct err why = {0};
    if (matrix_in_parts(w->matrix)) return lay_out_parts(w->matrix, w->format, w->real, e);
    if (can_borrow(w)) return borrow(s, w, e);
    struct product *p = can_pack_there(w) ? pack_there(s, w, &why) : NULL;
    if (p) return p;
    if (why.code != E_NONE && why.code != E_MEMORY) return fail(e, why.code, "%s", why.text), NULL;
    return pack_here(s, w, e);
}

struct product *session_product(struct session *s, struct form w, struct err *e)
{
    const struct kernel *k = w.kernel;
    if (k && !kernel_takes(k, w.real, e)) return NULL;
    if (k && !w.given) {
        int64_t own[PARAMS_MAX];
        set_params(&w, kernel_params(k, NULL, &w.matrix->csr, w.real, w.multiprocessors, own));
    }
    struct product *p = find(w.matrix, w.format, w.real, w.param);
    if (!p) p = make(s, &w, e);
    bool whole = !w.there || (k && k->fits_values);
    if (!p || (whole && !complete(p, e))) return NULL;
    return !k || !k->fits || k->fits(&p->S, e) ? p : NULL;
}
