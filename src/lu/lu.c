/* Dense LU: the registry of methods; the steps from the checks of a factorisation to the solve; the errors and the
   determinant. */
#include "lu.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/registry.h"
#include "base/text.h"
#include "formats/format.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LU(id) extern const struct lu_method lu_##id;
#include "lus.def"
#undef LU
#define LU(id) &lu_##id,
const struct lu_method *const lu_methods[] = {
#include "lus.def"
    NULL};
#undef LU

const char *const lu_part_name[LU_PARTS] = {"panel", "inner", "swap", "gemm"};

enum { N_MAX = 1 << 20 };

const struct registry lu_registry = {.entries = lu_methods};

const struct lu_method *lu_find(const char *name)
{
    return registry_find(&lu_registry, name);
}

bool lu_runs_on(const struct lu_method *m, const struct device *d)
{
    return m->vendor ? d->kind == DEV_CUDA : m->host == (d->kind == DEV_CPU);
}

const struct lu_method *lu_default(const struct device *d)
{
    const struct lu_method *fastest = NULL;
    for (int i = 0; lu_methods[i]; i++)
        if (!lu_methods[i]->vendor && lu_runs_on(lu_methods[i], d)) fastest = lu_methods[i];
    return fastest;
}

const char *lu_version(const struct lu_method *m)
{
    return m->vendor ? lu_vendor_cuda.version() : NULL;
}

double lu_flops(int64_t n)
{
    double x = (double)n; /* all steps before the division are exact, so n = 1 gives 0 */
    return x * (4 * x * x - 3 * x - 1) / 6;
}

int64_t lu_bytes(int64_t n, enum type real)
{
    return n * n * (int64_t)type_size(real) + n * (2 * (int64_t)type_size(real) + 24);
}

/* ---- checks before a factorisation ---- */

static bool check_matrix(const struct csr *A, bool force, struct err *e)
{
    if (A->rows != A->cols)
        return fail(e, E_UNSUPPORTED, "LU needs a square matrix, but this matrix has %s and %s",
                    how_many(A->rows, "row").text, how_many(A->cols, "column").text);
    if (A->rows == 0) return fail(e, E_UNSUPPORTED, "the matrix has no rows: there is nothing to factor");
    if (A->rows > N_MAX)
        return fail(e, E_LIMIT, "dense LU takes at most %d rows, but this matrix has %lld", +N_MAX, (long long)A->rows);
    return force || csr_finite(A, "factor", e);
}

static bool check_options(const struct lu_options *o, const struct lu_method *m, enum type real, struct err *e)
{
    if (!lu_runs_on(m, o->dev))
        return fail(e, E_UNSUPPORTED, "%s does not run on %s; it is for %s", m->name, o->dev->name,
                    m->vendor ? "cuda"
                    : m->host ? "cpu"
                              : "cuda and emu");
    if (m->vendor && type_is_complex(real))
        return fail(e, E_UNSUPPORTED,
                    "%s takes real matrices only; lu, lu-paper, lu-serial and lu-openmp take complex "
                    "matrices",
                    m->name);
    if (!o->b) return true;
    if (!m->width) return fail(e, E_USAGE, "%s has no b", m->name);
    int most = m->width_most;
    if (o->b < 1 || o->b > most || (o->b & (o->b - 1)))
        return fail(e, E_USAGE, "%s: b is %d, but it must be a power of two from 1 to %d", m->name, o->b, most);
    return true;
}

/* The dense matrix is stored twice: once on the host, as a copy of A, and once on the device, where it is factored. */
static bool check_room(int64_t n, const struct lu_options *o, enum type real, struct err *e)
{
    char need[32], have[32];
    int64_t there, total, here = mem_available(), bytes = lu_bytes(n, real);
    bool host_memory = o->dev->kind != DEV_CUDA;
    if (!o->dev->ops->memory(o->dev, &there, &total, e)) return false;
    if (bytes > there)
        return fail(e, E_MEMORY, "%s: a dense %s matrix of %lld rows and its vectors need %s, but only %s is free",
                    o->dev->name, type_name(real), (long long)n, show_bytes((double)bytes, need, sizeof need),
                    show_bytes((double)there, have, sizeof have));
    if (host_memory) bytes *= 2;
    if (bytes <= here) return true;
    return fail(e, E_MEMORY, "a dense %s matrix of %lld rows needs %s of the host's memory%s, but only %s is free",
                type_name(real), (long long)n, show_bytes((double)bytes, need, sizeof need),
                host_memory ? " (for the matrix and its factors)" : "", show_bytes((double)here, have, sizeof have));
}

/* ---- set-up ---- */

static bool expand(struct lu *v, const struct csr *A, struct err *e)
{
    v->given = mem_zero(v->n * v->n, type_size(v->real), "a dense matrix", e);
    v->swap = mem_new(v->n, sizeof *v->swap, "the pivots", e);
    if (!v->given || !v->swap) return false;
    struct array a = {.type = v->real, .n = v->n * v->n, .data = v->given};
    struct loop l = loop_of("the dense matrix", A->nnz);
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++)
            put_value(&a, (int64_t)A->col[k] * A->rows + i, A, k);
    return loop_end(&l, e);
}

static bool take_room(struct lu *v, struct err *e)
{
    struct device *d = v->dev;
    int64_t bytes = 0;
    v->A = d->ops->alloc(d, v->n * v->n * (int64_t)type_size(v->real), "the dense matrix", e);
    if (!v->A || !(v->piv = d->ops->alloc(d, (v->n + 1) * (int64_t)sizeof(int), "the pivots", e))) return false;
    v->info = v->piv + v->n;
    if (!v->method->work) return true;
    if (!v->method->work(v, &bytes, e)) return false;
    return (v->work = d->ops->alloc(d, bytes, "the library's work space", e)) != NULL;
}

bool lu_begin(struct lu **out, const struct csr *A, const struct lu_options *o, struct err *e)
{
    const struct lu_method *m = o->method ? o->method : lu_default(o->dev);
    enum type real = type_of_numbers(precisions[o->real].part, A->imag != NULL);
    if (!check_matrix(A, o->force, e) || !check_options(o, m, real, e) || !check_room(A->rows, o, real, e))
        return false;
    struct lu *v = mem_zero(1, sizeof *v, "a factorisation", e);
    if (!v) return false;
    v->method = m;
    v->dev = o->dev;
    v->real = real;
    v->n = A->rows;
    v->of = A;
    v->watch = o->watch;
    v->ops = lu_ops_of(o->dev, real);
    v->singular = v->part = -1;
    v->b = o->b ? o->b : m->width ? m->width(v) : 0;
    v->log10_det = v->growth = v->backward = v->error = v->solve_us = NAN;
    if (!expand(v, A, e) || !take_room(v, e)) {
        lu_free(v);
        return false;
    }
    *out = v;
    return true;
}

void lu_free(struct lu *v)
{
    if (!v) return;
    v->dev->ops->free(v->dev, v->A);
    v->dev->ops->free(v->dev, v->piv);
    v->dev->ops->free(v->dev, v->work);
    mem_free(v->given);
    mem_free(v->swap);
    mem_free(v);
}

/* ---- factoring ---- */

bool lu_part(struct lu *v, enum lu_part part, struct err *e)
{
    if (!v->sampling) return true;
    if (!v->dev->ops->sync(v->dev, e)) return false;
    double now = now_us();
    if (v->part >= 0) v->part_us[v->part] += now - v->part_from;
    v->part = part == LU_PARTS ? -1 : (int)part;
    v->part_from = now;
    return true;
}

static bool go(void *ctx, struct err *e)
{
    struct lu *v = ctx;
    return v->method->factor(v, e);
}

static bool read_pivots(struct lu *v, struct err *e)
{
    int info;
    struct device *d = v->dev;
    if (!d->ops->get(d, v->swap, v->piv, v->n * (int64_t)sizeof(int), e) ||
        !d->ops->get(d, &info, v->info, sizeof info, e))
        return false;
    for (int64_t k = 0; k < v->n; k++) {
        v->swap[k] -= v->method->vendor; /* LAPACK counts rows from 1 */
        if (v->swap[k] < k || v->swap[k] >= v->n)
            return fail(e, E_NUMERIC, "%s on %s: wrong result: step %lld takes its pivot from row %d", v->method->name,
                        d->name, (long long)k, v->swap[k]);
    }
    v->singular = v->method->vendor ? info - 1 : info;
    return true;
}

bool lu_factor(struct lu *v, struct err *e)
{
    struct device *d = v->dev;
    double from = now_us();
    if (!d->ops->put(d, v->A, v->given, v->n * v->n * (int64_t)type_size(v->real), e)) return false;
    v->put_us = now_us() - from;
    return d->ops->time(d, go, v, 1, &v->us, e) && d->ops->sync(d, e) && read_pivots(v, e);
}

static int reps_for(const struct lu *v, int reps)
{
    static const double enough_us = 5e5;
    if (reps) return reps;
    return v->us * 10 < enough_us ? 10 : v->us < enough_us ? (int)(enough_us / v->us) : 1;
}

bool lu_time(struct lu *v, int reps, double *us, double *spread, struct err *e)
{
    *us = *spread = NAN;
    if (!lu_factor(v, e)) return false;
    if (v->dev->kind == DEV_EMU) return true;
    if (v->dev->kind == DEV_CUDA && !lu_factor(v, e))
        return false; /* a warm-up: the first factorisation also loaded libraries */
    int n = reps_for(v, reps);
    double *time = mem_new(n, sizeof *time, "the times of LU", e);
    if (!time) return false;
    time[0] = v->us; /* the host needs no warm-up, so if the first factorisation takes long enough, its time is used */
    bool again = reps || n > 1 || v->dev->kind == DEV_CUDA, ok = true;
    for (int i = 0; ok && again && i < n; i++) {
        ok = lu_factor(v, e);
        time[i] = v->us;
    }
    *us = times_median(n, time, spread);
    mem_free(time);
    return ok;
}

bool lu_sample(struct lu *v, struct err *e)
{
    memset(v->part_us, 0, sizeof v->part_us);
    v->sampling = true;
    v->part = -1;
    bool ok = lu_factor(v, e);
    v->sampling = false;
    return ok;
}

/* ---- solving ---- */

/* to[n] = b in the new order of the rows, converted to v->real; order: work memory for one value per number of b. */
static void fill_side(const struct lu *v, const double *b, double *order, void *to)
{
    int64_t parts = type_parts(v->real);
    memcpy(order, b, (size_t)(v->n * parts) * sizeof *order);
    for (int64_t k = 0; k < v->n; k++)
        for (int64_t p = 0; p < parts; p++) {
            double held = order[k * parts + p];
            order[k * parts + p] = order[v->swap[k] * parts + p];
            order[v->swap[k] * parts + p] = held;
        }
    struct array side = array_parts(&(struct array){.type = v->real, .n = v->n, .data = to});
    for (int64_t i = 0; i < side.n; i++) put_real(&side, i, order[i]);
}

struct substitution {
    struct lu *v;
    void *b, *room;
};

static bool substitute(void *ctx, struct err *e)
{
    struct substitution *s = ctx;
    struct lu *v = s->v;
    v->ops->solve(v->dev, (struct lu_at){v->A, v->n, v->piv, v->info}, s->b, s->room);
    return true;
}

static bool substitute_on_device(struct lu *v, void *side, struct err *e)
{
    struct device *d = v->dev;
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    char *room = d->ops->alloc(d, 2 * bytes, "the vectors of a substitution", e);
    struct substitution s = {v, room, room + bytes};
    bool ok = room && d->ops->put(d, room, side, bytes, e) && d->ops->time(d, substitute, &s, 1, &v->solve_us, e) &&
              d->ops->sync(d, e) && d->ops->get(d, side, room, bytes, e);
    d->ops->free(d, room);
    return ok;
}

bool lu_solve(struct lu *v, const double *b, double *x, struct err *e)
{
    if (v->singular >= 0)
        return fail(
            e, E_NUMERIC,
            "the matrix is singular to %s: column %lld (counted from 0) has no nonzero pivot; A x = b cannot be solved",
            type_name(type_of_parts(v->real)), (long long)v->singular);
    double *order = mem_new(v->n * type_parts(v->real), sizeof *order, "a right-hand side", e);
    void *side = mem_new(v->n, type_size(v->real), "a right-hand side", e);
    bool ok = order && side;
    if (ok) {
        fill_side(v, b, order, side);
        ok = substitute_on_device(v, side, e);
    }
    struct array parts = array_parts(&(struct array){.type = v->real, .n = v->n, .data = side});
    for (int64_t i = 0; ok && i < parts.n; i++) x[i] = array_real(&parts, i);
    mem_free(order);
    mem_free(side);
    return ok;
}

bool lu_get(struct lu *v, double *out, struct err *e)
{
    struct device *d = v->dev;
    int64_t count = v->n * v->n * type_parts(v->real);
    if (type_of_parts(v->real) == T_F64) return d->ops->get(d, out, v->A, count * 8, e);
    float *f = mem_new(count, sizeof *f, "L and U", e);
    bool ok = f && d->ops->get(d, f, v->A, count * 4, e);
    for (int64_t i = 0; ok && i < count; i++) out[i] = f[i];
    mem_free(f);
    return ok;
}

/* ---- errors and determinant ---- */

static double largest_value(const struct csr *A)
{
    double most = 0;
    for (int64_t k = 0; k < A->nnz; k++) most = fmax(most, csr_abs(A, k));
    return most;
}

static void determinant(struct lu *v, const double *diagonal)
{
    v->sign = 1;
    v->log10_det = 0;
    for (int64_t k = 0; k < v->n; k++) {
        if (v->swap[k] != k && !type_is_complex(v->real)) v->sign = -v->sign;
        if (diagonal[k] < 0) v->sign = -v->sign;
        v->log10_det += log10(fabs(diagonal[k]));
    }
    if (v->singular < 0) return;
    v->sign = 0;
    v->log10_det = -INFINITY;
}

/* The largest |a| of each row and of each column. */
static void largest_of_lines(const struct csr *A, double *row, double *col)
{
    for (int64_t i = 0; i < A->rows; i++) row[i] = col[i] = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            row[i] = fmax(row[i], csr_abs(A, k));
            col[A->col[k]] = fmax(col[A->col[k]], csr_abs(A, k));
        }
}

/* Elimination leaves rounding errors of the size of a row or column of A; scaling rows or columns changes no pivot
   beside its own row or column. */
static bool find_rounded(struct lu *v, const double *diagonal, struct err *e)
{
    double *row = mem_new(2 * v->n, sizeof *row, "the sizes of rows", e);
    double eps = (double)v->n * (type_of_parts(v->real) == T_F64 ? DBL_EPSILON : FLT_EPSILON);
    if (!row) return false;
    double *col = row + v->n;
    largest_of_lines(v->of, row, col);
    v->rounded = false;
    for (int64_t k = 0; k < v->n; k++) {
        double size = row[v->swap[k]];
        row[v->swap[k]] = row[k];
        size = fmin(size, col[k]);
        v->rounded = v->rounded || (size > 0 && fabs(diagonal[k]) <= eps * size);
    }
    mem_free(row);
    return true;
}

static bool measure_u(struct lu *v, double *number, struct err *e)
{
    struct device *d = v->dev;
    int64_t bytes = 2 * v->n * (int64_t)sizeof(double);
    double most = 0, *there = d->ops->alloc(d, bytes, "the diagonal", e);
    if (!there) return false;
    v->ops->measure(d, (struct lu_at){v->A, v->n, v->piv, v->info}, there);
    bool ok = d->ops->sync(d, e) && d->ops->get(d, number, there, bytes, e);
    d->ops->free(d, there);
    if (!ok) return false;
    for (int64_t j = 0; j < v->n; j++) most = fmax(most, number[j]);
    v->growth = most / largest_value(v->of);
    determinant(v, number + v->n);
    return find_rounded(v, number + v->n, e);
}

/* |element i of a vector - (one, 0)|; `parts` numbers are an element */
static double distance(const double *x, int64_t i, int64_t parts, double one)
{
    return parts == 1 ? fabs(x[i] - one) : hypot(x[2 * i] - one, x[2 * i + 1]);
}

/* Use `number` for three vectors: b = A * ones, x, and A x; then A x becomes A x - b. */
static bool measure_solve(struct lu *v, double *number, struct err *e)
{
    int64_t parts = type_parts(v->real), n = v->n * parts;
    double *b = number, *x = number + n, *product = number + 2 * n;
    double norm, residual = 0, b_most = 0, x_most = 0, error = 0;
    v->backward = v->error = v->solve_us = NAN;
    if (v->singular >= 0) return true;
    for (int64_t i = 0; i < n; i++) x[i] = i % parts == 0;
    reference_spmv(v->of, 1, x, 0, b, P_F64, NULL);
    if (!lu_solve(v, b, x, e)) return false;
    reference_spmv(v->of, 1, x, 0, product, P_F64, NULL);
    if (!loop_tick("the error of LU", 0, 0, e)) return false;
    bool all_finite = true; /* needed because fmax ignores a NaN */
    for (int64_t i = 0; i < n; i++) {
        all_finite = all_finite && isfinite(x[i]) && isfinite(product[i]);
        product[i] = b[i] - product[i];
    }
    for (int64_t i = 0; i < v->n; i++) {
        residual = fmax(residual, distance(product, i, parts, 0));
        b_most = fmax(b_most, distance(b, i, parts, 0));
        x_most = fmax(x_most, distance(x, i, parts, 0));
        error = fmax(error, distance(x, i, parts, 1));
    }
    if (!norm_inf(v->of, &norm, e)) return false;
    double scale = norm * x_most + b_most;
    v->backward = all_finite ? residual / scale : NAN;
    v->error = all_finite ? error : NAN;
    return true;
}

bool lu_measure(struct lu *v, struct err *e)
{
    double *number = mem_new(3 * v->n * type_parts(v->real), sizeof *number, "what is measured of LU", e);
    bool ok = number && measure_u(v, number, e) && measure_solve(v, number, e);
    mem_free(number);
    return ok;
}
