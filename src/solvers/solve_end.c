/* The end of a solve: the true residual in double, and the reason in words. */
#include "matrix/csr.h"
#include "machine/device.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "precond.h"
#include "matrix/reference.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"
#include "base/text.h"
#include "base/threads.h"
#include "machine/vec_ops.h"

#include <math.h>
#include <string.h>

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
    [DIVERGED] = {"diverged", "diverged: the residual grew to more than 1e5 times the initial residual"},
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

const char *reason_text(enum reason r)
{
    return reasons[r].text;
}

/* x = x0 + M^-1 u */
static bool undo_right(struct solve *v, struct err *e)
{
    void *u = v->vec[VEC_X], *x0 = v->vec[VEC_X0];
    if (!x0) return true;
    if (!solve_set(v, S_DONE, RUNNING, e) || !v->pre.method->apply(v, u, v->vec[VEC_Z], e)) return false;
    v->ops.vec->copy(v->dev, v->n, x0, u);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ONE, 1, v->vec[VEC_Z], u);
    return v->dev->ops->sync(v->dev, e);
}

bool solve_x(struct solve *v, struct err *e)
{
    if (v->solver->finish && !v->solver->finish(v, e)) return false;
    return undo_right(v, e);
}

bool solve_shows_x(const struct solve *v)
{
    return (v->solver->probes || v->solver->alternates) && v->vec[VEC_X] && !v->vec[VEC_X0];
}

bool solve_read_x(struct solve *v, double *x, struct err *e)
{
    if (!solve_drain(v, e)) return false;
    bool other = v->solver->alternates && (v->iterations - v->base) % 2;
    return solve_get(v, x, v->vec[other ? VEC_OWN : VEC_X], e);
}

/* Computing x on the emulator may take seconds. After Ctrl-C, the host computes x instead, from the emulator's memory,
   which is host memory. */
static bool x_soon(struct solve *v, struct err *e)
{
    struct device *own = v->dev, host = *own;
    if (own->kind != DEV_EMU || v->reason != STOPPED || !v->cut.now) return solve_x(v, e);
    host.kind = DEV_CPU;
    v->dev = &host;
    solve_choose_ops(v);
    bool ok = solve_x(v, e);
    v->dev = own;
    solve_choose_ops(v);
    return ok;
}

/* On cpu and emu, the result takes over the solver's x instead of copying it. */
static bool take_x(struct solve *v)
{
    if (!v->dev->ops->plain || v->real != T_F64) return false;
    v->result.x = v->vec[VEC_X];
    v->vec[VEC_X] = NULL;
    return true;
}

static bool fetch_x(struct solve *v, struct err *e)
{
    if (v->result.x) return true;
    if (!x_soon(v, e)) return false;
    if (take_x(v)) return true;
    double *x = mem_new(v->n, sizeof *x, "the solution", e);
    if (!x || !solve_get(v, x, v->vec[VEC_X], e)) {
        mem_free(x);
        return false;
    }
    v->result.x = x;
    return true;
}

/* If a solve is stopped and its matrix has more than SOON_NNZ nonzeros, the true residual is computed without
   compensated sums, so that the prompt returns soon. After Ctrl-C, if the computation takes longer than SOON_US, the
   true residual stays unknown. */
enum { SOON_NNZ = 1 << 21, SOON_US = 12000 };

/* The sums of squares of (b - A x) / unit and of x - 1. */
struct squares {
    double residual, error;
};

static struct squares squares_of_rows(const struct solve *v, double unit, int64_t from, int64_t to)
{
    const struct csr *A = v->matrix.csr;
    const double *x = v->result.x;
    struct squares s = {0};
    for (int64_t i = from; i < to; i++) {
        double r = v->b[i];
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) r -= A->val[k] * x[A->col[k]];
        s.residual += r / unit * (r / unit);
        s.error += (x[i] - 1) * (x[i] - 1);
    }
    return s;
}

/* Each thread takes blocks of a fixed size, and the sums of the blocks are added in order: the result does not depend
   on the number of threads. Returns false if there was not enough time. */
static bool measure_soon(struct solve *v)
{
    struct squares sum = {0};
    double unit = v->b_norm > 0 ? v->b_norm : 1, until = v->cut.now ? steady_us() + SOON_US : INFINITY;
    bool late = false;
#pragma omp parallel for ordered schedule(static, 1)
    for (int64_t from = 0; from < v->n; from += THREADS_FROM) {
        struct squares s = {0};
        if (steady_us() > until)
            __atomic_store_n(&late, true, __ATOMIC_RELAXED);
        else
            s = squares_of_rows(v, unit, from, from + THREADS_FROM < v->n ? from + THREADS_FROM : v->n);
#pragma omp ordered
        sum = (struct squares){sum.residual + s.residual, sum.error + s.error};
    }
    v->result.residual_true = late ? NAN : sqrt(sum.residual);
    if (v->result.known) v->result.error_known = late ? NAN : sqrt(sum.error / (double)v->n);
    return !late;
}

/* Compute the true residual of x, and its error if the solution is known. The residual and the error are NaN if the
   user cancels the computation. */
static bool measure(struct solve *v, struct err *e)
{
    double *r = mem_new(v->n, sizeof *r, "the true residual", e);
    if (!r) return false;
    reference_spmv(v->matrix.csr, 1, v->result.x, 0, r, T_F64, NULL);
    if (!loop_tick("the true residual", 0, 0, NULL)) {
        mem_free(r);
        v->result.residual_true = NAN;
        if (v->result.known) v->result.error_known = NAN;
        return true;
    }
    for (int64_t i = 0; i < v->n; i++) r[i] = v->b[i] - r[i];
    double norm = norm2(v->n, r);
    v->result.residual_true = v->b_norm > 0 ? norm / v->b_norm : norm;
    if (v->result.known) {
        int64_t rows = v->matrix.csr->rows, parts = rows ? v->n / rows : 1;
        for (int64_t i = 0; i < v->n; i++) r[i] = v->result.x[i] - (i % parts == 0);
        v->result.error_known = v->n ? norm2(v->n, r) / sqrt((double)rows) : 0;
    }
    mem_free(r);
    return true;
}

/* If tol was the stop rule, check convergence by the true residual. A tol of 0 is not a stop rule if eps is set. */
static void judge(struct solve *v)
{
    bool by_tol = v->b_norm > 0 && v->residual <= v->set.tol && (v->set.tol > 0 || v->set.eps == 0);
    if (v->reason == CONVERGED && by_tol && !(v->result.residual_true <= drift * v->set.tol)) v->reason = DRIFTED;
}

static void explain_converged(const struct solve *v, char *out, size_t size)
{
    if (v->b_norm == 0)
        snprintf(out, size, "b = 0, so x = 0");
    else if (v->residual <= v->set.tol)
        snprintf(out, size, "relative residual %.2e, tol %.2e", v->residual, v->set.tol);
    else
        snprintf(out, size, "max |x' - x| = %.2e, eps %.2e", v->max_diff, v->set.eps);
}

/* A limit that `change maxit` accepts after the solve has ended. */
static long long larger_limit(const struct solve *v)
{
    return 2 * (long long)v->set.maxit + 100;
}

/* If the true and the recursive residual have separated, more iterations do not improve x, but a restart does. */
static void explain_limit(const struct solve *v, char *out, size_t size)
{
    int n = snprintf(out, size, "stopped at the limit of %s, residual %.2e", how_many(v->iterations, "iteration").text,
                     v->residual);
    if (v->history.separated_at > v->base && v->result.residual_true > v->residual)
        snprintf(out + n, size - (size_t)n,
                 ", true residual %.2e; use `change maxit %lld` to restart from this x, or give a larger tol",
                 v->result.residual_true, larger_limit(v));
    else
        snprintf(out + n, size - (size_t)n, "; give a larger maxit or a larger tol");
}

/* Write the cause of the breakdown to `out`. If A has an empty row, which makes A singular, name that row. */
static void explain_broken(const struct solve *v, char *out, size_t size)
{
    const struct csr *A = v->matrix.csr;
    int64_t row = 0;
    v->solver->explain(v, out, size);
    while (row < A->rows && csr_row_length(A, row)) row++;
    size_t n = strlen(out);
    if (row < A->rows) snprintf(out + n, size - n, "; row %lld is empty, so A is singular", (long long)row);
}

/* Is tol smaller than rounding allows, and has the residual become about as small as rounding allows? */
static bool wants_too_much(const struct solve *v)
{
    double least = solve_rounding(v->real);
    return v->set.tol > 0 && v->set.tol < least && v->result.residual_true < 1e3 * least;
}

static void explain_drifted(const struct solve *v, char *out, size_t size)
{
    if (wants_too_much(v))
        snprintf(out, size,
                 "not converged: tol %.2e is below what %s can reach, about %.1e; the true residual is %.2e; give a "
                 "larger tol%s",
                 v->set.tol, type_name(v->real), solve_rounding(v->real), v->result.residual_true,
                 v->real == T_F32 ? ", or use f64" : "");
    else
        snprintf(out, size,
                 "not converged: the recursive residual met tol %.2e, but the true residual is %.2e; "
                 "`change maxit %lld` restarts from this x%s, or give a larger tol",
                 v->set.tol, v->result.residual_true, larger_limit(v), v->real == T_F32 ? "; use f64" : "");
}

/* Write the reason to out. If it begins with "converged: ", returns the index of the text after that; otherwise returns
   0. */
static int explain(const struct solve *v, char *out, size_t size)
{
    int n = 0;
    const char *text = reason_text(v->reason), *advice = v->solver->advice;
    switch (v->reason) {
    case CONVERGED:
        n = snprintf(out, size, "%s: ", text);
        explain_converged(v, out + n, size - (size_t)n);
        break;
    case MAX_ITERATIONS:
        explain_limit(v, out, size);
        break;
    case BROKE_DOWN:
        explain_broken(v, out, size);
        break;
    case DIVERGED:
        snprintf(out, size, "%s, at iteration %lld; %s", text, (long long)v->iterations, advice);
        break;
    case STAGNATED:
        if (wants_too_much(v)) return explain_drifted(v, out, size), n;
        snprintf(out, size, "%s: less than 1%% gained in %s, at iteration %lld; %s", text,
                 how_many(v->set.window, "iteration").text, (long long)v->iterations, advice);
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

bool solve_end(struct solve *v, struct err *e)
{
    struct watch *w = loop_enter(NULL); /* keep x, even after Ctrl-C */
    bool ok = solve_drain(v, e);
    if (v->reason == RUNNING) v->reason = STOPPED;
    ok = ok && fetch_x(v, e);
    bool soon = v->reason == STOPPED && v->matrix.csr->nnz > SOON_NNZ && !v->matrix.csr->imag;
    if (v->matrix.csr->nnz > SOON_NNZ) loop_enter(w);
    bool measured = ok && soon && measure_soon(v);
    if (ok && !soon) measured = ok = measure(v, e);
    measured = measured && loop_tick("the true residual", 0, 0, NULL);
    loop_enter(w);
    if (ok) live_compare(v, v->iterations, v->result.residual_true, v->residual);
    if (measured) judge(v);
    v->why_detail = explain(v, v->why, sizeof v->why);
    solve_release(v);
    return ok;
}
