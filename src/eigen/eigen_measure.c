/* Rayleigh quotients and residuals of eigenpairs, with compensated products on the host; the order of the pairs. */
#include "eigen_measure.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "eigen.h"
#include "matrix/csr.h"
#include "matrix/reference.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A residual of this many units in the last place of ||A||_1 is due to rounding. */
static const double rounding = 128 * DBL_EPSILON;
static const double PRODUCTS_MAX = 1e10; /* multiplications for the orthogonality */

bool eigen_norm(struct eigen *v, struct err *e)
{
    const struct csr *A = v->A;
    struct loop l = loop_of("the norm of A", A->nnz);
    v->norm = 0;
    for (int64_t i = 0; i < A->rows; i++) {
        double sum = 0;
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1) && loop_goes(&l, k); k++) sum += fabs(A->val[k]);
        v->norm = fmax(v->norm, sum);
    }
    if (!isfinite(v->norm)) return fail(e, E_NUMERIC, "the sums of the rows overflow, so the eigenvalues may, too");
    return loop_end(&l, e);
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

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

static enum eigen_status status_of(const struct eigen *v, const struct eigen_pair *p)
{
    if (p->residual <= 2 * v->o.tol * fabs(p->value)) return EIGEN_CONVERGED;
    return p->residual <= rounding * v->norm ? EIGEN_ROUNDED : EIGEN_OPEN;
}

/* `y` has room for n values. */
static bool measure_pair(struct eigen *v, int64_t i, double *y, struct err *e)
{
    int64_t n = v->A->rows;
    struct eigen_pair *p = &v->pair[i];
    double *x = v->vector + i * n;
    eigen_normalise(n, x);
    reference_spmv(v->A, 1, x, 0, y, P_F64, NULL);
    if (!loop_tick("eigs: residuals", i, v->found, e)) return false;
    double value = dot(n, x, y);
    for (int64_t j = 0; j < n; j++) y[j] -= value * x[j];
    p->value = value;
    p->residual = eigen_size(n, y);
    p->status = status_of(v, p);
    return true;
}

static double rank_of(const struct eigen *v, double value)
{
    return v->o.part == EIGEN_NEAR ? fabs(value - v->o.shift) : v->o.part == EIGEN_LARGEST ? -value : value;
}

static void swap_pairs(struct eigen *v, int64_t i, int64_t j, double *room)
{
    size_t bytes = (size_t)v->A->rows * sizeof *room;
    double *x = v->vector + i * v->A->rows, *y = v->vector + j * v->A->rows;
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
        for (int64_t j = i; j > 0 && rank_of(v, v->pair[j].value) < rank_of(v, v->pair[j - 1].value); j--)
            swap_pairs(v, j - 1, j, room);
}

static bool measure_orthogonality(struct eigen *v, struct err *e)
{
    int64_t n = v->A->rows;
    if ((double)v->found * (double)v->found * (double)n / 2 > PRODUCTS_MAX) return true;
    double most = 0;
    for (int64_t i = 1; i < v->found; i++) {
        for (int64_t j = 0; j < i; j++) most = fmax(most, fabs(dot(n, v->vector + i * n, v->vector + j * n)));
        if (!loop_tick("eigs: orthogonality", i, v->found, e)) return false;
    }
    v->orthogonality = most;
    return true;
}

bool eigen_measure(struct eigen *v, struct err *e)
{
    double *room = mem_new(v->A->rows, sizeof *room, "a residual", e);
    bool ok = room;
    for (int64_t i = 0; ok && i < v->found; i++) ok = measure_pair(v, i, room, e);
    if (ok) sort_pairs(v, room);
    ok = ok && measure_orthogonality(v, e);
    mem_free(room);
    return ok;
}
