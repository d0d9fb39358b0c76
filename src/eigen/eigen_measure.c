/* Rayleigh quotients and residuals of eigenpairs, with compensated products on the host; the order of the pairs. */
#include "eigen_measure.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "eigen.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "wanted.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A residual of this many units in the last place of ||A||_1 is due to rounding. */
static const double rounding = 128 * DBL_EPSILON;
static const double PRODUCTS_MAX = 1e10; /* multiplications for the orthogonality */

int64_t eigen_numbers(const struct eigen *v)
{
    return v->A->rows * (v->complex_vectors ? 2 : 1);
}

bool eigen_norm(struct eigen *v, struct err *e)
{
    if (!norm_inf(v->A, &v->norm, e)) return false;
    return isfinite(v->norm) || fail(e, E_NUMERIC, "the sums of the rows overflow, so the eigenvalues may, too");
}

double eigen_size(int64_t n, const double *x)
{
    double most = 0, sum = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    for (int64_t i = 0; most > 0 && i < n; i++) sum += x[i] / most * (x[i] / most);
    return most * sqrt(sum);
}

void eigen_normalise(int64_t n, double *x)
{
    int64_t at = 0;
    double sum = 0;
    for (int64_t i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[at])) at = i;
    double most = x[at];
    if (most == 0) return;
    for (int64_t i = 0; i < n; i++) sum += x[i] / most * (x[i] / most);
    double scale = 1 / (sqrt(sum) * most);
    for (int64_t i = 0; i < n; i++) x[i] *= scale;
}

/* The same for n pairs of a real and an imaginary part. */
static void normalise_pairs(int64_t n, double *x)
{
    int64_t at = 0;
    for (int64_t i = 1; i < n; i++)
        if (hypot(x[2 * i], x[2 * i + 1]) > hypot(x[2 * at], x[2 * at + 1])) at = i;
    double most = hypot(x[2 * at], x[2 * at + 1]), norm = eigen_size(2 * n, x);
    if (most == 0) return;
    double re = x[2 * at] / most, im = -x[2 * at + 1] / most;
    for (int64_t i = 0; i < n; i++) {
        double a = x[2 * i] / norm, b = x[2 * i + 1] / norm;
        x[2 * i] = a * re - b * im;
        x[2 * i + 1] = a * im + b * re;
    }
}

/* The imaginary part of x'y, for n pairs. */
static double dot_imag(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[2 * i] * y[2 * i + 1] - x[2 * i + 1] * y[2 * i];
    return sum;
}

static enum eigen_status status_of(const struct eigen *v, const struct eigen_pair *p)
{
    if (p->residual <= 2 * v->o.tol * hypot(p->value, p->imag)) return EIGEN_CONVERGED;
    return p->residual <= rounding * v->norm ? EIGEN_ROUNDED : EIGEN_OPEN;
}

/* A product of a real matrix and n pairs: of the real parts and of the imaginary parts. `room`: 2 n values */
static void product_of_parts(const struct csr *A, const double *x, double *y, double *room)
{
    int64_t n = A->rows;
    for (int part = 0; part < 2; part++) {
        for (int64_t i = 0; i < n; i++) room[i] = x[2 * i + part];
        reference_spmv(A, 1, room, 0, room + n, P_F64, NULL);
        for (int64_t i = 0; i < n; i++) y[2 * i + part] = room[n + i];
    }
}

/* y -= (p->value + i p->imag) x */
static void subtract_multiple(const struct eigen *v, const struct eigen_pair *p, const double *x, double *y)
{
    int64_t n = v->A->rows;
    if (!v->complex_vectors) {
        for (int64_t j = 0; j < n; j++) y[j] -= p->value * x[j];
        return;
    }
    for (int64_t j = 0; j < n; j++) {
        y[2 * j] -= p->value * x[2 * j] - p->imag * x[2 * j + 1];
        y[2 * j + 1] -= p->value * x[2 * j + 1] + p->imag * x[2 * j];
    }
}

/* `y` has room for twice the numbers of a vector. */
static bool measure_pair(struct eigen *v, int64_t i, double *y, struct err *e)
{
    int64_t n = v->A->rows, numbers = eigen_numbers(v);
    struct eigen_pair *p = &v->pair[i];
    double *x = v->vector + i * numbers;
    (v->complex_vectors ? normalise_pairs : eigen_normalise)(n, x);
    if (v->complex_vectors && !v->A->imag)
        product_of_parts(v->A, x, y, y + numbers);
    else
        reference_spmv(v->A, 1, x, 0, y, P_F64, NULL);
    if (!loop_tick("eigs: residuals", i, v->found, e)) return false;
    p->value = dot_product(numbers, x, y);
    p->imag = v->complex_vectors && v->kind == EIGEN_GENERAL ? dot_imag(n, x, y) : 0;
    subtract_multiple(v, p, x, y);
    p->residual = eigen_size(numbers, y);
    p->status = status_of(v, p);
    return true;
}

double eigen_rank(const struct eigen *v, double re, double im)
{
    static const enum wanted_end ends[] = {[EIGEN_LARGEST] = WANTED_LARGEST,
                                           [EIGEN_SMALLEST] = WANTED_SMALLEST,
                                           [EIGEN_NEAR] = WANTED_NEAREST,
                                           [EIGEN_FARTHEST] = WANTED_FARTHEST};
    return wanted_rank(&(struct wanted){ends[v->o.part], v->o.shift}, re, im);
}

/* Of conjugate values, that with the positive imaginary part comes first. */
static bool precedes(const struct eigen *v, const struct eigen_pair *p, const struct eigen_pair *q)
{
    double a = eigen_rank(v, p->value, p->imag), b = eigen_rank(v, q->value, q->imag);
    return a < b || (a == b && p->value == q->value && p->imag > q->imag);
}

static void swap_pairs(struct eigen *v, int64_t i, int64_t j, double *room)
{
    int64_t numbers = eigen_numbers(v);
    size_t bytes = (size_t)numbers * sizeof *room;
    double *x = v->vector + i * numbers, *y = v->vector + j * numbers;
    struct eigen_pair p = v->pair[i];
    v->pair[i] = v->pair[j];
    v->pair[j] = p;
    memcpy(room, x, bytes);
    memcpy(x, y, bytes);
    memcpy(y, room, bytes);
}

/* Insertion sort: the pairs are almost in order. */
static void sort_pairs(struct eigen *v, double *room)
{
    for (int64_t i = 1; i < v->found; i++)
        for (int64_t j = i; j > 0 && precedes(v, &v->pair[j], &v->pair[j - 1]); j--) swap_pairs(v, j - 1, j, room);
}

static double size_of_dot(const struct eigen *v, int64_t i, int64_t j)
{
    int64_t n = eigen_numbers(v);
    const double *x = v->vector + i * n, *y = v->vector + j * n;
    return hypot(dot_product(n, x, y), v->complex_vectors ? dot_imag(v->A->rows, x, y) : 0);
}

static bool measure_orthogonality(struct eigen *v, struct err *e)
{
    int64_t n = eigen_numbers(v);
    if (v->kind == EIGEN_GENERAL) return true;
    if ((double)v->found * (double)v->found * (double)n / 2 > PRODUCTS_MAX) return true;
    double most = 0;
    for (int64_t i = 1; i < v->found; i++) {
        for (int64_t j = 0; j < i; j++) most = fmax(most, size_of_dot(v, i, j));
        if (!loop_tick("eigs: orthogonality", i, v->found, e)) return false;
    }
    v->orthogonality = most;
    return true;
}

bool eigen_measure(struct eigen *v, struct err *e)
{
    double *room = mem_new(2 * eigen_numbers(v), sizeof *room, "a residual", e);
    bool ok = room;
    for (int64_t i = 0; ok && i < v->found; i++) ok = measure_pair(v, i, room, e);
    if (ok) sort_pairs(v, room);
    ok = ok && measure_orthogonality(v, e);
    mem_free(room);
    return ok;
}
