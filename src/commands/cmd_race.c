/* race: runs several solvers or several kernels on one matrix, in turns of equal time, and prints a table at the
   end. */
#include "cmd_race.h"
#include "base/mem.h"
#include "base/numeral.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "formats/format.h"
#include "language/args.h"
#include "language/solve_request.h"
#include "machine/device.h"
#include "race.h"
#include "race_begin.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/right_side.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "session/spmv.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "symmetry_needed.h"

#include <math.h>
#include <string.h>

/* ---- the racers ---- */

static bool add_racer(struct race *r, const char *word, struct err *e)
{
    const struct solver *solver = solver_find(word);
    const struct kernel *kernel = kernel_find(word);
    if (r->n == RACERS_MAX)
        return fail(e, E_USAGE, "too many racers: at most %d can race, so `%s` cannot join", RACERS_MAX, word);
    if (r->n && r->kernels != (kernel != NULL))
        return fail(e, E_USAGE, "this race is between %s: the %s %s cannot join it", r->kernels ? "kernels" : "solvers",
                    kernel ? "kernel" : "solver", word);
    r->kernels = kernel != NULL;
    struct racer *x = &r->racer[r->n++];
    x->solver = solver;
    x->kernel = kernel;
    snprintf(x->name, sizeof x->name, "%s", word);
    return true;
}

/* Read the number after a racer: m of a solver that restarts, or omega of a solver that uses omega. */
static bool set_number(struct race *r, const char *word, struct err *e)
{
    struct racer *x = r->n ? &r->racer[r->n - 1] : NULL;
    if (!x || !x->solver || x->m || x->omega > 0)
        return fail(e, E_USAGE, "the number %s must follow a solver that takes a number", word);
    bool m = x->solver->restarts && is_integer(word, &x->m) && x->m > 0;
    bool omega = !x->solver->restarts && x->solver->omega > 0 && is_real(word, &x->omega) && x->omega > 0;
    size_t n = strlen(x->name);
    if (x->solver->restarts && !m)
        return fail(e, E_USAGE, "%s after %s is not a number of iterations between restarts", word, x->name);
    if (!m && !omega)
        return fail(e, E_USAGE,
                    x->solver->omega > 0 ? "%s %s: its omega must be above 0"
                                         : "%s %s: this solver takes no number; it has neither m nor omega",
                    x->name, word);
    snprintf(x->name + n, sizeof x->name - n, " %.20s", word);
    return true;
}

static bool read_racers(struct race *r, const struct args *a, struct err *e)
{
    const char *word;
    for (int i = 0; (word = arg_at(a, "racer", i)); i++)
        if (!(like_number(word) ? set_number : add_racer)(r, word, e)) return false;
    return true;
}

/* Read reps. Refuse options of solvers in a race of kernels, and vice versa. */
static bool read_options(struct race *r, const struct args *a, struct err *e)
{
    static const char *const of_solvers[] = {"force", "seed",   "column",    "b",     "maxit",   "tol",
                                             "form",  "order",  "shift",     "drop",  "inner",   "complement",
                                             "fill",  "sweeps", "triangles", "block", "precond", "using"},
                             *const of_kernels[] = {"reps"};
    const char *wrong =
        r->kernels ? arg_any(a, of_solvers, COUNT(of_solvers)) : arg_any(a, of_kernels, COUNT(of_kernels));
    int64_t reps;
    if (wrong)
        return fail(e, E_USAGE, "`%s` does not apply to a race of %s", wrong, r->kernels ? "kernels" : "solvers");
    if (!arg_within(a, "reps", 0, 0, SPMV_REPS_MAX, &reps, e)) return false;
    r->reps = (int)reps;
    if (!r->kernels) r->tol = arg_real(a, "tol", r->real == P_F32 ? 1e-5 : 1e-8);
    return true;
}

/* ---- beginning ---- */

static bool warn(struct session *s, const struct race *r, struct err *e)
{
    for (int i = 0; i < r->n; i++)
        if (!solve_warn(s, r->matrix, r->racer[i].solver, NULL, e)) return false;
    return true;
}

static bool begin_solvers(struct session *s, struct race *r, const struct args *a, struct err *e)
{
    struct sides_request right = {0};
    struct solve_options o;
    bool ok = solve_options_of(s, r->matrix, a, &o, e) && warn(s, r, e) && sides_request_of(r->matrix, a, &right, e);
    o.keeps = false; /* checkpoints take time */
    if (ok) {
        right_sides_note(s->out, &right.all);
        solve_take_right(&o, &right.all, r->matrix, right.column);
        session_solve_truth(s, r->matrix, &o);
        ok = race_solvers(s, r, &o, e);
    }
    right_sides_free(&right.all);
    return ok;
}

/* Fill in the race, which the screen shows from now on. */
static bool read_race(struct session *s, struct race *r, const struct args *a, struct err *e)
{
    r->real = arg_precision(a);
    r->matrix = session_matrix(s, arg(a, "of"), e);
    if (!r->matrix || !read_racers(r, a, e) || !read_options(r, a, e)) return false;
    if (r->kernels) r->real = precision_of_values(r->real, r->matrix->csr.imag != NULL);
    r->dev = session_device(s, arg(a, "on"), e);
    return r->dev != NULL;
}

static bool begin(struct session *s, struct race *r, const struct args *a, struct err *e)
{
    return r->kernels ? race_kernels(s, r, e) : begin_solvers(s, r, a, e);
}

/* ---- running ---- */

/* Update the screen and read the keyboard. */
static enum turn serve_screen(struct session *s, const struct race *r)
{
    const char *what = r->kernels ? "race (Ctrl-C stops it): SpMVs" : "race (Ctrl-C stops it): iterations";
    bool watched = s->interactive && !s->folder; /* a lesson continues without user input */
    enum turn turn = watched && s->front && s->front->live ? s->front->live(s, "race") : TURN_ON;
    if (turn != TURN_ON) return turn;
    return watch_tick(&s->watch, what, race_done(r), 0, NULL) ? TURN_ON : TURN_STOP;
}

static void set_state(struct race *r, bool paused, bool stopped)
{
    SCREEN_EDIT;
    r->paused = paused;
    r->stopped = stopped;
}

static bool run_turns(struct session *s, struct race *r, struct err *e)
{
    enum turn turn = TURN_ON;
    set_state(r, false, r->stopped);
    while (r->running && turn == TURN_ON) {
        if (!race_turn(r, e)) return false;
        if (r->running) turn = serve_screen(s, r);
    }
    set_state(r, turn == TURN_LEAVE, turn == TURN_STOP);
    r->solve_is_newer = false;
    return true;
}

/* ---- what is printed ---- */

/* The racer's name, with the m that the solver itself chose. */
static const char *label_of(const struct racer *x, char *out, size_t size)
{
    bool chose = x->v && x->solver->restarts && !x->m;
    snprintf(out, size, chose ? "%s (%lld)" : "%s", x->name, chose ? (long long)x->v->set.m : 0);
    return out;
}

static void out_head(struct out *o, const struct race *r, const struct racer *x, int place)
{
    char name[80];
    out_row(o);
    out_int(o, "place", "#", place);
    out_str(o, "matrix", NULL, r->matrix->name);
    if (x->solver) out_str(o, "solver", NULL, x->solver->name);
    out_str(o, x->kernel ? "kernel" : NULL, x->kernel ? "kernel" : "solver", label_of(x, name, sizeof name));
    out_str(o, "device", NULL, r->dev->name);
    out_str(o, "precision", NULL, precision_of(&r->matrix->csr, r->real));
    out_str(o, "refused", NULL, *x->why ? x->why : NULL);
}

static void out_solver(struct out *o, const struct race *r, const struct racer *x)
{
    const struct solve *v = x->v;
    bool timed = v && r->dev->kind != DEV_EMU;
    out_num(o, "m", NULL, v && x->solver->restarts ? (double)v->set.m : NAN, "%.0f");
    out_str(o, "precond", NULL, v && v->pre.method ? v->pre.method->name : NULL);
    out_num(o, "precond_us", NULL, timed && v->pre.method ? v->pre.us : NAN, NULL);
    out_num(o, "omega", NULL, v && x->solver->omega > 0 ? v->set.omega : NAN, NULL);
    out_bool(o, "converged", NULL, v && v->reason == CONVERGED);
    out_str(o, "status", NULL, v ? reason_name(v->reason) : "refused");
    out_str(o, NULL, "ended", !v ? "refused" : v->reason == MAX_ITERATIONS ? "limit" : reason_name(v->reason));
    out_str(o, "reason", NULL, v ? v->why : x->why);
    out_num(o, "iterations", "iterations", v ? (double)v->iterations : NAN, "%.0f");
    out_num(o, "time_us", NULL, timed ? x->us : NAN, NULL);
    out_num(o, NULL, "ms", timed ? x->us / 1000 : NAN, "%.3f");
    out_num(o, "us_per_iteration", "us each", timed && v->iterations ? x->us / (double)v->iterations : NAN, "%.1f");
    out_num(o, "residual_recursive", NULL, v ? v->residual : NAN, "%.2e");
    out_num(o, "residual_true", "residual", v ? v->result.residual_true : NAN, "%.2e");
    out_num(o, "error_known", "error", v && v->result.known ? v->result.error_known : NAN, "%.2e");
    out_values(o, "history", v ? v->iterations + 1 : 0, v ? v->history.residual : NULL);
}

static void out_kernel(struct out *o, const struct race *r, const struct racer *x)
{
    double rate = x->us > 0 ? (double)x->nmarks / x->us : NAN;
    out_int(o, "products", "products", x->nmarks);
    out_num(o, "best_us", "best us", x->best_us, "%.2f");
    out_num(o, "time_us", "median us", x->run.us, "%.2f");
    out_num(o, "spread_us", "+-", x->nmarks > 1 ? x->run.spread_us : NAN, "%.2f");
    out_num(o, "products_per_s", "products/s", 1e6 * rate, "%.0f");
    out_num(o, "gbs", "GB/s", x->run.gbs, "%.2f");
    out_num(o, "gflops", "GFLOP/s", x->run.gflops, "%.2f");
    out_num(o, "error", "error", *x->why ? NAN : x->run.error.relative, "%.1e");
}

/* Print below the table why solvers ended without convergence, and why racers were refused. */
static void out_reasons(struct out *o, const struct race *r)
{
    for (int i = 0; i < r->n; i++) {
        const struct racer *x = &r->racer[r->ranking[i]];
        if (*x->why)
            out_text(o, "%s: %s", x->name, x->why);
        else if (x->v && x->v->reason != CONVERGED && x->v->reason != STOPPED)
            out_text(o, "%s: %s", x->name, x->v->why);
    }
    if (r->dev->kind != DEV_EMU) return;
    if (r->kernels)
        out_text(o, "The emulator models accesses, not time: the results are checked, but there is no winner.");
    else
        out_text(o, "The emulator models accesses, not time: the solver with the fewest iterations comes first.");
}

void out_race(struct out *o, const struct race *r)
{
    const struct precond *pre = NULL;
    for (int i = 0; i < r->n; i++) pre = r->racer[i].v && r->racer[i].v->pre.method ? r->racer[i].v->pre.method : pre;
    out_text(o, "%s, %s, %s%s%s, on %s (%s)", r->matrix->name, how_many(r->matrix->csr.nnz, "nonzero").text,
             precision_of(&r->matrix->csr, r->real), pre ? ", precond " : "", pre ? pre->name : "", r->dev->name,
             r->dev->about);
    for (int i = 0; i < r->n; i++) {
        const struct racer *x = &r->racer[r->ranking[i]];
        out_head(o, r, x, i + 1);
        (r->kernels ? out_kernel : out_solver)(o, r, x);
    }
    out_reasons(o, r);
}

/* Keep the times in the session, so that `view bench` shows them as well. */
static bool keep_kernels(struct session *s, const struct race *r, struct err *e)
{
    struct run run[RACERS_MAX];
    int n = 0;
    for (int i = 0; i < r->n; i++)
        if (!*r->racer[i].why) run[n++] = r->racer[i].run;
    return spmv_keep(s, r->matrix, run, n, NULL, e);
}

static bool check_results(const struct race *r, struct err *e)
{
    for (int i = 0; i < r->n; i++)
        if (r->racer[i].wrong)
            return fail(e, E_NUMERIC, "a kernel's result is wrong (see above); the kernel did not race");
    return true;
}

/* r becomes the session's race; NULL: there is none. */
static void put_race(struct session *s, struct race *r)
{
    struct race *before = s->race;
    {
        SCREEN_EDIT;
        s->race = r;
    }
    race_free(before);
}

static void drop_race(struct session *s)
{
    put_race(s, NULL);
}

/* Rank the racers and print the table. */
static bool finish(struct session *s, bool soon, struct err *e)
{
    struct race *r = s->race;
    set_state(r, false, r->stopped);
    if (r->stopped && s->front && s->front->calm)
        s->front->calm(s); /* show this message first, because computing the true residuals takes a while */
    if (!race_end(r, soon, e) || (r->kernels && !keep_kernels(s, r, e))) {
        drop_race(s);
        return false;
    }
    if (s->front && s->front->calm) s->front->calm(s);
    out_race(s->out, r);
    if (r->stopped && !s->interactive) return fail(e, E_CANCELLED, "race: cancelled; the results so far are above");
    return check_results(r, e);
}

bool race_continue(struct session *s, struct err *e)
{
    struct race *r = s->race;
    if (!run_turns(s, r, e)) {
        drop_race(s);
        return false;
    }
    if (!r->paused) return finish(s, r->stopped, e);
    out_note(s->out, "paused after %s (all %s together): `continue`, `view race` or `stop`",
             how_many(race_done(r), r->kernels ? "SpMV" : "iteration").text, r->kernels ? "kernels" : "solvers");
    return true;
}

bool race_stop(struct session *s, struct err *e)
{
    set_state(s->race, false, true);
    return finish(s, false, e);
}

bool race_waits(const struct session *s)
{
    bool solve = s->solve && s->solve->reason == RUNNING;
    return s->race && s->race->paused && !(solve && s->race->solve_is_newer);
}

static bool run_race(struct session *s, const struct args *a, struct err *e)
{
    if (s->race && s->race->paused) out_note(s->out, "the paused race on %s ends", s->race->matrix->name);
    drop_race(s);
    struct race *r = mem_zero(1, sizeof *r, "a race", e);
    if (!r || !read_race(s, r, a, e)) return mem_free(r), false;
    put_race(s, r);
    if (begin(s, r, a, e)) return race_continue(s, e);
    drop_race(s);
    return false;
}

/* ---- the keys of the rows ---- */

static const struct field raced_solver_fields[] = {
    {"place", F_COUNT, "place in the race, from 1"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "solver"},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"refused", F_TEXT | OR_NULL, "why the racer did not take part; null: it took part"},
    {"m", F_COUNT | OR_NULL, "iterations between restarts; null: the solver does not restart"},
    {"precond", F_TEXT | OR_NULL, "preconditioner; null: none"},
    {"precond_us", F_AMOUNT | OR_NULL,
     "time to make the preconditioner, in us; null without a preconditioner and on emu"},
    {"omega", F_AMOUNT | OR_NULL, "relaxation factor; null: the solver has none"},
    {"converged", F_BOOLEAN, "whether the solver converged"},
    {"status", F_TEXT, "how the solve ended", .words = "refused", .word_at = reason_at},
    {"reason", F_TEXT, "the same as a sentence"},
    {"iterations", F_COUNT | OR_NULL, "iterations done; null: the racer was refused"},
    {"time_us", F_AMOUNT | OR_NULL, "time of the racer's iterations, in us; null on emu"},
    {"us_per_iteration", F_AMOUNT | OR_NULL, "time per iteration, in us; null on emu"},
    {"residual_recursive", F_AMOUNT | OR_NAN | OR_NULL,
     "recursive residual, ||r|| / ||b||; null: the racer was refused"},
    {"residual_true", F_AMOUNT | OR_NAN | OR_NULL,
     "||b - A x|| / ||b||, computed in double; null: the racer was refused"},
    {"error_known", F_AMOUNT | OR_NAN | OR_NULL, "relative error of x; null: the solution is not known"},
    {"history", F_LIST, "residual_recursive after each iteration, from 0 on", .item = F_NUMBER | OR_NAN},
    {0},
};
const struct row_kind row_raced_solver = {"raced_solver", "a solver in its place", raced_solver_fields};

static const struct field raced_kernel_fields[] = {
    {"place", F_COUNT, "place in the race, from 1"},
    {"matrix", F_TEXT, "name of the matrix"},
    {"kernel", F_TEXT, "kernel"},
    {"device", F_TEXT, "device"},
    {.include = &row_precision},
    {"refused", F_TEXT | OR_NULL, "why the racer did not take part; null: it took part"},
    {"products", F_COUNT, "number of SpMVs done"},
    {"best_us", F_AMOUNT | OR_NULL, "time of the fastest SpMV, in us; null on emu or if the racer was refused"},
    {"time_us", F_AMOUNT | OR_NULL, "median time of the SpMVs, in us; null on emu or if the racer was refused"},
    {"spread_us", F_AMOUNT | OR_NULL, "half the interquartile range, in us; null for one SpMV"},
    {"products_per_s", F_AMOUNT | OR_NULL,
     "SpMVs per second of the racer's own time; null on emu or if the racer was refused"},
    {"gbs", F_AMOUNT | OR_NULL, "minimum bytes of an SpMV / time_us, in GB/s; null on emu or if the racer was refused"},
    {"gflops", F_AMOUNT | OR_NULL, "2 nnz / time_us, in GFLOP/s; null on emu or if the racer was refused"},
    {"error", F_AMOUNT | OR_NAN | OR_NULL,
     "relative 2-norm of the difference from the reference; null if the racer was refused or the result has NaN or "
     "inf"},
    {0},
};
const struct row_kind row_raced_kernel = {"raced_kernel", "a kernel in its place", raced_kernel_fields};

const struct command command_race = {
    .name = "race",
    .grammar = "RACER... [[of] MATRIX] [on DEVICE] [[using] FORMAT] [[precond] PRECOND] [block N] "
               "[triangles levels|sync-free] [sweeps N] [order ORDER] [shift R] [drop R] [fill N] [inner PRECOND] "
               "[complement PRECOND] [form update|matrix] "
               "[tol R] [maxit N] [b "
               "RIGHT_SIDE] [column N] "
               "[seed N] [reps N] [force] "
               "[f32|f64]",
    .about = "race several solvers, or several kernels, in turns of equal time",
    .help = "Up to eight solvers or eight kernels can race. A number after a solver is m if the solver restarts, or\n"
            "omega if the solver uses omega. The racer with the least time so far runs next, for about 10 ms, so all\n"
            "racers stay level. The time of a solver is the time of its iterations, without set-up. After 0.3 s, a\n"
            "terminal shows a plot of all residuals. The key t switches between time and iterations, x or Ctrl-C\n"
            "stops all racers, and q returns to the prompt, where the race waits for `continue` or `stop`; `view\n"
            "race` shows the plot again. All racers are in memory at the same time. precond, block, form, b, tol,\n"
            "maxit, seed and force are as in solve, for the solvers that accept them; x0 is zero. The table first "
            "lists the\n"
            "solvers that converged, by time, then all other solvers, by the residual that they reached.\n"
            "Kernels are checked first, then each runs for 0.2 s, or `reps` SpMVs; best, median and half the\n"
            "interquartile range (+-) refer to the times of single SpMVs. On the emulator, which models no time,\n"
            "solvers take turns by iterations.\n"
            "    race cg gmres 30 bicgstab on cpu\n"
            "    race csr-serial csr-openmp sell-openmp on cpu f32",
    .rows = (const struct row_kind *const[]){&row_raced_solver, &row_raced_kernel, NULL},
    .run = run_race,
    .sweeps = true,
};

/* ---- what the session keeps ---- */

static bool is_of(const struct session *s, const struct matrix *m)
{
    return s->race && s->race->matrix == m;
}

static bool is_paused(const struct session *s)
{
    return s->race->paused;
}

static bool is_running(const struct session *s)
{
    return !s->race->paused;
}

static bool is_on(const struct session *s, const struct device *d)
{
    return s->race && s->race->dev == d;
}

static bool uses(const struct session *s, const struct mat *M)
{
    return race_uses(s->race, M);
}

static void moved(struct session *s, const struct mat *from, struct mat *to)
{
    race_moved(s->race, from, to);
}

const struct holding holding_race = {
    .drop = drop_race,
    .belongs_to = is_of,
    .pauses = "the paused race on",
    .is_paused = is_paused,
    .is_running = is_running,
    .is_on = is_on,
    .uses = uses,
    .moved = moved,
};
