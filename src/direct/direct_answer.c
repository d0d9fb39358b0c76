/* A system solved directly: the method is chosen, x is refined, and its errors are measured. */
#include "base/base.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "direct_state.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { REFINEMENTS_MAX = 10 };
/* x is accurate if its backward error is below the first limit and either its residual, relative to b, or its last
   correction, relative to x, is below the second: otherwise, A is singular in double precision. A stable factorisation
   with refinement gives about 1e-16. */
static const double backward_most = 1e-12, relative_most = 1e-6;
/* A least-squares solution is accurate if ||A' r|| is below one of these limits, relative to ||A|| ||r|| or, if x is
   large, to ||A||^2 ||x||. */
static const double normal_most = 1e-10, stable_most = 1e-14;

static const double default_tol = 1e-8; /* as for iterative solvers */

void direct_answer_free(struct direct_answer *a)
{
    if (!a) return;
    mem_free(a->b);
    mem_free(a->x);
    mem_free(a->columns_b);
    mem_free(a->columns_x);
    mem_free(a);
}

static struct direct_answer *answer_new(const struct csr *A, const struct direct_options *o, struct err *e)
{
    struct direct_answer *a = mem_zero(1, sizeof *a, "a direct solve", e);
    int64_t parts = A->imag ? 2 : 1;
    if (!a) return NULL;
    a->A = A;
    a->b_numbers = A->rows * parts;
    a->x_numbers = A->cols * parts;
    a->symmetric = o->symmetric;
    a->known = o->known_ones || o->truth;
    a->tol = o->tol > 0 ? o->tol : default_tol;
    a->b = mem_new(a->b_numbers, sizeof *a->b, "the right-hand side", e);
    if (a->b && loop_copy(a->b, o->b, a->b_numbers * (int64_t)sizeof *a->b, "copying b", e)) return a;
    direct_answer_free(a);
    return NULL;
}

/* Forget x and its errors. */
static void forget_x(struct direct_answer *a)
{
    mem_free(a->x);
    a->x = NULL;
    a->refinements = 0;
    a->accurate = a->met = false;
    a->correction = a->first = a->residual = a->residual_true = a->backward = a->normal = a->error_known = NAN;
    a->omega = a->forward = NAN;
    trust_unknown(&a->trust, "there is no x");
    a->solve_us = NAN;
}

/* Forget what the method before has found. */
static void answer_reset(struct direct_answer *a, const struct direct_method *m)
{
    forget_x(a);
    a->method = m;
    a->unique = false;
    a->condition = a->skeel = NAN;
    a->analyse_us = a->factor_us = a->condition_us = NAN;
}

/* Keep in a->tried why the method is left. */
static void leave(struct direct_answer *a, const char *fmt, ...)
{
    size_t n = strlen(a->tried);
    va_list list;
    n += (size_t)snprintf(a->tried + n, sizeof a->tried - n, "%s%s: ", n ? "; " : "", a->method->name);
    va_start(list, fmt);
    if (n < sizeof a->tried) vsnprintf(a->tried + n, sizeof a->tried - n, fmt, list);
    va_end(list);
}

/* ---- errors of x ---- */

static double size_at(const struct direct_answer *a, const double *x, int64_t i)
{
    return a->A->imag ? hypot(x[2 * i], x[2 * i + 1]) : fabs(x[i]);
}

static double largest_of(int64_t n, const double *x, bool pairs)
{
    double most = 0;
    for (int64_t i = 0; i < n; i += 1 + pairs) most = max_or_nan(most, pairs ? hypot(x[i], x[i + 1]) : fabs(x[i]));
    return most;
}

/* r = b - A x, with compensated sums. */
static bool residual_of(const struct direct_answer *a, const double *x, double *r, struct err *e)
{
    if (!loop_copy(r, a->b, a->b_numbers * (int64_t)sizeof *r, "the true residual", e)) return false;
    reference_spmv(a->A, -1, x, 1, r, P_F64, NULL);
    return loop_tick("the true residual", 0, 0, e);
}

static double relative(const struct direct_answer *a, const double *r)
{
    double b = norm2(a->b_numbers, a->b), norm = norm2(a->b_numbers, r);
    return b > 0 ? norm / b : norm;
}

/* Is x a least-squares solution? Fills a->normal, which is 0 at the exact solution. */
static bool is_least(struct direct_answer *a, const double *r, bool *is, struct err *e)
{
    const struct csr *A = a->A;
    int64_t parts = A->imag ? 2 : 1;
    double *z = mem_zero(a->x_numbers, sizeof *z, "a product with A'", e);
    double norm = frobenius_norm(A), size = norm2(a->b_numbers, r), unit = size > 0 ? size : 1;
    if (!z) return false;
    struct loop l = loop_of("A' r", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) {
            double re = A->val[k], im = A->imag ? A->imag[k] : 0, *to = z + parts * A->col[k];
            to[0] += re * (r[parts * i] / unit) + (A->imag ? im * (r[2 * i + 1] / unit) : 0);
            if (A->imag) to[1] += re * (r[2 * i + 1] / unit) - im * (r[2 * i] / unit);
        }
    a->normal = size > 0 && norm > 0 ? norm2(a->x_numbers, z) / norm : 0;
    *is = a->residual_true <= 1 &&
          (a->normal <= normal_most || a->normal * size <= stable_most * norm * norm2(a->x_numbers, a->x));
    mem_free(z);
    return loop_end(&l, e);
}

/* truth: NULL if the solution is all ones. NaN without memory. */
static double error_of(const struct direct_answer *a, const double *truth)
{
    int64_t parts = a->A->imag ? 2 : 1;
    double *ones = truth ? NULL : mem_new(a->x_numbers, sizeof *ones, "the known solution", NULL), error = NAN;
    for (int64_t i = 0; ones && i < a->x_numbers; i++) ones[i] = i % parts == 0;
    if (truth || ones) error = verdict_of(a->x_numbers, a->x, truth ? truth : ones, NULL).relative;
    mem_free(ones);
    return error;
}

/* `r` is b - A x. */
static bool measure(struct direct_answer *a, const double *r, struct err *e)
{
    bool pairs = a->A->imag;
    double norm, most = largest_of(a->b_numbers, r, pairs);
    if (!norm_inf(a->A, &norm, e)) return false;
    double size = norm * largest_of(a->x_numbers, a->x, pairs) + largest_of(a->b_numbers, a->b, pairs);
    a->residual_true = relative(a, r);
    a->backward = size > 0 ? most / size : most;
    bool solved = a->residual_true <= relative_most || a->correction <= relative_most;
    a->accurate = a->backward <= backward_most && solved;
    if (a->method->rectangular && !a->accurate && !is_least(a, r, &a->accurate, e)) return false;
    bool least = !isnan(a->normal) && a->A->rows != a->A->cols;
    a->met = a->accurate && (least || a->residual_true <= 2 * a->tol);
    return true;
}

/* ---- solution and refinement ---- */

/* x = A^-1 b by the factors. */
static bool substitute(struct direct **v, struct direct_answer *a, const double *b, double *x, struct watch *w,
                       struct err *e)
{
    if (!loop_copy((*v)->from, b, a->b_numbers * (int64_t)sizeof *b, "substitution", e)) return false;
    if (!direct_run(v, direct_call_solve, "substitution", w, e)) return false;
    a->solve_us += (*v)->us;
    return loop_copy(x, (*v)->to, a->x_numbers * (int64_t)sizeof *x, "substitution", e);
}

/* Add A^-1 r to x, as long as each correction is at most half as large as the correction before it, until x has no more
   digits. `work` has room for vectors of the sizes of x and b. r stays b - A x. */
static bool refine(struct direct **v, struct direct_answer *a, double *r, double *work, struct watch *w, struct err *e)
{
    double *d = work, size = norm2(a->x_numbers, a->x), most = 0.5;
    while (a->refinements < REFINEMENTS_MAX && size > 0 && isfinite(size)) {
        if (!substitute(v, a, r, d, w, e)) return false;
        a->correction = norm2(a->x_numbers, d) / size;
        if (!a->refinements) a->first = a->correction;
        if (!(a->correction <= most) || a->correction == 0) break;
        most = a->correction / 2;
        for (int64_t i = 0; i < a->x_numbers; i++) a->x[i] += d[i];
        if (!residual_of(a, a->x, r, e)) return false;
        a->refinements++;
        if (a->correction <= DBL_EPSILON) break;
    }
    return true;
}

static bool find_x(struct direct **v, struct direct_answer *a, struct watch *w, struct err *e)
{
    int64_t b = a->b_numbers, x = a->x_numbers;
    bool square = a->A->rows == a->A->cols && a->factors.rank == a->A->cols;
    double *room = mem_new(b + x, sizeof *room, "the residual of a direct solve", e), *r = room;
    a->x = room ? mem_new(x, sizeof *a->x, "the solution", e) : NULL;
    a->solve_us = 0;
    bool ok = a->x && substitute(v, a, a->b, a->x, w, e) && residual_of(a, a->x, r, e);
    if (ok) a->residual = relative(a, r);
    ok = ok && (!square || refine(v, a, r, room + b, w, e)) && measure(a, r, e);
    mem_free(room);
    return ok;
}

static bool find_condition(struct direct **v, struct direct_answer *a, struct watch *w, struct err *e)
{
    if (a->A->rows != a->A->cols || a->factors.rank != a->A->cols) return true;
    if (!direct_run(v, direct_call_condition, "condition", w, e)) return false;
    a->condition = (*v)->condition;
    a->condition_us = (*v)->us;
    return true;
}

/* ---- correct digits ---- */

/* w = |A| |x| + |b|, one number per row */
static bool weights_of(const struct direct_answer *a, double *w, struct err *e)
{
    const struct csr *A = a->A;
    struct loop l = loop_of("the digits of x", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++) {
        w[i] = size_at(a, a->b, i);
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++)
            w[i] += csr_abs(A, k) * size_at(a, a->x, A->col[k]);
    }
    return loop_end(&l, e);
}

static double oettli_prager(const struct direct_answer *a, const double *r, const double *w)
{
    double most = 0;
    for (int64_t i = 0; i < a->A->rows; i++) {
        double left = size_at(a, r, i);
        most = max_or_nan(most, left == 0 ? 0 : left / w[i]);
    }
    return most;
}

/* Fill skeel, unless it is known from a right side before, omega and forward. */
static bool estimate_error(struct direct **v, struct direct_answer *a, struct watch *watch, struct err *e)
{
    int64_t n = a->A->rows, numbers = a->b_numbers;
    double *w = mem_new(n + 2 * numbers, sizeof *w, "the digits of x", e), *r = w + n, *d = r + numbers;
    bool ok = w && weights_of(a, w, e) && residual_of(a, a->x, r, e);
    if (ok && isnan(a->skeel)) {
        (*v)->weights = mem_new(n, sizeof *w, "the digits of x", e);
        ok = (*v)->weights && loop_copy((*v)->weights, w, n * (int64_t)sizeof *w, "the digits of x", e) &&
             direct_run(v, direct_call_weighted, "the digits of x", watch, e);
        if (ok) a->skeel = (*v)->weighted / largest_of(numbers, a->x, a->A->imag != NULL);
    }
    ok = ok && substitute(v, a, r, d, watch, e);
    if (ok) {
        a->omega = oettli_prager(a, r, w);
        a->forward = norm2(numbers, d) / norm2(numbers, a->x);
    }
    mem_free(w);
    return ok;
}

/* If rounding errors change x by far less than x, and the first correction was far smaller than x, then a correction by
   the factors is the error of x, up to a small part of itself. Otherwise, the componentwise backward error times the
   condition is a bound, with a reserve for the estimate of the condition, which is a lower bound. */
static void judge_digits(struct direct_answer *a)
{
    static const double regular = 1e-3, small = 0.1, reserve = 10;
    if (a->skeel * DBL_EPSILON < regular && a->first < small) {
        trust_set(&a->trust, fmax(DBL_EPSILON, 2 * a->forward), "refinement",
                  "another step of refinement would change x by %.1e; condition %.1e", a->forward, a->skeel);
        return;
    }
    double error = reserve * a->skeel * fmax(a->omega, DBL_EPSILON);
    if (isnan(error)) {
        trust_unknown(&a->trust, "the condition leaves the range of fp64");
        return;
    }
    trust_set(&a->trust, error, "condition",
              "A is nearly singular to fp64: componentwise backward error %.1e, condition %.1e", a->omega, a->skeel);
    a->trust.bound = true;
}

static bool x_is_finite(const struct direct_answer *a)
{
    return first_not_finite(a->x_numbers, a->x) == a->x_numbers;
}

static bool find_digits(struct direct **v, struct direct_answer *a, const struct direct_options *o, struct err *e)
{
    if (!o->trust || (a->known && a->unique)) return true; /* take_known compares x with the solution */
    if (!x_is_finite(a))
        trust_unknown(&a->trust, "numbers of x are beyond the largest one that fp64 can store");
    else if (!a->unique)
        trust_unknown(&a->trust, "other x have the same residual, up to rounding errors");
    else if (!isnan(a->normal))
        trust_unknown(&a->trust, "x is a least-squares solution");
    else if (norm2(a->b_numbers, a->b) == 0)
        trust_unknown(&a->trust, "b = 0");
    else {
        if (!estimate_error(v, a, o->watch, e)) return false;
        judge_digits(a);
    }
    return true;
}

/* ---- the result in words ---- */

/* What else can be tried if x is not accurate. */
static const char *cure(const struct direct_answer *a)
{
    if (a->backward <= backward_most) return "A is singular to fp64; try `solve direct spqr`";
    if (a->method->hermitian) return "L D L' exchanges no rows and is unstable here; try `solve direct umfpack`";
    return a->method->rectangular ? "scale the matrix" : "try `solve direct spqr`";
}

/* Append how many digits of x the condition leaves, if they are few. Rounding errors of A and b alone change x by
   condition * eps of itself; refinement does not help against that. */
static void add_digits(struct direct_answer *a)
{
    static const double FEW = 1e-3;
    double change = a->condition * DBL_EPSILON;
    size_t n = strlen(a->why);
    int digits = change > 0 && change < 1 ? (int)floor(-log10(change)) : 0;
    if (!(change >= FEW)) return;
    if (digits)
        snprintf(a->why + n, sizeof a->why - n,
                 "; with condition %.1e, only about %s of x can be trusted if A and b were rounded", a->condition,
                 how_many(digits, "digit").text);
    else
        snprintf(a->why + n, sizeof a->why - n, "; the condition %s 1/eps, so x may have no correct digit%s",
                 change > 1 ? "exceeds" : "is almost",
                 a->method->rectangular ? "" : "; `solve direct spqr` finds the rank");
}

/* x is as good as fp64 allows, but rounding errors of A x exceed tol. */
static void explain_missed(struct direct_answer *a)
{
    double growth = a->residual_true / a->backward;
    int n = snprintf(a->why, sizeof a->why, "solved to %.1e, larger than tol %.0e: ", a->residual_true, a->tol);
    if (a->unique)
        n += snprintf(a->why + n, sizeof a->why - (size_t)n, "A is ill-conditioned");
    else
        n += snprintf(a->why + n, sizeof a->why - (size_t)n,
                      "A has rank %lld of %lld to fp64, with more singular values that are almost 0",
                      (long long)a->factors.rank, (long long)(a->A->rows < a->A->cols ? a->A->rows : a->A->cols));
    snprintf(a->why + n, sizeof a->why - (size_t)n,
             ", so ||A|| ||x|| is %.0e times ||b||, and rounding errors of A x alone are this large; %s", growth,
             a->unique ? "`scale` helps if rows differ in size" : "`check only rank` shows the structure");
}

static void explain_unique(struct direct_answer *a)
{
    if (!a->accurate)
        snprintf(a->why, sizeof a->why, "not solved: backward error %.1e, residual %.1e: %s", a->backward,
                 a->residual_true, cure(a));
    else if (!isnan(a->normal))
        snprintf(a->why, sizeof a->why, "least squares: no x satisfies all equations; ||A' r|| is %.1e of ||A|| ||r||",
                 a->normal);
    else
        snprintf(a->why, sizeof a->why, "solved: backward error %.1e", a->backward);
    if (a->accurate && isnan(a->normal)) add_digits(a);
}

static void explain_many(struct direct_answer *a)
{
    const struct csr *A = a->A;
    int64_t rank = a->factors.rank;
    int n = snprintf(a->why, sizeof a->why, "%s: ",
                     !a->accurate       ? "not solved"
                     : isnan(a->normal) ? "solved"
                                        : "least squares");
    if (rank == A->rows)
        n += snprintf(a->why + n, sizeof a->why - (size_t)n,
                      "infinitely many x satisfy all equations; this x has the least norm");
    else
        n += snprintf(a->why + n, sizeof a->why - (size_t)n,
                      "rank %lld of %lld to fp64: infinitely many x have this residual, up to rounding errors; this x "
                      "is a basic solution",
                      (long long)rank, (long long)(A->rows < A->cols ? A->rows : A->cols));
    if (!a->accurate) snprintf(a->why + n, sizeof a->why - (size_t)n, "; backward error %.1e", a->backward);
}

static void explain(struct direct_answer *a)
{
    if (a->planned)
        snprintf(a->why, sizeof a->why, "planned: nothing was factored");
    else if (*a->factors.unusable)
        snprintf(a->why, sizeof a->why, "%s; %s", a->factors.unusable,
                 a->method->hermitian ? "`solve direct umfpack` exchanges rows"
                                      : "`solve direct spqr` finds the rank and a least-squares solution");
    else if (!x_is_finite(a))
        snprintf(a->why, sizeof a->why,
                 "not solved: numbers of x are beyond the largest one that fp64 can store; scale the matrix or b");
    else if (a->accurate && !a->met && isnan(a->normal))
        explain_missed(a);
    else if (a->unique)
        explain_unique(a);
    else
        explain_many(a);
}

/* ---- the choice of a method ---- */

static bool suits(const struct direct_method *m, const struct csr *A, bool symmetric, struct err *e)
{
    if (!m->rectangular && A->rows != A->cols)
        return fail(e, E_UNSUPPORTED,
                    "%s needs a square matrix, but this matrix is %lld x %lld; `solve direct spqr` "
                    "finds a least-squares solution",
                    m->name, (long long)A->rows, (long long)A->cols);
    if (m->hermitian && !symmetric)
        return fail(e, E_UNSUPPORTED, "%s needs %s, but this matrix is not; use `solve direct`, which chooses a method",
                    m->name, m->needs);
    return true;
}

static bool has_memory(const struct direct *v, struct err *e)
{
    char need[32], have[32];
    int64_t bytes = direct_memory(v->method);
    if (!(v->plan.bytes > (double)bytes)) return true;
    return fail(e, E_MEMORY,
                "%s needs %s %s for %.3g nonzeros of the factors, but only %s of %s is free; add `force` to factor "
                "anyway; an iterative solver with a preconditioner needs far less (`solvers`)",
                v->method->name, v->plan.bound ? "up to" : "about", show_bytes(v->plan.bytes, need, sizeof need),
                v->plan.nnz, show_bytes((double)bytes, have, sizeof have),
                v->method->memory ? "the GPU's memory" : "memory");
}

/* What became of a method: the answer is complete; or another method should be tried; or an error ended the solve. */
enum outcome { ANSWERED, LEFT, FAILED };

/* Factor and find x. */
static enum outcome factor_by(struct direct **v, bool (*call)(struct direct *v, struct err *e), struct direct_answer *a,
                              const struct direct_options *o, struct err *e)
{
    bool choosing = (*v)->choosing && !a->method->rectangular;
    struct watch *w = o->watch;
    if (!direct_run(v, call, "factorisation", w, e)) return FAILED;
    a->factors = (*v)->factors;
    a->factor_us = (*v)->us;
    a->unique = a->factors.rank == a->A->cols;
    if (!*a->factors.unusable && !find_x(v, a, w, e)) return FAILED;
    bool left = choosing && (*a->factors.unusable || !a->accurate);
    if (!left && a->x && !find_digits(v, a, o, e)) return FAILED;
    if (choosing && *a->factors.unusable) return leave(a, "%s", a->factors.unusable), LEFT;
    if (choosing && !a->accurate)
        return leave(a, "backward error %.1e, residual %.1e", a->backward, a->residual_true), LEFT;
    if (o->regular) return ANSWERED;
    return *a->factors.unusable || find_condition(v, a, w, e) ? ANSWERED : FAILED;
}

static enum outcome after_analysis(struct direct **v, struct direct_answer *a, const struct direct_options *o,
                                   struct err *e)
{
    bool choosing = !o->method && !a->method->rectangular;
    if (choosing && a->method->pays && !a->method->pays(*v)) {
        leave(a, "%.0f operations per nonzero of the factors are too many for columns", a->plan.flops / a->plan.nnz);
        return LEFT;
    }
    a->planned = o->plan_only;
    if (o->plan_only) return ANSWERED;
    if (!o->force && !has_memory(*v, e)) return FAILED;
    return factor_by(v, direct_call_factor, a, o, e);
}

static enum outcome try_method(struct direct_answer *a, const struct direct_options *o, struct err *e)
{
    struct direct *v = NULL;
    struct err why = {0};
    if (!suits(a->method, a->A, o->symmetric, o->method ? e : NULL)) return o->method ? FAILED : LEFT;
    if (!direct_begin(&v, a->method, a->A, &why)) {
        if (!o->method && why.code == E_UNSUPPORTED) return leave(a, "%s is not installed", a->method->title), LEFT;
        return fail_at(e, why.code, why.where, "%s", why.text), FAILED;
    }
    enum outcome outcome = FAILED;
    v->choosing = !o->method;
    v->symmetric = o->symmetric;
    if (direct_run(&v, direct_call_analyse, "analysis", o->watch, e)) {
        a->plan = v->plan;
        a->analyse_us = v->us;
        a->factors = v->factors;
        outcome = after_analysis(&v, a, o, e);
    }
    if (outcome == ANSWERED && o->keep)
        *o->keep = v;
    else
        direct_free(v);
    return outcome;
}

/* By the analysis of the factorisation *o->keep. */
static enum outcome try_again(struct direct_answer *a, const struct direct_options *o, struct err *e)
{
    struct direct *v = *o->keep;
    answer_reset(a, v->method);
    a->again = true;
    a->plan = v->plan;
    if (v->symmetric && !o->symmetric)
        return fail(e, E_USAGE,
                    "the factorisation that was kept uses the symmetry of its matrix, and this matrix has none; `solve "
                    "direct keep` analyses it"),
               FAILED;
    if (!direct_renew(v, a->A, e)) return FAILED;
    v->choosing = false;
    return factor_by(o->keep, direct_call_renew, a, o, e);
}

static bool b_is_finite(const struct direct_answer *a, struct err *e)
{
    return first_not_finite(a->b_numbers, a->b) == a->b_numbers ||
           fail(e, E_NUMERIC, "b has NaN or inf, so the system cannot be solved");
}

static bool is_finite(const struct csr *A, const struct direct_answer *a, struct err *e)
{
    if (first_not_finite(A->nnz, A->val) < A->nnz || (A->imag && first_not_finite(A->nnz, A->imag) < A->nnz))
        return fail(e, E_NUMERIC, "the matrix has NaN or inf, so it cannot be factored; `check` names the row");
    return b_is_finite(a, e);
}

/* Compare x with the known solution. */
static void take_known(struct direct_answer *a, const struct direct_options *o)
{
    a->error_known = error_of(a, o->truth);
    if (o->trust) trust_known(&a->trust, a->error_known, o->known_ones ? "ones" : o->truth_from);
}

static bool answer(struct direct_answer *a, const struct direct_options *o, struct err *e)
{
    double start = now_us();
    if (!is_finite(a->A, a, e)) return false;
    enum outcome outcome = o->keep && *o->keep ? try_again(a, o, e) : LEFT;
    for (int i = 0; directs[i] && outcome == LEFT; i++) {
        const struct direct_method *m = directs[i];
        if (o->method ? m != o->method : m->asked || (o->regular && m->rectangular)) continue;
        answer_reset(a, directs[i]);
        outcome = try_method(a, o, e);
    }
    a->us = now_us() - start;
    if (outcome == LEFT) return fail(e, E_UNSUPPORTED, "no direct solver could solve the system: %s", a->tried);
    if (a->known && a->unique && a->x) take_known(a, o);
    if (outcome == ANSWERED) explain(a);
    return outcome == ANSWERED;
}

bool direct_solve(struct direct_answer **out, const struct csr *A, const struct direct_options *o, struct err *e)
{
    if (!A->rows || !A->cols) return fail(e, E_UNSUPPORTED, "a direct solve needs at least one row and one column");
    struct direct_answer *a = answer_new(A, o, e);
    if (!a) return false;
    if (answer(a, o, e)) return *out = a, true;
    direct_answer_free(a);
    return false;
}

bool direct_solve_again(struct direct **v, struct direct_answer *a, const struct direct_options *o, struct err *e)
{
    double start = now_us();
    forget_x(a);
    if (!loop_copy(a->b, o->b, a->b_numbers * (int64_t)sizeof *a->b, "copying b", e) || !b_is_finite(a, e) ||
        !find_x(v, a, o->watch, e) || !find_digits(v, a, o, e))
        return false;
    a->known = o->known_ones || o->truth;
    if (a->known && a->unique) take_known(a, o);
    a->us = now_us() - start;
    explain(a);
    return true;
}
