/* Thick-restart Lanczos (Wu and Simon 2000). Each new vector is orthogonalised against the whole basis, by classical
   Gram-Schmidt that is repeated until the norm no longer drops (Daniel, Gragg, Kaufman and Stewart 1976). The basis,
   and the passes of GMRES that work on it, are on the device; the small projected matrix T is on the host. */
#include "lanczos.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "dense_symmetric.h"
#include "machine/device.h"
#include "machine/gmres_work.h"
#include "machine/passes.h"
#include "machine/vec_ops.h"
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
    return from + j * v->o.n;
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
    int64_t m = v->o.columns;
    v->value = mem_zero(m, sizeof *v->value, what, e);
    v->estimate = v->value ? mem_zero(m, sizeof *v->estimate, what, e) : NULL;
    v->order = v->estimate ? mem_zero(m, sizeof *v->order, what, e) : NULL;
    v->T = v->order ? mem_zero(m * m, sizeof *v->T, what, e) : NULL;
    v->coefficient = v->T ? mem_zero(m * m, sizeof *v->coefficient, what, e) : NULL;
    v->random = v->coefficient ? mem_zero(v->o.n, sizeof *v->random, "a start vector", e) : NULL;
    return v->random != NULL;
}

static bool device_room(struct lanczos *v, struct err *e)
{
    static const char what[] = "the basis of eigs";
    int64_t n = v->o.n, m = v->o.columns;
    double scalars[VEC_WORK] = {[S_ONE] = 1};
    v->basis = device_new(v, (m + 1) * n, what, e);
    v->kept = v->basis ? device_new(v, (v->kept_most + 1) * n, what, e) : NULL;
    v->q = v->kept ? device_new(v, n, what, e) : NULL;
    v->zero = v->q ? device_new(v, n, what, e) : NULL;
    v->scalars = v->zero ? device_new(v, VEC_WORK, what, e) : NULL;
    v->work = v->scalars ? device_new(v, GMRES_WORK(m), what, e) : NULL;
    if (!v->work) return false;
    return put(v, v->scalars, scalars, VEC_WORK, e) && put(v, v->zero, v->random, n, e);
}

void lanczos_free(struct lanczos *v)
{
    if (!v) return;
    double *const on_device[] = {v->basis, v->kept, v->q, v->zero, v->scalars, v->work};
    double *const on_host[] = {v->value, v->estimate, v->T, v->coefficient, v->random};
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
    c.type = T_F64;
    c.n = v->o.n;
    c.s = v->scalars;
    return pass_run(&passes_gmres, name, &c, e);
}

/* Orthogonalise q against the first k columns. If h is not NULL, add the inner products to h[k]. *norm receives the
   norm of the remainder; 0 if it consists of rounding errors. */
static bool orthogonalise(struct lanczos *v, int k, double *h, double *norm, struct err *e)
{
    int m = v->o.columns;
    struct pass_call c = {VECTORS(v->work, v->basis, v->q), NUMBERS(m, 0, k, GM_H)},
                     with_norm = {VECTORS(v->work, v->basis, v->q), NUMBERS(m, 0, k, GM_H, true)};
    double product[LANCZOS_COLUMNS_MAX], left = 0, all = 0;
    for (int i = 0; i < PASSES_MAX; i++) {
        if (!pass(v, "dots", c, e) || !pass(v, "subtract", with_norm, e)) return false;
        if (!get(v, product, v->work + (int64_t)GM_H * (m + 1), k, e) || !get(v, &left, v->scalars + S_PQ, 1, e) ||
            !done(v, e))
            return false;
        double before = left;
        for (int j = 0; j < k; j++) {
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
        struct loop l = loop_of("", v->o.n);
        for (int64_t j = 0; j < v->o.n && loop_goes(&l, j); j++) v->random[j] = random_unit(&v->state);
        if (!loop_end(&l, e) || !put(v, v->q, v->random, v->o.n, e)) return false;
        if (k > 0 && !orthogonalise(v, k, NULL, &norm, e)) return false;
        if (k > 0) continue;
        vec_ops_of(v->o.dev, T_F64)->dot(v->o.dev, v->o.n, v->scalars, v->q, v->q, S_PQ);
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
    v->state = o->seed;
    v->kept_most = o->wanted + (int)(kept_share * (o->columns - o->wanted));
    if (host_room(v, e) && device_room(v, e) && append_random(v, 0, e)) return *out = v, true;
    lanczos_free(v);
    return false;
}

/* Column `size` of T and of the basis beyond it. */
static bool extend(struct lanczos *v, struct err *e)
{
    int k = v->size + 1;
    double *h = v->T + (int64_t)v->size * v->o.columns;
    if (!v->o.multiply(v->o.user, column(v, v->basis, v->size), v->q, e)) return false;
    v->products++;
    memset(h, 0, (size_t)v->o.columns * sizeof *h);
    if (!orthogonalise(v, k, h, &v->beta, e)) return false;
    v->size = k;
    if (lanczos_is_complete(v)) v->beta = 0;
    if (lanczos_is_complete(v)) return true;
    return v->beta > 0 ? append(v, k, v->beta, e) : append_random(v, k, e);
}

/* ---- Ritz pairs ---- */

double lanczos_rank(const struct lanczos *v, double value)
{
    if (v->o.end == LANCZOS_NEAREST) return fabs(value - v->o.target);
    return v->o.end == LANCZOS_SMALLEST ? value : v->o.end == LANCZOS_LARGEST ? -value : -fabs(value);
}

bool lanczos_is_complete(const struct lanczos *v)
{
    return v->size == v->o.n;
}

bool lanczos_converged(const struct lanczos *v, int i)
{
    return v->estimate[i] <= v->o.tol * fabs(v->value[i]) || v->estimate[i] <= DBL_EPSILON * v->largest;
}

/* Insertion sort of the ascending values by rank: the order is wanted-first, and equal ranks keep their order. */
static void sort_ritz(struct lanczos *v, const double *value)
{
    for (int i = 0; i < v->size; i++) {
        int j = i;
        double rank = lanczos_rank(v, value[i]);
        for (; j > 0 && lanczos_rank(v, value[v->order[j - 1]]) > rank; j--) v->order[j] = v->order[j - 1];
        v->order[j] = i;
    }
}

/* The eigenvectors of T are left in v->coefficient, with leading dimension `size`. */
static bool ritz(struct lanczos *v, struct err *e)
{
    int m = v->size;
    double value[LANCZOS_COLUMNS_MAX];
    for (int j = 0; j < m; j++)
        memcpy(v->coefficient + (int64_t)j * m, v->T + (int64_t)j * v->o.columns, (size_t)m * sizeof *v->T);
    if (!small_eigen(m, v->coefficient, value, v->o.watch, e)) return false;
    sort_ritz(v, value);
    for (int i = 0; i < m; i++) {
        const double *y = v->coefficient + (int64_t)v->order[i] * m;
        v->value[i] = value[v->order[i]];
        v->estimate[i] = v->beta * fabs(y[m - 1]);
        v->largest = fmax(v->largest, fabs(v->value[i]));
    }
    return true;
}

bool lanczos_cycle(struct lanczos *v, struct err *e)
{
    while (v->size < v->o.columns)
        if (!extend(v, e)) return false;
    return ritz(v, e);
}

/* ---- restarts ---- */

/* kept column i = V times the coefficients of Ritz pair i */
static bool combine(struct lanczos *v, int i, struct err *e)
{
    int m = v->size;
    const double *y = v->coefficient + (int64_t)v->order[i] * m;
    double *to = column(v, v->kept, i);
    vec_ops_of(v->o.dev, T_F64)->copy(v->o.dev, v->o.n, v->zero, to);
    if (!put(v, v->work + (int64_t)GM_Y * (v->o.columns + 1), y, m, e) || !set_scalar(v, S_COLUMNS, m, e)) return false;
    struct pass_call c = {VECTORS(v->work, v->basis, to), NUMBERS(v->o.columns)};
    return pass(v, "add", c, e) && done(v, e);
}

bool lanczos_form(struct lanczos *v, struct err *e)
{
    int keep = v->kept_most < v->size ? v->kept_most : v->size;
    for (int i = 0; i < keep; i++)
        if (!combine(v, i, e)) return false;
    v->vectors = v->kept;
    v->found = keep;
    return true;
}

bool lanczos_restart(struct lanczos *v, bool fresh, struct err *e)
{
    const struct vec_ops *ops = vec_ops_of(v->o.dev, T_F64);
    int keep = fresh ? v->o.wanted : v->found, m = v->o.columns;
    int64_t n = v->o.n;
    if (!fresh) ops->copy(v->o.dev, n, column(v, v->basis, v->size), column(v, v->kept, keep));
    if (!done(v, e)) return false;
    ops->copy(v->o.dev, n * (fresh ? keep : keep + 1), v->kept, v->basis);
    if (!done(v, e)) return false;
    v->vectors = v->basis;
    v->found = keep;
    memset(v->T, 0, (size_t)m * (size_t)m * sizeof *v->T);
    for (int i = 0; i < keep; i++) v->T[(int64_t)i * m + i] = v->value[i];
    v->size = keep;
    v->restarts++;
    return !fresh || append_random(v, keep, e);
}
