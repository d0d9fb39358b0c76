/* A running solve: the residual by iteration on a log scale, its rate, and where the time goes. */
#include "view_solve.h"
#include "base/text.h"
#include "commands/solve_run.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "report/fields.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

/* Number of screen lines other than the plot and the figures. Title and device are above; axis, phases and state are
   below. A small screen has only the title, the axis and the first line of the state. */
enum { PLOT_TOP = 3, AROUND = PLOT_TOP + 6, SMALL_TOP = 1, SMALL_AROUND = SMALL_TOP + 3 };
enum { STATE_LINES = 2, STATE_MAX = 6 };

/* Draw one bar, divided by the share of each phase, with the names below the bar. */
static void draw_phases(struct canvas *c, const struct solve *v, int y)
{
    if (v->dev->kind == DEV_EMU) {
        canvas_text(c, 1, y, ST_DIM, "the emulator does not model time");
        return;
    }
    double all = 0, sum = 0;
    int width = c->w - 2, from = 1, x = 1;
    for (int i = 0; i < v->time.nphases; i++) all += v->time.phase[i].us;
    for (int i = 0; i < v->time.nphases && all > 0; i++) {
        enum style st = ST_ROW + (unsigned)(i % ROW_COLOURS);
        if (c->figure) figure_rect(c->figure, st, 1, 1 + sum / all * width, y, v->time.phase[i].us / all * width, 0.8);
        sum += v->time.phase[i].us;
        int to = 1 + (int)lround(sum / all * width);
        /* Without colours, letters distinguish the phases. */
        if (!c->figure)
            draw_fill(c, from, y, to - from, st, c->colours ? 0x2588 : (uint32_t)phase_name(v->time.phase[i].id)[0]);
        from = to;
        if (x + text_width(phase_name(v->time.phase[i].id)) + 5 > c->w) continue;
        x = canvas_text(c, x, y + 1, st, "%s", phase_name(v->time.phase[i].id));
        x = canvas_text(c, x, y + 1, ST_DIM, " %.0f%%", 100 * v->time.phase[i].us / all) + 3;
    }
}

/* Draw a warning if the true residual has separated from the recursive residual; returns the line below the warning. */
static int draw_alarm(struct canvas *c, const struct solve *v, int y)
{
    if (!residuals_separated(v)) return y;
    canvas_text(c, 1, y, ST_BAD, "at iteration %lld, the true residual exceeded 10 times the recursive residual",
                (long long)v->history.separated_at);
    return y + 1;
}

static const char *verdict(const struct solve *v)
{
    return v->why[0] ? v->why : reason_text(v->reason);
}

/* The lines of the state: at least STATE_LINES, and more if the verdict needs them. */
static int state_lines(const struct canvas *c, const struct solve *v)
{
    int lines = v->reason == RUNNING ? 1 : wrapped_lines(c, 1, verdict(v));
    return lines < STATE_LINES ? STATE_LINES : lines < STATE_MAX ? lines : STATE_MAX;
}

static void draw_state(struct canvas *c, const struct solve *v, int y)
{
    if (v->reason == RUNNING) {
        canvas_text(c, 1, y, v->paused ? ST_WARN : ST_PLAIN, v->paused ? "paused" : "running");
        return;
    }
    draw_wrapped(c, 1, y, state_lines(c, v), v->reason == CONVERGED ? ST_GOOD : ST_BAD, verdict(v));
}

static void draw_about(struct canvas *c, const struct solve *v)
{
    char text[200];
    const struct kernel *k = v->matrix.kernel;
    if (v->engine.runs) {
        snprintf(text, sizeof text, "%s by iteration, log scale; %s", v->engine.residual, v->engine.about);
        draw_wrapped(c, 1, 1, PLOT_TOP - 1, ST_DIM, text);
        return;
    }
    snprintf(text, sizeof text, "||r|| / ||b|| by iteration, log scale; on %s, %s%s%s, %s", v->dev->name,
             k ? k->format->name : "", k ? ", " : "",
             cluster_used(v) ? "many iterations a launch"
             : k             ? k->name
                             : "",
             type_name(solve_type(v)));
    draw_wrapped(c, 1, 1, PLOT_TOP - 1, ST_DIM, text);
}

static bool has_history(const struct solve *v)
{
    return v && v->history.residual;
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    struct solve *v = s->solve;
    draw_title(c, v ? v->solver->name : "solve", v ? session_matrix_of(s, v->matrix.csr) : NULL, "%s", "");
    if (!has_history(v)) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "nothing has been solved yet: try `solve cg` or `solve jacobi`");
        return;
    }
    int lines = solve_view_figures(c, v, st, c->h, false) - c->h; /* drawn below the canvas, only to count the lines */
    int room = c->h - (residuals_separated(v) ? 1 : 0) - (st->full ? 1 : 0) - (c->figure ? 2 : 0);
    int more = state_lines(c, v) - STATE_LINES;
    bool small = room - lines < AROUND + 3;
    if (!small && room - lines - more < AROUND + 3) more = room - lines - AROUND - 3; /* the plot keeps three lines */
    if (small) lines = solve_view_figures(c, v, st, c->h, true) - c->h;
    int h = room - lines - (small ? SMALL_AROUND : AROUND + more), y = small ? SMALL_TOP : PLOT_TOP;
    if (!small) draw_about(c, v);
    if (h > 1 && c->w >= 30) y = solve_view_plot(c, v, y, h);
    y = solve_view_figures(c, v, st, y, small);
    if (!small) draw_phases(c, v, y);
    draw_state(c, v, draw_alarm(c, v, y + (small ? 0 : 2)));
}

/* ---- the view ---- */

static const char all_keys[] =
    "? help  q leave  space pause  s step  n ten  b back  x stop, keep x  T tol  B ten back  p preconditioner  "
    "o omega  M restart length  G on to the end  0-9 a count before s or b";

/* After a solve has ended, its keys have no effect; the command `change` continues the solve. */
static const char *keys_now(const struct session *s)
{
    const struct solve *v = s->solve;
    if (v && v->reason == RUNNING) return all_keys;
    bool continues = v && solve_has_x(v) && v->b_norm > 0 && !v->engine.runs;
    return continues ? "? help  q leave  change at the prompt continues the solve" : "? help  q leave";
}

static const char *nothing(const struct session *s)
{
    return has_history(s->solve) ? NULL : "nothing has been solved yet; try `solve cg`";
}

/* Print a row for each iteration. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct solve *v = s->solve;
    for (int64_t i = 0; i <= v->iterations; i++) {
        out_row(s->out);
        out_str(s->out, "matrix", NULL, v->matrix.name);
        out_str(s->out, "solver", NULL, v->solver->name);
        out_str(s->out, "device", NULL, v->dev->name);
        out_int(s->out, "iteration", NULL, i);
        out_num(s->out, "residual", NULL, v->history.residual[i], NULL);
        out_num(s->out, "normal", NULL, solve_least_at(v, i).normal, NULL);
        out_num(s->out, "time_us", NULL, v->dev->kind == DEV_EMU ? NAN : v->history.stamp[i], NULL);
    }
    return true;
}

static bool is_running(const struct session *s)
{
    return s->solve && s->solve->reason == RUNNING;
}

static bool is_paused(const struct session *s)
{
    return s->solve && s->solve->paused;
}

static bool has_ended(const struct session *s)
{
    return s->solve && s->solve->reason != STOPPED;
}

/* Digits enter a count. */
static bool claims(const struct session *s, int k)
{
    return is_running(s) && k >= '0' && k <= '9';
}

/* ---- the keys of the rows ---- */

static const struct field solve_history_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"solver", F_TEXT, "solver"},
    {"device", F_TEXT, "device"},
    {"iteration", F_COUNT, "iterations done"},
    {"residual", F_AMOUNT | OR_NAN | OR_NULL, "recursive residual, ||r|| / ||b||; null where it is not a number"},
    {"normal", F_AMOUNT | OR_NAN | OR_NULL, "||A' r|| / (||A|| ||r||); null: no solver of least squares"},
    {"time_us", F_AMOUNT | OR_NULL, "since the first record, in us; null on emu"},
    {0},
};
static const struct row_kind row_solve_history = {"history", "an iteration of a solve", solve_history_fields};

const struct view view_solve = {
    .name = "solve",
    .about = "a solve: its residual per iteration, the rate of convergence, where the time goes, and Ritz values",
    .keys = all_keys,
    .rows = (const struct row_kind *const[]){&row_solve_history, NULL},
    .any = true,
    .state_size = sizeof(struct solve_state),
    .claims = claims,
    .changes = solve_view_changes,
    .is_running = is_running,
    .is_paused = is_paused,
    .drive = solve_drive,
    .has_ended = has_ended,
    .keys_now = keys_now,
    .overview = 4,
    .draw = draw,
    .key = solve_view_key,
    .answer = solve_view_answer,
    .nothing = nothing,
    .numbers = numbers,
};
