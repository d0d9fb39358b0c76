/* The registry of direct methods, and a factorisation whose library calls run on a worker thread. */
#include "base/base.h"
#include "base/clock.h"
#include "base/library_thread.h"
#include "base/loop.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/shared.h"
#include "base/text.h"
#include "base/watch.h"
#include "direct_state.h"
#include "matrix/csr.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>

#define DIRECT(id) extern const struct direct_method direct_##id;
#include "directs.def"
#undef DIRECT
#define DIRECT(id) &direct_##id,
const struct direct_method *const directs[] = {
#include "directs.def"
    NULL};
#undef DIRECT

const struct registry direct_registry = {.entries = directs};

static const struct named words[] = {
    {"direct", "factors A once and substitutes, by a library: `solve direct`; no iterations"}, {0}};
const struct registry direct_word_registry = {.entries = words, .size = sizeof *words};

const struct direct_method *direct_find(const char *name)
{
    return registry_find(&direct_registry, name);
}

const char *direct_device(const struct direct_method *m)
{
    return m->device ? m->device : "cpu";
}

const struct direct_method *direct_rectangular(void)
{
    for (int i = 0; directs[i]; i++)
        if (directs[i]->rectangular) return directs[i];
    return NULL;
}

static int64_t memory_hook;

void direct_memory_hook(int64_t bytes)
{
    memory_hook = bytes;
}

int64_t direct_memory(const struct direct_method *m)
{
    return memory_hook ? memory_hook : m && m->memory ? m->memory() : mem_available();
}

/* ---- the copy of the matrix ---- */

static int64_t parts_of(const struct direct_matrix *M)
{
    return M->pairs ? 2 : 1;
}

static bool matrix_new(struct direct_matrix *M, int64_t rows, int64_t cols, int64_t nnz, bool pairs, struct err *e)
{
    char need[32], have[32];
    double bytes = (double)nnz * (pairs ? 24 : 16) + 8.0 * (double)cols;
    if (bytes > (double)direct_memory(NULL))
        return fail(e, E_MEMORY, "a copy of the matrix for the direct solver takes %s, but only %s of memory is free",
                    show_bytes(bytes, need, sizeof need), show_bytes((double)direct_memory(NULL), have, sizeof have));
    *M = (struct direct_matrix){.rows = rows, .cols = cols, .pairs = pairs};
    M->start = mem_zero(cols + 2, sizeof *M->start, "the columns of a matrix", e);
    M->row = M->start ? mem_new(nnz, sizeof *M->row, "the columns of a matrix", e) : NULL;
    M->val = M->row ? mem_new(nnz * parts_of(M), sizeof *M->val, "the columns of a matrix", e) : NULL;
    return M->val != NULL;
}

static void matrix_free(struct direct_matrix *M)
{
    mem_free(M->start);
    mem_free(M->row);
    mem_free(M->val);
}

static void put_value(struct direct_matrix *M, int64_t at, const struct csr *A, int64_t k, int sign)
{
    if (!M->pairs) {
        M->val[at] = A->val[k];
        return;
    }
    M->val[2 * at] = A->val[k];
    M->val[2 * at + 1] = sign * A->imag[k];
}

/* The columns of A, by a counting sort: while entries are written, start[j + 1] is the position of the next entry of
   column j. */
static bool copy_columns(struct direct_matrix *M, const struct csr *A, struct err *e)
{
    struct loop l = loop_of("columns", 2 * A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) M->start[A->col[k] + 2]++;
    for (int64_t j = 0; j < A->cols && loop_runs(&l); j++) M->start[j + 2] += M->start[j + 1];
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, A->nnz + k); k++) {
            int64_t at = M->start[A->col[k] + 1]++;
            M->row[at] = i;
            put_value(M, at, A, k, 1);
        }
    return loop_end(&l, e);
}

/* The rows of A, conjugated, are the columns of the conjugate transpose. */
static bool copy_rows(struct direct_matrix *M, const struct csr *A, struct err *e)
{
    struct loop l = loop_of("rows", A->nnz);
    for (int64_t i = 0; i <= A->rows && loop_goes(&l, i); i++) M->start[i] = A->rowptr[i];
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) {
        M->row[k] = A->col[k];
        put_value(M, k, A, k, -1);
    }
    return loop_end(&l, e);
}

static double norm1_of(const struct direct_matrix *M)
{
    double most = 0;
    for (int64_t j = 0; j < M->cols; j++) {
        double sum = 0;
        for (int64_t k = M->start[j]; k < M->start[j + 1]; k++)
            sum += M->pairs ? hypot(M->val[2 * k], M->val[2 * k + 1]) : fabs(M->val[k]);
        most = fmax(most, sum);
    }
    return most;
}

bool direct_turn(struct direct *v, struct err *e)
{
    struct direct_matrix *A = &v->A, T = {0};
    if (!matrix_new(&T, A->cols, A->rows, A->start[A->cols], A->pairs, e)) {
        matrix_free(&T);
        return false;
    }
    struct loop l = loop_of("transposing", 2 * A->start[A->cols]);
    for (int64_t k = 0; k < A->start[A->cols] && loop_goes(&l, k); k++) T.start[A->row[k] + 2]++;
    for (int64_t j = 0; j < T.cols && loop_runs(&l); j++) T.start[j + 2] += T.start[j + 1];
    for (int64_t j = 0; j < A->cols && loop_runs(&l); j++)
        for (int64_t k = A->start[j]; k < A->start[j + 1] && loop_goes(&l, A->start[A->cols] + k); k++) {
            int64_t at = T.start[A->row[k] + 1]++;
            T.row[at] = j;
            if (A->pairs)
                T.val[2 * at] = A->val[2 * k], T.val[2 * at + 1] = -A->val[2 * k + 1];
            else
                T.val[at] = A->val[k];
        }
    if (!loop_end(&l, e)) {
        matrix_free(&T);
        return false;
    }
    matrix_free(A);
    *A = T;
    v->wide = !v->wide;
    return true;
}

/* ---- powers of 2 ---- */

enum { RANGE = 100, NORMAL = DBL_MIN_EXP - 1 }; /* numbers from 2^-RANGE to 2^RANGE are not scaled */

/* No value falls below the smallest normal number. */
static void scale_matrix(struct direct *v)
{
    int64_t n = v->A.start[v->A.cols] * parts_of(&v->A);
    v->exponent = magnitude_exponent(magnitudes_of(n, v->A.val), RANGE, NORMAL);
    if (v->exponent) scale_by_power(n, v->A.val, -v->exponent, v->A.val);
}

/* The exponent for a right-hand side: numbers that become 0 are negligible beside the largest one. */
static int exponent_of(int64_t n, const double *b)
{
    struct magnitudes m = magnitudes_of(n, b);
    return magnitude_exponent((struct magnitudes){m.most, m.most}, RANGE, NORMAL);
}

static const struct direct_factors no_factors = {.nnz = NAN,
                                                 .flops = NAN,
                                                 .bytes = NAN,
                                                 .rank = -1,
                                                 .positive = -1,
                                                 .negative = -1,
                                                 .off_diagonal = -1,
                                                 .pivot_least = NAN,
                                                 .pivot_most = NAN};

/* Copy A, or the conjugate transpose of A if `wide` is set. */
static bool matrix_of(struct direct_matrix *M, const struct csr *A, bool wide, struct err *e)
{
    int64_t rows = wide ? A->cols : A->rows, cols = wide ? A->rows : A->cols;
    return matrix_new(M, rows, cols, A->nnz, A->imag, e) && (wide ? copy_rows : copy_columns)(M, A, e);
}

bool direct_begin(struct direct **out, const struct direct_method *m, const struct csr *A, struct err *e)
{
    if (!shared_load(m->library, m->name, e) || (m->also && !shared_load(m->also, m->name, e))) return false;
    struct direct *v = mem_zero(1, sizeof *v, "a direct solve", e);
    if (!v) return false;
    *v = (struct direct){.method = m, .wide = m->rectangular && A->rows < A->cols, .factors = no_factors};
    v->plan = (struct direct_plan){.nnz = NAN, .flops = NAN, .bytes = NAN};
    v->condition = NAN;
    int64_t longest = MAX(A->rows, A->cols) * (A->imag ? 2 : 1);
    bool ok = matrix_of(&v->A, A, v->wide, e);
    v->from = ok ? mem_zero(longest, sizeof *v->from, "the vectors of a direct solve", e) : NULL;
    v->to = v->from ? mem_zero(longest, sizeof *v->to, "the vectors of a direct solve", e) : NULL;
    if (!v->to) {
        direct_free(v);
        return false;
    }
    scale_matrix(v);
    *out = v;
    return true;
}

static bool same_pattern(const struct direct_matrix *A, const struct direct_matrix *B)
{
    return A->rows == B->rows && A->cols == B->cols && A->pairs == B->pairs &&
           !memcmp(A->start, B->start, (size_t)(A->cols + 1) * sizeof *A->start) &&
           !memcmp(A->row, B->row, (size_t)A->start[A->cols] * sizeof *A->row);
}

bool direct_renew(struct direct *v, const struct csr *A, struct err *e)
{
    struct direct_matrix M = {0};
    bool same = matrix_of(&M, A, v->wide, e);
    if (same && !(same = same_pattern(&M, &v->A)))
        fail(e, E_USAGE,
             "the pattern of this matrix is not that of the factorisation that was kept; `solve direct keep` "
             "analyses it");
    if (same) {
        double *val = v->A.val;
        v->A.val = M.val;
        M.val = val;
        scale_matrix(v);
        v->factors = no_factors;
    }
    matrix_free(&M);
    return same;
}

void direct_free(struct direct *v)
{
    if (!v) return;
    if (v->state) v->method->drop(v);
    mem_free(v->state);
    matrix_free(&v->A);
    mem_free(v->from);
    mem_free(v->to);
    mem_free(v->weights);
    mem_free(v);
}

const struct direct_method *direct_method_of(const struct direct *v)
{
    return v->method;
}

void *direct_state_new(struct direct *v, size_t size, struct err *e)
{
    v->state = mem_zero(1, size, "a direct solve", e);
    return v->state;
}

void direct_unusable(struct direct *v, const char *fmt, ...)
{
    va_list list;
    va_start(list, fmt);
    vsnprintf(v->factors.unusable, sizeof v->factors.unusable, fmt, list);
    va_end(list);
}

void direct_pivot(struct direct_factors *f, double pivot)
{
    f->pivot_least = fmin(f->pivot_least, fabs(pivot));
    f->pivot_most = fmax(f->pivot_most, fabs(pivot));
}

/* ---- calls on the worker thread ---- */

static void work(void *job)
{
    struct direct *v = job;
    double start = now_us();
    v->ok = v->call(v, &v->error);
    v->us = now_us() - start;
}

static void release(void *job)
{
    direct_free(job);
}

/* Even a full matrix of this size is factored in less than a millisecond, which is less than a thread and its polling
   cost. */
static bool is_short(const struct direct *v)
{
    enum { SHORT_ROWS = 200, SHORT_NNZ = 10000 };
    return v->A.rows <= SHORT_ROWS && v->A.start[v->A.cols] <= SHORT_NNZ;
}

bool direct_run(struct direct **v, bool (*call)(struct direct *v, struct err *e), const char *what, struct watch *w,
                struct err *e)
{
    struct direct *d = *v;
    d->call = call;
    d->error = (struct err){0};
    if (is_short(d)) {
        if (!watch_tick(w, what, 0, 0, e)) return false;
        work(d);
        return d->ok || fail_at(e, d->error.code, d->error.where, "%s", d->error.text);
    }
    *v = NULL;
    if (!worker_run(work, release, d, what, w, e)) return false;
    *v = d;
    return d->ok || fail_at(e, d->error.code, d->error.where, "%s", d->error.text);
}

bool direct_call_analyse(struct direct *v, struct err *e)
{
    return v->method->analyse(v, e);
}

bool direct_call_renew(struct direct *v, struct err *e)
{
    return (!v->method->renew || v->method->renew(v, e)) && direct_call_factor(v, e);
}

bool direct_call_factor(struct direct *v, struct err *e)
{
    struct direct_factors *f = &v->factors;
    if (!v->method->factor(v, e)) return false;
    if (f->scaled) return true;
    f->pivot_least = ldexp(f->pivot_least, v->exponent);
    f->pivot_most = ldexp(f->pivot_most, v->exponent);
    return true;
}

bool direct_call_solve(struct direct *v, struct err *e)
{
    int64_t rows = v->A.rows * parts_of(&v->A), cols = v->A.cols * parts_of(&v->A);
    int64_t equations = v->wide ? cols : rows, unknowns = v->wide ? rows : cols;
    int of_b = exponent_of(equations, v->from), back = of_b - v->exponent;
    if (of_b) scale_by_power(equations, v->from, -of_b, v->from);
    if (!v->method->solve(v, false, v->from, v->to, e)) return false;
    if (back) scale_by_power(unknowns, v->to, back, v->to);
    return true;
}

/* ---- the condition number: || A^-1 ||_1 by the method of Hager 1984 and Higham 1988 ---- */

enum { TURNS = 5 };

static double size_at(const struct direct *v, const double *x, int64_t i)
{
    return v->A.pairs ? hypot(x[2 * i], x[2 * i + 1]) : fabs(x[i]);
}

/* Replace each element by its sign times `unit`, or by the complex number of this size in its direction. Returns the
   sum of the sizes. */
static double take_signs(const struct direct *v, double unit, double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < v->A.cols; i++) {
        double size = size_at(v, x, i);
        sum += size;
        if (v->A.pairs) {
            x[2 * i] = unit * (size > 0 ? x[2 * i] / size : 1);
            x[2 * i + 1] = unit * (size > 0 ? x[2 * i + 1] / size : 0);
        } else
            x[i] = x[i] < 0 ? -unit : unit;
    }
    return sum;
}

static int64_t largest_of(const struct direct *v, const double *x)
{
    int64_t at = 0;
    for (int64_t i = 1; i < v->A.cols; i++)
        if (size_at(v, x, i) > size_at(v, x, at)) at = i;
    return at;
}

/* to = A^-1 from or, with weights W, to = W A^-H from; adjoint: to = A^-H from or to = A^-1 W from. */
static bool apply(struct direct *v, bool adjoint, double *from, double *to, struct err *e)
{
    int64_t parts = parts_of(&v->A), n = v->A.cols * parts;
    if (!v->weights) return v->method->solve(v, adjoint, from, to, e);
    for (int64_t i = 0; adjoint && i < n; i++) from[i] *= v->weights[i / parts];
    if (!v->method->solve(v, !adjoint, from, to, e)) return false;
    for (int64_t i = 0; !adjoint && i < n; i++) to[i] *= v->weights[i / parts];
    return true;
}

/* A lower bound of the 1-norm of what `apply` applies, times `unit`: the vectors are multiplied by it. */
static bool estimate_norm(struct direct *v, double unit, double *norm, struct err *e)
{
    int64_t n = v->A.cols, parts = parts_of(&v->A), last = -1;
    double best = 0;
    for (int64_t i = 0; i < n * parts; i++) v->from[i] = i % parts ? 0 : unit / (double)n;
    for (int turn = 0; turn < TURNS; turn++) {
        if (!apply(v, false, v->from, v->to, e)) return false;
        double sum = take_signs(v, unit, v->to);
        if (turn > 0 && !(sum > best)) break;
        best = sum;
        if (!apply(v, true, v->to, v->from, e)) return false;
        int64_t at = largest_of(v, v->from);
        if (at == last) break;
        last = at;
        memset(v->from, 0, (size_t)(n * parts) * sizeof *v->from);
        v->from[at * parts] = unit;
    }
    *norm = best;
    return true;
}

/* The unit is a power of 2 next to || A ||, so that || A^-1 || times it neither overflows nor becomes 0. */
bool direct_call_condition(struct direct *v, struct err *e)
{
    double norm = norm1_of(&v->A), unit = norm > 0 && isfinite(norm) ? ldexp(1, ilogb(norm)) : 1, inverse;
    if (!estimate_norm(v, unit, &inverse, e)) return false;
    v->condition = v->A.cols ? norm / unit * inverse : NAN;
    return true;
}

/* || |A^-1| w || in the infinity norm is the 1-norm of W A^-H. */
bool direct_call_weighted(struct direct *v, struct err *e)
{
    bool ok = estimate_norm(v, 1, &v->weighted, e);
    v->weighted = ldexp(v->weighted, -v->exponent);
    mem_free(v->weights);
    v->weights = NULL;
    return ok;
}
