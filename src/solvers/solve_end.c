/* The end of a solve: the true residual in double, and the reason in words. */
#include "base/base.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "base/threads.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "matrix/reference.h"
#include "matrix/symmetry.h"
#include "precond.h"
#include "rules.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"
#include "suits.h"

#include <math.h>
#include <string.h>

enum { X_BYTES_A_LOOP = 128 }; /* x is worth interrupting if it moves this many bytes per element of a long loop */

/* The true residual may be up to `drift` times tol, because rounding errors separate it from the recursive residual. */
static const double drift = 2;

static const struct {
    const char *name, *text;
} reasons[] = {
    [RUNNING] =
        {"running",
         "not finished: `step [N]` runs N iterations, `continue` runs all remaining iterations, `stop` ends the solve"},
    [CONVERGED] = {"converged", "converged"},
    [MAX_ITERATIONS] = {"iteration-limit", "stopped at the iteration limit; give a larger maxit or a larger tol"},
    [DIVERGED] = {"diverged", "diverged: the residual grew to more than 1e10 times the initial residual"},
    [BROKE_DOWN] = {"broke-down", "broke down"},
    [NOT_A_NUMBER] = {"not-a-number", "the residual is not a number; look for NaN, inf or overflow in A, b and x0"},
    [STAGNATED] = {"stagnated", "stagnated: the residual no longer falls"},
    [STOPPED] = {"stopped", "stopped by the user"},
    [DRIFTED] = {"drifted", "not converged: the recursive residual converged, but the true residual did not"},
};

const char *reason_name(enum reason r)
{
    return reasons[r].name;
}

const char *reason_at(int i)
{
    return i < COUNT(reasons) ? reasons[i].name : NULL;
}

const char *reason_text(enum reason r)
{
    return reasons[r].text;
}

bool solve_shows_x(const struct solve *v)
{
    return (v->solver->probes || v->solver->alternates) && v->vec[VEC_X] && !v->vec[VEC_X0];
}

bool solve_read_x(struct solve *v, double *x, struct err *e)
{
    if (!solve_drain(v, e)) return false;
    bool other = v->solver->alternates && (v->iterations - v->base) % 2;
    const void *from = v->vec[other ? VEC_OWN : VEC_X];
    bool plain = v->dev->ops->plain && v->real == T_F64;
    bool ok = plain ? loop_copy(x, from, v->n * (int64_t)sizeof *x, "copying x", e) : solve_get_x(v, x, from, e);
    if (ok) scaled_undo(v, x);
    if (ok && !v->scaling.inside) null_project_x(v, x);
    return ok;
}

/* The number of bytes that solve_x moves: the basis of a solver that restarts, or the preconditioner. */
static double x_bytes(const struct solve *v)
{
    double vector = (double)v->n * (double)type_size(v->real);
    double bytes = v->solver->finish_bytes ? v->solver->finish_bytes(v) : 0;
    return v->vec[VEC_X0] ? bytes + 4 * vector + v->pre.bytes : bytes;
}

/* Does solve_x take so long that Ctrl-C should be able to end it? */
static bool x_takes_long(const struct solve *v)
{
    return !v->dev->ops->idle && x_bytes(v) > 0 && loop_worth((int64_t)(x_bytes(v) / X_BYTES_A_LOOP));
}

/* Compute x. If Ctrl-C ends the computation, x and the scalars stay as they were. */
static bool x_or_nothing(struct solve *v, struct err *e)
{
    static const int changed[] = {VEC_X};
    struct watch *w = loop_watch();
    if (x_takes_long(v)) {
        if (cut_hold(v, COUNT(changed), changed, true, e) && solve_x(v, e) && cut_release(v, 0, e)) return true;
        return cut_undo(v, NULL), false;
    }
    loop_enter(NULL);
    bool ok = solve_x(v, e);
    loop_enter(w);
    return ok;
}

static void use_device(struct solve *v, struct device *d)
{
    SCREEN_EDIT;
    v->dev = d;
    solve_choose_ops(v);
}

/* Computing x on the emulator may take seconds. After Ctrl-C, the host computes x instead, from the emulator's memory,
   which is host memory, unless M adds in another order on the host. */
static bool x_soon(struct solve *v, struct err *e)
{
    struct device *own = v->dev, host = *own;
    if (v->pre.method && (v->pre.method->restore || v->pre.method->by_products)) return x_or_nothing(v, e);
    if (own->kind != DEV_EMU || v->reason != STOPPED || !v->cut.now) return x_or_nothing(v, e);
    host.kind = DEV_CPU;
    use_device(v, &host);
    bool ok = x_or_nothing(v, e);
    use_device(v, own);
    return ok;
}

/* On cpu and emu, the result takes over the solver's x instead of copying it. */
static void take_x(struct solve *v)
{
    solve_set_x(v, v->vec[VEC_X]);
    v->vec[VEC_X] = NULL;
}

/* Copy the solver's x to `x`. Ctrl-C does not end the copy, because x cannot be computed twice. */
static bool copy_x(struct solve *v, double *x, struct err *e)
{
    struct watch *w = loop_enter(NULL);
    bool ok = solve_get_x(v, x, v->vec[VEC_X], e);
    loop_enter(w);
    if (ok) solve_set_x(v, x);
    return ok;
}

/* x as the solver has it. */
static bool fetch_scaled_x(struct solve *v, struct err *e)
{
    if (v->dev->ops->plain && v->real == T_F64) {
        if (!x_soon(v, e)) return false;
        take_x(v);
        return true;
    }
    double *x = mem_new(v->n, sizeof *x, "the solution", e);
    if (x && x_soon(v, e) && copy_x(v, x, e)) return true;
    mem_free(x);
    return false;
}

static bool fetch_x(struct solve *v, struct err *e)
{
    if (!fetch_scaled_x(v, e)) return false;
    scaled_undo(v, v->result.x);
    return true;
}

bool solve_has_x(const struct solve *v)
{
    return v->reason != RUNNING && (v->result.x || v->result.later);
}

bool solve_fetch_x(struct solve *v, struct err *e)
{
    if (v->result.x) return true;
    if (!solve_has_x(v)) return fail(e, E_USAGE, "the last solve left no x");
    bool ok = fetch_x(v, e);
    if (ok) solve_leave_scaled(v);
    if (ok) null_project_x(v, v->result.x);
    if (ok) solve_release(v);
    return ok;
}

/* ---- the true residual ---- */

/* If a solve is stopped and its matrix has more than SOON_NNZ nonzeros, the true residual is computed without
   compensated sums, so that the prompt returns soon. */
enum { SOON_NNZ = 1 << 21 };

/* Number i of the known solution; if A is complex, each element is a pair. */
static double known_at(const struct solve *v, int64_t i)
{
    if (v->result.truth) return v->result.truth[i];
    return v->matrix.csr->imag ? i % 2 == 0 : 1;
}

/* The norm by which the error of x is divided. */
static double known_norm(const struct solve *v)
{
    double norm = v->result.truth ? norm2(v->n, v->result.truth) : sqrt((double)v->matrix.csr->cols);
    return norm > 0 ? norm : 1;
}

/* The sums of squares of the relative residual and of the relative error of x. */
struct squares {
    double residual, error;
};

/* size: the norm of the known solution */
static struct squares squares_of_rows(const struct solve *v, double size, int64_t from)
{
    const struct csr *A = v->matrix.csr;
    const double *x = v->result.x;
    double unit = v->b_norm > 0 ? v->b_norm : 1;
    int64_t to = from + THREADS_FROM < v->n_b ? from + THREADS_FROM : v->n_b;
    struct squares s = {0};
    for (int64_t i = from; i < to; i++) {
        double r = v->b[i];
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) r -= A->val[k] * x[A->col[k]];
        s.residual += r / unit * (r / unit);
        double error = v->result.known ? (x[i] - known_at(v, i)) / size : 0;
        s.error += error * error;
    }
    return s;
}

/* Will the whole of `n` rows take longer than `us`, if the first `done` rows took the time since `start`? */
static bool too_slow(double start, double us, int64_t done, int64_t n)
{
    return done > n / 16 && (steady_us() - start) * (double)n > us * (double)done;
}

/* The rows are split into blocks of a fixed size, and the sums of the blocks are added in order: the result does not
   depend on the number of threads. Returns false if `us` microseconds are not enough, or, without a limit, if the user
   presses Ctrl-C. */
static bool measure_soon(struct solve *v, double us)
{
    struct squares sum = {0}, *part = mem_new((v->n_b + THREADS_FROM - 1) / THREADS_FROM, sizeof *part, "sums", NULL);
    double start = steady_us(), size = v->result.known ? known_norm(v) : 1;
    bool late = !part, limited = isfinite(us);
    struct loop l = loop_of("the true residual", v->n_b);
#pragma omp parallel for schedule(dynamic)
    for (int64_t from = 0; from < v->n_b; from += THREADS_FROM) {
        if (__atomic_load_n(&late, __ATOMIC_RELAXED) ||
            (limited ? too_slow(start, us, from, v->n_b) : !loop_check(&l, from)))
            __atomic_store_n(&late, true, __ATOMIC_RELAXED);
        else
            part[from / THREADS_FROM] = squares_of_rows(v, size, from);
    }
    for (int64_t i = 0; !late && i * THREADS_FROM < v->n_b; i++)
        sum = (struct squares){sum.residual + part[i].residual, sum.error + part[i].error};
    mem_free(part);
    bool unknown = late || v->result.up_to_constant; /* the mean of the error is not known */
    solve_set_true(v, late ? NAN : sqrt(sum.residual), unknown ? NAN : sqrt(sum.error));
    return !late;
}

/* r = b - r */
static bool subtract_from_b(const struct solve *v, double *r)
{
    struct loop l = loop_of("the true residual", v->n_b);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (v->n_b > THREADS_FROM)
    for (int64_t from = 0; from < v->n_b; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, v->n_b); i < end; i++) r[i] = v->b[i] - r[i];
    return loop_end(&l, NULL);
}

/* Subtract the mean of the elements; the elements of a complex matrix are pairs. */
static void subtract_mean(const struct solve *v, double *x)
{
    int64_t parts = v->matrix.csr->imag ? 2 : 1;
    for (int64_t k = 0; k < parts; k++) {
        double sum = 0;
        for (int64_t i = k; i < v->n; i += parts) sum += x[i];
        for (int64_t i = k; i < v->n; i += parts) x[i] -= sum / (double)(v->n / parts);
    }
}

/* The norm of x minus the known solution, which it writes to `difference`. */
static double norm_of_error(const struct solve *v, double *difference)
{
#pragma omp parallel for schedule(static) if (v->n > THREADS_FROM)
    for (int64_t i = 0; i < v->n; i++) difference[i] = v->result.x[i] - known_at(v, i);
    if (v->result.up_to_constant) subtract_mean(v, difference);
    return norm2(v->n, difference);
}

/* Compute the true residual of x, and its error if the solution is known. The residual and the error are NaN if the
   user cancels the computation. */
static bool measure(struct solve *v, struct err *e)
{
    double *r = mem_new(v->n > v->n_b ? v->n : v->n_b, sizeof *r, "the true residual", e);
    if (!r) return false;
    struct err why = {0};
    bool ok = reference_product(v->matrix.csr, 1, v->result.x, 0, r, P_F64, NULL, &why);
    if (!subtract_from_b(v, r) || !ok || !loop_tick("the true residual", 0, 0, NULL)) {
        mem_free(r);
        if (why.code && why.code != E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
        solve_set_true(v, NAN, NAN);
        return true;
    }
    double norm = norm2(v->n_b, r);
    if (!least_measure(v, r, e)) return mem_free(r), false;
    solve_set_true(v, v->b_norm > 0 ? norm / v->b_norm : norm,
                   v->result.known ? norm_of_error(v, r) / known_norm(v) : NAN);
    mem_free(r);
    return true;
}

/* If tol was the stop rule, check convergence by the true residual. A tol of 0 is not a stop rule if eps is set. No
   infinite x, and no x of an infinite b, is a solution. */
static void judge(struct solve *v)
{
    bool finite = isfinite(v->b_norm) && first_not_finite(v->n, v->result.x) == v->n;
    SCREEN_EDIT;
    if (v->reason == CONVERGED && !finite) v->reason = NOT_A_NUMBER;
    double tol = v->scaling.of ? v->scaling.tol : v->set.tol;
    bool least = v->solver->least_squares && v->b_norm > 0;
    if (least && v->reason == CONVERGED && !least_solves(v, drift) && !least_minimises(v, drift)) v->reason = DRIFTED;
    bool by_tol = !least && v->b_norm > 0 && v->residual <= v->set.tol && (v->set.tol > 0 || v->set.eps == 0);
    if (v->reason == CONVERGED && by_tol && !(v->result.residual_true <= drift * tol)) v->reason = DRIFTED;
}

static void explain_converged(const struct solve *v, char *out, size_t size)
{
    if (least_explain(v, out, size)) return;
    if (v->b_norm == 0 && v->null.share > 0)
        snprintf(out, size, "b lies in the null space, and the x for the rest of it is 0");
    else if (v->b_norm == 0)
        snprintf(out, size, "b = 0, so x = 0");
    else if (v->residual <= v->set.tol)
        snprintf(out, size, "relative residual %.2e%s, tol %.2e", v->residual,
                 v->scaling.row ? " of the scaled system" : "", v->set.tol);
    else
        snprintf(out, size, "max |x' - x| = %.2e, eps %.2e", v->max_diff, v->set.eps);
}

/* A limit that `change maxit` accepts after the solve has ended. */
static long long larger_limit(const struct solve *v)
{
    return 2 * (long long)v->set.maxit + 100;
}

/* Is tol smaller than rounding allows, and has the residual become about as small as rounding allows? */
static bool wants_too_much(const struct solve *v)
{
    double least = solve_rounding(solve_reach(v));
    bool rule = v->set.tol > 0 || v->set.eps == 0;
    return rule && v->set.tol < least && v->result.residual_true < 1e3 * least;
}

static void explain_mismatch(const struct solve *v, char *out, size_t size)
{
    snprintf(out, size, "; %s is not %s, and %s needs %s", v->matrix.name, symmetry_word(v->matrix.csr),
             v->solver->name, v->solver->needs);
}

/* If the true and the recursive residual have separated, more iterations do not improve x, but a restart does. */
static void explain_limit(const struct solve *v, char *out, size_t size)
{
    int n = snprintf(out, size, "stopped at the limit of %s, residual %.2e", how_many(v->iterations, "iteration").text,
                     v->residual);
    if (solve_mismatched(v)) {
        explain_mismatch(v, out + n, size - (size_t)n);
        return;
    }
    if (wants_too_much(v))
        snprintf(out + n, size - (size_t)n, "; tol %.2e is below what %s can reach, about %.1e; give a larger tol",
                 v->set.tol, type_name(solve_reach(v)), solve_rounding(solve_reach(v)));
    else if (v->history.separated_at > v->base && v->result.residual_true > v->residual)
        snprintf(out + n, size - (size_t)n,
                 ", true residual %.2e; use `change maxit %lld` to restart from this x, or give a larger tol",
                 v->result.residual_true, larger_limit(v));
    else
        snprintf(out + n, size - (size_t)n, "; give a larger maxit or a larger tol");
}

/* Did rounding errors of fp32 make p'Ap negative, although A is positive definite or semidefinite, as solve_try has
   found? In a singular A, p'Ap is 0 without them. */
static bool broke_by_rounding(const struct solve *v)
{
    bool by_a = v->solver->definite && v->host_scalars[S_WHAT] != BROKE_RHO;
    const struct facts *f = v->matrix.facts;
    bool never_negative = is_definite(f->definite) || (is_semidefinite(f->definite) && v->host_scalars[S_PQ] != 0);
    return by_a && v->real == T_F32 && !v->refine.on && fact_symmetric(f) == FACT_YES && never_negative;
}

static void explain_rounding(const struct solve *v, char *out, size_t size)
{
    snprintf(
        out, size,
        "rounding errors in fp32: p'Ap = %.2e at iteration %lld, but fp64 finds no eigenvalue below 0; use f64, or "
        "`refine fp32`",
        v->host_scalars[S_PQ], (long long)v->iterations + 1);
}

/* Write the cause of the breakdown to `out`. If A has an empty row, which makes A singular, name that row. */
static void explain_broken(const struct solve *v, char *out, size_t size)
{
    const struct csr *A = v->matrix.csr;
    int64_t row = 0;
    (broke_by_rounding(v) ? explain_rounding : v->solver->explain)(v, out, size);
    bool scaled = v->matrix.exponents.a || v->matrix.exponents.b;
    if (scaled && strstr(out, " = ")) text_append(out, size, "; this number is that of the scaled system");
    if (A->source || A->rows != A->cols) return; /* making all rows again would take long */
    while (row < A->rows && csr_row_length(A, row)) row++;
    size_t n = strlen(out);
    if (row < A->rows) snprintf(out + n, size - n, "; row %lld is empty, so A is singular", (long long)row);
}

static void explain_drifted(const struct solve *v, char *out, size_t size)
{
    if (v->scaling.row) {
        snprintf(
            out, size,
            "not converged: the scaled system met tol %.2e, but the true residual of A x = b is %.2e; give a larger "
            "tol",
            v->set.tol, v->result.residual_true);
        return;
    }
    if (wants_too_much(v))
        snprintf(out, size,
                 "not converged: tol %.2e is below what %s can reach, about %.1e; the true residual is %.2e; give a "
                 "larger tol%s",
                 v->set.tol, type_name(solve_reach(v)), solve_rounding(solve_reach(v)), v->result.residual_true,
                 solve_reach(v) == T_F32 ? ", or use f64" : "");
    else
        snprintf(out, size,
                 "not converged: the recursive residual met tol %.2e, but the true residual is %.2e; "
                 "`change maxit %lld` restarts from this x%s, or give a larger tol",
                 v->set.tol, v->result.residual_true, larger_limit(v), solve_reach(v) == T_F32 ? "; use f64" : "");
}

/* Append what to do after divergence or stagnation. */
static void add_advice(const struct solve *v, char *out, size_t size)
{
    size_t n = strlen(out);
    const struct facts *f = v->matrix.facts;
    bool by_rule = v->next_why && is_definite(f->definite) && v->next_why == rule_for(f, v->system.A)->because;
    if (solve_mismatched(v))
        explain_mismatch(v, out + n, size - n);
    else
        snprintf(out + n, size - n, "; %s", by_rule ? v->next_why : v->solver->advice);
}

/* Has the scaled system, whose numbers are finite, an x that fp64 can store, but A x = b does not? */
static bool x_is_beyond(const struct solve *v)
{
    return v->residual <= v->set.tol && v->result.x && isfinite(v->b_norm) &&
           first_not_finite(v->n, v->result.x) < v->n;
}

/* Write the reason to out. If it begins with "converged: ", returns the index of the text after that; otherwise returns
   0. */
static int explain(const struct solve *v, char *out, size_t size)
{
    int n = 0;
    const char *text = reason_text(v->reason);
    if (v->reason != CONVERGED && least_explain(v, out, size)) return n;
    switch (v->reason) {
    case CONVERGED:
        n = snprintf(out, size, "%s: ", text);
        explain_converged(v, out + n, size - (size_t)n);
        break;
    case MAX_ITERATIONS:
        explain_limit(v, out, size);
        break;
    case BROKE_DOWN:
        (v->refine.now.useless ? refine_explain : explain_broken)(v, out, size);
        break;
    case DIVERGED:
        snprintf(out, size, "%s, at iteration %lld", text, (long long)v->iterations);
        add_advice(v, out, size);
        text_append(out, size, "; `force` iterates beyond this limit");
        break;
    case STAGNATED:
        if (wants_too_much(v)) return explain_drifted(v, out, size), n;
        if (v->refine.now.useless) return refine_explain(v, out, size), n;
        snprintf(out, size, "%s: less than 1%% gained in %s, at iteration %lld", text,
                 how_many(v->set.window, "iteration").text, (long long)v->iterations);
        add_advice(v, out, size);
        break;
    case NOT_A_NUMBER:
        snprintf(out, size, "%s",
                 x_is_beyond(v)
                     ? "not converged: numbers of x are beyond the largest one that fp64 can store; scale the "
                       "matrix or b"
                 : v->set.force ? text
                                : "the residual is not a number, although A, b and x0 are finite: "
                                  "A or the preconditioner is singular, or values overflow");
        break;
    case STOPPED:
        snprintf(out, size, "%s after iteration %lld; x is kept%s", text, (long long)v->iterations,
                 isnan(v->result.residual_true) ? "; `print r` computes the true residual" : "");
        break;
    case DRIFTED:
        explain_drifted(v, out, size);
        break;
    default:
        snprintf(out, size, "%s", text);
    }
    return n;
}

/* Computing x is left for later if it takes long and the user has pressed Ctrl-C (`soon`) or presses it now. */
static bool x_now_or_later(struct solve *v, bool soon, struct err *e)
{
    struct err why = {0};
    if (v->result.x) return true;
    bool ok = !(soon && x_takes_long(v)) && fetch_x(v, &why);
    solve_set_later(v, !ok && (!why.code || why.code == E_CANCELLED));
    v->cut.now |= v->result.later;
    return ok || v->result.later || fail_at(e, why.code, why.where, "%s", why.text);
}

/* Compute the true residual in at most about `us` microseconds. *measured: it is known. */
static bool measure_within(struct solve *v, double us, bool *measured, struct err *e)
{
    bool large = v->reason == STOPPED && v->matrix.csr->nnz > SOON_NNZ, ok = true;
    bool plain = !v->matrix.csr->imag && !v->matrix.csr->source && !v->solver->least_squares;
    if (large && !plain && isfinite(us)) return *measured = false, true;
    *measured = large && plain ? measure_soon(v, us) : (ok = measure(v, e));
    *measured = *measured && loop_tick("the true residual", 0, 0, NULL);
    return ok;
}

/* Free what x does not need. */
static void release_most(struct solve *v)
{
    checkpoints_free(v);
    cut_free(v);
}

static void say_why(struct solve *v)
{
    char why[sizeof v->why] = "";
    int detail = (v->engine.runs ? v->engine.runs->explain : explain)(v, why, sizeof why);
    SCREEN_EDIT;
    memcpy(v->why, why, sizeof why);
    v->why_detail = detail;
}

/* us: the time for the true residual; INFINITY: as long as it takes */
static bool end(struct solve *v, double us, struct err *e)
{
    bool measured = false, large = loop_worth(v->matrix.csr->nnz / 8);
    struct watch *w = loop_enter(NULL);
    bool ok = v->engine.runs ? v->engine.runs->end(v, isfinite(us), e) : solve_drain(v, e);
    if (v->reason == RUNNING) solve_set_reason(v, STOPPED);
    if (large) loop_enter(w);
    ok = ok && x_now_or_later(v, isfinite(us), e);
    if (ok && !v->result.later) solve_leave_scaled(v);
    if (ok && !v->result.later) null_project_x(v, v->result.x);
    if (ok && !v->result.later) ok = measure_within(v, us, &measured, e);
    loop_enter(w);
    if (ok && !v->scaling.row) live_compare(v, v->iterations, v->result.residual_true, v->residual);
    if (measured) judge(v);
    if (!v->engine.runs) solve_try(v, wants_too_much(v));
    say_why(v);
    (v->result.later ? release_most : solve_release)(v);
    return ok;
}

bool solve_end(struct solve *v, struct err *e)
{
    return end(v, INFINITY, e);
}

bool solve_end_soon(struct solve *v, double us, struct err *e)
{
    v->cut.now = true;
    return end(v, us, e);
}
