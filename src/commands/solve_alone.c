/* `solve` without a method. The methods take turns: a method whose forecast is known runs for up to three times that
   forecast, any other for a budget that doubles with each turn. A solve that gives way is kept, and goes on where it
   was when its turn comes again. */
#include "solve_alone.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/text.h"
#include "cmd_direct.h"
#include "report/output.h"
#include "session/front.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "session/time_limit.h"
#include "solve_line.h"
#include "solve_run.h"
#include "solve_watch.h"
#include "solvers/forecast.h"
#include "solvers/solve.h"
#include "symmetry_needed.h"

#include <math.h>
#include <stdio.h>

/* CONTENDERS: methods that take turns; another one joins when one of them has ended. TRIES: methods in all. */
enum { CONTENDERS = 3, TRIES = 8 };
static const double MIN_BUDGET_US = 5e5;
enum { BUDGET_GROWTH = 2 };

/* ---- the methods ---- */

struct contender {
    const struct trial *trial;
    struct solve *solve; /* begun, and waiting for its turn; NULL: not begun, or its turn is now */
    struct span needs, us;
    double spent_us, budget_us;
    double due_us; /* a direct solver that takes long: the iterative methods run for this time before it */
    bool ended;
};

struct alone {
    struct session *s;
    struct solve_line *line;
    struct contender at[TRIES];
    int n;
    int64_t block; /* of the preconditioner, as the line says */
    double until_us;
    struct solve *best; /* of the solves that ended without reaching tol, the one with the least true residual */
    char reasons[600];  /* why those ended */
    enum turn turn;
    bool over;  /* the time is over */
    bool begun; /* an iterative method has begun; otherwise, s->solve is an earlier solve */
};

/* A library cannot be stopped, and an iterative method may be much faster than a direct one that takes long. */
static double due_of(const struct trial *t, const struct solver_advice *advice)
{
    if (t->solver || t->state != TRIAL_PLANNED) return 0;
    double us = trial_is_known(t) ? t->guess_us : fmax(advice->worked_us, t->spent_us);
    return us < MIN_BUDGET_US ? 0 : us;
}

static void list(struct alone *v, const struct solver_advice *advice)
{
    for (int i = 0; i < advice->n && v->n < TRIES; i++) {
        const struct trial *t = &advice->at[i];
        struct contender c = {.trial = t, .budget_us = MIN_BUDGET_US, .due_us = due_of(t, advice)};
        c.needs = c.us = (struct span){0, INFINITY};
        if (trial_is_known(t)) c.needs = t->needs, c.us = t->us;
        if (trial_may_go_on(t)) v->at[v->n++] = c;
    }
}

static int contenders(const struct alone *v)
{
    int n = 0;
    for (int i = 0; i < v->n; i++) n += !v->at[i].ended;
    return n;
}

static double iterated_us(const struct alone *v)
{
    double us = 0;
    for (int i = 0; i < v->n; i++) us += v->at[i].spent_us;
    return us;
}

/* May c run now? */
static bool is_due(const struct alone *v, const struct contender *c)
{
    return !c->ended && (c->due_us <= iterated_us(v) || contenders(v) == 1);
}

/* The contender after number i: of the first CONTENDERS of those that may run, in turn. -1: all have ended. */
static int next_of(const struct alone *v, int i)
{
    int first = -1, count = 0;
    for (int k = 0; k < v->n && count < CONTENDERS; k++) {
        if (!is_due(v, &v->at[k])) continue;
        count++;
        if (first < 0) first = k;
        if (k > i) return k;
    }
    return first;
}

/* ---- notes ---- */

/* "gmres, ilu0 reached a residual of 3.1e-04 in 1,200 iterations" */
static const char *progress(const struct solve *v, const struct trial *t, char *out, size_t size)
{
    snprintf(out, size, "%s reached a residual of %.1e in %s", trial_name(t).text, v->residual,
             how_many(v->iterations, "iteration").text);
    return out;
}

static void note_change(struct alone *v, const struct contender *c, int next)
{
    char text[240];
    const char *why = !isfinite(c->us.high) ? "and it is not yet known when it ends"
                      : (double)v->s->solve->iterations > SOLVE_MISS * c->needs.high
                          ? "more than three times its forecast"
                          : "and took more than three times the time of its forecast";
    out_note(v->s->out, "%s, %s: changing to %s", progress(v->s->solve, c->trial, text, sizeof text), why,
             trial_name(v->at[next].trial).text);
}

/* The direct solver that was taken does not run first. */
static void note_due(struct alone *v)
{
    const struct contender *c = &v->at[0];
    char time[32];
    if (!v->n || is_due(v, c)) return;
    out_note(v->s->out, "iterative methods run before %s, for up to %s", trial_name(c->trial).text,
             show_us(c->due_us, time, sizeof time));
}

static void add_reason(struct alone *v, const struct trial *t, const char *why)
{
    text_append(v->reasons, sizeof v->reasons, "%s%s: %s", *v->reasons ? "; " : "", trial_name(t).text, why);
}

static void note_none(struct alone *v)
{
    out_note(v->s->out, "no method reached tol: %s", v->reasons);
}

/* ---- turns ---- */

/* Let the method of c run, or go on. */
static bool take_over(struct alone *v, struct contender *c, struct err *e)
{
    struct solve *before = session_swap_solve(v->s, c->solve);
    if (!v->begun) solve_free(before);
    v->begun = true;
    c->solve = NULL;
    if (v->s->solve) return true;
    v->line->o.solver = c->trial->solver;
    v->line->o.pre = c->trial->pre;
    v->line->o.pre_block = c->trial->pre_block ? c->trial->pre_block : v->block;
    return solve_warn(v->s, v->line->m, c->trial->solver, c->trial->pre, e) &&
           solve_line_begin(v->line, v->line->right.column, e) && solve_line_show(v->line, e);
}

/* An error of a method, such as a lack of memory, ends that method only. */
static bool failed(struct alone *v, struct contender *c, const struct err *why, struct err *e)
{
    c->ended = true;
    bool fatal = why->code == E_CANCELLED || why->code == E_DEVICE || why->code == E_INTERNAL || !contenders(v);
    if (fatal && !v->best) return fail_at(e, why->code, why->where, "%s", why->text);
    add_reason(v, c->trial, why->text);
    return true;
}

/* Keep the solve that has just ended if it came closer than those before it. */
static void keep_best(struct alone *v)
{
    struct solve *ended = session_swap_solve(v->s, NULL);
    bool better = !v->best || !(v->best->result.residual_true <= ended->result.residual_true);
    solve_free(better ? v->best : ended);
    if (better) v->best = ended;
}

/* The solve ended by itself. *done: it converged. */
static bool end_turn(struct alone *v, struct contender *c, struct solve_watch *w, bool *done, struct err *e)
{
    struct solve *solve = v->s->solve;
    if (!solve_conclude(v->s, w, v->turn, e)) return false;
    c->ended = true;
    *done = solve->reason == CONVERGED;
    if (*done) return true;
    add_reason(v, c->trial, reason_name(solve->reason));
    int next = next_of(v, (int)(c - v->at));
    if (next >= 0)
        out_note(v->s->out, "%s: %s; changing to %s", trial_name(c->trial).text, solve->why,
                 trial_name(v->at[next].trial).text);
    keep_best(v);
    return true;
}

/* The solve gives way to the next one. */
static void pause_turn(struct alone *v, struct contender *c)
{
    note_change(v, c, next_of(v, (int)(c - v->at)));
    c->solve = session_swap_solve(v->s, NULL);
    c->us.high = c->needs.high = INFINITY;
    c->budget_us = BUDGET_GROWTH * fmax(c->budget_us, c->spent_us);
}

/* One turn of an iterative method. *done: the command is over, and s->solve is the result. */
static bool iterate(struct alone *v, struct contender *c, bool *done, struct err *e)
{
    struct err why = {0};
    double start = trial_clock_us(v->line->o.dev);
    if (!take_over(v, c, &why)) {
        session_drop_solve(v->s);
        return failed(v, c, &why, e);
    }
    struct solve_watch w = {.until_us = v->until_us,
                            .from_us = start,
                            .before_us = c->spent_us,
                            .needs = c->needs,
                            .us = c->us,
                            .budget_us = c->budget_us,
                            .changes = contenders(v) > 1};
    if (!solve_run(v->s, &w, &v->turn, e)) return false;
    c->spent_us += trial_clock_us(v->line->o.dev) - start;
    if (v->s->solve->reason != RUNNING) return end_turn(v, c, &w, done, e);
    *done = v->turn != TURN_ON || w.late || v->s->solve->paused;
    if (w.late) add_reason(v, c->trial, "the time was over");
    if (!*done) pause_turn(v, c);
    return true;
}

/* A library that takes too long is cancelled. */
static bool run_until(struct alone *v, struct err *e)
{
    struct time_limit l;
    time_limit_begin(&l, v->s, steady_us, v->until_us);
    bool ok = solve_direct(v->line, e);
    time_limit_end(&l, v->s);
    return ok;
}

/* The direct solver prints its own result. */
static bool factorise(struct alone *v, struct contender *c, bool *printed, struct err *e)
{
    struct err why = {0};
    if (c->trial->us.low > v->until_us - steady_us()) {
        c->ended = true;
        add_reason(v, c->trial, "takes longer than the time that is left");
        return true;
    }
    *printed = run_until(v, &why);
    if (!*printed && steady_us() > v->until_us && why.code == E_CANCELLED) {
        c->ended = true;
        add_reason(v, c->trial, "the time was over");
        v->over = true;
        return true;
    }
    return *printed || failed(v, c, &why, e);
}

/* Run until a method converged, the time is over, or the user stopped. *printed: by the direct solver. */
static bool take_turns(struct alone *v, bool *printed, struct err *e)
{
    bool done = false, ok = true;
    for (int i = next_of(v, -1); ok && !done && i >= 0; i = next_of(v, i)) {
        struct contender *c = &v->at[i];
        ok = c->trial->solver ? iterate(v, c, &done, e) : factorise(v, c, printed, e);
        done |= *printed || v->over;
    }
    return ok;
}

/* Of the current solve, which may be NULL, and those that wait or have ended, make the one that came closest the
   session's. */
static void take_closest(struct alone *v)
{
    struct solve **closest = NULL, *now = v->s->solve;
    for (int k = -1; k < v->n; k++) {
        struct solve **other = k < 0 ? &v->best : &v->at[k].solve;
        if (*other && (!now || (*other)->residual < now->residual)) closest = other, now = *other;
    }
    if (closest) *closest = session_swap_solve(v->s, now);
}

static bool report(struct alone *v, struct err *e)
{
    if (v->begun && v->turn == TURN_ON && !(v->s->solve && (v->s->solve->reason == CONVERGED || v->s->solve->paused)))
        take_closest(v);
    struct solve *solve = v->s->solve;
    if (!solve || !v->begun) return fail(e, E_NUMERIC, "no method reached tol: %s", v->reasons);
    bool running = solve->reason == RUNNING, left = running && (v->turn == TURN_LEAVE || v->turn == TURN_YIELD);
    if (v->turn == TURN_LEAVE && running) solve_note_paused(v->s);
    if (left || (running && solve->paused)) return true;
    if (!solve_report(v->s, !running || solve_conclude(v->s, NULL, v->turn, e))) return false;
    if (solve->reason != CONVERGED && *v->reasons) note_none(v);
    return solve_counts_as_done(v->s, v->turn, e) && solve_line_save(v->line, e);
}

bool solve_alone(struct solve_line *l, const struct solver_advice *advice, double until_us, struct err *e)
{
    bool printed = false;
    struct alone v = {.s = l->s, .line = l, .block = l->o.pre_block, .until_us = until_us, .turn = TURN_ON};
    list(&v, advice);
    note_due(&v);
    bool ok = take_turns(&v, &printed, e);
    ok = ok && (printed || report(&v, e));
    for (int k = 0; k < v.n; k++) solve_free(v.at[k].solve);
    solve_free(v.best);
    return ok;
}
