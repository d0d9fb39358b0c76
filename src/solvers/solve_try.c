/* What to try after a solve that has not converged: one command, chosen from the reason, from what is known about A,
   and from what the solve has tried already. */
#include "base/precision.h"
#include "machine/gmres_ops.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "forecast.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>
#include <stdio.h>

enum { LONGER_M = 200 }; /* iterations per cycle that gmres should try before a direct solver */

/* The same system by another method: `method` names the solver and its options. */
static void propose(struct solve *v, const char *method, const char *options, const char *why)
{
    snprintf(v->next, sizeof v->next, "solve %s %s%s%s", method, v->matrix.name, options, v->same);
    v->next_why = why;
}

static void propose_direct(struct solve *v)
{
    if (v->matrix.csr->source) return; /* no library gets its entries */
    if (v->matrix.csr->nnz)
        propose(v, "direct", "", "a direct solver depends on no rate of convergence");
    else
        snprintf(v->next, sizeof v->next, "check %s only rank", v->matrix.name);
}

int64_t solve_larger_limit(const struct solve *v)
{
    static const double MARGIN = 1.2, MOST = 1e9;
    double needs = solve_expected(v).iterations;
    double limit = fmax(2 * (double)v->set.maxit + 100, needs <= MOST ? ceil(MARGIN * needs) : 0);
    return (int64_t)fmin(limit, 9e15);
}

/* From this x, with a larger limit. */
static void propose_more(struct solve *v, const char *why)
{
    snprintf(v->next, sizeof v->next, "change maxit %lld; continue", (long long)solve_larger_limit(v));
    v->next_why = why;
}

/* Is it too early to judge, or would the rate of the last half of the iterations reach tol in at most four times as
   many? */
static bool still_falls(const struct solve *v)
{
    if (v->iterations - v->base < v->set.window) return true;
    int64_t half = v->base + (v->iterations - v->base) / 2;
    double gain = v->history.residual[half] / v->residual;
    return gain > 1 && v->set.tol > 0 && log(v->residual / v->set.tol) < 8 * log(gain);
}

static void for_symmetric(struct solve *v)
{
    const struct solver *s = v->solver;
    bool spoilt = v->reason == BROKE_DOWN;
    if (!s->symmetric || (s->definite && spoilt && v->host_scalars[S_WHAT] != BROKE_RHO))
        propose(v, "minres", "", "for symmetric matrices, definite or not");
    else if (!s->definite && spoilt && v->host_scalars[S_WHAT] != BROKE_RHO)
        snprintf(v->next, sizeof v->next, "check %s only rank", v->matrix.name);
    else if ((!v->pre.method || spoilt) && diagonal_is_full(v->matrix.csr))
        propose(v, s->name, " precond jacobi", "corrects bad scaling");
    else
        propose_direct(v);
}

static void for_any(struct solve *v)
{
    const struct solver *s = v->solver;
    char options[80];
    bool diagonal = diagonal_is_full(v->matrix.csr);
    int64_t m = s->arnoldi && v->set.m < LONGER_M / 2 ? LONGER_M / 2 : LONGER_M;
    snprintf(options, sizeof options, "%s%s m %lld", v->pre.method ? " precond " : "",
             v->pre.method ? v->pre.method->name : "", (long long)m);
    if (!v->pre.method && diagonal)
        propose(v, s->no_precond || s->symmetric ? "bicgstab" : s->name, " precond ilu0", "for any matrix");
    else if (!s->arnoldi || (v->set.m < LONGER_M && v->set.m < v->n))
        propose(v, "gmres", options, "its residual never grows within a cycle");
    else
        propose_direct(v);
}

/* The same solve with values of more digits. */
static void propose_precision(struct solve *v)
{
    char options[80];
    snprintf(options, sizeof options, "%s%s%s", v->pre.method ? " precond " : "",
             v->pre.method ? v->pre.method->name : "", type_is_narrow(v->refine.stored) ? " refine fp32" : " f64");
    propose(v, v->solver->name, options, "with values of more digits");
}

void solve_try(struct solve *v, bool needs_more_digits)
{
    v->next[0] = 0;
    v->next_why = NULL;
    if (v->reason == RUNNING || v->reason == CONVERGED || v->reason == STOPPED) return;
    if (v->refine.now.useless && v->reason != NOT_A_NUMBER)
        propose_precision(v);
    else if (v->reason == NOT_A_NUMBER)
        snprintf(v->next, sizeof v->next, "check %s only valid", v->matrix.name);
    else if (needs_more_digits)
        snprintf(v->next, sizeof v->next, "solve %s %s tol %.0e", v->solver->name, v->matrix.name,
                 100 * solve_rounding(solve_reach(v)));
    else if (v->reason == DRIFTED || (v->reason == MAX_ITERATIONS && v->history.separated_at > v->base))
        propose_more(v, "starts again from this x, with the true residual");
    else if (v->reason == MAX_ITERATIONS && still_falls(v))
        propose_more(v, "goes on from this x");
    else
        (v->matrix.symmetry == SYMMETRY_YES ? for_symmetric : for_any)(v);
}
