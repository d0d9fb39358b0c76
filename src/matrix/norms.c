/* Norms of vectors and matrices. */
#include "norms.h"
#include "base/loop.h"
#include "base/threads.h"
#include "csr.h"

#include <math.h>

double max_or_nan(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

static double largest_of(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = max_or_nan(most, fabs(x[i]));
    return most;
}

static double largest_of_blocks(int64_t n, const double *x)
{
    double most = 0;
    bool nan = false;
#pragma omp parallel for reduction(max : most) reduction(|| : nan)
    for (int64_t from = 0; from < n; from += THREADS_FROM) {
        double part = largest_of(n - from < THREADS_FROM ? n - from : THREADS_FROM, x + from);
        most = part > most ? part : most;
        nan = nan || isnan(part);
    }
    return nan ? NAN : most;
}

static double sum_of_squares(int64_t n, const double *x, double unit)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] / unit * (x[i] / unit);
    return sum;
}

/* Each thread adds up blocks of a fixed size, and the sums of the blocks are added in order: the result does not depend
   on the number of threads. */
static double sum_of_blocks(int64_t n, const double *x, double unit)
{
    double sum = 0;
#pragma omp parallel for ordered schedule(static, 1)
    for (int64_t from = 0; from < n; from += THREADS_FROM) {
        double part = sum_of_squares(n - from < THREADS_FROM ? n - from : THREADS_FROM, x + from, unit);
#pragma omp ordered
        sum += part;
    }
    return sum;
}

double norm2(int64_t n, const double *x)
{
    bool few = n <= THREADS_FROM; /* a parallel region costs a microsecond, even with one thread */
    double most = few ? largest_of(n, x) : largest_of_blocks(n, x);
    if (most == 0 || !isfinite(most)) return most;
    return most * sqrt(few ? sum_of_squares(n, x, most) : sum_of_blocks(n, x, most));
}

double dot_product(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

double frobenius_norm(const struct csr *A)
{
    return A->imag ? hypot(norm2(A->nnz, A->val), norm2(A->nnz, A->imag)) : norm2(A->nnz, A->val);
}

bool norm_inf(const struct csr *A, double *out, struct err *e)
{
    struct loop l = loop_of("the norm of A", A->nnz);
    *out = 0;
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++) {
        double sum = 0;
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1) && loop_goes(&l, k); k++) sum += csr_abs(A, k);
        *out = max_or_nan(*out, sum);
    }
    return loop_end(&l, e);
}
