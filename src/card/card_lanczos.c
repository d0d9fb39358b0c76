/* Report card: the outer eigenvalues of a symmetric matrix by conjugate gradients (Saad 2003, 6.7.3). */
#include "card_lanczos.h"
#include "card.h"
#include "matrix/csr.h"
#include "base/mem.h"
#include "matrix/random.h"
#include "solvers/ritz.h"
#include "base/threads.h"
#include "base/watch.h"

#include <math.h>

enum { STEPS = 300 };

struct cg {
    const struct csr *A;
    double *r, *p, *q; /* n each; r holds them all */
    double rr, first;
    double alpha[STEPS], beta[STEPS];
    int64_t steps;
};

/* q = A p, and p'q. */
static double multiply(struct cg *v)
{
    const struct csr *A = v->A;
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (A->nnz > THREADS_FROM)
    for (int64_t i = 0; i < A->rows; i++) {
        double y = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) y += A->val[k] * v->p[A->col[k]];
        v->q[i] = y;
        sum += y * v->p[i];
    }
    return sum;
}

/* r -= alpha q; r'r. */
static double lessen(struct cg *v, double alpha)
{
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (v->A->nnz > THREADS_FROM)
    for (int64_t i = 0; i < v->A->rows; i++) {
        v->r[i] -= alpha * v->q[i];
        sum += v->r[i] * v->r[i];
    }
    return sum;
}

static void turn(struct cg *v, double beta)
{
#pragma omp parallel for schedule(static) if (v->A->nnz > THREADS_FROM)
    for (int64_t i = 0; i < v->A->rows; i++) v->p[i] = v->r[i] + beta * v->p[i];
}

static void start(struct cg *v)
{
    uint64_t seed = 1;
    for (int64_t i = 0; i < v->A->rows; i++) {
        v->r[i] = v->p[i] = random_unit(&seed);
        v->rr += v->r[i] * v->r[i];
    }
    v->first = v->rr;
}

/* One step; false where there is no next one. */
static bool step(struct cg *v, bool *indefinite)
{
    double curve = multiply(v);
    *indefinite = curve <= 0;
    if (!(curve > 0) || !isfinite(curve)) return false;
    double alpha = v->rr / curve, rr = lessen(v, alpha), beta = rr / v->rr;
    v->alpha[v->steps] = alpha;
    v->beta[v->steps++] = beta;
    v->rr = rr;
    turn(v, beta);
    return isfinite(rr) && rr > 1e-28 * v->first;
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
