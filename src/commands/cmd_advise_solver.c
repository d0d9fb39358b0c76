/* advise solver: tries the solvers that suit a matrix, and shows what each reached, which one to take, and why. */
#include "cmd_advise_solver.h"
#include "advice/peer_options.h"
#include "advice/solver_advice.h"
#include "base/busy.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "direct/direct.h"
#include "language/args.h"
#include "language/solve_request.h"
#include "machine/device.h"
#include "matrix/matching.h"
#include "matrix/reorder.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/equilibrated.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/pattern.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_line.h"
#include "solvers/precond.h"
#include "solvers/solver.h"
#include "solvers/suits.h"

#include <math.h>
#include <string.h>

/* ---- the question ---- */

/* The emulator models no time, so candidates are tried on the host in its place. */
static struct device *device_of_trials(struct device *d, struct err *e)
{
    return d && d->kind == DEV_EMU ? device_open("cpu", e) : d;
}

/* If the diagonal has zeros, and ilu0 cannot run, move the largest entries to the diagonal, so that it can. A matrix
   without such an order is singular, and stays as it is. */
static bool match(struct session *s, struct matrix *m, struct solve_options *o, struct err *e)
{
    struct err why = {0};
    struct solve_options with = *o;
    int64_t zeros = csr_zero_diagonal(&m->csr);
    if (!zeros || facts_symmetric(&m->facts, &m->csr) || suits_ilu0(&m->facts, &m->csr)) return true;
    with.scaled = true;
    with.reorder = &ordering_matching;
    bool found = session_iterated(s, m, &with, &why);
    if (!found && !err_is_refusal(&why)) return fail_at(e, why.code, why.where, "%s", why.text);
    out_note(s->out, "%s of %s %s missing or 0%s%s", how_many(zeros, "diagonal entry").text, m->name,
             zeros == 1 ? "is" : "are", found ? ", so the largest entries are moved there and scaled:" : "; ",
             found ? solve_form_of(&with).text : why.text);
    if (found) o->scaled = with.scaled, o->reorder = with.reorder;
    return true;
}

bool solver_scales(struct session *s, struct matrix *m, struct solve_options *o, struct err *e)
{
    bool wants = false;
    double ratio;
    if (o->scaled || o->reorder || m->csr.rows != m->csr.cols || csr_is_large(&m->csr)) return true;
    if (!match(s, m, o, e)) return false;
    if (o->reorder) return true;
    if (!session_wants_scaling(m, &wants, &ratio, e)) return false;
    if (wants)
        out_note(s->out, "scaled: the largest |a| of rows or columns of %s differ by a factor of %.1e", m->name, ratio);
    o->scaled = wants;
    return true;
}

/* Ask about the scaled or reordered system, as `solve scaled` solves it. */
static bool scale(struct session *s, struct solver_question *q, double *x0, struct err *e)
{
    struct matrix *m = q->matrix;
    q->matrix = session_iterated(s, m, &q->options, e);
    if (q->matrix && q->options.scaling.of) scaling_map_x(&q->options.scaling, m->csr.imag != NULL, true, x0);
    return q->matrix;
}

/* b and x0 are those of A x = b, also if the trials scale. */
static bool ask(struct session *s, struct solver_question *q, const struct args *a, const struct sides_request *r,
                struct solver_advice *out, struct err *e)
{
    double *x0 = guess_of(q->matrix, a, r->column, e);
    if (!x0) return false;
    right_sides_note(s->out, &r->all);
    solve_take_right(&q->options, &r->all, q->matrix, r->column);
    q->options.x0 = x0;
    q->options.dev = device_of_trials(q->options.dev, e);
    bool ok = q->options.dev && scale(s, q, x0, e) && solver_advise(out, s, q, e);
    mem_free(x0);
    return ok;
}

/* ---- output ---- */

static const char *state_name(const struct trial *t)
{
    static const char *const names[] = {
        [TRIAL_NONE] = "not-tried",  [TRIAL_CONVERGED] = "converged", [TRIAL_OPEN] = "running",
        [TRIAL_PLANNED] = "planned", [TRIAL_ENDED] = "ended",         [TRIAL_REFUSED] = "refused"};
    return t->least_squares ? "least-squares" : t->accurate ? "rounding" : names[t->state];
}

static double or_nan(double x)
{
    return isfinite(x) ? x : NAN;
}

/* Why a candidate has no interval of time: what its trial met. */
static const char *obstacle(const struct solver_advice *a, const struct trial *t, char *out, size_t size)
{
    char time[32];
    if (!isnan(t->setup_ended_us)) {
        snprintf(out, size, "its set-up takes more than %s", show_us(t->setup_ended_us, time, sizeof time));
        return out;
    }
    if (!t->solver && t->spent_us > 0) {
        snprintf(out, size, "%s more than %s", isnan(t->planned_nnz) ? "its analysis takes" : "takes",
                 show_us(t->spent_us, time, sizeof time));
        return out;
    }
    if (t->state == TRIAL_NONE || !t->iterations)
        return a->late || t->state == TRIAL_OPEN ? "no time left to try it" : "not needed";
    if (trial_is_unjudged(t)) return "too few iterations to judge";
    if (isfinite(t->guess_iterations) && !trial_is_hopeful(t)) return "too slow for maxit";
    return trial_is_hopeful(t) ? "its residual does not fall steadily" : "no sign of convergence";
}

/* "1.4 times as long" as the taken method, which converged. */
static const char *relative_time(const struct trial *t, const struct trial *best, char *out, size_t size)
{
    double times = t->guess_us / best->guess_us;
    if (t->state != TRIAL_CONVERGED)
        snprintf(out, size, "%.2g to %.2g times as long", t->us.low / best->guess_us, t->us.high / best->guess_us);
    else if (times > 0.95 && times < 1.05)
        snprintf(out, size, "as long");
    else
        snprintf(out, size, times < 9.95 ? "%.2g times as long" : "%.0f times as long", times);
    return out;
}

/* Why the candidate is not taken, in a few words. */
static const char *verdict(const struct solver_advice *a, int i, char *out, size_t size)
{
    const struct trial *t = &a->at[i], *best = &a->at[0];
    if (i == a->taken) return "taken";
    if (t->accurate) return t->least_squares ? "least squares" : "residual above tol";
    if (t->state == TRIAL_ENDED) return "did not converge";
    if (a->trivial && t->state == TRIAL_CONVERGED) return "nothing to do";
    if (!trial_is_known(t)) return obstacle(a, t, out, size);
    return best->state == TRIAL_CONVERGED ? relative_time(t, best, out, size) : "";
}

static void out_trial(struct out *o, const struct solver_advice *a, const struct matrix *m,
                      const struct solve_options *as, int i)
{
    const struct trial *t = &a->at[i];
    char text[80];
    out_row(o);
    out_int(o, "rank", NULL, i + 1);
    out_str(o, "matrix", NULL, m->name);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, NULL, "method", trial_name(t).text);
    out_str(o, "solver", NULL, t->solver ? t->solver->name : "direct");
    out_str(o, "precond", NULL, t->pre ? t->pre->name : NULL);
    out_int_if(o, "block", NULL, t->pre_block > 0, t->pre_block);
    out_str(o, "method", NULL, t->method);
    out_str(o, "device", NULL, t->solver ? a->dev->name : "cpu");
    out_str(o, "state", NULL, state_name(t));
    out_int_if(o, "m", NULL, t->m > 0, t->m);
    out_rank(o, COLUMN_NORMAL);
    out_int_if(o, "iterations", "iterations", t->solver && t->spent_us > 0, t->iterations);
    out_num(o, "residual", "residual", t->residual, "%.1e");
    out_num(o, "residual_true", NULL, t->residual_true, NULL);
    out_num(o, "rate", NULL, t->rate, NULL);
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "expected_iterations_low", NULL, t->needs.low, "%.0f");
    out_num(o, "expected_iterations_high", NULL, or_nan(t->needs.high), "%.0f");
    out_str(o, NULL, "needs", needs_text(t).text);
    out_num(o, "setup_us", NULL, t->setup_us, NULL);
    out_num(o, "us_per_iteration", "us each", t->each_us, "%.1f");
    out_num(o, "trial_us", NULL, t->spent_us, NULL);
    out_num(o, "planned_nnz", NULL, t->planned_nnz, "%.0f");
    out_num(o, "planned_flops", NULL, t->planned_flops, NULL);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "expected_us_low", NULL, t->us.low, NULL);
    out_num(o, "expected_us_high", NULL, or_nan(t->us.high), NULL);
    out_str(o, NULL, "time", time_text(t).text);
    out_bool(o, "taken", NULL, i == a->taken);
    out_str(o, NULL, "", verdict(a, i, text, sizeof text));
    out_str(o, "reason", NULL, i == a->taken ? a->because : *t->why ? t->why : NULL);
    out_str(o, "line", NULL, i == a->taken ? trial_words(t, m->name, as).text : NULL);
}

/* Print why candidates ended or were refused: one line for all that have the same reason. */
static void say_reasons(struct out *o, const struct solver_advice *a)
{
    for (int i = 0; i < a->n; i++) {
        const struct trial *t = &a->at[i];
        char names[1600] = "";
        int alike = 0, iterative = 0;
        bool first = (t->state == TRIAL_ENDED && !t->accurate) || t->state == TRIAL_REFUSED;
        for (int k = 0; k < i; k++) first = first && strcmp(a->at[k].why, t->why);
        for (int k = i; k < a->n && first; k++) {
            size_t n = strlen(names);
            if (strcmp(a->at[k].why, t->why) != 0) continue;
            snprintf(names + n, sizeof names - n, "%s%s", n ? "; " : "", trial_name(&a->at[k]).text);
            alike += a->at[k].solver != NULL;
        }
        for (int k = 0; k < a->n; k++) iterative += a->at[k].solver != NULL;
        if (first) out_text(o, "%s: %s", alike > 1 && alike == iterative ? "all iterative methods" : names, t->why);
    }
}

static void say_taken(struct out *o, const struct solver_advice *a, const struct matrix *m,
                      const struct solve_options *as)
{
    if (a->taken < 0)
        out_text(o, "None is taken: %s.", a->because);
    else
        out_text(o, "Take `solve %s`: %s.", trial_words(&a->at[a->taken], m->name, as).text, a->because);
}

/* How long the trials took, and why they ended if they were not complete. */
static void say_time(struct out *o, const struct solver_advice *a)
{
    char time[32], worked[48];
    bool cpu = a->dev->kind == DEV_CPU;
    snprintf(worked, sizeof worked, ", %s of it processor time", show_us(a->worked_us, time, sizeof time));
    out_text(o, "Tried on %s for %s%s%s.", a->dev->name, show_us(a->us, time, sizeof time), cpu ? worked : "",
             a->delayed ? "; other programs use the machine, so time was over early: `within 20` leaves more"
             : !a->late ? ""
             : cpu      ? "; `within 20` tries for up to 20 s of processor time"
                        : "; `within 20` tries for up to 20 s");
}

static void say(struct session *s, const struct solver_advice *a, const struct matrix *m,
                const struct solve_options *as, const struct args *args)
{
    struct out *o = s->out;
    int64_t top = arg_int(args, "top", 0);
    struct device *asked = session_device(s, arg(args, "on"), NULL);
    out_text(o, "%s: %s x %s, %s; %s", m->name, card_count(m->csr.rows).text, card_count(m->csr.cols).text,
             how_many(m->csr.nnz, "nonzero").text, a->kind);
    say_taken(o, a, m, as);
    for (int i = 0; i < a->n && (!top || i < top); i++)
        if (out_mode(o) != OUT_TEXT || a->at[i].state != TRIAL_REFUSED) out_trial(o, a, m, as, i);
    if (!top) say_reasons(o, a);
    say_time(o, a);
    if (asked && asked != a->dev)
        out_text(o, "%s does not model time, so the trials ran on %s.", asked->name, a->dev->name);
}

/* ---- options for other libraries ---- */

static struct peer_request request_of(const struct solver_question *q, const struct trial *t)
{
    const struct direct_method *direct = t->solver || !t->method ? NULL : direct_find(t->method);
    return (struct peer_request){.solver = t->solver ? &t->solver->peers
                                           : direct  ? &direct->peers
                                                     : NULL,
                                 .pre = t->pre ? &t->pre->peers : NULL,
                                 .takes_precond = t->solver && !t->solver->no_precond,
                                 .krylov = t->solver != NULL,
                                 .tol = q->options.tol,
                                 .maxit = q->options.maxit,
                                 .m = t->m};
}

/* The best candidate that solves the system and that the library has. */
static const struct trial *expressible(const struct solver_question *q, const struct solver_advice *a,
                                       const struct peer *p)
{
    for (int i = 0; i < a->n; i++) {
        struct peer_request r = request_of(q, &a->at[i]);
        if ((trial_is_hopeful(&a->at[i]) || i == a->taken) && r.solver && p->has(&r)) return &a->at[i];
    }
    return NULL;
}

static bool out_options(struct session *s, const struct solver_question *q, const struct solver_advice *a,
                        const struct peer *p, struct err *e)
{
    struct out *o = s->out;
    char text[2000] = "";
    const struct trial *t = expressible(q, a, p);
    if (!t) return fail(e, E_UNSUPPORTED, "%s has none of the methods that solve this system: %s", p->name, a->because);
    struct peer_request r = request_of(q, t);
    p->write(&r, text, sizeof text);
    if (q->options.scaling.of && t->solver)
        out_note(o, "these options are for the system as `solve%s` changes it", solve_form_of(&q->options).text);
    if (t != &a->at[0])
        out_note(o, "%s has no %s; these are the options of %s, the best method that it has", p->name,
                 trial_name(&a->at[0]).text, trial_name(t).text);
    if (out_mode(o) == OUT_TEXT) {
        out_verbatim(o, text);
        return true;
    }
    out_row(o);
    out_str(o, "matrix", NULL, q->matrix->name);
    out_str(o, "solver", NULL, t->solver ? t->solver->name : "direct");
    out_str(o, "precond", NULL, t->pre ? t->pre->name : NULL);
    out_str(o, "library", NULL, p->name);
    out_str(o, "options", NULL, text);
    return true;
}

/* ---- commands ---- */

bool run_advise_solver(struct session *s, const struct args *a, struct err *e)
{
    struct solver_advice advice = {.taken = -1};
    struct sides_request right = {0};
    double seconds = arg_real(a, "within", solver_advice_limit_us / 1e6);
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    struct solver_question q = {
        .matrix = m,
        .direct = arg_precision(a) == P_F64 && !arg(a, "precond") && !arg(a, "x0"), /* as in `solve` */
        .limit_us = 1e6 * seconds,
        .pre_is_given = arg(a, "precond") != NULL,
    };
    if (!m || !solve_options_of(s, m, a, &q.options, e)) return false;
    q.options.solver = NULL; /* here, `solver` is a word of the line */
    note_pattern(s, m);
    if (!(seconds > 0))
        return fail(e, E_USAGE, "`within %g` leaves no time: give a number of seconds above 0", seconds);
    struct busy from = busy_now("");
    bool ok =
        solver_scales(s, m, &q.options, e) && sides_request_of(m, a, &right, e) && ask(s, &q, a, &right, &advice, e);
    right_sides_free(&right.all);
    solve_options_free(&q.options);
    if (ok && arg(a, "options"))
        ok = out_options(s, &q, &advice, peer_find(arg(a, "options")), e);
    else if (ok) {
        say(s, &advice, m, &q.options, a);
        if (advice.dev->kind == DEV_CPU)
            out_busy(s->out, &from, "The times above are processor time; a solve takes longer by the clock.");
    }
    if (ok && advice.stopped) ok = fail(e, E_CANCELLED, "cancelled; the trials above are complete");
    solver_advice_free(&advice);
    return ok;
}

/* Is there a method that may still converge? */
static bool some_go_on(const struct solver_advice *a)
{
    for (int i = 0; i < a->n; i++)
        if (trial_may_go_on(&a->at[i])) return true;
    return false;
}

bool solver_for_line(const struct solve_line *l, bool direct, double left_us, struct solver_advice *out, struct err *e)
{
    static const double SHARE = 0.25, WAIT = 0.75; /* of the time of the line, for the trials, and at most */
    static const double MIN_US = 1;                /* of trials, if the time of the line is over */
    const char *within = arg(l->a, "within");
    struct solver_question q = {.matrix = l->m,
                                .options = l->o,
                                .pre_is_given = arg(l->a, "precond") != NULL,
                                .direct = direct && l->o.real == P_F64,
                                .limit_us = fmin(solver_advice_limit_us, fmax(MIN_US, SHARE * left_us)),
                                .wait_us = isfinite(left_us) ? fmax(MIN_US, WAIT * left_us) : 0};
    *out = (struct solver_advice){.taken = -1};
    if (within && !(arg_real(l->a, "within", 0) > 0))
        return fail(e, E_USAGE, "`within %s` leaves no time: give a number of seconds above 0", within);
    if (!ask(l->s, &q, l->a, &l->right, out, e)) return false;
    if (out->stopped) return fail(e, E_CANCELLED, "cancelled before a solver was chosen");
    if (some_go_on(out)) return true;
    return fail(e, E_NUMERIC, "%s; `advise solver` shows what each method reached", out->because);
}

/* ---- the keys of the rows ---- */

static const struct field advise_trial_fields[] = {
    {"rank", F_COUNT, "from 1, the best is the first", .min = 1},
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "the solver, or direct"},
    {"precond", F_TEXT | OR_NULL, "the preconditioner; null: none"},
    {"block", F_COUNT | OR_NULL, "its rows per node; null: the default, or it has none", .min = 1},
    {"method", F_TEXT | OR_NULL, "the method of the direct solver; null: an iterative solver, or not known"},
    {"device", F_TEXT, "where the candidate was tried"},
    {"state", F_TEXT,
     "converged: met tol in its trial, by the true residual; running: its time was over; planned: only the analysis of "
     "a direct solver was done; ended: broke down, diverged, stagnated; refused: it does not take this system; "
     "least-squares: a direct solver found the x with the smallest residual; rounding: a direct solver found an x as "
     "good as fp64 allows, but its residual exceeds tol",
     .words = "not-tried, converged, running, planned, ended, refused, least-squares, rounding"},
    {"m", F_COUNT | OR_NULL, "iterations per cycle; null: the solver does not restart, or was not tried"},
    {"iterations", F_COUNT | OR_NULL, "iterations of the longest trial; null: direct, or not tried"},
    {"residual", F_AMOUNT | OR_NULL, "relative residual at the end of the trial; null: not tried"},
    {"residual_true", F_AMOUNT | OR_NULL,
     "true residual, relative to b, in double; null: the candidate was still running, or not tried"},
    {"rate", F_AMOUNT | OR_NULL,
     "factor by which the residual fell per iteration in the second half of the trial; null: no iterations"},
    {"expected_iterations_low", F_AMOUNT | OR_NULL,
     "iterations until tol is met, at the least; null: direct, ended, or not tried"},
    {"expected_iterations_high", F_AMOUNT | OR_NULL,
     "iterations until tol is met, at the most; null: not yet known, or as expected_iterations_low"},
    {"setup_us", F_AMOUNT | OR_NULL, "set-up, with the preconditioner, in us; null: direct, or not tried"},
    {"us_per_iteration", F_AMOUNT | OR_NULL,
     "time of an iteration in the trial, in us; null: direct, or no iterations"},
    {"trial_us", F_AMOUNT, "time of the longest trial, in us; 0: not tried"},
    {"planned_nnz", F_AMOUNT | OR_NULL,
     "nonzeros of the factors of the direct solver, as predicted; null: iterative, or no estimate"},
    {"planned_flops", F_AMOUNT | OR_NULL,
     "operations of the factorisation, as predicted; null: iterative, or no estimate"},
    {"expected_us_low", F_AMOUNT | OR_NULL, "time of the whole solve in us, at the least; null: ended, or not tried"},
    {"expected_us_high", F_AMOUNT | OR_NULL,
     "time of the whole solve in us, at the most; null: not yet known, or as expected_us_low"},
    {"taken", F_BOOLEAN, "whether `solve` without a solver takes this candidate"},
    {"reason", F_TEXT | OR_NULL, "why it is taken, or why it ended or was refused; null: neither"},
    {"line", F_TEXT | OR_NULL, "the words after `solve` that select it; null: it is not taken"},
    {0},
};
const struct row_kind row_advise_trial = {"trial", "a candidate of advise solver", advise_trial_fields};

static const struct field advise_options_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "the solver, or direct"},
    {"precond", F_TEXT | OR_NULL, "the preconditioner; null: none"},
    {"library", F_TEXT, "the library that reads the options", .entries = &peer_registry},
    {"options", F_TEXT, "text for that library, in lines"},
    {0},
};
const struct row_kind row_advise_options = {"options", "the solver that is taken as options of another library",
                                            advise_options_fields};
