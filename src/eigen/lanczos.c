/* Thick-restart Lanczos (Wu and Simon 2000) and Krylov-Schur (Stewart 2001). Each new vector is orthogonalised against
   the whole basis, by classical Gram-Schmidt that is repeated until the norm no longer drops (Daniel, Gragg, Kaufman
   and Stewart 1976). The basis, and the passes of GMRES that work on it, are on the device; the small projected matrix
   T is on the host. */
#include "lanczos.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "dense_schur.h"
#include "dense_symmetric.h"
#include "machine/device.h"
#include "machine/gmres_work.h"
#include "machine/passes.h"
#include "machine/vec_ops.h"
#include "machine/vector_pitch.h"
#include "matrix/random.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A vector is orthogonal once a pass leaves at least this share of its norm. */
static const double enough = 0.7;
/* A remainder counts as 0 if its norm is below this share of the norm of the product. */
static const double tiny = 8 * DBL_EPSILON;
enum { PASSES_MAX = 5, FRESH_MAX = 5 };
/* Of the columns beyond the wanted ones, this share is kept at a restart. */
static const double kept_share = 0.4;

static double *column(const struct lanczos *v, double *from, int j)
{
    return from + j * vector_stride(v->numbers, sizeof *from);
}

/* Numbers in an element of a vector and of T. */
static int parts_of(const struct lanczos *v)
{
    return v->o.kind == EIGEN_HERMITIAN ? 2 : 1;
}

static bool is_general(const struct lanczos *v)
{
    return v->o.kind == EIGEN_GENERAL;
}

/* ---- memory ---- */

static double *device_new(struct lanczos *v, int64_t n, const char *what, struct err *e)
{
    return v->o.dev->ops->alloc(v->o.dev, n * (int64_t)sizeof(double), what, e);
}

static bool put(struct lanczos *v, double *to, const double *from, int64_t n, struct err *e)
{
    return v->o.dev->ops->put(v->o.dev, to, from, n * (int64_t)sizeof *to, e);
}

static bool get(struct lanczos *v, double *to, const double *from, int64_t n, struct err *e)
{
    return v->o.dev->ops->get(v->o.dev, to, from, n * (int64_t)sizeof *to, e);
}

static bool set_scalar(struct lanczos *v, int i, double value, struct err *e)
{
    return put(v, v->scalars + i, &value, 1, e);
}

/* The launches so far have succeeded, and Ctrl-C has not ended any. */
static bool done(struct lanczos *v, struct err *e)
{
    return v->o.dev->ops->sync(v->o.dev, e) && loop_unbroken("eigs", e);
}

static bool host_room(struct lanczos *v, struct err *e)
{
    static const char what[] = "the Ritz values";
    int64_t m = v->o.columns, square = m * m * parts_of(v), schur = is_general(v) ? square : 0;
    struct {
        double **array;
        int64_t n;
    } const arrays[] = {{&v->value, m},
                        {&v->imag, m},
                        {&v->mixed, m},
                        {&v->estimate, m},
                        {&v->share, m},
                        {&v->T, square},
                        {&v->coefficient, square},
                        {&v->S, schur},
                        {&v->Y, schur},
                        {&v->mix, schur},
                        {&v->random, v->numbers}};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (arrays[i].n && !(*arrays[i].array = mem_zero(arrays[i].n, sizeof(double), what, e))) return false;
    return (v->order = mem_zero(m, sizeof *v->order, what, e)) != NULL;
}

/* Beside the columns that are kept: the second one of a conjugate pair, and the residual. */
static bool device_room(struct lanczos *v, struct err *e)
{
    static const char what[] = "the basis of eigs";
    int64_t n = v->numbers, m = v->o.columns;
    double scalars[VEC_WORK] = {[S_ONE] = 1};
    v->basis = device_new(v, vectors_extent(m + 1, n, sizeof(double)), what, e);
    v->kept = v->basis ? device_new(v, vectors_extent(v->kept_most + 2, n, sizeof(double)), what, e) : NULL;
    v->q = v->kept ? device_new(v, n, what, e) : NULL;
    v->zero = v->q ? device_new(v, n, what, e) : NULL;
    v->scalars = v->zero ? device_new(v, VEC_WORK, what, e) : NULL;
    v->work = v->scalars ? device_new(v, parts_of(v) * GMRES_WORK(m), what, e) : NULL;
    if (!v->work) return false;
    return put(v, v->scalars, scalars, VEC_WORK, e) && put(v, v->zero, v->random, n, e);
}

void lanczos_free(struct lanczos *v)
{
    if (!v) return;
    double *const on_device[] = {v->basis, v->kept, v->q, v->zero, v->scalars, v->work};
    double *const on_host[] = {v->value,       v->imag, v->mixed, v->estimate, v->share, v->T,
                               v->coefficient, v->S,    v->Y,     v->mix,      v->random};
    for (size_t i = 0; i < sizeof on_device / sizeof *on_device; i++)
        if (on_device[i]) v->o.dev->ops->free(v->o.dev, on_device[i]);
    for (size_t i = 0; i < sizeof on_host / sizeof *on_host; i++) mem_free(on_host[i]);
    mem_free(v->order);
    mem_free(v);
}

/* ---- the basis ---- */

/* Run a pass of gmres (gpu/kernels/k_gmres.cu); c holds its arguments. */
static bool pass(const struct lanczos *v, const char *name, struct pass_call c, struct err *e)
{
    c.d = v->o.dev;
    c.type = v->o.kind == EIGEN_HERMITIAN ? T_C64 : T_F64;
    c.n = v->numbers;
    c.s = v->scalars;
    return pass_run(&passes_gmres, name, &c, e);
}

/* The first number of a row of the work memory (gmres_work.h). */
static double *work_row(const struct lanczos *v, int row)
{
    return v->work + (int64_t)row * (v->o.columns + 1) * parts_of(v);
}

/* Orthogonalise q against the first k columns. If h is not NULL, add the inner products to h[k]. *norm receives the
   norm of the remainder; 0 if it consists of rounding errors. */
static bool orthogonalise(struct lanczos *v, int k, double *h, double *norm, struct err *e)
{
    int m = v->o.columns, numbers = k * parts_of(v);
    struct pass_call c = {VECTORS(v->work, v->basis, v->q), NUMBERS(m, 0, k, GM_H)},
                     with_norm = {VECTORS(v->work, v->basis, v->q), NUMBERS(m, 0, k, GM_H, true)};
    double product[2 * LANCZOS_COLUMNS_MAX], left = 0, all = 0;
    for (int i = 0; i < PASSES_MAX; i++) {
        if (!pass(v, "dots", c, e) || !pass(v, "subtract", with_norm, e)) return false;
        if (!get(v, product, work_row(v, GM_H), numbers, e) || !get(v, &left, v->scalars + S_PQ, 1, e) || !done(v, e))
            return false;
        double before = left;
        for (int j = 0; j < numbers; j++) {
            before += product[j] * product[j];
            if (h) h[j] += product[j];
        }
        if (i == 0) all = before;
        if (!isfinite(before)) return fail(e, E_NUMERIC, "a product is not finite: the values overflow");
        if (left >= enough * enough * before || left <= tiny * tiny * all) break;
    }
    *norm = left > tiny * tiny * all ? sqrt(left) : 0;
    return true;
}

/* Column k = q / norm. */
static bool append(struct lanczos *v, int k, double norm, struct err *e)
{
    struct pass_call c = {VECTORS(v->q, column(v, v->basis, k))};
    return set_scalar(v, S_SCALE, 1 / norm, e) && pass(v, "scale", c, e) && done(v, e);
}

/* Column k is a random vector, orthogonal to the columns before it. */
static bool append_random(struct lanczos *v, int k, struct err *e)
{
    double norm = 0;
    for (int i = 0; i < FRESH_MAX && norm == 0; i++) {
        struct loop l = loop_of("", v->numbers);
        for (int64_t j = 0; j < v->numbers && loop_goes(&l, j); j++) v->random[j] = random_unit(&v->state);
        if (!loop_end(&l, e) || !put(v, v->q, v->random, v->numbers, e)) return false;
        if (k > 0 && !orthogonalise(v, k, NULL, &norm, e)) return false;
        if (k > 0) continue;
        vec_ops_of(v->o.dev, T_F64)->dot(v->o.dev, v->numbers, v->scalars, v->q, v->q, S_PQ);
        if (!get(v, &norm, v->scalars + S_PQ, 1, e) || !done(v, e)) return false;
        norm = sqrt(norm);
    }
    if (norm == 0) return fail(e, E_INTERNAL, "no vector is orthogonal to the %d columns of the basis", k);
    return append(v, k, norm, e);
}

bool lanczos_begin(struct lanczos **out, const struct lanczos_options *o, struct err *e)
{
    struct lanczos *v = mem_zero(1, sizeof *v, "eigs", e);
    if (!v) return false;
    v->o = *o;
    v->numbers = o->n * parts_of(v);
    v->state = o->seed;
    v->kept_most = o->wanted + (int)(kept_share * (o->columns - o->wanted));
    if (host_room(v, e) && device_room(v, e) && append_random(v, 0, e)) return *out = v, true;
    lanczos_free(v);
    return false;
}

/* Column `size` of T and of the basis beyond it. */
static bool extend(struct lanczos *v, struct err *e)
{
    int k = v->size + 1, parts = parts_of(v);
    double *h = v->T + (int64_t)v->size * v->o.columns * parts;
    if (!v->o.multiply(v->o.user, column(v, v->basis, v->size), v->q, e)) return false;
    v->products++;
    memset(h, 0, (size_t)v->o.columns * (size_t)parts * sizeof *h);
    if (!orthogonalise(v, k, h, &v->beta, e)) return false;
    v->size = k;
    if (lanczos_is_complete(v)) v->beta = 0;
    if (lanczos_is_complete(v)) return true;
    if (is_general(v) && k < v->o.columns) h[k] = v->beta;
    return v->beta > 0 ? append(v, k, v->beta, e) : append_random(v, k, e);
}

/* ---- Ritz pairs ---- */

double lanczos_rank(const struct lanczos *v, int i)
{
    return wanted_rank(&v->o.order, v->value[i], v->imag[i]);
}

bool lanczos_is_complete(const struct lanczos *v)
{
    return v->size == v->o.n;
}

bool lanczos_converged(const struct lanczos *v, int i)
{
    return v->estimate[i] <= v->o.tol * hypot(v->value[i], v->imag[i]) || v->estimate[i] <= DBL_EPSILON * v->largest;
}

/* Insertion sort of the ascending values by rank: the order is wanted-first, and equal ranks keep their order. */
static void sort_ritz(struct lanczos *v, const double *value)
{
    for (int i = 0; i < v->size; i++) {
        int j = i;
        double rank = wanted_rank(&v->o.order, value[i], 0);
        for (; j > 0 && wanted_rank(&v->o.order, value[v->order[j - 1]], 0) > rank; j--) v->order[j] = v->order[j - 1];
        v->order[j] = i;
    }
}

/* to, with leading dimension `size` = the columns of T */
static void copy_T(const struct lanczos *v, double *to)
{
    size_t m = (size_t)v->size, parts = (size_t)parts_of(v);
    for (size_t j = 0; j < m; j++)
        memcpy(to + j * m * parts, v->T + j * (size_t)v->o.columns * parts, m * parts * sizeof *to);
}

/* The eigenvectors of T are left in v->coefficient, with leading dimension `size`. */
static bool ritz_symmetric(struct lanczos *v, struct err *e)
{
    int m = v->size, parts = parts_of(v);
    double value[LANCZOS_COLUMNS_MAX];
    bool (*const solve)(int, double *, double *, struct watch *, struct err *) =
        parts == 2 ? small_eigen_hermitian : small_eigen;
    copy_T(v, v->coefficient);
    if (!solve(m, v->coefficient, value, v->o.watch, e)) return false;
    sort_ritz(v, value);
    for (int i = 0; i < m; i++) {
        const double *last = v->coefficient + ((int64_t)v->order[i] * m + m - 1) * parts;
        v->value[i] = value[v->order[i]];
        v->estimate[i] = v->beta * (parts == 2 ? hypot(last[0], last[1]) : fabs(*last));
    }
    return true;
}

/* |e' Q y| for eigenvector i of T: how far the residual reaches into the Ritz vector. */
static double last_element(const struct lanczos *v, int i)
{
    int m = v->size, first = v->imag[i] < 0 ? i - 1 : i, parts = v->imag[i] != 0 ? 2 : 1;
    double sum[2] = {0};
    for (int part = 0; part < parts; part++)
        for (int j = 0; j < m; j++)
            sum[part] += v->coefficient[(int64_t)j * m + m - 1] * v->Y[(int64_t)(first + part) * m + j];
    return hypot(sum[0], sum[1]);
}

/* v->coefficient: the Schur vectors of T in the wanted order, with leading dimension `size`, as have S and Y. */
static bool ritz_general(struct lanczos *v, struct err *e)
{
    struct small_schur s = {v->size, v->S, v->coefficient, v->Y, v->value, v->imag, v->share};
    copy_T(v, v->S);
    if (!small_schur(&s, &v->o.order, v->o.watch, e)) return false;
    for (int i = 0; i < v->size; i++) {
        v->order[i] = i;
        v->estimate[i] = v->beta * last_element(v, i);
    }
    return true;
}

static bool ritz(struct lanczos *v, struct err *e)
{
    if (!(is_general(v) ? ritz_general : ritz_symmetric)(v, e)) return false;
    for (int i = 0; i < v->size; i++) v->largest = fmax(v->largest, hypot(v->value[i], v->imag[i]));
    return true;
}

bool lanczos_cycle(struct lanczos *v, struct err *e)
{
    while (v->size < v->o.columns)
        if (!extend(v, e)) return false;
    return ritz(v, e);
}

/* ---- restarts ---- */

/* kept column i = V times the coefficients of Ritz pair or Schur vector i */
static bool combine(struct lanczos *v, int i, struct err *e)
{
    int m = v->size, numbers = m * parts_of(v);
    const double *y = v->coefficient + (int64_t)v->order[i] * numbers;
    double *to = column(v, v->kept, i);
    vec_ops_of(v->o.dev, T_F64)->copy(v->o.dev, v->numbers, v->zero, to);
    if (!put(v, work_row(v, GM_Y), y, numbers, e) || !set_scalar(v, S_COLUMNS, m, e)) return false;
    struct pass_call c = {VECTORS(v->work, v->basis, to), NUMBERS(v->o.columns)};
    return pass(v, "add", c, e) && done(v, e);
}

/* The first k pairs, and the other one of the conjugate pair that k would cut. */
static int whole_pairs(const struct lanczos *v, int k)
{
    return k + (k > 0 && k < v->size && v->imag[k - 1] > 0);
}

bool lanczos_form(struct lanczos *v, struct err *e)
{
    int keep = whole_pairs(v, v->kept_most < v->size ? v->kept_most : v->size);
    for (int i = 0; i < keep; i++)
        if (!combine(v, i, e)) return false;
    for (int i = 0; is_general(v) && i < keep; i++)
        memcpy(v->mix + (int64_t)i * keep, v->Y + (int64_t)i * v->size, (size_t)keep * sizeof *v->mix);
    memcpy(v->mixed, v->imag, (size_t)keep * sizeof *v->imag);
    v->mix_rows = keep;
    v->vectors = v->kept;
    v->found = keep;
    return true;
}

bool lanczos_restart(struct lanczos *v, bool fresh, struct err *e)
{
    const struct vec_ops *ops = vec_ops_of(v->o.dev, T_F64);
    int keep = fresh ? whole_pairs(v, v->o.wanted) : v->found, m = v->o.columns, size = v->size, parts = parts_of(v);
    int64_t n = v->numbers;
    if (!fresh) ops->copy(v->o.dev, n, column(v, v->basis, size), column(v, v->kept, keep));
    if (!done(v, e)) return false;
    for (int j = 0; j < (fresh ? keep : keep + 1); j++)
        ops->copy(v->o.dev, n, column(v, v->kept, j), column(v, v->basis, j));
    if (!done(v, e)) return false;
    v->vectors = v->basis;
    v->found = keep;
    memset(v->T, 0, (size_t)m * (size_t)m * (size_t)parts * sizeof *v->T);
    for (int j = 0; j < keep && !is_general(v); j++) v->T[((int64_t)j * m + j) * parts] = v->value[j];
    for (int j = 0; j < keep && is_general(v); j++) {
        memcpy(v->T + (int64_t)j * m, v->S + (int64_t)j * size, (size_t)keep * sizeof *v->T);
        v->T[(int64_t)j * m + keep] = fresh ? 0 : v->beta * v->coefficient[(int64_t)j * size + size - 1];
    }
    v->size = keep;
    v->restarts++;
    return !fresh || append_random(v, keep, e);
}

/* Ritz vector i = the Schur vectors times column i of `mix`. */
static void mix_vector(const struct lanczos *v, int i, bool pairs, const double *schur, double *to)
{
    int first = v->mixed[i] < 0 ? i - 1 : i, parts = pairs ? 2 : 1, rows = v->mix_rows;
    const double *re = v->mix + (int64_t)first * rows, *im = v->mixed[i] != 0 ? re + rows : NULL;
    double sign = v->mixed[i] < 0 ? -1 : 1;
    int parts_of_value = im ? 2 : 1;
    for (int64_t r = 0; r < v->o.n * parts; r++) to[r] = 0;
    for (int j = 0; j < first + parts_of_value; j++) /* Y is triangular, apart from blocks of 2 rows */
        for (int64_t r = 0; r < v->o.n; r++) {
            to[r * parts] += re[j] * schur[j * v->o.n + r];
            if (im) to[r * parts + 1] += sign * im[j] * schur[j * v->o.n + r];
        }
}

/* The first n columns, one directly after another. */
static bool get_columns(struct lanczos *v, double *to, const double *from, int n, struct err *e)
{
    int64_t stride = vector_stride(v->numbers, sizeof *from);
    bool ok = true;
    for (int j = 0; ok && j < n; j++) ok = get(v, to + j * v->numbers, from + j * stride, v->numbers, e);
    return ok;
}

bool lanczos_vectors(struct lanczos *v, int k, bool pairs, double *to, struct err *e)
{
    int64_t numbers = v->o.n * (pairs ? 2 : 1);
    if (!is_general(v)) return get_columns(v, to, v->vectors, k, e);
    double *schur = mem_new(v->found * v->o.n, sizeof *schur, "the eigenvectors", e);
    bool ok = schur && get_columns(v, schur, v->vectors, v->found, e);
    for (int i = 0; ok && i < k; i++) {
        mix_vector(v, i, pairs, schur, to + i * numbers);
        ok = loop_tick("eigs: vectors", i, k, e);
    }
    mem_free(schur);
    return ok;
}
