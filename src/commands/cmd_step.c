/* The commands that go on with a paused solve: step, continue and stop. The last two are also for a paused race. */
#include "base/err.h"
#include "base/watch.h"
#include "cmd_race.h"
#include "language/args.h"
#include "language/requests.h"
#include "report/fields.h"
#include "report/output_solve.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "solve_run.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

static bool run_step(struct session *s, const struct args *a, struct err *e)
{
    struct solve *v = solve_waiting(s, e);
    int64_t n = arg_int(a, "n", 1);
    if (!v) return false;
    if (n < 1) return fail(e, E_USAGE, "cannot do %lld iterations: give 1 or more", (long long)n);
    for (int64_t i = 0; i < n && v->reason == RUNNING; i++) {
        double before = v->time.us;
        v->steps_left = 1;
        if (!solve_slice(v, 0, e)) {
            session_drop_solve(s);
            return false;
        }
        if (!v->cut.now) out_iteration(s->out, v, v->time.us - before);
        if (v->reason == RUNNING && !watch_tick(&s->watch, v->solver->name, i + 1, n, e)) return false;
    }
    return v->reason == RUNNING || solve_finish(s, e);
}

static bool run_continue(struct session *s, const struct args *a, struct err *e)
{
    if (race_waits(s)) return race_continue(s, e);
    struct solve *v = solve_waiting(s, e);
    if (!v) return false;
    solve_pause(v, false);
    v->steps_left = 0;
    return (!view_is_asked(s, a) || s->front->show(s, "solve", true, e)) && solve_drive(s, e);
}

static bool run_stop(struct session *s, const struct args *a, struct err *e)
{
    if (race_waits(s)) return race_stop(s, e);
    return solve_waiting(s, e) && solve_finish(s, e);
}

const struct command command_step = {
    .name = "step",
    .aliases = "s next",
    .grammar = "[N]",
    .about = "do iterations of a paused solve",
    .help = "Prints the residual and the time of each iteration and, for jacobi, wjacobi, gs and sor, max |x' - x|.\n  "
            "  solve cg "
            "step; step 5; continue",
    .rows = (const struct row_kind *const[]){&row_step_iteration, &row_solved, NULL},
    .run = run_step,
};

const struct command command_continue = {
    .name = "continue",
    .aliases = "c cont",
    .grammar = "[view]",
    .about = "resume a paused solve or race",
    .help = "If a solve and a race are both paused, resumes the one that was started, stepped or paused last.\n"
            "With view, a solve continues in the full screen.\n"
            "    solve cg step; step 5; continue",
    .rows = (const struct row_kind *const[]){&row_solved, &row_raced_solver, &row_raced_kernel, NULL},
    .run = run_continue,
};

const struct command command_stop = {
    .name = "stop",
    .grammar = "",
    .about = "end a paused solve and keep its x, or end a paused race",
    .help = "Prints the report that a finished solve or race prints.\n    solve jacobi step; step 10; stop",
    .rows = (const struct row_kind *const[]){&row_solved, &row_raced_solver, &row_raced_kernel, NULL},
    .run = run_stop,
};
