/* Chooses a solver for A x = b. The candidates are tried in passes: each pass gives each candidate four times the time
   of the pass before, and drops those that a better candidate leaves behind. As soon as a candidate converges within
   the time that all others had, no other candidate is faster. */
#include "solver_advice.h"
#include "base/busy.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "direct/direct.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solvers/forecast.h"
#include "solvers/precond.h"
#include "solvers/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const double solver_advice_limit_us = 2e6;

static const double CARD_US = 2e5;  /* for the costly lines of the card */
static const double FIRST_US = 2e3; /* per candidate in the first pass */
/* As in `solve`, so that a trial takes the time that the solve would: the last slice also does iterations that come
   after the convergence. */
static const double SLICE_US = 8e3;
enum { PASS_GROWTH = 4 };
/* A trial ends after its cap times this, because a set-up may take long, and other programs may have the processor. */
static const double GUARD = 16, GUARD_MIN_US = 1e5;
static const double WAIT = 5; /* wait_us, in limits, if the question gives none */
enum { PLAN_SHARE = 4 };      /* the plan of the direct solver gets the limit divided by this */
/* A trial of fewer iterations is no base for an estimate; the limit may end it before. */
static const int trial_least_iterations = 8;
enum { KEPT_MIN = 6 }; /* candidates that remain after a pass */
/* The same work takes this many times less or more time again, on a machine that others use too. */
static const double TIME_BELOW = 1.5, TIME_ABOVE = 2;
/* A direct solver takes up to this many times as much time as its plan predicts. */
static const double PLAN_ABOVE = 10;
/* Of one core: the time for a byte that an iteration moves, and for what an iteration does in addition. */
static const double US_PER_BYTE = 1.8e-4, ITERATION_US = 1;

struct advising {
    struct session *s;
    const struct solver_question *q;
    struct solver_advice *a;
    double until_us;  /* trial_clock_us at which the trials end */
    double latest_us; /* steady_us at which they end in any case */
    /* While a trial runs, this watch takes the place of the session's watch, and ends the trial at trial_until_us. */
    struct watch outer;
    double trial_until_us;
    bool trial_late;
    bool warm; /* a solver has run: threads are awake, and code is loaded */
};

/* ---- the time limit of a trial ---- */

double trial_clock_us(const struct device *d)
{
    return d->kind == DEV_CPU ? worked_us() : steady_us();
}

static double clock_of(const struct advising *v)
{
    return trial_clock_us(v->q->options.dev);
}

static double time_left(const struct advising *v)
{
    return fmin(v->until_us - clock_of(v), v->latest_us - steady_us());
}

static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct advising *v = w->user;
    if (v->outer.tick && !v->outer.tick(&v->outer, what, done, total)) return !(v->a->stopped = true);
    v->trial_late = v->trial_late || clock_of(v) > v->trial_until_us || steady_us() > v->latest_us;
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

static struct solve_options options_of(const struct advising *v, const struct trial *t)
{
    struct solve_options o = v->q->options;
    o.solver = t->solver;
    o.pre = t->pre;
    if (t->pre_block) o.pre_block = t->pre_block;
    return o;
}

static double each_work_us(const struct solve *solve)
{
    return ITERATION_US + US_PER_BYTE * solve_bytes(solve);
}

static double setup_work_us(const struct solve *solve)
{
    return solve->pre.method ? US_PER_BYTE * solve->pre.method->making * (double)solve->pre.held : 0;
}

/* What the trial has used of its cap: on cpu, the work, so that the iterations are the same in every run. */
static double used_us(const struct solve *solve, double start)
{
    if (solve->dev->kind != DEV_CPU) return trial_clock_us(solve->dev) - start;
    return setup_work_us(solve) + each_work_us(solve) * (double)solve->iterations;
}

/* Does the trial go on? */
static bool goes(const struct advising *v, const struct solve *solve, double start, double cap_us)
{
    bool within = used_us(solve, start) < cap_us || solve->iterations < trial_least_iterations;
    return solve->reason == RUNNING && !solve->cut.now && within && !v->trial_late && !v->a->stopped;
}

/* The iterations for which the work of the trial stays below its cap. */
static int64_t iterations_within(const struct solve *solve, double cap_us)
{
    double n = ceil((cap_us - setup_work_us(solve)) / each_work_us(solve));
    return n > trial_least_iterations ? (int64_t)fmin(n, (double)solve->set.maxit) : trial_least_iterations;
}

/* On cpu, the trial does exactly the iterations of its cap: how many a slice would do depends on their time. */
static bool run_slices(struct advising *v, struct solve *solve, double start, double cap_us, struct err *e)
{
    bool ok = true, counts = solve->dev->kind == DEV_CPU;
    int64_t most = iterations_within(solve, cap_us);
    while (ok && goes(v, solve, start, cap_us) && !(counts && solve->iterations >= most)) {
        if (counts) solve->steps_left = most - solve->iterations;
        ok = solve_slice(solve, SLICE_US, e);
        if (ok) watch_tick(&v->s->watch, solve->solver->name, solve->iterations, 0, NULL);
    }
    solve->steps_left = 0;
    solve->paused = false;
    ok = ok && solve_drain(solve, e);
    return ok && (solve->reason == RUNNING || solve_end(solve, e));
}

static bool iterate(struct advising *v, struct solve *solve, double start, double cap_us, struct err *e)
{
    bool ok = run_slices(v, solve, start, cap_us, e);
    for (int i = 0; ok && i < TIGHTEN_MAX && solve_tighten(solve); i++) ok = run_slices(v, solve, start, cap_us, e);
    return ok;
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

/* A cycle that is not complete shows only its first iterations, which are the cheapest. */
static double each_most_us(const struct solve *solve, double each)
{
    bool partly = solve->solver->restarts && solve->iterations - solve->base < solve->set.m;
    return partly ? each * (double)solve->set.m / (double)(solve->iterations - solve->base) : each;
}

/* The first solve of a session is slower: it opens libraries, and wakes threads. A much longer time is noise. */
static struct span measured_span(const struct trial *t)
{
    static const double COLD = 4;
    return (struct span){t->guess_us / TIME_BELOW, TIME_ABOVE * fmin(t->slowest_us, COLD * t->guess_us)};
}

static struct span time_span(double low_us, double high_us)
{
    return (struct span){low_us / TIME_BELOW, high_us * TIME_ABOVE};
}

/* What the trial of a solve that still runs promises. */
static void note_forecast(struct trial *t, const struct solve *solve)
{
    struct forecast f = solve_forecast(solve);
    bool judged = t->iterations >= trial_least_iterations;
    t->rate = f.rate;
    t->needs = (struct span){f.low, judged ? f.high : INFINITY};
    t->us = time_span(t->setup_us + t->each_us * t->needs.low,
                      t->setup_us + each_most_us(solve, t->each_us) * t->needs.high);
    t->guess_iterations = f.iterations;
    bool in_time = judged && f.low <= (double)solve->set.maxit && f.iterations <= (double)solve->set.maxit;
    t->guess_us = in_time ? t->setup_us + t->each_us * f.iterations : INFINITY;
}

static void note_converged(struct trial *t)
{
    t->guess_iterations = (double)t->iterations;
    t->guess_us = t->spent_us;
    t->slowest_us = fmax(t->slowest_us, t->spent_us);
    t->needs = (struct span){(double)t->iterations, (double)t->iterations};
    t->us = measured_span(t);
}

/* Take what the solve has reached. */
static void note_solve(struct trial *t, const struct solve *solve)
{
    bool running = solve->reason == RUNNING, converged = solve->reason == CONVERGED;
    t->m = solve->solver->restarts ? solve->set.m : 0;
    t->iterations = solve->iterations;
    t->residual = solve->residual;
    t->residual_true = solve->result.residual_true;
    t->each_us = solve->dev->kind == DEV_EMU ? NAN : each_us_of(solve);
    t->state = running ? TRIAL_OPEN : converged ? TRIAL_CONVERGED : TRIAL_ENDED;
    note_forecast(t, solve);
    t->work_each_us = each_work_us(solve);
    t->work_setup_us = setup_work_us(solve);
    if (converged) note_converged(t);
    if (running || converged) return;
    t->guess_iterations = t->guess_us = INFINITY;
    t->needs = t->us = (struct span){NAN, NAN};
    note_end(t, solve);
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
    double start = clock_of(v);
    v->trial_until_us = fmin(start + fmax(GUARD * cap_us, GUARD_MIN_US), v->until_us);
    bool begun = ok && session_solve(&solve, v->s, v->q->matrix, &o, why);
    t->setup_us = clock_of(v) - start;
    t->setup_ended_us = ok && !begun && v->trial_late && t->pre ? t->setup_us : NAN;
    ok = begun;
    ok = ok && iterate(v, solve, start, cap_us, why);
    t->spent_us = clock_of(v) - start;
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
    if (t->state == TRIAL_OPEN && before.guess_us < t->guess_us) *t = before;
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
    t->state = TRIAL_OPEN; /* the time was over before the first iteration */
    return true;
}

/* ---- the trial of the direct solver ---- */

/* A direct solver factors A itself, also if the others iterate on the equilibrated system. */
static const struct csr *factored(const struct advising *v)
{
    const struct solve_scaling *by = &v->q->options.scaling;
    return by->of ? by->of : &v->q->matrix->csr;
}

/* P R A C Q' may be symmetric although A is not, if R and C differ, or P and Q. */
static bool scales_alike(const struct solve_scaling *by)
{
    return by->row_swap == by->col_swap &&
           (!by->row || !memcmp(by->row, by->col, (size_t)by->of->rows * sizeof *by->row));
}

static struct direct_options direct_options_of(struct advising *v, bool plan_only)
{
    const struct solve_options *o = &v->q->options;
    const struct card *c = &v->a->card;
    return (struct direct_options){.b = o->b,
                                   .known_ones = o->known_ones,
                                   .symmetric = fact_symmetric(c->facts) == FACT_YES && scales_alike(&o->scaling),
                                   .tol = o->tol,
                                   .plan_only = plan_only,
                                   .watch = &v->s->watch};
}

/* A prediction of the time after the analysis, with the condition estimate, on one core. The bound of a library without
   an estimate (SPQR) is the time of a small factorisation. */
static double factor_us(const struct direct_answer *p)
{
    static const double FLOPS_PER_US = 2000, US_PER_NONZERO = 0.08, UNKNOWN_US = 5e4;
    if (isnan(p->plan.flops) || isnan(p->plan.nnz)) return UNKNOWN_US;
    return p->plan.flops / FLOPS_PER_US + US_PER_NONZERO * p->plan.nnz;
}

static double predicted_us(const struct direct_answer *p)
{
    return p->analyse_us + factor_us(p);
}

/* The flops of a plan that is a bound may be many times too many. */
static struct span plan_span(const struct direct_answer *p)
{
    bool estimated = !isnan(p->plan.flops) && !isnan(p->plan.nnz);
    return (struct span){p->plan.bound || !estimated ? p->analyse_us : predicted_us(p),
                         estimated ? PLAN_ABOVE * predicted_us(p) : INFINITY};
}

static void note_direct(struct trial *t, const struct direct_answer *p)
{
    static const double ANALYSIS_US_PER_NONZERO = 0.15, WORK = 2, START_US = 1000; /* typical measured times */
    bool least = !p->planned && p->accurate && !isnan(p->normal), rectangular = p->A->rows != p->A->cols;
    bool solved = !p->planned && p->met && (!least || rectangular);
    t->method = p->method->name;
    t->state = p->planned ? TRIAL_PLANNED : solved ? TRIAL_CONVERGED : TRIAL_ENDED;
    t->accurate = !p->planned && p->accurate && !solved;
    t->least_squares = least;
    t->planned_nnz = p->plan.nnz;
    t->planned_flops = p->plan.flops;
    t->residual = t->residual_true = p->planned ? NAN : p->residual_true;
    t->guess_us = p->planned ? predicted_us(p) : solved || t->accurate ? p->us : INFINITY;
    if (!p->planned) t->slowest_us = fmax(t->slowest_us, p->us);
    t->work_setup_us = WORK * (ANALYSIS_US_PER_NONZERO * (double)p->A->nnz + factor_us(p)) + START_US;
    t->us = p->planned ? plan_span(p) : isfinite(t->guess_us) ? measured_span(t) : (struct span){NAN, NAN};
    snprintf(t->why, sizeof t->why, "%.*s", (int)sizeof t->why - 1, p->why);
}

static bool try_direct(struct advising *v, struct trial *t, bool plan_only, double until_us, struct err *e)
{
    struct direct_answer *answer = NULL;
    struct err why = {0};
    double start = clock_of(v);
    limit_begin(v, until_us);
    struct direct_options o = direct_options_of(v, plan_only);
    bool ok = direct_solve(&answer, factored(v), &o, &why);
    limit_end(v);
    t->spent_us = clock_of(v) - start;
    if (ok) note_direct(t, answer);
    direct_answer_free(answer);
    if (ok || v->a->stopped) return true;
    if (!v->trial_late) return note_error(t, &why, e);
    snprintf(t->why, sizeof t->why, "takes longer than predicted");
    t->drops = true;
    t->state = TRIAL_PLANNED;
    t->guess_us = isfinite(t->guess_us) ? 2 * fmax(t->guess_us, t->spent_us) : INFINITY;
    t->us = (struct span){t->spent_us, INFINITY};
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
    a->at[a->n] = (struct trial){.order = a->n,
                                 .solver = solver,
                                 .pre = pre,
                                 .residual = NAN,
                                 .residual_true = NAN,
                                 .rate = NAN,
                                 .needs = {NAN, NAN},
                                 .us = {NAN, NAN},
                                 .guess_iterations = NAN,
                                 .guess_us = INFINITY,
                                 .work_setup_us = NAN,
                                 .work_each_us = NAN,
                                 .setup_us = NAN,
                                 .setup_ended_us = NAN,
                                 .each_us = NAN,
                                 .planned_nnz = NAN,
                                 .planned_flops = NAN};
    a->n++;
}

/* Is the solver refused for every preconditioner, because of the symmetry of A? */
static bool lacks_symmetry(const struct solver_advice *a, const struct solver *solver, char *why, size_t size)
{
    const struct card *c = &a->card;
    if (!solver->symmetric || fact_symmetric(c->facts) != FACT_NO) return false;
    snprintf(why, size, "needs %s, but A is %s", solver->needs, c->A->imag ? "not hermitian" : "not symmetric");
    return true;
}

/* Is it worth a trial, if the user did not name it? A preconditioner for saddle points needs one, and a flexible solver
   gains over gmres only where M^-1 is rounded, which is not so on cpu. */
static bool is_worth_trying(const struct solver_question *q, const struct solver_advice *a, const struct solver *solver,
                            const struct precond *pre)
{
    const struct card *c = &a->card;
    bool rounds = pre && pre->inexact && q->options.dev->kind != DEV_CPU;
    if (solver->flexible && !rounds) return false;
    return !pre || !pre->saddle || (!c->A->imag && facts_saddle(c->facts, c->A));
}

/* A solver of another kind takes a preconditioner of least squares, too, but jacobi suits it as well. If many x solve
   the problem, such a preconditioner chooses another one than that of least norm. */
static bool suits(const struct solver_question *q, const struct solver_advice *a, const struct solver *solver,
                  const struct precond *pre)
{
    const struct card *c = &a->card;
    bool many = c->A->cols > c->A->rows || (c->has_dm && c->dm.rank < c->A->cols);
    if (!solver_takes(solver, pre)) return false;
    if (q->pre_is_given) return true;
    return solver->least_squares == pre->least_squares && !(pre->least_squares && many) &&
           is_worth_trying(q, a, solver, pre);
}

/* If A has nodes of several unknowns, a preconditioner that can make use of them is tried with and without them, by the
   solvers for symmetric matrices. */
static void add_precond(const struct solver_question *q, struct solver_advice *a, const struct solver *solver,
                        const struct precond *pre)
{
    bool nodes = pre->near && solver->own_precond && !q->pre_is_given;
    int64_t block = nodes ? facts_block(&q->matrix->facts, &q->matrix->csr) : 1;
    add(a, solver, pre);
    if (block == 1) return;
    add(a, solver, pre);
    a->at[a->n - 1].pre_block = block;
}

/* The solver alone and with each preconditioner that it takes; only with the preconditioner that the user named. */
static void add_solver(const struct solver_question *q, struct solver_advice *a, const struct solver *solver)
{
    char why[sizeof a->at->why];
    bool refused = lacks_symmetry(a, solver, why, sizeof why);
    bool alone = (!q->pre_is_given && is_worth_trying(q, a, solver, NULL)) || (q->pre_is_given && !q->options.pre);
    if (!alone && !q->pre_is_given && refused) return;
    if (alone) add(a, solver, NULL);
    if (q->pre_is_given && q->options.pre && (refused || solver->no_precond)) add(a, solver, q->options.pre);
    if (refused) {
        a->at[a->n - 1].state = TRIAL_REFUSED;
        memcpy(a->at[a->n - 1].why, why, sizeof why);
        return;
    }
    for (int i = 0; preconds[i] && !solver->no_precond; i++)
        if ((!q->pre_is_given || q->options.pre == preconds[i]) && suits(q, a, solver, preconds[i]))
            add_precond(q, a, solver, preconds[i]);
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
    bool rectangular = a->card.A->rows != a->card.A->cols;
    while (solvers[nsolvers]) nsolvers++;
    while (preconds[npreconds]) npreconds++;
    a->at = mem_zero(1 + nsolvers * (2 * npreconds + 2), sizeof *a->at, "the candidates", e);
    if (!a->at) return false;
    if (q->direct) add(a, NULL, NULL);
    for (int turn = 0; turn < TURNS; turn++)
        for (int i = 0; solvers[i]; i++)
            if (turn_of(solvers[i]) == turn && solvers[i]->least_squares == rectangular) add_solver(q, a, solvers[i]);
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
        if (a->at[i].state == TRIAL_CONVERGED) least = fmin(least, trial_cost_us(a, &a->at[i]));
    return least;
}

static int count_open(const struct solver_advice *a)
{
    int n = 0;
    for (int i = 0; i < a->n; i++) n += is_open(&a->at[i]);
    return n;
}

static int by_guess(const void *p, const void *q)
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

/* Drop the candidates in the worse half by their estimates, and more if more than `most` remain. */
static bool drop_worse(struct solver_advice *a, int most, struct err *e)
{
    int n = 0, keep = count_open(a) / 2;
    double *us = mem_new(a->n, sizeof *us, "the candidates", e);
    if (!us) return false;
    for (int i = 0; i < a->n; i++)
        if (is_open(&a->at[i])) us[n++] = trial_cost_us(a, &a->at[i]);
    qsort(us, (size_t)n, sizeof *us, by_guess);
    if (keep < KEPT_MIN) keep = KEPT_MIN;
    if (keep > most) keep = most;
    for (int i = 0; i < a->n && keep < n; i++) {
        struct trial *t = &a->at[i];
        if (is_open(t) && t->state == TRIAL_OPEN && trial_cost_us(a, t) > us[keep - 1] && !is_spared(a, i))
            t->drops = true;
    }
    mem_free(us);
    return true;
}

static bool try_one(struct advising *v, struct trial *t, double cap_us, struct err *e)
{
    if (t->solver) return try_solver(v, t, cap_us, e);
    if (t->state == TRIAL_NONE) return try_direct(v, t, true, clock_of(v) + v->q->limit_us / PLAN_SHARE, e);
    return true;
}

/* The plan of the direct solver predicts that it needs at most cap_us. */
static bool direct_is_due(const struct solver_advice *a, const struct trial *t, double cap_us)
{
    return !t->solver && t->state == TRIAL_PLANNED && trial_cost_us(a, t) <= cap_us;
}

static bool pass(struct advising *v, double cap_us, struct err *e)
{
    struct solver_advice *a = v->a;
    for (int i = 0; i < a->n && !a->stopped && time_left(v) > 0; i++) {
        struct trial *t = &a->at[i];
        if (!is_open(t)) continue;
        if (!try_one(v, t, cap_us, e)) return false;
        if (direct_is_due(a, t, cap_us) && time_left(v) > 0 && !measure_direct(v, t, e)) return false;
    }
    return true;
}

/* Is the fastest method that converged faster than every open candidate can still be? */
static bool is_decided(const struct solver_advice *a, double cap_us)
{
    return least_converged(a) <= cap_us || !count_open(a);
}

/* How long a trial of t up to this cap takes, by its last trial. */
static double next_us(const struct solver_advice *a, const struct trial *t, double cap_us)
{
    bool cpu = a->dev->kind == DEV_CPU;
    double used = cpu ? t->work_setup_us + t->work_each_us * (double)t->iterations : t->spent_us;
    if (!t->solver) return 0;
    return used > 0 ? t->spent_us * fmax(1, cap_us / used) : cap_us;
}

/* How many open candidates the time that is left suffices for. */
static double fitting(const struct advising *v, double cap_us)
{
    const struct solver_advice *a = v->a;
    double us = 0;
    for (int i = 0; i < a->n; i++)
        if (is_open(&a->at[i])) us += next_us(a, &a->at[i], cap_us);
    return us > 0 ? fmin(a->n, time_left(v) / us * count_open(a)) : a->n;
}

/* A pass that the limit ended would leave it to chance which of its candidates got their time. So if all candidates
   need more time than is left, only the best get it. */
static bool run_passes(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    for (double cap_us = FIRST_US;; cap_us = fmin(PASS_GROWTH * cap_us, least_converged(a))) {
        if (!pass(v, cap_us, e)) return false;
        double fit = fitting(v, fmin(PASS_GROWTH * cap_us, least_converged(a)));
        bool decided = is_decided(a, cap_us);
        a->late = time_left(v) <= 0 || (fit < 1 && !decided);
        if (a->stopped || a->late || decided) return true;
        if (!drop_worse(a, (int)fit, e)) return false;
    }
}

/* The candidate with the least estimate; NULL: none shows a sign of convergence. */
static struct trial *most_promising(const struct solver_advice *a)
{
    struct trial *best = NULL;
    for (int i = 0; i < a->n; i++) {
        struct trial *t = &a->at[i];
        bool open = t->solver ? t->state == TRIAL_OPEN : t->state == TRIAL_PLANNED && !t->drops;
        if (open && isfinite(t->guess_us) && (!best || trial_cost_us(a, t) < trial_cost_us(a, best))) best = t;
    }
    return best;
}

/* If the limit came before any candidate converged, estimates from a few iterations decide. Check them for as long
   again: the best estimate gets the time that it claims to need, until one candidate converges. */
static bool pursue(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    struct trial *t;
    if (isfinite(least_converged(a))) return true;
    v->until_us = clock_of(v) + v->q->limit_us;
    while (!a->stopped && time_left(v) > 0 && isinf(least_converged(a)) && (t = most_promising(a))) {
        if (!t->solver && t->guess_us > time_left(v)) return true; /* the library could not be stopped */
        double done = t->solver ? t->work_setup_us + t->work_each_us * (double)t->iterations : 0;
        double cap_us = fmax(1.5 * trial_cost_us(a, t), 2 * fmax(t->spent_us, done));
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
        bool near = !t->solver && t->state == TRIAL_PLANNED && trial_cost_us(a, t) <= NEAR * least_converged(a);
        if (near && isfinite(least_converged(a)) && !a->stopped && t->guess_us <= time_left(v))
            return measure_direct(v, t, e);
    }
    return true;
}

/* Could the choice between equally fast methods fall on this candidate, if it converges as its trial lets guess? */
static bool may_be_chosen(const struct solver_advice *a, const struct trial *t, const struct trial *best)
{
    static const double NEAR = 3, MARGIN = 1.2;
    return t->solver && t->state == TRIAL_OPEN && trial_cost_us(a, t) <= NEAR * least_converged(a) &&
           trial_work_us(t) <= MARGIN * trial_work_us(best);
}

/* The one with the least work: the time may not suffice for all. -1: none is left. */
static int next_to_settle(const struct solver_advice *a, const bool *settled)
{
    int next = -1;
    const struct trial *best = solver_best(a);
    for (int i = 0; i < a->n; i++)
        if (!settled[i] && may_be_chosen(a, &a->at[i], best) &&
            (next < 0 || trial_work_us(&a->at[i]) < trial_work_us(&a->at[next])))
            next = i;
    return next;
}

/* The time that the passes gave to a candidate may have been just too short for it to converge. Whether it was must not
   depend on noise, so the candidates that may be chosen get time to converge. */
static bool settle(struct advising *v, struct err *e)
{
    static const double TIMES = 3, TIMES_CPU = 1.2; /* on cpu, nothing with more work is chosen */
    struct solver_advice *a = v->a;
    double times = a->dev->kind == DEV_CPU ? TIMES_CPU : TIMES;
    bool *settled = mem_zero(a->n, sizeof *settled, "the candidates", e), ok = settled;
    for (int i; ok && isfinite(least_converged(a)) && !a->stopped && time_left(v) > 0 &&
                (i = next_to_settle(a, settled)) >= 0;) {
        settled[i] = true;
        ok = try_solver(v, &a->at[i], times * least_converged(a), e);
    }
    mem_free(settled);
    return ok;
}

/* Is the time of a converged candidate worth a second look: is it near the least, or longer than its work explains? */
static bool is_contender(const struct solver_advice *a, const struct trial *t)
{
    static const double NEAR = 3, SHORT_US = 5e4;
    if (t->state != TRIAL_CONVERGED || t->guess_us > SHORT_US) return false;
    return t->guess_us <= NEAR * solver_best(a)->guess_us || trial_work_us(t) <= trial_work_us(solver_best(a));
}

/* On a busy machine, a single time may be several times too long. Repeat the short trials of contenders, and keep the
   least times. */
static bool confirm(struct advising *v, struct err *e)
{
    enum { REPEATS = 2 };
    struct solver_advice *a = v->a;
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int i = 0; i < a->n; i++) {
            struct trial again = a->at[i];
            if (!is_contender(a, &again) || a->stopped || time_left(v) <= 0) continue;
            double us = again.guess_us;
            if (!(again.solver ? try_solver(v, &again, PASS_GROWTH * fmax(us, trial_work_us(&again)), e)
                               : try_direct(v, &again, false, v->until_us, e)))
                return false;
            if (again.state != TRIAL_CONVERGED) continue;
            if (again.guess_us < us) a->at[i] = again; /* its parts add up */
            a->at[i].slowest_us = again.slowest_us;
            a->at[i].us = measured_span(&a->at[i]);
        }
    return true;
}

/* ---- words ---- */

/* What the card found. */
static void describe(struct solver_advice *a)
{
    const struct card *c = &a->card;
    const struct facts *f = c->facts;
    bool square = c->A->rows == c->A->cols;
    text_append(a->kind, sizeof a->kind, "%s%s", c->A->imag ? "complex, " : "",
                square                    ? card_symmetry_text(c)
                : c->A->rows > c->A->cols ? "more rows than columns"
                                          : "more columns than rows");
    if (f->strict) text_append(a->kind, sizeof a->kind, ", dominant diagonal");
    if (square && !c->A->imag && facts_saddle(c->facts, c->A))
        text_append(a->kind, sizeof a->kind, ", saddle point with %s %s",
                    how_many(f->saddle.second, f->saddle.by_sign ? "row" : "zero").text,
                    f->saddle.by_sign ? "whose diagonal has the other sign" : "on the diagonal");
    else if (f->no_diagonal)
        text_append(a->kind, sizeof a->kind, ", %s missing or 0", how_many(f->no_diagonal, "diagonal entry").text);
    if (c->has_dm && c->dm.rank < c->A->rows)
        text_append(a->kind, sizeof a->kind, ", structural rank %s", card_count(c->dm.rank).text);
    if (f->systems > 1) text_append(a->kind, sizeof a->kind, ", %s independent systems", card_count(f->systems).text);
    if (f->row_ratio > 1e4) text_append(a->kind, sizeof a->kind, ", ratio of row maxima %.2g", f->row_ratio);
}

/* ---- */

/* ---- systems that need no method ---- */

/* Did a method converge without an iteration? Then all do, and none can be compared. */
static bool is_trivial(const struct solver_advice *a)
{
    for (int i = 0; i < a->n; i++)
        if (a->at[i].solver && a->at[i].state == TRIAL_CONVERGED && !a->at[i].iterations) return true;
    return false;
}

/* Try one candidate after another for a short time, until one shows that nothing is to be done. */
static bool try_trivial(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    for (int i = 0; i < a->n && !is_trivial(a) && !a->stopped && time_left(v) > 0; i++)
        if (a->at[i].solver && a->at[i].state == TRIAL_NONE && !try_solver(v, &a->at[i], FIRST_US, e)) return false;
    return true;
}

/* After the limit, a method that converged is compared with its like for a few times as long as it took. */
static void extend(struct advising *v)
{
    static const double TIMES = 8, SHARE = 0.25;
    double least = solver_best(v->a) ? solver_best(v->a)->guess_us : INFINITY;
    if (isfinite(least_converged(v->a)))
        v->until_us = fmax(v->until_us, clock_of(v) + fmin(TIMES * least, SHARE * v->q->limit_us));
}

static bool run_trials(struct advising *v, struct err *e)
{
    const struct csr *A = &v->q->matrix->csr;
    v->a->zero = norm2(solve_numbers_of_b(A), v->q->options.b) == 0;
    if (v->a->zero) return try_trivial(v, e);
    if (!run_passes(v, e)) return false;
    if (is_trivial(v->a)) return true;
    if (!pursue(v, e)) return false;
    extend(v);
    return settle(v, e) && measure_planned(v, e) && confirm(v, e);
}

/* ---- */

/* If other programs use a share of the processors, times vary more. */
static void widen(struct solver_advice *a, const struct busy *from)
{
    static const double BELOW = 1, ABOVE = 4; /* for a share of 1 */
    struct busy now = busy_now("");
    double share = busy_others(from, &now) / (double)sysconf(_SC_NPROCESSORS_ONLN);
    for (int i = 0; i < a->n && share > 0; i++) {
        struct trial *t = &a->at[i];
        double most_us = t->state == TRIAL_CONVERGED ? TIME_ABOVE * t->guess_us : t->us.high;
        t->us.low /= 1 + BELOW * share;
        t->us.high = fmax(t->us.high, (1 + ABOVE * share) * most_us);
    }
}

static void (*hook)(struct solver_advice *a);

void solver_advice_hook(void (*change)(struct solver_advice *a))
{
    hook = change;
}

static bool advise(struct advising *v, struct err *e)
{
    struct solver_advice *a = v->a;
    const struct solver_question *q = v->q;
    bool ok = card_for_solvers(&a->card, &q->matrix->csr, &q->matrix->facts, CARD_US, &v->s->watch, e);
    a->stopped = ok && a->card.stopped;
    if (!ok || !list(q, a, e)) return false;
    bool cpu = q->options.dev->kind == DEV_CPU;
    v->until_us = clock_of(v) + q->limit_us;
    v->latest_us = cpu ? steady_us() + (q->wait_us > 0 ? q->wait_us : WAIT * q->limit_us) : INFINITY;
    struct busy from = busy_now("");
    bool before = now_counts_work(cpu);
    ok = a->stopped || run_trials(v, e);
    now_counts_work(before);
    a->delayed = steady_us() > v->latest_us;
    if (!ok) return false;
    widen(a, &from);
    a->trivial = is_trivial(a);
    describe(a);
    if (hook) hook(a);
    solver_choose(a);
    solver_explain(a);
    return true;
}

bool solver_advise(struct solver_advice *out, struct session *s, const struct solver_question *q, struct err *e)
{
    double start = steady_us(), worked = trial_clock_us(q->options.dev);
    *out = (struct solver_advice){.taken = -1, .dev = q->options.dev};
    struct advising v = {.s = s, .q = q, .a = out};
    bool ok = advise(&v, e);
    out->us = steady_us() - start;
    out->worked_us = trial_clock_us(q->options.dev) - worked;
    return ok;
}

void solver_advice_free(struct solver_advice *a)
{
    card_free(&a->card);
    mem_free(a->at);
    *a = (struct solver_advice){.taken = -1};
}
