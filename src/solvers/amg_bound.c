/* A bound on the eigenvalues of D^-1 A, which the smoother of multigrid needs. */
#include "amg.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "machine/amg_setup_ops.h"
#include "ritz.h"

#include <math.h>
#include <string.h>

enum { STEPS = 10, SHARE = 1 << 12 };

static const char what[] = "multigrid";

bool amg_multiply(const struct csr *A, double alpha, const double *x, double beta, double *y, struct err *e)
{
    struct loop l = loop_of(what, A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            double sum = 0;
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) sum += A->val[k] * x[A->col[k]];
            y[i] = beta == 0 ? alpha * sum : alpha * sum + beta * y[i];
        }
    return loop_end(&l, e);
}

/* Blocks of a fixed size are added in order. After Ctrl-C, the sum is not finished. */
double amg_dot(int64_t n, const double *x, const double *y, const double *weight)
{
    struct loop l = loop_of(what, n);
    double sum = 0;
#pragma omp parallel for ordered schedule(static, 1) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += SHARE) {
        double part = 0;
        int64_t end = !loop_check(&l, from) ? from : n - from < SHARE ? n : from + SHARE;
        for (int64_t i = from; i < end; i++) part += x[i] * y[i] * (weight ? weight[i] : 1);
#pragma omp ordered
        sum += part;
    }
    return sum;
}

/* *bound = the largest sum of |a_ij / a_ii| over a row. */
static bool gershgorin(const struct csr *A, const double *dinv, double *bound, struct err *e)
{
    struct loop l = loop_of(what, A->rows);
    double most = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(max : most) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            double sum = 0;
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) sum += fabs(A->val[k] * dinv[i]);
            most = sum > most ? sum : most;
        }
    *bound = most;
    return loop_end(&l, e);
}

/* y += alpha x */
static bool add(int64_t n, double alpha, const double *x, double *y, struct err *e)
{
    struct loop l = loop_of(what, n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) y[i] += alpha * x[i];
    return loop_end(&l, e);
}

/* p = D^-1 r + beta p; if beta is 0, p may be uninitialised. */
static bool turn(int64_t n, const double *dinv, const double *r, double beta, double *p, struct err *e)
{
    struct loop l = loop_of(what, n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++)
            p[i] = dinv[i] * r[i] + (beta == 0 ? 0 : beta * p[i]);
    return loop_end(&l, e);
}

/* Conjugate gradients for A, preconditioned by D, from a random residual r. q and p are work memory. Returns the number
   of steps whose coefficients are in alpha and beta; -1: cancelled. */
static int iterate(const struct csr *A, const double *dinv, double *r, double *p, double *q, double *alpha,
                   double *beta, struct err *e)
{
    int64_t n = A->rows;
    double rho = amg_dot(n, r, r, dinv);
    if (!turn(n, dinv, r, 0, p, e)) return -1;
    for (int k = 0; k < STEPS; k++) {
        if (!amg_multiply(A, 1, p, 0, q, e)) return -1;
        double pq = amg_dot(n, p, q, NULL);
        if (!loop_unbroken(what, e)) return -1;
        if (!(rho / pq > 0) || !isfinite(rho / pq)) return k;
        alpha[k] = rho / pq;
        if (!add(n, -alpha[k], q, r, e)) return -1;
        double next = amg_dot(n, r, r, dinv);
        beta[k] = next / rho;
        rho = next;
        if (!turn(n, dinv, r, beta[k], p, e)) return -1;
    }
    return STEPS;
}

bool amg_bound(const struct csr *A, const double *dinv, double *bound, struct err *e)
{
    double most;
    if (!gershgorin(A, dinv, &most, e)) return false;
    *bound = most;
    if (most <= amg_dominant) return true;
    double alpha[STEPS], beta[STEPS], *work = mem_new(3 * A->rows, sizeof *work, "vectors for multigrid", e);
    if (!work) return false;
    for (int64_t i = 0; i < A->rows; i++) work[i] = amg_random(i);
    int k = iterate(A, dinv, work, work + A->rows, work + 2 * A->rows, alpha, beta, e);
    mem_free(work);
    if (k < 0) return false;
    struct ritz r = {0};
    ritz_grow(&r, alpha, beta, k, 0);
    *bound = fmin(most, r.rows ? amg_margin * r.high : INFINITY);
    return true;
}
