/* What to try after a solve that has not converged: one command, chosen from the reason, from what is known about A,
   and from what the solve has tried already. */
#include "base/precision.h"
#include "forecast.h"
#include "machine/gmres_work.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "precond.h"
#include "rules.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"
#include "suits.h"

#include <math.h>
#include <stdio.h>

enum { LONGER_M = 200 }; /* iterations per cycle that gmres should try before a direct solver */

/* The same system by another method: `method` names the solver and its options. */
static void propose(struct solve *v, const char *method, const char *options, const char *why)
{
    snprintf(v->next, sizeof v->next, "solve %s %s%s%s", method, v->matrix.name, options, same_all(v).text);
    v->next_why = why;
}

/* `method`: "direct", or "direct spqr" */
static void propose_direct(struct solve *v, const char *method, const char *why)
{
    if (v->matrix.csr->source) return; /* no library gets its entries */
    if (v->matrix.csr->nnz) {
        snprintf(v->next, sizeof v->next, "solve %s %s%s", method, v->matrix.name, same_direct(v).text);
        v->next_why = why;
    } else
        snprintf(v->next, sizeof v->next, "check %s only rank", v->matrix.name);
}

static void propose_factors(struct solve *v)
{
    propose_direct(v, "direct", "factors A, so slow convergence does not matter");
}

int64_t solve_larger_limit(const struct solve *v)
{
    static const double MARGIN = 1.2, MAX = 1e9;
    double needs = solve_expected(v).iterations;
    double limit = fmax(2 * (double)v->set.maxit + 100, needs <= MAX ? ceil(MARGIN * needs) : 0);
    return (int64_t)fmin(limit, 9e15);
}

bool solve_may_go_on(const struct solve *v)
{
    enum { MIN = 25000, MAX = 1000000, PER_ROW = 100 };
    int64_t limit = solve_larger_limit(v), most = v->n < MAX / PER_ROW ? PER_ROW * v->n : MAX;
    return limit <= (most > MIN ? most : MIN);
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

/* ilu0 and ic0 factor the entries on the host, and run on devices without members. */
static bool may_factor(const struct solve *v)
{
    return !v->matrix.csr->source && !v->dev->members;
}

static bool takes_ilu0(struct solve *v)
{
    return may_factor(v) && suits_ilu0(v->matrix.facts, v->system.A);
}

/* Was x unchanged when the solver broke down? Then a restart from x breaks down again. */
static bool stuck(const struct solve *v)
{
    return v->reason == BROKE_DOWN && v->iterations == v->base;
}

/* The rule for A, by facts that take a short time to find out. */
static const struct rule *rule_of(struct solve *v)
{
    struct facts *f = v->matrix.facts;
    if (facts_symmetric(f, v->system.A)) facts_definite(f, v->system.A);
    return rule_for(f, v->system.A);
}

/* Could a solver for definite matrices (cg), with ic0, take the place of one that does not use the symmetry of A? */
static bool suits_cg(struct solve *v)
{
    if (v->solver->symmetric || v->system.A->imag || !may_factor(v)) return false;
    const char *name = rule_of(v)->solver;
    const struct solver *better = name ? solver_find(name) : NULL;
    return better && better->definite && suits_ic0(v->matrix.facts, v->system.A);
}

/* Is A a saddle point, and has the preconditioner for it not been tried? */
static bool suits_schur(struct solve *v)
{
    bool tried = v->pre.method && v->pre.method->saddle;
    if (tried || !may_factor(v) || v->system.A->imag || !facts_saddle(v->matrix.facts, v->system.A)) return false;
    const struct precond *pre = rule_of(v)->pre ? precond_find(rule_of(v)->pre) : NULL;
    return pre && pre->saddle;
}

static void propose_rule(struct solve *v)
{
    const struct rule *r = rule_of(v);
    char options[40];
    snprintf(options, sizeof options, " precond %s", r->pre);
    propose(v, r->solver, options, r->because);
}

/* The solve broke down although A is not indefinite: rounding errors did it. */
static void for_rounding(struct solve *v, enum definiteness is)
{
    if (v->real == T_F32) {
        snprintf(v->next, sizeof v->next, "solve %s %s%s f64", v->solver->name, v->matrix.name,
                 same_but_precision(v).text);
        v->next_why = "with values of more digits";
    } else if (is_semidefinite(is))
        propose_direct(v, "direct spqr",
                       "A is singular up to rounding errors, and this finds a least-squares solution");
    else
        propose_factors(v);
}

static void for_symmetric(struct solve *v)
{
    const struct solver *s = v->solver;
    const struct csr *A = v->system.A;
    enum definiteness is = facts_definite(v->matrix.facts, A);
    bool spoilt = v->reason == BROKE_DOWN, by_a = spoilt && v->host_scalars[S_WHAT] != BROKE_RHO;
    if (suits_cg(v) || suits_schur(v))
        propose_rule(v);
    else if (s->definite && by_a && is_one_sided(is))
        for_rounding(v, is);
    else if (!s->symmetric || (s->definite && by_a))
        propose(v, "minres", "", because_symmetric);
    else if (by_a && !is_semidefinite(is))
        snprintf(v->next, sizeof v->next, "check %s only rank", v->matrix.name);
    else if (is_semidefinite(is))
        propose_direct(v, "direct spqr",
                       "A is singular up to rounding errors, and this finds a least-squares solution");
    else if ((!v->pre.method || spoilt) && diagonal_is_full(A) && diagonal_varies(A))
        propose(v, s->name, " precond jacobi", "corrects bad scaling");
    else if (!v->pre.method && is_definite(is) && may_factor(v) && suits_ic0(v->matrix.facts, A))
        propose(v, s->name, " precond ic0", "for symmetric positive definite matrices");
    else
        propose_factors(v);
}

static void for_any(struct solve *v)
{
    const struct solver *s = v->solver;
    char options[80];
    int64_t m = s->arnoldi && v->set.m < LONGER_M / 2 ? LONGER_M / 2 : LONGER_M;
    if (m > v->n) m = v->n;
    snprintf(options, sizeof options, "%s%s m %lld", v->pre.method ? " precond " : "",
             v->pre.method ? v->pre.method->name : "", (long long)m);
    const char *name = s->no_precond || s->symmetric ? "bicgstab" : s->name;
    if (suits_schur(v))
        propose_rule(v);
    else if (!v->pre.method && !stuck(v) && takes_ilu0(v))
        propose(v, name, " precond ilu0", because_any);
    else if (!v->pre.method && !stuck(v) && may_factor(v) && !v->scaling.of &&
             suits_matching(v->matrix.facts, v->matrix.csr))
        propose(v, name, " precond ilu0 scaled reorder matching", because_filled);
    else if (!s->arnoldi || (v->set.m < LONGER_M && v->set.m < v->n))
        propose(v, "gmres", options, because_never_grows);
    else
        propose_factors(v);
}

/* The symmetry of A may be unknown after a solver that does not need it. Use it if that helps: a definite matrix suits
   cg, and minres needs no factors. */
static void for_unknown(struct solve *v)
{
    const struct csr *A = v->system.A;
    if (suits_cg(v) || suits_schur(v) ||
        (!A->imag && facts_symmetric(v->matrix.facts, A) && !v->pre.method && !takes_ilu0(v)))
        for_symmetric(v);
    else
        for_any(v);
}

bool solve_mismatched(const struct solve *v)
{
    return v->solver->symmetric && fact_symmetric(v->matrix.facts) == FACT_NO;
}

static void for_matrix(struct solve *v)
{
    static void (*const by_symmetry[])(struct solve * v) = {
        [FACT_UNKNOWN] = for_unknown, [FACT_YES] = for_symmetric, [FACT_NO] = for_any};
    by_symmetry[fact_symmetric(v->matrix.facts)](v);
}

/* The same solve with the smallest tol that is certain to be within reach. */
static void propose_tol(struct solve *v)
{
    snprintf(v->next, sizeof v->next, "solve %s %s%s%s%s tol %.0e", v->solver->name, v->matrix.name,
             v->pre.method ? " precond " : "", v->pre.method ? v->pre.method->name : "", same_but_tol(v).text,
             100 * solve_rounding(solve_reach(v)));
}

/* The same solve with values of more digits. */
static void propose_precision(struct solve *v)
{
    char options[80];
    snprintf(options, sizeof options, "%s%s%s", v->pre.method ? " precond " : "",
             v->pre.method ? v->pre.method->name : "", precisions[v->precision].narrow ? " refine fp32" : " f64");
    snprintf(v->next, sizeof v->next, "solve %s %s%s%s", v->solver->name, v->matrix.name, options,
             same_but_precision(v).text);
    v->next_why = "with values of more digits";
}

/* For a solver of least squares. */
static void for_least_squares(struct solve *v)
{
    char options[40];
    bool limit = v->reason == MAX_ITERATIONS || v->reason == DRIFTED;
    snprintf(options, sizeof options, " precond %s", precond_columns.name);
    if (limit && solve_may_go_on(v))
        propose_more(v,
                     v->reason == DRIFTED ? "starts again from this x, with the true residual" : "goes on from this x");
    else if (!v->pre.method)
        propose(v, v->solver->name, options, "corrects bad scaling");
    else
        propose_direct(v, "direct spqr", "factors A, so slow convergence does not matter");
}

void solve_try(struct solve *v, bool needs_more_digits)
{
    v->next[0] = 0;
    v->next_why = NULL;
    if (v->reason == RUNNING || v->reason == CONVERGED || v->reason == STOPPED) return;
    if (v->refine.now.useless && v->reason != NOT_A_NUMBER)
        propose_precision(v);
    else if (v->reason == NOT_A_NUMBER)
        snprintf(v->next, sizeof v->next, "check %s only %s", v->matrix.name, v->set.force ? "valid" : "condition");
    else if (needs_more_digits && v->reason != BROKE_DOWN)
        propose_tol(v);
    else if (v->solver->least_squares)
        for_least_squares(v);
    else if (solve_mismatched(v))
        for_any(v);
    else if (!solve_may_go_on(v) || (v->solver->restarts && suits_cg(v)) || suits_schur(v))
        for_matrix(v);
    else if (v->reason == DRIFTED || (v->reason == MAX_ITERATIONS && v->history.separated_at > v->base))
        propose_more(v, "starts again from this x, with the true residual");
    else if (v->reason == MAX_ITERATIONS && still_falls(v))
        propose_more(v, "goes on from this x");
    else
        for_matrix(v);
}
