/* How many digits of the x of a solve are correct: by the known solution, or by a direct solve with a time limit. */
#include "solve_trust.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "direct/direct.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/time_limit.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

static const double MIN_US = 5e5, SHARE = 0.1;
/* The analysis of a matrix, which no watch can end, takes about a microsecond per nonzero. */
static const double NNZ_PER_US = 1;

/* Analyse and, unless plan_only is set, factor and solve until `until_us`. NULL if there is no answer in time. */
static struct direct_answer *solve_until(struct session *s, const struct solve *v, bool symmetric, bool plan_only,
                                         double until_us)
{
    struct time_limit l;
    struct direct_answer *answer = NULL;
    struct err unseen = {0};
    struct direct_options o = {
        .b = v->b, .symmetric = symmetric, .plan_only = plan_only, .trust = true, .watch = &s->watch};
    o.method = v->solver->least_squares ? direct_rectangular() : NULL;
    o.regular = !o.method;
    time_limit_begin(&l, s, steady_us, until_us);
    bool ok = direct_solve(&answer, v->matrix.csr, &o, &unseen);
    time_limit_end(&l, s);
    return ok ? answer : NULL;
}

/* Without an estimate by the library: INFINITY. */
static double predicted_us(const struct direct_answer *plan)
{
    static const double FLOPS_PER_US = 1000, US_PER_NONZERO = 0.1;
    double us = plan->plan.flops / FLOPS_PER_US + US_PER_NONZERO * plan->plan.nnz;
    return isnan(us) ? INFINITY : us;
}

static bool is_symmetric(struct session *s, const struct solve *v)
{
    struct err unseen = {0};
    struct matrix *m = session_matrix_of(s, v->matrix.csr);
    const struct stats *stats = m ? session_stats(s, m, &unseen) : NULL;
    return stats && stats->symmetry.rounding;
}

/* ||x - y|| / ||y||, for the x of the solve */
static double distance(const struct solve *v, const double *y)
{
    double size = norm2(v->n, y), *d = mem_new(v->n, sizeof *d, "the digits of x", NULL);
    for (int64_t i = 0; d && i < v->n; i++) d[i] = v->result.x[i] - y[i];
    double error = d ? norm2(v->n, d) / size : NAN;
    mem_free(d);
    return error;
}

/* difference: from the x of a direct solve, whose own error is `error`. */
static void trust_direct(struct trust *t, double difference, double error)
{
    if (!(error < 1))
        trust_unknown(t, "x is %.1e from that of `solve direct`, whose digits are not known", difference);
    else
        trust_set(t, difference + error, "direct", "x is %.1e from that of `solve direct` (error %.1e)", difference,
                  error);
}

static void trust_by_direct(struct session *s, const struct solve *v, struct trust *t)
{
    double us = fmax(MIN_US, SHARE * v->time.us), start = steady_us();
    if ((double)v->matrix.csr->nnz > NNZ_PER_US * us) {
        trust_unknown(t, "a direct solve for comparison would take too long; `b aones` has a known x");
        return;
    }
    bool symmetric = is_symmetric(s, v);
    struct direct_answer *plan = solve_until(s, v, symmetric, true, start + us / 2), *a = NULL;
    bool fits = plan && predicted_us(plan) < us;
    if (fits) a = solve_until(s, v, symmetric, false, start + us);
    if (a && a->x && a->trust.digits >= 0 && !a->trust.bound)
        trust_direct(t, distance(v, a->x), a->trust.error);
    else if (a && a->x && a->trust.bound)
        trust_unknown(t, "A is nearly singular to fp64, so that no direct solve can confirm x");
    else if (a && a->x)
        trust_unknown(t, "`solve direct` cannot confirm x: %s", a->trust.why);
    else if (plan && fits)
        trust_unknown(t, "no direct solver found an x to compare with");
    else
        trust_unknown(t, "a direct solve for comparison would take too long; `b aones` has a known x");
    direct_answer_free(plan);
    direct_answer_free(a);
}

/* Does the solve look for the same x as a direct solver: the one of least norm, if A has fewer rows than columns? */
static bool seeks_least_norm(const struct solve *v)
{
    return v->n <= v->n_b || (v->from_zero && !v->pre.method);
}

/* Another method has other rounding errors, so the distance of both x estimates the larger error. */
static void trust_agreement(struct trust *t, double difference)
{
    trust_set(t, difference, "direct", "x agrees to %.1e with that of `solve direct`", difference);
}

static void trust_by_rectangular(struct session *s, const struct solve *v, struct trust *t)
{
    const struct csr *A = v->matrix.csr;
    double us = fmax(MIN_US, SHARE * v->time.us), start = steady_us();
    struct direct_answer *plan = NULL, *a = NULL;
    bool fits = (double)A->nnz <= NNZ_PER_US * us && (plan = solve_until(s, v, false, true, start + us / 2));
    fits = fits && predicted_us(plan) < us;
    if (fits && seeks_least_norm(v)) a = solve_until(s, v, false, false, start + us);
    int64_t full = A->rows < A->cols ? A->rows : A->cols;
    if (!seeks_least_norm(v))
        trust_unknown(t, "many x are as good as this one: A has fewer rows than columns");
    else if (a && a->x && a->factors.rank < full)
        trust_unknown(t, "many x are as good as this one: A has rank %lld", (long long)a->factors.rank);
    else if (a && a->x && a->accurate)
        trust_agreement(t, distance(v, a->x));
    else
        trust_unknown(t, fits ? "no direct solver found an x to compare with"
                              : "a direct solve for comparison would take too long; `b aones` has a known x");
    direct_answer_free(plan);
    direct_answer_free(a);
}

/* Do x and the known solution differ by a vector that A maps almost to 0? Then A x = b determines neither of them. */
static bool is_undetermined(const struct solve *v)
{
    return v->solver->least_squares && v->result.known && least_dependence(v) <= v->set.tol;
}

static bool is_from_direct(const struct solve *v)
{
    return v->result.truth && !strcmp(v->result.truth_from, "direct");
}

void solve_find_trust(struct session *s, struct solve *v, bool may_factor)
{
    struct trust *t = &v->result.trust;
    double error = v->result.error_known;
    if (v->reason == RUNNING)
        trust_unknown(t, "the solve has not ended");
    else if (!v->result.x)
        trust_unknown(t, "x was not computed yet");
    else if (v->b_norm == 0)
        trust_unknown(t, "b = 0");
    else if (is_undetermined(v))
        trust_unknown(
            t,
            "x and the known solution differ by z, but ||A z|| is only %.1e ||A|| ||z||: tol does not tell them apart",
            least_dependence(v));
    else if (is_from_direct(v) && v->solver->least_squares)
        trust_agreement(t, error);
    else if (is_from_direct(v))
        trust_direct(t, error, v->result.truth_error);
    else if (v->result.known && !isnan(error))
        trust_known(t, error, v->result.truth ? v->result.truth_from : "ones");
    else if (v->matrix.csr->source)
        trust_unknown(t, "the host does not have the entries of A");
    else if (v->reason == STOPPED || !may_factor)
        trust_unknown(t, "x was not compared with that of a direct solve");
    else if (v->solver->least_squares)
        trust_by_rectangular(s, v, t);
    else
        trust_by_direct(s, v, t);
}
