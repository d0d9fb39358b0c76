/* Report card: the outermost eigenvalues of a symmetric matrix, estimated by conjugate gradients (Saad 2003, 6.7.3). */
#include "card_lanczos.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "card.h"
#include "matrix/csr.h"
#include "matrix/random.h"
#include "solvers/ritz.h"

#include <float.h>
#include <math.h>

enum { STEPS = 300 };

struct cg {
    const struct csr *A;
    double *r, *p, *q;                /* [n] items each, in one allocation, which begins at r */
    double rr, rr_start;              /* r'r now and before the first step */
    double alpha[STEPS], beta[STEPS]; /* coefficients of each step */
    int64_t steps;
};

/* q = A p; returns p'q. */
static double multiply(struct cg *v)
{
    const struct csr *A = v->A;
    double sum = 0;
    struct loop l = loop_of("Lanczos", A->rows);
#pragma omp parallel for schedule(static) reduction(+ : sum) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            double y = 0;
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) y += A->val[k] * v->p[A->col[k]];
            v->q[i] = y;
            sum += y * v->p[i];
        }
    return sum;
}

/* r -= alpha q; returns r'r. */
static double update_residual(struct cg *v, double alpha)
{
    double sum = 0;
    struct loop l = loop_of("Lanczos", v->A->rows);
#pragma omp parallel for schedule(static) reduction(+ : sum) if (v->A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < v->A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, v->A->rows); i < end; i++) {
            v->r[i] -= alpha * v->q[i];
            sum += v->r[i] * v->r[i];
        }
    return sum;
}

/* p = r + beta p. */
static void update_direction(struct cg *v, double beta)
{
    struct loop l = loop_of("Lanczos", v->A->rows);
#pragma omp parallel for schedule(static) if (v->A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < v->A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, v->A->rows); i < end; i++) v->p[i] = v->r[i] + beta * v->p[i];
}

static void start(struct cg *v)
{
    uint64_t seed = 1;
    struct loop l = loop_of("Lanczos", v->A->rows);
    for (int64_t i = 0; i < v->A->rows && loop_goes(&l, i); i++) {
        v->r[i] = v->p[i] = random_unit(&seed);
        v->rr += v->r[i] * v->r[i];
    }
    v->rr_start = v->rr;
}

/* A bound on the rounding error of p'Ap, in whatever order it is summed. */
static double rounding(const struct cg *v)
{
    const struct csr *A = v->A;
    double sum = 0;
    int64_t longest = 0;
    struct loop l = loop_of("Lanczos", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        double y = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) y += fabs(A->val[k] * v->p[A->col[k]]);
        if (csr_row_length(A, i) > longest) longest = csr_row_length(A, i);
        sum += y * fabs(v->p[i]);
    }
    return DBL_EPSILON * (double)(A->rows + longest) * sum;
}

/* Makes one step. Returns false if no further step is possible or useful. */
static bool step(struct cg *v, bool *indefinite)
{
    double curve = multiply(v);
    *indefinite = curve < 0 && curve < -rounding(v);
    if (!(curve > 0) || !isfinite(curve)) return false;
    double alpha = v->rr / curve, rr = update_residual(v, alpha), beta = rr / v->rr;
    v->alpha[v->steps] = alpha;
    v->beta[v->steps++] = beta;
    v->rr = rr;
    update_direction(v, beta);
    return isfinite(rr) && rr > 1e-28 * v->rr_start;
}

bool card_lanczos(struct card *c, struct card_lanczos *out, struct err *e)
{
    int64_t n = c->A->rows;
    bool ok = true, go = n > 0;
    *out = (struct card_lanczos){.low = NAN, .high = NAN};
    struct cg *v = mem_zero(1, sizeof *v, "Lanczos", e);
    if (v) v->r = mem_new(3 * n, sizeof *v->r, "Lanczos", e);
    if (!v || !v->r) {
        mem_free(v);
        return false;
    }
    v->A = c->A;
    v->p = v->r + n;
    v->q = v->p + n;
    start(v);
    while (ok && go && v->steps < STEPS) {
        go = step(v, &out->indefinite);
        ok = watch_tick(c->watch, "Lanczos", v->steps, STEPS, e);
    }
    struct ritz t = {0};
    if (ok) ritz_grow(&t, v->alpha, v->beta, v->steps, 0);
    out->steps = v->steps;
    out->low = t.rows ? t.low : NAN;
    out->high = t.rows ? t.high : NAN;
    mem_free(v->r);
    mem_free(v);
    return ok;
}
