/* Chooses a solver for A x = b. The candidates are tried in passes: each pass gives each candidate four times the time
   of the pass before, and drops those that a better candidate leaves behind. As soon as a candidate converges within
   the time that all others had, no other candidate is faster. */
#include "solver_advice.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "direct/direct.h"
#include "machine/device.h"
#include "matrix.h"
#include "matrix/csr.h"
#include "session.h"
#include "session_solve.h"
#include "solvers/forecast.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double solver_advice_limit_us = 2e6;

static const double CARD_US = 2e5;  /* for the costly lines of the card */
static const double FIRST_US = 2e3; /* per candidate in the first pass */
/* As in `solve`, so that a trial takes the time that the solve would: the last slice also does iterations that come
   after the convergence. */
static const double SLICE_US = 8e3;
enum { PASS_GROWTH = 4 };
enum { PLAN_SHARE = 4 }; /* the plan of the direct solver gets the limit divided by this */
/* A trial of fewer iterations is no base for an estimate; the limit may end it before. */
static const int trial_least_iterations = 8;
enum { KEPT_LEAST = 6 }; /* candidates that remain after a pass */
/* A direct solver is preferred unless another method needs less than this share of its time. */
static const double DIRECT_SHARE = 0.8;
/* A convergence that was only estimated may take this many times as long; the prediction for a direct solver is surer.
 */
static const double ESTIMATE_SPREAD = 4;

struct advising {
    struct session *s;
    const struct solver_question *q;
    struct solver_advice *a;
    double until_us; /* steady_us at which the trials end */
    /* While a trial runs, this watch takes the place of the session's watch, and ends the trial at trial_until_us. */
    struct watch outer;
    double trial_until_us;
    bool trial_late;
    bool warm; /* a solver has run: threads are awake, and code is loaded */
};

/* ---- the time limit of a trial ---- */

static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct advising *v = w->user;
    if (v->outer.tick && !v->outer.tick(&v->outer, what, done, total)) return !(v->a->stopped = true);
    v->trial_late = v->trial_late || steady_us() > v->trial_until_us;
    return !v->trial_late;
}

static void limit_begin(struct advising *v, double until_us)
{
    v->outer = v->s->watch;
    v->trial_until_us = until_us;
    v->trial_late = false;
    v->s->watch = (struct watch){tick, v};
}

/* Let loops run again after the limit has stopped one. */
static void limit_end(struct advising *v)
{
    v->s->watch = v->outer;
    if (v->trial_late) loop_enter(loop_watch());
}

/* ---- the trial of an iterative solver ---- */

static double time_left(const struct advising *v)
{
    return v->until_us - steady_us();
}

static struct solve_options options_of(const struct advising *v, const struct trial *t)
{
    struct solve_options o = v->q->options;
    o.solver = t->solver;
    o.pre = t->pre;
    return o;
}

/* Does the trial go on? */
static bool goes(const struct advising *v, const struct solve *solve, double start, double cap_us)
{
    bool within = steady_us() - start < cap_us || solve->iterations < trial_least_iterations;
    return solve->reason == RUNNING && !solve->cut.now && within && !v->trial_late && !v->a->stopped;
}

static bool iterate(struct advising *v, struct solve *solve, double start, double cap_us, struct err *e)
{
    bool ok = true;
    while (ok && goes(v, solve, start, cap_us)) {
        ok = solve_slice(solve, SLICE_US, e);
        if (ok) watch_tick(&v->s->watch, solve->solver->name, solve->iterations, 0, NULL);
    }
    ok = ok && solve_drain(solve, e);
    return ok && (solve->reason == RUNNING || solve_end(solve, e));
}

/* Why the solve ended. What solvers advise after a divergence is left out: the other candidates are in the table. */
static void note_end(struct trial *t, const struct solve *solve)
{
    bool common = solve->reason == DIVERGED || solve->reason == STAGNATED;
    snprintf(t->why, sizeof t->why, "%s", common ? reason_text(solve->reason) : solve->why);
}

/* The time of an iteration. After convergence, the mean that `solve` reports as `per iteration`; before, the time of
   queued iterations, which a longer solve approaches. */
static double each_us_of(const struct solve *solve)
{
    bool ended = solve->reason == CONVERGED && solve->iterations > 0;
    return ended ? solve->time.us / (double)solve->iterations : solve_each_us(solve);
}

/* Take what the solve has reached. */
static void note_solve(struct trial *t, const struct solve *solve)
{
    struct forecast f = solve_forecast(solve);
    double each = each_us_of(solve);
    bool running = solve->reason == RUNNING, converged = solve->reason == CONVERGED;
    t->m = solve->solver->restarts ? solve->set.m : 0;
    t->iterations = solve->iterations;
    t->residual = solve->residual;
    t->residual_true = solve->result.residual_true;
    t->rate = f.rate;
    t->each_us = solve->dev->kind == DEV_EMU ? NAN : each;
    t->state = running ? TRIAL_OPEN : converged ? TRIAL_CONVERGED : TRIAL_ENDED;
    t->expected_iterations = converged ? (double)t->iterations : running ? f.iterations : INFINITY;
    bool in_time = running && f.iterations <= (double)solve->set.maxit && t->iterations >= trial_least_iterations;
    t->expected_us = converged ? t->spent_us : in_time ? t->setup_us + t->each_us * f.iterations : INFINITY;
    if (!running && !converged) note_end(t, solve);
}

/* An error of a solver refuses the candidate, unless it ends the command. */
static bool note_error(struct trial *t, const struct err *why, struct err *e)
{
    if (why->code == E_DEVICE || why->code == E_INTERNAL) return fail_at(e, why->code, why->where, "%s", why->text);
    t->state = TRIAL_REFUSED;
    snprintf(t->why, sizeof t->why, "%.*s", (int)sizeof t->why - 1, why->text);
    return true;
}

/* Run the trial, and take what it reached. `why` receives the error if the solve could not begin or go on. */
static bool run_trial(struct advising *v, struct trial *t, double cap_us, struct err *why)
{
    struct solve_options o = options_of(v, t);
    struct solve_matrix A;
    struct solve *solve = NULL;
    limit_begin(v, v->until_us);
    bool ok = session_solve_matrix(v->s, v->q->matrix, &o, &A, why); /* copied to the device once, for all trials */
    double start = steady_us();
    v->trial_until_us = fmin(start + PASS_GROWTH * cap_us, v->until_us);
    ok = ok && session_solve(&solve, v->s, v->q->matrix, &o, why);
    t->setup_us = steady_us() - start;
    ok = ok && iterate(v, solve, start, cap_us, why);
    t->spent_us = steady_us() - start;
    if (ok) note_solve(t, solve);
    solve_free(solve);
    limit_end(v);
    return ok;
}

/* Did iterations of a short trial take several times as long as those of other candidates? Either they do, or other
   programs had the processor. */
static bool is_doubtful(const struct advising *v, const struct trial *t)
{
    static const double TIMES = 4, SHORT_US = 5e4;
    double least = INFINITY;
    for (int i = 0; i < v->a->n; i++)
        if (v->a->at[i].iterations >= trial_least_iterations) least = fmin(least, v->a->at[i].each_us);
    return t->state == TRIAL_OPEN && t->spent_us < SHORT_US && t->each_us > TIMES * least;
}

/* Keep the better of two trials. */
static bool repeat_trial(struct advising *v, struct trial *t, double cap_us, struct err *why)
{
    struct trial before = *t;
    if (!run_trial(v, t, cap_us, why)) return false;
    if (t->state == TRIAL_OPEN && before.expected_us < t->expected_us) *t = before;
    return true;
}

static bool try_solver(struct advising *v, struct trial *t, double cap_us, struct err *e)
{
    struct err why = {0};
    bool ok = run_trial(v, t, cap_us, &why);
    if (ok && !v->warm && time_left(v) > 0) ok = run_trial(v, t, cap_us, &why);
    if (ok && is_doubtful(v, t) && time_left(v) > 0) ok = repeat_trial(v, t, cap_us, &why);
    v->warm |= ok;
    if (ok || v->a->stopped) return true;
    if (!v->trial_late) return note_error(t, &why, e);
    t->state = TRIAL_OPEN; /* the set-up took too long */
    return true;
}

/* ---- the trial of the direct solver ---- */

static struct direct_options direct_options_of(struct advising *v, bool plan_only)
{
    const struct solve_options *o = &v->q->options;
    const struct card *c = &v->a->card;
    return (struct direct_options){.b = o->b,
                                   .known_ones = o->known_ones,
                                   .symmetric = c->has_symmetry && c->symmetry.hermitian,
                                   .tol = o->tol,
                                   .plan_only = plan_only,
                                   .watch = &v->s->watch};
}

/* A prediction of the whole time, with the condition estimate, on one core. The bound of a library without an estimate
   (SPQR) is the time of a small factorisation. */
static double predicted_us(const struct direct_answer *p)
{
    static const double FLOPS_PER_US = 2000, US_PER_NONZERO = 0.08, UNKNOWN_US = 5e4;
    if (isnan(p->plan.flops) || isnan(p->plan.nnz)) return p->analyse_us + UNKNOWN_US;
    return p->analyse_us + p->plan.flops / FLOPS_PER_US + US_PER_NONZERO * p->plan.nnz;
}

static void note_direct(struct trial *t, const struct direct_answer *p)
{
    bool solved = !p->planned && p->met && isnan(p->normal);
    t->method = p->method->name;
    t->state = p->planned ? TRIAL_PLANNED : solved ? TRIAL_CONVERGED : TRIAL_ENDED;
    t->accurate = !p->planned && p->accurate && !solved;
    t->least_squares = t->accurate && !isnan(p->normal);
    t->planned_nnz = p->plan.nnz;
    t->planned_flops = p->plan.flops;
    t->residual = t->residual_true = p->planned ? NAN : p->residual_true;
    t->expected_us = p->planned ? predicted_us(p) : solved || t->accurate ? p->us : INFINITY;
    snprintf(t->why, sizeof t->why, "%.*s", (int)sizeof t->why - 1, p->why);
}

static bool try_direct(struct advising *v, struct trial *t, bool plan_only, double until_us, struct err *e)
{
    struct direct_answer *answer = NULL;
    struct err why = {0};
    double start = steady_us();
    limit_begin(v, until_us);
    struct direct_options o = direct_options_of(v, plan_only);
    bool ok = direct_solve(&answer, &v->q->matrix->csr, &o, &why);
    limit_end(v);
    t->spent_us = steady_us() - start;
    if (ok) note_direct(t, answer);
    direct_answer_free(answer);
    if (ok || v->a->stopped) return true;
    if (!v->trial_late) return note_error(t, &why, e);
    snprintf(t->why, sizeof t->why, "takes longer than predicted");
    t->drops = true;
    t->state = TRIAL_PLANNED;
    t->expected_us = isfinite(t->expected_us) ? 2 * fmax(t->expected_us, t->spent_us) : INFINITY;
    return true;
}

/* Opening the libraries takes longer than a small solve, so a short first solve is repeated. */
static bool measure_direct(struct advising *v, struct trial *t, struct err *e)
{
    static const double SHORT_US = 5e4;
    if (!try_direct(v, t, false, v->until_us, e)) return false;
    return t->state != TRIAL_CONVERGED || t->spent_us > SHORT_US || try_direct(v, t, false, v->until_us, e);
}

/* ---- the candidates ---- */

static void add(struct solver_advice *a, const struct solver *solver, const struct precond *pre)
{
    a->at[a->n++] = (struct trial){.solver = solver,
                                   .pre = pre,
                                   .residual = NAN,
                                   .residual_true = NAN,
                                   .rate = NAN,
                                   .expected_iterations = NAN,
                                   .setup_us = NAN,
                                   .each_us = NAN,
                                   .spent_us = 0,
                                   .expected_us = INFINITY,
                                   .planned_nnz = NAN,
                                   .planned_flops = NAN};
}

/* Is the solver refused for every preconditioner, because of the symmetry of A? */
static bool lacks_symmetry(const struct solver_advice *a, const struct solver *solver, char *why, size_t size)
{
    const struct card *c = &a->card;
    if (!solver->symmetric || !c->has_symmetry || c->symmetry.hermitian) return false;
    snprintf(why, size, "needs %s, but A is %s", solver->needs, c->A->imag ? "not hermitian" : "not symmetric");
    return true;
}

/* The solver alone and with each preconditioner that it takes; only with the preconditioner that the user named. */
static void add_solver(const struct solver_question *q, struct solver_advice *a, const struct solver *solver)
{
    char why[sizeof a->at->why];
    bool refused = lacks_symmetry(a, solver, why, sizeof why);
    if (!q->pre_is_given || !q->options.pre) add(a, solver, NULL);
    if (q->pre_is_given && q->options.pre && (refused || solver->no_precond)) add(a, solver, q->options.pre);
    if (refused) {
        a->at[a->n - 1].state = TRIAL_REFUSED;
        memcpy(a->at[a->n - 1].why, why, sizeof why);
        return;
    }
    for (int i = 0; preconds[i] && !solver->no_precond; i++)
        if ((!q->pre_is_given || q->options.pre == preconds[i]) && (!solver->own_precond || preconds[i]->symmetric))
            add(a, solver, preconds[i]);
}

/* The order in which candidates are tried, and in which equally fast ones are preferred: methods for definite matrices,
   for symmetric ones, for any matrix, and those without a Krylov space. */
enum { TURNS = 4 };
static int turn_of(const struct solver *s)
{
    return s->diff ? 3 : s->definite ? 0 : s->symmetric ? 1 : 2;
}

static bool list(const struct solver_question *q, struct solver_advice *a, struct err *e)
{
    int nsolvers = 0, npreconds = 0;
    while (solvers[nsolvers]) nsolvers++;
    while (preconds[npreconds]) npreconds++;
    a->at = mem_zero(1 + nsolvers * (npreconds + 2), sizeof *a->at, "the candidates", e);
    if (!a->at) return false;
    if (q->direct) add(a, NULL, NULL);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; solvers[i]; i++)
            if (turn_of(solvers[i]) == turn) add_solver(q, a, solvers[i]);
    return true;
}

/* ---- passes ---- */

static bool is_open(const struct trial *t)
{
    return !t->drops && (t->state == TRIAL_NONE || t->state == TRIAL_OPEN || t->state == TRIAL_PLANNED);
}

static double least_converged(const struct solver_advice *a)
{
    double least = INFINITY;
    for (int i = 0; i < a->n; i++)
        if (a->at[i].state == TRIAL_CONVERGED) least = fmin(least, a->at[i].expected_us);
    return least;
}

static int count_open(const struct solver_advice *a)
{
    int n = 0;
    for (int i = 0; i < a->n; i++) n += is_open(&a->at[i]);
    return n;
}

static int by_expected(const void *p, const void *q)
{
    double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

bool trial_is_unjudged(const struct trial *t)
{
    return t->solver && t->state == TRIAL_OPEN && t->iterations < trial_least_iterations;
}

/* Is it the first unjudged candidate with its preconditioner? It may take few iterations. */
static bool is_spared(const struct solver_advice *a, int i)
{
    if (!trial_is_unjudged(&a->at[i])) return false;
    for (int k = 0; k < i; k++)
        if (trial_is_unjudged(&a->at[k]) && a->at[k].pre == a->at[i].pre) return false;
    return true;
}

/* Drop the candidates in the worse half by their estimates. */
static bool drop_worse(struct solver_advice *a, struct err *e)
{
    int n = 0, keep = count_open(a) / 2;
    double *us = mem_new(a->n, sizeof *us, "the candidates", e);
    if (!us) return false;
    for (int i = 0; i < a->n; i++)
        if (is_open(&a->at[i])) us[n++] = a->at[i].expected_us;
    qsort(us, (size_t)n, sizeof *us, by_expected);
    if (keep < KEPT_LEAST) keep = KEPT_LEAST;
    for (int i = 0; i < a->n && keep < n; i++) {
        struct trial *t = &a->at[i];
        if (is_open(t) && t->state == TRIAL_OPEN && t->expected_us > us[keep - 1] && !is_spared(a, i)) t->drops = true;
    }
    mem_free(us);
    return true;
}

static bool try_one(struct advising *v, struct trial *t, double cap_us, struct err *e)
{
    if (t->solver) return try_solver(v, t, cap_us, e);
    if (t->state == TRIAL_NONE) return try_direct(v, t, true, steady_us() + v->q->limit_us / PLAN_SHARE, e);
    return true;
}

/* The plan of the direct solver predicts that it needs at most cap_us. */
static bool direct_is_due(const struct trial *t, double cap_us)
{
    return !t->solver && t->state == TRIAL_PLANNED && t->expected_us <= cap_us;
}

static bool pass(struct advising *v, double cap_us, struct err *e)
{
    struct solver_advice *a = v->a;
    for (int i = 0; i < a->n && !a->stopped && time_left(v) > 0; i++) {
        struct trial *t = &a->at[i];
        if (!is_open(t)) continue;
        if (!try_one(v, t, fmin(cap_us, time_left(v)), e)) return false;
        if (direct_is_due(t, cap_us) && time_left(v) > 0 && !measure_direct(v, t, e)) return false;
    }
    return true;
}

/* Is the fastest method that converged faster than every open candidate can still be? */
static bool is_decided(const struct solver_advice *a, double cap_us)
{
    return least_converged(a) <= cap_us || !count_open(a);
}

static bool run_passes(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    for (double cap_us = FIRST_US;; cap_us = fmin(PASS_GROWTH * cap_us, least_converged(a))) {
        if (!pass(v, cap_us, e)) return false;
        a->late = time_left(v) <= 0;
        if (a->stopped || a->late || is_decided(a, cap_us)) return true;
        if (!drop_worse(a, e)) return false;
    }
}

/* The candidate with the least estimate; NULL: none shows a sign of convergence. */
static struct trial *most_promising(const struct solver_advice *a)
{
    struct trial *best = NULL;
    for (int i = 0; i < a->n; i++) {
        struct trial *t = &a->at[i];
        bool open = t->solver ? t->state == TRIAL_OPEN : t->state == TRIAL_PLANNED && !t->drops;
        if (open && isfinite(t->expected_us) && (!best || t->expected_us < best->expected_us)) best = t;
    }
    return best;
}

/* If the limit came before any candidate converged, estimates from a few iterations decide. Check them for as long
   again: the best estimate gets the time that it claims to need, until one candidate converges. */
static bool pursue(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    struct trial *t;
    v->until_us = steady_us() + v->q->limit_us;
    while (!a->stopped && time_left(v) > 0 && isinf(least_converged(a)) && (t = most_promising(a))) {
        if (!t->solver && t->expected_us > time_left(v)) return true; /* the library could not be stopped */
        double cap_us = fmin(fmax(1.5 * t->expected_us, 2 * t->spent_us), time_left(v));
        if (!(t->solver ? try_solver(v, t, cap_us, e) : measure_direct(v, t, e))) return false;
    }
    return true;
}

/* A direct solver that may be as fast as the best candidate is measured, because its plan is no exact prediction. */
static bool measure_planned(struct advising *v, struct err *e)
{
    static const double NEAR = 2;
    struct solver_advice *a = v->a;
    for (int i = 0; i < a->n; i++) {
        struct trial *t = &a->at[i];
        bool near = !t->solver && t->state == TRIAL_PLANNED && t->expected_us <= NEAR * least_converged(a);
        if (near && isfinite(least_converged(a)) && !a->stopped && t->expected_us <= time_left(v))
            return measure_direct(v, t, e);
    }
    return true;
}

/* On a busy machine, a single time may be several times too long. Repeat the short trials that are near the best one,
   and keep the least times. */
static bool confirm(struct advising *v, struct err *e)
{
    enum { REPEATS = 2 };
    static const double NEAR = 3, SHORT_US = 5e4;
    struct solver_advice *a = v->a;
    double least = least_converged(a);
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int i = 0; i < a->n; i++) {
            struct trial again = a->at[i];
            bool near = again.state == TRIAL_CONVERGED && again.expected_us <= fmin(NEAR * least, SHORT_US);
            if (!near || a->stopped || time_left(v) <= 0) continue;
            double us = again.expected_us;
            if (!(again.solver ? try_solver(v, &again, PASS_GROWTH * us, e)
                               : try_direct(v, &again, false, v->until_us, e)))
                return false;
            if (again.state == TRIAL_CONVERGED && again.expected_us < us) a->at[i] = again; /* its parts add up */
        }
    return true;
}

/* ---- the choice ---- */

/* Ended and refused candidates come last, those that came closest first. */
static int rank_of(const struct trial *t)
{
    static const int rank[] = {[TRIAL_CONVERGED] = 0, [TRIAL_OPEN] = 2,  [TRIAL_PLANNED] = 2,
                               [TRIAL_NONE] = 3,      [TRIAL_ENDED] = 4, [TRIAL_REFUSED] = 5};
    return t->accurate ? 1 : rank[t->state];
}

static double or_infinity(double x)
{
    return isnan(x) ? INFINITY : x;
}

static int by_merit(const void *p, const void *q)
{
    const struct trial *a = p, *b = q;
    int d = rank_of(a) - rank_of(b);
    if (d) return d;
    d = by_expected(&a->expected_us, &b->expected_us);
    double ra = or_infinity(a->residual), rb = or_infinity(b->residual);
    return d ? d : by_expected(&ra, &rb);
}

static bool prefers_direct(const struct solver_advice *a, const struct trial *direct)
{
    if (direct->state == TRIAL_CONVERGED) return DIRECT_SHARE * direct->expected_us <= a->at[0].expected_us;
    return direct->state == TRIAL_PLANNED && a->at[0].state == TRIAL_OPEN &&
           direct->expected_us <= ESTIMATE_SPREAD * a->at[0].expected_us;
}

/* Of two solvers that converged in about the same time, the one is preferred that uses the symmetry of A: it needs no
   restarts, and few vectors. */
static int preferred(const struct solver_advice *a)
{
    static const double AS_FAST = 1.3;
    int best = 0;
    for (int i = 1; i < a->n; i++) {
        const struct trial *t = &a->at[i];
        if (!t->solver || t->state != TRIAL_CONVERGED || t->expected_us > AS_FAST * a->at[0].expected_us) continue;
        if (a->at[best].solver && turn_of(t->solver) < turn_of(a->at[best].solver)) best = i;
    }
    return best;
}

/* Move candidate i to the front. */
static void put_first(struct solver_advice *a, int i)
{
    struct trial t = a->at[i];
    memmove(a->at + 1, a->at, (size_t)i * sizeof *a->at);
    a->at[0] = t;
}

/* Can this candidate be taken: does it converge, or is it expected to? */
static bool is_hopeful(const struct trial *t)
{
    if (t->state == TRIAL_CONVERGED || t->state == TRIAL_PLANNED || t->accurate) return true;
    return t->state == TRIAL_OPEN && isfinite(t->expected_us);
}

static void choose(struct solver_advice *a)
{
    qsort(a->at, (size_t)a->n, sizeof *a->at, by_merit);
    if (a->n && a->at[0].state == TRIAL_CONVERGED) put_first(a, preferred(a));
    for (int i = 1; i < a->n; i++)
        if (!a->at[i].solver && (prefers_direct(a, &a->at[i]) || (!is_hopeful(a->at) && is_hopeful(&a->at[i])))) {
            put_first(a, i);
            break;
        }
    a->taken = a->n && is_hopeful(&a->at[0]) ? 0 : -1;
}

/* ---- words ---- */

struct trial_name trial_name(const struct trial *t)
{
    struct trial_name n;
    if (!t->solver)
        snprintf(n.text, sizeof n.text, t->method ? "direct (%s)" : "direct", t->method);
    else
        snprintf(n.text, sizeof n.text, "%s%s%s", t->solver->name, t->pre ? ", " : "", t->pre ? t->pre->name : "");
    return n;
}

struct trial_words trial_words(const struct trial *t, const char *matrix)
{
    struct trial_words w;
    snprintf(w.text, sizeof w.text, "%s %s%s%s", t->solver ? t->solver->name : "direct", matrix,
             t->pre ? " precond " : "", t->pre ? t->pre->name : "");
    return w;
}

/* What the card found. */
static void describe(struct solver_advice *a)
{
    const struct card *c = &a->card;
    const struct card_facts *f = &c->facts;
    bool square = c->A->rows == c->A->cols;
    text_append(a->kind, sizeof a->kind, "%s%s", c->A->imag ? "complex, " : "",
                square                    ? card_symmetry_text(c)
                : c->A->rows > c->A->cols ? "more rows than columns"
                                          : "more columns than rows");
    if (f->dominant) text_append(a->kind, sizeof a->kind, ", dominant diagonal");
    if (f->no_diagonal)
        text_append(a->kind, sizeof a->kind, ", %s missing or 0", how_many(f->no_diagonal, "diagonal entry").text);
    if (c->has_dm && c->dm.rank < c->A->rows)
        text_append(a->kind, sizeof a->kind, ", structural rank %s", card_count(c->dm.rank).text);
    if (f->systems > 1) text_append(a->kind, sizeof a->kind, ", %s independent systems", card_count(f->systems).text);
    if (f->row_ratio > 1e4) text_append(a->kind, sizeof a->kind, ", ratio of row maxima %.2g", f->row_ratio);
}

/* "converged in 45 iterations and 1.2 ms", "needs about 2,000 iterations and 3.4 s", "takes about 5 ms". */
struct effort {
    char text[160];
};
static struct effort effort_of(const struct trial *t)
{
    struct effort c = {""};
    char time[32];
    show_us(isfinite(t->expected_us) ? t->expected_us : 0, time, sizeof time);
    if (t->solver && t->state == TRIAL_CONVERGED)
        snprintf(c.text, sizeof c.text, "converged in %s and %s", how_many(t->iterations, "iteration").text, time);
    else if (t->solver)
        snprintf(c.text, sizeof c.text, "needs about %s and %s",
                 how_many((int64_t)t->expected_iterations, "iteration").text, time);
    else if (!isfinite(t->expected_us))
        snprintf(c.text, sizeof c.text, "needs more time than its trial had");
    else
        snprintf(c.text, sizeof c.text, "%s %s", t->state == TRIAL_CONVERGED ? "took" : "takes about", time);
    return c;
}

bool trial_is_guess(const struct trial *t)
{
    enum { SHARE = 8 };
    return t->solver && t->state == TRIAL_OPEN && SHARE * (double)t->iterations < t->expected_iterations;
}

/* The best candidate of the other sort: iterative if the taken one is direct, and vice versa. */
static const struct trial *rival(const struct solver_advice *a)
{
    for (int i = 1; i < a->n; i++)
        if (!a->at[i].solver != !a->at[0].solver && !a->at[i].accurate && isfinite(a->at[i].expected_us) &&
            !trial_is_guess(&a->at[i]))
            return &a->at[i];
    return NULL;
}

static void explain(struct solver_advice *a)
{
    const struct trial *t = a->n ? &a->at[0] : NULL, *other = a->taken < 0 ? NULL : rival(a);
    char *out = a->because;
    size_t size = sizeof a->because;
    if (a->taken < 0) {
        if (a->stopped)
            text_append(out, size, "no method had converged or come near it before Ctrl-C");
        else
            text_append(out, size, "no method is known to solve this system%s%s", t && *t->why ? ": " : "",
                        t ? t->why : "");
        return;
    }
    if (t->accurate) {
        text_append(out, size, "no method met tol; %s", t->why);
        return;
    }
    text_append(out, size, "%s %s", trial_name(t).text, effort_of(t).text);
    if (other)
        text_append(out, size, "; %s %s", trial_name(other).text, effort_of(other).text);
    else
        text_append(out, size, t->solver ? "" : "; no iterative method %s",
                    count_open(a) ? "showed that it is faster" : "converged");
}

/* ---- */

static bool advise(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    const struct solver_question *q = v->q;
    bool gave = screen_lock_give();
    bool ok = card_for_solvers(&a->card, &q->matrix->csr, CARD_US, &v->s->watch, e);
    screen_lock_back(gave);
    a->stopped = ok && a->card.stopped;
    if (!ok || !list(q, a, e)) return false;
    v->until_us = steady_us() + q->limit_us;
    if (!a->stopped && (!run_passes(v, e) || !pursue(v, e) || !measure_planned(v, e) || !confirm(v, e))) return false;
    describe(a);
    choose(a);
    explain(a);
    return true;
}

bool solver_advise(struct solver_advice *out, struct session *s, const struct solver_question *q, struct err *e)
{
    double start = steady_us();
    *out = (struct solver_advice){.taken = -1, .dev = q->options.dev};
    struct advising v = {.s = s, .q = q, .a = out};
    bool ok = advise(&v, e);
    out->us = steady_us() - start;
    return ok;
}

void solver_advice_free(struct solver_advice *a)
{
    card_free(&a->card);
    mem_free(a->at);
    *a = (struct solver_advice){.taken = -1};
}
