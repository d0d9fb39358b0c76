/* The registry of storage formats, and the functions shared by all of them: plan, allow, pack, unpack. */
#include "format.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/threads.h"
#include "matrix/csr.h"

#include <float.h>
#include <math.h>

#define FORMAT(id) extern const struct format format_##id;
#include "formats.def"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(id) &format_##id,
#include "formats.def"
#undef FORMAT
    NULL,
};

enum {
    PADDING_LIMIT = 20,       /* maximum number of slots of padding per nonzero */
    SMALL_BYTES = 64000000,   /* a plan of at most this size may have any amount of padding */
    ASK_MEMORY_FROM = 1 << 20 /* below this size, asking for the available memory is slower than packing */
};

const struct registry format_registry = {.entries = formats, .aliases = offsetof(struct format, aliases)};

const struct format *format_find(const char *name)
{
    return registry_find(&format_registry, name);
}

bool format_takes(const struct format *f, const struct csr *A)
{
    return f->of_large || !csr_is_large(A);
}

const struct format *format_native(const struct csr *A)
{
    bool large = A && csr_is_large(A);
    int i = 0;
    while (large ? !formats[i]->of_large : !formats[i]->interchange) i++;
    return formats[i];
}

/* ---- for fmt_NAME.c and the packers ---- */

void plan_array(struct stored *S, const char *name, enum role role, enum type type, int64_t n)
{
    S->a[S->narrays++] = (struct array){.name = name, .role = role, .type = type, .n = n};
}

void plan_values(struct stored *S, const char *name, int64_t n)
{
    plan_array(S, name, ROLE_VALUES, precisions[S->real].stored, n);
}

void put_value(struct array *a, int64_t i, const struct csr *A, int64_t k)
{
    if (!A->imag) return put_real(a, i, A->val[k]);
    struct array parts = array_parts(a);
    put_real(&parts, 2 * i, A->val[k]);
    put_real(&parts, 2 * i + 1, A->imag[k]);
}

void put_values(struct array *a, const struct csr *A)
{
    struct loop l = loop_of("values", a->n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES * 16) if (a->n > THREADS_FROM)
    for (int64_t from = 0; from < a->n; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, a->n); k < end; k++) put_value(a, k, A, k);
}

struct place place_of_value(const struct stored *S, int k, int64_t i, int64_t row, int64_t col)
{
    if (row >= S->rows) return (struct place){SLOT_PADDING, -1, -1};
    bool zero = array_real(&S->a[k], i) == 0 && array_imag(&S->a[k], i) == 0;
    if (col < 0 || col >= S->cols || zero) return (struct place){SLOT_PADDING, row, -1};
    return (struct place){SLOT_ENTRY, row, col};
}

/* ---- plan and allow ---- */

bool format_params(const struct format *f, const int64_t *param, struct stored *S, struct err *e)
{
    for (int i = 0; f->params[i].name; i++) {
        const struct param *p = &f->params[i];
        int64_t v = param ? param[i] : p->default_value;
        if (v < p->min || v > p->max)
            return fail(e, E_USAGE, "%s: %s is %lld; it must be %lld to %lld", f->name, p->name, (long long)v,
                        (long long)p->min, (long long)p->max);
        S->param[i] = v;
    }
    return true;
}

struct plan plan_of(const struct stored *shape)
{
    int64_t slots = stored_slots(shape);
    return (struct plan){.shape = *shape, .bytes = stored_bytes(shape), .slots = slots, .padding = slots - shape->nnz};
}

const int64_t *format_suit(const struct format *f, const struct csr *A, enum precision real, int multiprocessors,
                           int64_t *param)
{
    if (!multiprocessors || !f->suit || !format_takes(f, A)) return NULL;
    for (int i = 0; i < PARAMS_MAX; i++) param[i] = f->params[i].name ? f->params[i].default_value : 0;
    f->suit(A, real, multiprocessors, param);
    return param;
}

static bool is_beyond(double v, double most)
{
    return isfinite(v) && fabs(v) > most;
}

bool format_fits_values(const struct csr *A, enum precision real, struct err *e)
{
    enum type stored = type_of_parts(precisions[real].stored);
    double most = type_most(stored);
    int64_t beyond = 0;
    if (stored == T_F64 || !A->val) return true; /* generators, which make parts, make no values beyond fp32 */
    if (A->imag && precisions[real].narrow)
        return fail(e, E_UNSUPPORTED, "%s stores real values only; use f32 or f64 for a complex matrix",
                    precisions[real].name);
    struct loop l = loop_of("checking values", A->nnz);
#pragma omp parallel for schedule(static) reduction(+ : beyond) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, A->nnz); k < end; k++)
            beyond += is_beyond(A->val[k], most) || (A->imag && is_beyond(A->imag[k], most));
    if (!loop_end(&l, e)) return false;
    return !beyond ||
           fail(e, E_UNSUPPORTED, "%s %s %s's largest number, %.6g; %s", how_many(beyond, "value").text,
                beyond == 1 ? "exceeds" : "exceed", type_name(stored), most,
                stored == T_F16 ? "use bf16, or `scale` the matrix first" : "use f64, or `scale` the matrix first");
}

/* The smallest positive number of a type, which is not normal. */
static double smallest_of(enum type stored)
{
    return stored == T_F16 ? 0x1p-24 : stored == T_BF16 ? 0x1p-133 : stored == T_F32 ? FLT_TRUE_MIN : DBL_TRUE_MIN;
}

static bool vanishes(double v, enum type stored, double smallest)
{
    return v != 0 && fabs(v) < smallest && type_rounded(stored, v) == 0;
}

bool format_vanishing(const struct csr *A, enum precision real, struct vanishing *out)
{
    enum type stored = type_of_parts(precisions[real].stored);
    double smallest = smallest_of(stored);
    int64_t n = 0;
    *out = (struct vanishing){.stored = stored, .smallest = smallest};
    if (stored == T_F64 || !A->val) return false;
    struct loop l = loop_of("checking values", A->nnz);
#pragma omp parallel for schedule(static) reduction(+ : n) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, A->nnz); k < end; k++)
            n += vanishes(A->val[k], stored, smallest) || (A->imag && vanishes(A->imag[k], stored, smallest));
    out->values = n;
    return n > 0;
}

/* A large matrix fits only in formats that have `of_large`. */
static bool fits_size(const struct csr *A, const struct format *f, struct err *e)
{
    struct message larger = {0};
    char most[32], rows[32], nnz[32];
    if (format_takes(f, A)) return true;
    for (int i = 0; formats[i]; i++)
        if (formats[i]->of_large) message_list(&larger, formats[i]->name);
    return fail(e, E_LIMIT, "%s stores at most %s rows and nonzeros, but the matrix has %s and %s; use %s", f->name,
                show_count(csr_most_small(), most, sizeof most), show_count(A->rows, rows, sizeof rows),
                show_count(A->nnz, nnz, sizeof nnz), larger.text);
}

bool format_plan(const struct csr *A, const struct format *f, const int64_t *param, enum precision real,
                 struct plan *out, struct err *e)
{
    *out = (struct plan){.shape = {.format = f, .rows = A->rows, .cols = A->cols, .nnz = A->nnz}};
    out->shape.real = precision_of_values(real, A->imag != NULL);
    if (!fits_size(A, f, e) || !format_fits_values(A, real, e)) return false;
    if (!format_params(f, param, &out->shape, e) || !f->plan(A, &out->shape, e) || !loop_tick(f->name, 0, 0, e))
        return false;
    for (int k = 0; csr_is_large(A) && k < out->shape.narrays; k++)
        out->shape.a[k].lent = f->of_large(A, &out->shape, k) != NULL;
    *out = plan_of(&out->shape);
    return true;
}

/* Write, for example, "ell of 88784 x 88784 needs 8.30 GB, of which 99.6% is padding". */
static void describe(const struct plan *p, char *out, size_t size)
{
    char need[32];
    snprintf(out, size, "%s of %lld x %lld needs %s, of which %.1f%% is padding", p->shape.format->name,
             (long long)p->shape.rows, (long long)p->shape.cols, show_bytes((double)p->bytes, need, sizeof need),
             p->slots ? 100.0 * (double)p->padding / (double)p->slots : 0.0);
}

bool format_allow(const struct plan *p, int64_t memory, bool force, struct err *e)
{
    char needs[256], have[32];
    bool fits = stored_own_bytes(&p->shape) <= memory;
    if (fits && (force || p->bytes <= SMALL_BYTES || p->padding <= PADDING_LIMIT * p->shape.nnz)) return true;
    describe(p, needs, sizeof needs);
    if (!fits)
        return fail(e, E_LIMIT, "%s, but only %s of memory is free; choose another format", needs,
                    show_bytes((double)memory, have, sizeof have));
    fail(e, E_LIMIT, "%s", needs);
    err_advise(e, "add `force` to the command to convert it anyway");
    return false;
}

bool format_allow_here(const struct plan *p, bool force, struct err *e)
{
    return format_allow(p, p->bytes < ASK_MEMORY_FROM ? INT64_MAX : mem_available(), force, e);
}

/* ---- pack, unpack, free ---- */

static bool allocate(const struct csr *A, struct stored *S, struct err *e)
{
    for (int k = 0; k < S->narrays; k++) {
        struct array *a = &S->a[k];
        if (a->lent) a->data = S->format->of_large(A, S, k);
        if (a->lent) continue;
        char what[64];
        snprintf(what, sizeof what, "the array %s of %s", a->name, S->format->name);
        a->data = mem_new(a->n, type_size(a->type), what, e);
        if (!a->data || !loop_zero(a->data, a->n * (int64_t)type_size(a->type), what, e)) return false;
    }
    return true;
}

bool format_pack_plan(const struct csr *A, const struct plan *p, bool force, struct stored *out, struct err *e)
{
    const struct format *f = p->shape.format;
    *out = (struct stored){0};
    if (!format_allow_here(p, force, e)) return false;
    *out = p->shape;
    if (allocate(A, out, e) && f->pack(A, out, e) && loop_tick(f->name, 0, 0, e)) return true;
    stored_free(out);
    *out = (struct stored){0};
    return false;
}

bool format_pack(const struct csr *A, const struct format *f, const int64_t *param, enum precision real, bool force,
                 struct stored *out, struct err *e)
{
    struct plan p;
    *out = (struct stored){0};
    return format_plan(A, f, param, real, &p, e) && format_pack_plan(A, &p, force, out, e);
}

struct triplets {
    int64_t n, most;
    int *row, *col;
    double *val, *imag; /* imag is NULL for real values */
};

static bool triplets_new(struct triplets *t, int64_t most, bool complex_values, struct err *e)
{
    t->most = most;
    if (complex_values && !(t->imag = mem_new(most, sizeof *t->imag, "unpacked values", e))) return false;
    t->row = mem_new(most, sizeof *t->row, "unpacked rows", e);
    t->col = mem_new(most, sizeof *t->col, "unpacked columns", e);
    t->val = mem_new(most, sizeof *t->val, "unpacked values", e);
    return t->row && t->col && t->val;
}

static void triplets_free(struct triplets *t)
{
    mem_free(t->row);
    mem_free(t->col);
    mem_free(t->val);
    mem_free(t->imag);
}

/* Append the entries of value array k to t, in the order of the slots. */
static bool collect(const struct stored *S, int k, struct triplets *t, struct err *e)
{
    struct loop l = loop_of(S->format->name, S->a[k].n);
    for (int64_t i = 0; i < S->a[k].n && loop_goes(&l, i); i++) {
        struct place at = S->format->where(S, k, i);
        if (at.kind != SLOT_ENTRY) continue;
        if (t->n == t->most)
            return fail(e, E_INTERNAL, "%s: unpacking found more entries than the %lld that were packed",
                        S->format->name, (long long)S->nnz);
        t->row[t->n] = (int)at.row;
        t->col[t->n] = (int)at.col;
        double im;
        stored_value(S, k, i, &t->val[t->n], &im);
        if (t->imag) t->imag[t->n] = im;
        t->n++;
    }
    return loop_end(&l, e);
}

bool format_unpack(const struct stored *S, struct csr *out, struct err *e)
{
    struct triplets t = {0};
    bool ok = false;
    *out = (struct csr){0};
    if (!triplets_new(&t, S->nnz, precisions[S->real].is_complex, e)) goto out;
    for (int k = 0; k < S->narrays; k++)
        if (stored_is_value(S, k) && !collect(S, k, &t, e)) goto out;
    if (t.n < S->nnz && !S->format->zeros_fade) {
        fail(e, E_INTERNAL, "%s: unpacking found only %lld of %lld entries", S->format->name, (long long)t.n,
             (long long)S->nnz);
        goto out;
    }
    ok = csr_from_triplets(out, S->rows, S->cols, t.n, t.row, t.col, t.val, t.imag, NULL, e);
out:
    triplets_free(&t);
    return ok;
}
