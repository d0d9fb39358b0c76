/* The coarsest level of multigrid: its matrix is inverted once, by Cholesky's method, and multiplied as a full matrix.
 */
#include "amg.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* A full n x n matrix, stored by rows; first sign * A, then its factor U = L' on and above the diagonal. */
struct full {
    int64_t n;
    double *a;
    int64_t dropped;
};

static void spread(struct full *f, const struct csr *A, double sign)
{
    memset(f->a, 0, (size_t)(f->n * f->n) * sizeof *f->a);
    for (int64_t i = 0; i < f->n; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) f->a[i * f->n + A->col[k]] = sign * A->val[k];
}

/* Divide row k by the root of its pivot, and subtract its products from the rows below. If the pivot is 0 up to
   rounding, the row becomes 0: it depends on the rows before it. */
static bool eliminate(struct full *f, int64_t k, double least, struct err *e)
{
    int64_t n = f->n;
    double pivot = f->a[k * n + k];
    bool drop = fabs(pivot) <= least;
    if (!drop && !(pivot > 0))
        return fail(e, E_NUMERIC,
                    "the preconditioner amg needs a positive definite matrix, but a pivot of its coarsest level is "
                    "%.3g; use bicgstab or minres with another preconditioner",
                    pivot);
    double scale = drop ? 0 : 1 / sqrt(pivot);
    f->dropped += drop;
    double *row = f->a + k * n;
    for (int64_t j = k; j < n; j++) row[j] *= scale;
#pragma omp parallel for if ((n - k) * (n - k) > THREADS_FROM)
    for (int64_t i = k + 1; i < n; i++) {
        double by = row[i], *below = f->a + i * n;
        for (int64_t j = i; by != 0 && j < n; j++) below[j] -= by * row[j];
    }
    return true;
}

static bool factorise(struct full *f, struct err *e)
{
    struct loop l = loop_of("the coarsest level", f->n);
    double most = 0;
    for (int64_t i = 0; i < f->n; i++) most = fmax(most, f->a[i * f->n + i]);
    for (int64_t k = 0; k < f->n && loop_check(&l, k); k++)
        if (!eliminate(f, k, most * (double)f->n * 16 * DBL_EPSILON, e)) return false;
    return loop_end(&l, e);
}

/* Column c of the inverse from the diagonal down: U' U x = e_c. */
static void solve_column(const struct full *f, int64_t c, double *x)
{
    int64_t n = f->n;
    memset(x, 0, (size_t)n * sizeof *x);
    x[c] = 1;
    for (int64_t i = c; i < n; i++) {
        const double *row = f->a + i * n;
        x[i] = row[i] > 0 ? x[i] / row[i] : 0;
        for (int64_t j = i + 1; j < n; j++) x[j] -= row[j] * x[i];
    }
    for (int64_t i = n - 1; i >= c; i--) {
        const double *row = f->a + i * n;
        double sum = x[i];
        for (int64_t j = i + 1; j < n; j++) sum -= row[j] * x[j];
        x[i] = row[i] > 0 ? sum / row[i] : 0;
    }
}

static bool solve_all(const struct full *f, double *inverse, struct err *e)
{
    struct loop l = loop_of("the coarsest level", f->n);
#pragma omp parallel for schedule(dynamic, 8) if (f->n > 64)
    for (int64_t c = 0; c < f->n; c++)
        if (loop_check(&l, c)) solve_column(f, c, inverse + c * f->n);
    for (int64_t i = 0; i < f->n; i++)
        for (int64_t j = 0; j < i; j++) inverse[i * f->n + j] = inverse[j * f->n + i];
    return loop_end(&l, e);
}

bool amg_invert(const struct csr *A, double sign, double **inverse, int64_t *dropped, struct err *e)
{
    struct full f = {.n = A->rows, .a = mem_new(A->rows * A->rows, sizeof *f.a, "the coarsest level", e)};
    double *to = f.a ? mem_new(f.n * f.n, sizeof *to, "the inverse of the coarsest level", e) : NULL;
    if (to) spread(&f, A, sign);
    bool ok = to && factorise(&f, e) && solve_all(&f, to, e);
    mem_free(f.a);
    *inverse = ok ? to : NULL;
    *dropped = f.dropped;
    if (!ok) mem_free(to);
    return ok;
}
