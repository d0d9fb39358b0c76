/* Solvers of least squares: what their stop rules need, the true residual of the normal equations at the end, and the
   reason in words. Stop rules: Paige and Saunders, ACM Trans. Math. Softw. 8, 1982, with atol = btol = tol. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "base/threads.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

struct least solve_least_at(const struct solve *v, int64_t k)
{
    bool has = v->solver->least_squares && v->history.alpha && k <= v->iterations;
    return (struct least){has ? v->history.alpha[k] : NAN, has ? v->history.beta[k] : NAN, NAN};
}

/* ---- A D^-1 ---- */

/* The norms of the columns, which the caller frees, or NULL: there is no preconditioner, D = I. */
static bool column_norms(const struct solve *v, double **out, struct err *e)
{
    const struct csr *T = v->matrix.transposed_csr; /* its rows are the columns */
    *out = NULL;
    if (!v->pre.method) return true;
    double *d = *out = mem_new(v->n, sizeof *d, "the norms of the columns", e);
    if (!d) return false;
    struct loop l = loop_of("the norms of the columns", v->n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (v->n > THREADS_FROM)
    for (int64_t from = 0; from < v->n; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, v->n); k < end; k++)
            d[k] = norm2(csr_row_length(T, k), T->val + csr_start(T, k));
    if (loop_end(&l, e)) return true;
    mem_free(d);
    *out = NULL;
    return false;
}

/* ||A D^-1||_F: each of its columns has norm 1, unless it is 0. */
static double norm_of(const struct solve *v, const double *d)
{
    if (!d) return frobenius_norm(v->matrix.csr);
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n) if (v->n > THREADS_FROM)
    for (int64_t k = 0; k < v->n; k++) n += d[k] > 0;
    return sqrt((double)n);
}

bool least_put_scalars(struct solve *v, struct err *e)
{
    double *d;
    if (!column_norms(v, &d, e)) return false;
    double norm = norm_of(v, d);
    if (!d) norm = ldexp(norm, -v->matrix.exponents.a);
    double s[] = {v->system.b_norm, norm, v->set.force ? INFINITY : v->set.conlim};
    mem_free(d);
    return v->dev->ops->put(v->dev, v->scalars + S_OWN, s, sizeof s, e);
}

/* ---- the true residuals ---- */

/* x = D x, or x = D^-1 x if `divide` is set; an element of a column without nonzeros stays. Returns ||x||. */
static double weigh(const struct solve *v, const double *d, bool divide, double *x)
{
#pragma omp parallel for if (v->n > THREADS_FROM)
    for (int64_t k = 0; k < v->n; k++)
        if (d && d[k] > 0) x[k] = divide ? x[k] / d[k] : x[k] * d[k];
    return norm2(v->n, x);
}

static void set_least(struct solve *v, struct least y)
{
    SCREEN_EDIT;
    v->result.least = y;
}

/* work: v->n numbers */
static bool measure(struct solve *v, const double *r, const double *d, double *work, struct err *e)
{
    struct least y = {.norm = norm_of(v, d)};
    double size = norm2(v->n_b, r), below = y.norm * size;
    if (!reference_product(v->matrix.transposed_csr, 1, r, 0, work, P_F64, NULL, e)) return false;
    y.normal = below > 0 ? weigh(v, d, true, work) / below : 0;
    if (!loop_copy(work, v->result.x, v->n * (int64_t)sizeof *work, "copying x", e)) return false;
    y.backward = size / (y.norm * weigh(v, d, false, work) + v->b_norm);
    set_least(v, y);
    return true;
}

bool least_measure(struct solve *v, const double *r, struct err *e)
{
    if (!v->solver->least_squares || v->b_norm == 0) return true;
    struct err why = {0};
    double *d = NULL, *work = mem_new(v->n, sizeof *work, "the residual of the normal equations", e);
    if (!work) return false;
    bool ok = column_norms(v, &d, &why) && measure(v, r, d, work, &why);
    if (!ok) set_least(v, (struct least){NAN, NAN, NAN});
    mem_free(work);
    mem_free(d);
    return ok || why.code == E_CANCELLED || fail_at(e, why.code, why.where, "%s", why.text);
}

bool least_solves(const struct solve *v, double drift)
{
    return v->result.least.backward <= drift * v->set.tol;
}

bool least_minimises(const struct solve *v, double drift)
{
    return v->result.least.normal <= drift * v->set.tol;
}

double least_dependence(const struct solve *v)
{
    double size = v->result.truth ? norm2(v->n, v->result.truth) : sqrt((double)v->n);
    double below = frobenius_norm(v->matrix.csr) * v->result.error_known * size;
    return v->result.residual_true * v->b_norm / below;
}

/* ---- in words ---- */

/* " of least norm", if x is the only one of many with that property; "" if that is not known. */
static const char *of_least_norm(const struct solve *v)
{
    if (!v->from_zero || v->n <= v->n_b) return "";
    return v->pre.method ? ", of least ||D x|| with D = diag(||a_j||)" : ", of least norm";
}

static void explain_converged(const struct solve *v, char *out, size_t size)
{
    const struct least *y = &v->result.least;
    const char *scaled = v->pre.method ? " of A D^-1" : "";
    if (least_solves(v, 1) || (least_solves(v, 2) && !least_minimises(v, 1)))
        snprintf(out, size, "x solves A x = b%s: ||r|| / (||A|| ||x|| + ||b||)%s = %.2e, tol %.2e", of_least_norm(v),
                 scaled, y->backward, v->set.tol);
    else
        snprintf(out, size, "x is the least-squares solution%s: ||A' r|| / (||A|| ||r||)%s = %.2e, tol %.2e",
                 of_least_norm(v), scaled, y->normal, v->set.tol);
}

/* The two residuals that the stop rules look at. */
static void add_residuals(const struct solve *v, char *out, size_t size)
{
    struct least y = v->result.least;
    if (isnan(y.normal)) y = solve_least_at(v, v->iterations);
    text_append(out, size, "; ||r|| / (||A|| ||x|| + ||b||) = %.2e, ||A' r|| / (||A|| ||r||) = %.2e, tol %.2e",
                y.backward, y.normal, v->set.tol);
}

bool least_explain(const struct solve *v, char *out, size_t size)
{
    if (!v->solver->least_squares || v->b_norm == 0) return false;
    if (v->reason == CONVERGED) return explain_converged(v, out, size), true;
    if (v->reason == MAX_ITERATIONS)
        snprintf(out, size, "stopped at the limit of %s", how_many(v->iterations, "iteration").text);
    else if (v->reason == DRIFTED)
        snprintf(out, size, "not converged: the recursive residuals met tol, but the true residuals did not");
    else if (v->reason == STAGNATED)
        snprintf(out, size, "stagnated: neither ||r|| nor ||A' r|| gained 1%% in %s, at iteration %lld",
                 how_many(v->set.window, "iteration").text, (long long)v->iterations);
    else
        return false;
    add_residuals(v, out, size);
    return true;
}

void least_explain_condition(const struct solve *v, char *out, size_t size)
{
    snprintf(out, size,
             "A is ill-conditioned: the estimate of its condition is %.1e, after iteration %lld, and conlim %.1e; x is "
             "kept",
             v->host_scalars[S_PQ], (long long)v->iterations, v->set.conlim);
    add_residuals(v, out, size);
}
