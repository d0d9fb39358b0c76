/* A running race: the residuals of all solvers in one plot, by time or by iteration, or a bar for each kernel. */
#include "base/text.h"
#include "commands/cmd_race.h"
#include "commands/race.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/solve.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/plot.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum {
    NAME = 18,       /* columns for a name */
    FIGURES = 34,    /* columns for the figures next to a bar */
    LETTER_GAP = 18, /* columns between letters on a curve */
    MIN_PLOT = 3     /* minimum number of lines of a plot */
};

struct race_state {
    bool by_iteration; /* x axis of the plot: iterations, not time */
};

static enum style colour_of(int i)
{
    return ST_ROW + (unsigned)(i % ROW_COLOURS);
}

static char letter_of(int i)
{
    return (char)('A' + i);
}

static char *show_span(double us, char *out, size_t size)
{
    double v = us < 1e3 ? us : us < 1e6 ? us / 1e3 : us / 1e6;
    const char *unit = us < 1e3 ? "us" : us < 1e6 ? "ms" : "s";
    snprintf(out, size, v < 10 ? "%.2f %s" : v < 100 ? "%.1f %s" : "%.0f %s", v, unit);
    return out;
}

/* ---- the plot ---- */

/* The plot, and the end of its x axis, in us or iterations. */
struct reach {
    struct plot frame;
    double far;
    bool by_time;
    int longer; /* the racer whose curve goes on beyond the plot; -1: none */
    double its_end;
};
/* A racer that needs more than ALONE times as much as all others is shown up to SHOWN times their end, so that their
   curves keep their width. */
static const double ALONE = 4, SHOWN = 2;

static double end_of(const struct race *r, int i, bool by_time)
{
    const struct racer *x = &r->racer[i];
    return !x->v ? 0 : by_time ? x->us : (double)x->v->iterations;
}

static void set_far(struct reach *p, const struct race *r)
{
    double second = 0;
    int slowest = 0;
    for (int i = 1; i < r->n; i++)
        if (end_of(r, i, p->by_time) > end_of(r, slowest, p->by_time)) slowest = i;
    for (int i = 0; i < r->n; i++)
        if (i != slowest) second = fmax(second, end_of(r, i, p->by_time));
    p->its_end = p->far = end_of(r, slowest, p->by_time);
    p->longer = -1;
    if (!(second > 0) || p->far <= ALONE * second) return;
    p->far = SHOWN * second;
    p->longer = slowest;
}

/* At most six decades above 1 are shown. */
static struct reach plot_of(const struct canvas *c, const struct race *r, bool by_time, int y, int h)
{
    struct reach p = {.by_time = by_time};
    double least = r->tol > 0 ? r->tol : 1, most = 1;
    for (int k = 0; k < r->n; k++) {
        const struct solve *v = r->racer[k].v;
        if (!v) continue;
        for (int64_t i = 0; i <= v->iterations; i++) {
            if (!can_plot(v->history.residual[i])) continue;
            least = fmin(least, v->history.residual[i]);
            most = fmax(most, v->history.residual[i]);
        }
    }
    set_far(&p, r);
    p.frame = plot_new(c, y, h, least, fmin(most, 1e6));
    return p;
}

/* The iteration that a curve has reached at dot column k of n; -1: the curve ended before. */
static double iteration_of(const struct reach *p, const struct racer *x, int k, int n)
{
    double at = p->far * k / (n - 1);
    if (p->by_time) return race_iteration_at(x, at);
    return at <= (double)x->v->iterations ? at : -1;
}

/* The range of residuals from one dot column to the next. */
static bool column_range(const struct solve *v, double from, double to, double *low, double *high)
{
    double first = plot_between(v, v->history.residual, from), last = plot_between(v, v->history.residual, to);
    if (!can_plot(first) || !can_plot(last)) return false;
    *low = fmin(first, last);
    *high = fmax(first, last);
    for (int64_t i = (int64_t)ceil(from); (double)i < to && i <= v->iterations; i++) {
        if (!can_plot(v->history.residual[i])) continue;
        *low = fmin(*low, v->history.residual[i]);
        *high = fmax(*high, v->history.residual[i]);
    }
    return true;
}

/* Put a letter at the end of a curve. Without colours, also put letters along the curve. */
static void put_letters(struct canvas *c, const struct reach *p, const struct race *r, int i)
{
    const struct racer *x = &r->racer[i];
    const struct plot *f = &p->frame;
    int last = -1, shift = 2 + i * LETTER_GAP / r->n;
    for (int k = 0; k < f->w; k++) {
        double at = iteration_of(p, x, 2 * k, 2 * f->w),
               residual = at < 0 ? NAN : plot_between(x->v, x->v->history.residual, at);
        if (!can_plot(residual)) continue;
        last = k;
        if (c->colours == COLOURS_NONE && !c->ascii && k % LETTER_GAP == shift)
            canvas_put(c, f->x + k, f->y + plot_level(f, residual, f->h), colour_of(i), (uint32_t)letter_of(i));
    }
    double end = last < 0 ? NAN : plot_between(x->v, x->v->history.residual, iteration_of(p, x, 2 * last, 2 * f->w));
    if (can_plot(end))
        canvas_put(c, f->x + last, f->y + plot_level(f, end, f->h), colour_of(i), (uint32_t)letter_of(i));
}

/* Each dot column covers the curve up to the next column. In ASCII, a curve is drawn with its letter. */
static void draw_curve(struct canvas *c, const struct reach *p, const struct racer *x, int i)
{
    const struct plot *f = &p->frame;
    int columns = f->w * 2;
    for (int k = 0; k < columns; k++) {
        double low, high, from = iteration_of(p, x, k, columns);
        double to = from < 0 ? -1 : iteration_of(p, x, k + 1, columns);
        if (from < 0 || !column_range(x->v, from, to < from ? (double)x->v->iterations : to, &low, &high)) continue;
        for (int y = plot_level(f, high, f->h * 4); y <= plot_level(f, low, f->h * 4); y++)
            plot_dot(c, f, k, y, colour_of(i), letter_of(i));
    }
}

/* ---- the plot as a figure ---- */

/* Number of points of a curve per cell: about one point per pixel. */
enum { FINE = 8 };

/* Put the letter of a curve to the right of the curve's end; this place is free because curves fall. Two curves may end
   at the same point, so every second letter is further away. The name of the tolerance is just below its line, so a
   letter that would be there is moved up to the line. */
static void figure_letter(struct figure *to, const struct reach *p, int i, double x, double y, double tol)
{
    const struct plot *f = &p->frame;
    const char letter[2] = {letter_of(i), 0};
    double line = tol > 0 ? f->y + f->h * plot_depth(f, tol) : 0, away = 0.4 + i % 2 * 1.3;
    if (tol > 0 && y > line && y < line + 2) y = line;
    bool room = x + away + 1 < f->x + f->w;
    figure_words(to, colour_of(i), room ? SIDE_LEFT : SIDE_RIGHT, room ? x + away : x - away, y - 1.05, letter);
}

static void figure_curve(struct figure *to, const struct reach *p, const struct racer *x, int i, double tol)
{
    const struct plot *f = &p->frame;
    int n = f->w * FINE;
    double end_x = -1, end_y = 0;
    figure_line(to, colour_of(i), 1, 1.5);
    for (int k = 0; k < n; k++) {
        double low, high, from = iteration_of(p, x, k, n), next = from < 0 ? -1 : iteration_of(p, x, k + 1, n);
        if (from < 0 || !column_range(x->v, from, next < from ? (double)x->v->iterations : next, &low, &high)) continue;
        end_x = f->x + (double)f->w * k / (n - 1);
        end_y = f->y + f->h * plot_depth(f, low);
        figure_point(to, end_x, f->y + f->h * plot_depth(f, high));
        if (low < high) figure_point(to, end_x, end_y);
    }
    if (end_x >= 0) figure_letter(to, p, i, end_x, end_y, tol);
}

static void figure_plot(struct canvas *c, const struct race *r, const struct reach *p)
{
    double unit = !p->by_time ? 1 : p->far < 1e3 ? 1 : p->far < 1e6 ? 1e3 : 1e6;
    const char *name = !p->by_time ? "iterations" : unit == 1 ? "time, us" : unit == 1e3 ? "time, ms" : "time, s";
    plot_scale(c, &p->frame, r->tol);
    plot_across(c, &p->frame, p->by_time ? RULER_EVEN : RULER_WHOLE, p->far / unit, name);
    for (int i = 0; i < r->n; i++)
        if (r->racer[i].v) figure_curve(c->figure, p, &r->racer[i], i, r->tol);
}

/* ---- the plot as cells ---- */

static void draw_plot(struct canvas *c, const struct race *r, const struct reach *p)
{
    const struct plot *f = &p->frame;
    char far[40];
    if (c->figure) {
        figure_plot(c, r, p);
        return;
    }
    plot_scale(c, f, r->tol);
    for (int i = 0; i < r->n; i++)
        if (r->racer[i].v) draw_curve(c, p, &r->racer[i], i);
    for (int i = 0; i < r->n; i++)
        if (r->racer[i].v) put_letters(c, p, r, i);
    if (p->by_time)
        show_span(p->far, far, sizeof far - 1);
    else
        show_count((int64_t)p->far, far, sizeof far - 1);
    strcat(far, " ");
    canvas_text(c, f->x, f->y + f->h, ST_AXIS, "0 ");
    draw_right(c, f->x + f->w, f->y + f->h, ST_AXIS, far);
    canvas_put(c, f->x + f->w - text_width(far) - 1, f->y + f->h, ST_AXIS, ' ');
}

/* ---- the legend ---- */

static const char *state_of(const struct race *r, const struct racer *x)
{
    if (*x->why) return "refused";
    return r->paused && x->v->reason == RUNNING ? "paused" : reason_name(x->v->reason);
}

static void draw_solver(struct canvas *c, const struct race *r, int i, int y)
{
    const struct racer *x = &r->racer[i];
    char text[40];
    bool wide = c->w >= 76;
    canvas_text(c, 1, y, colour_of(i), "%c", letter_of(i));
    canvas_text(c, 3, y, ST_BOLD, "%.*s", wide ? NAME - 2 : 12, x->name);
    enum style st = *x->why || x->v->reason > CONVERGED ? ST_BAD : x->v->reason == CONVERGED ? ST_GOOD : ST_PLAIN;
    canvas_text(c, wide ? 62 : 26, y, st, "%s", state_of(r, x));
    if (!x->v) return;
    if (wide) draw_right(c, 34, y, ST_PLAIN, show_count(x->v->iterations, text, sizeof text));
    snprintf(text, sizeof text, "%.2e", x->v->residual);
    draw_right(c, wide ? 47 : 24, y, ST_PLAIN, text);
    if (wide) draw_right(c, 59, y, ST_PLAIN, r->dev->kind == DEV_EMU ? "-" : show_span(x->us, text, sizeof text));
}

/* "; A goes on to 1.20 s" */
static void draw_longer(struct canvas *c, const struct reach *p, int x)
{
    char end[40];
    if (p->longer < 0) return;
    if (p->by_time)
        show_span(p->its_end, end, sizeof end);
    else
        show_count((int64_t)p->its_end, end, sizeof end);
    canvas_text(c, x, 1, colour_of(p->longer), "; %c goes on to %s", letter_of(p->longer), end);
}

static void draw_heading(struct canvas *c, int y)
{
    if (c->w < 76) return;
    draw_right(c, 34, y, ST_DIM, "iteration");
    draw_right(c, 47, y, ST_DIM, "residual");
    draw_right(c, 59, y, ST_DIM, "time");
    canvas_text(c, 62, y, ST_DIM, "state");
}

/* Draw the parts that fit: always the legend, then the plot, then headings. */
static void draw_solvers(struct canvas *c, const struct race *r, const struct view_state *st)
{
    const struct race_state *own = st->own;
    bool by_time = !own->by_iteration && r->dev->kind != DEV_EMU;
    int room = c->h - 1 - r->n - (st->full ? 1 : 0), words = room >= 8, above = 1 + words + (c->figure ? 1 : 0);
    int axis = c->figure ? AXIS_LINES : 1, h = room + 1 - above - words - axis, y = above;
    struct reach p = plot_of(c, r, by_time, y, h);
    if (words) {
        int x = canvas_text(c, 1, 1, ST_DIM, "||r|| / ||b|| by %s, log scale%s", by_time ? "time" : "iteration",
                            !st->full || r->dev->kind == DEV_EMU ? ""
                            : by_time                            ? "; t: by iteration"
                                                                 : "; t: by time");
        draw_longer(c, &p, x);
    }
    if (h >= MIN_PLOT && c->w >= 30) {
        draw_plot(c, r, &p);
        y += h + axis;
    }
    if (words) draw_heading(c, y);
    for (int i = 0; i < r->n; i++) draw_solver(c, r, i, y + words + i);
}

/* ---- kernels ---- */

/* Kernels are compared over the same time, which is the time of the racer that has used the least time so far. Returns
   the estimated number of SpMVs that the kernel did in this time. */
static double in_equal_time(const struct race *r, const struct racer *x)
{
    double least = INFINITY;
    for (int i = 0; i < r->n; i++)
        if (!*r->racer[i].why) least = fmin(least, r->racer[i].us);
    return x->us > 0 ? (double)x->nmarks * least / x->us : 0;
}

/* The width of the bars; if the width is at most 3, no bars are drawn. */
static int bar_of(const struct canvas *c)
{
    return c->w - NAME - FIGURES - 4;
}

static void draw_kernel(struct canvas *c, const struct race *r, int i, int y, double most)
{
    const struct racer *x = &r->racer[i];
    char text[40];
    int bar = bar_of(c);
    canvas_text(c, 1, y, colour_of(i), "%c", letter_of(i));
    canvas_text(c, 3, y, ST_BOLD, "%.*s", NAME - 1, x->name);
    if (*x->why) {
        canvas_text(c, NAME + 3, y, ST_BAD, "%.*s", c->w > NAME + 3 ? c->w - NAME - 3 : 0, x->why);
        return;
    }
    double done = in_equal_time(r, x);
    if (bar > 3 && most > 0) draw_bar(c, NAME + 3, y, bar, done / most, colour_of(i));
    draw_right(c, c->w - (bar > 3 ? 22 : 11), y, ST_PLAIN, show_count((int64_t)done, text, sizeof text));
    draw_right(c, c->w - 1, y, ST_PLAIN, x->nmarks ? show_span(x->us / (double)x->nmarks, text, sizeof text) : "-");
}

static void draw_kernels(struct canvas *c, const struct race *r)
{
    double most = 0;
    bool wide = bar_of(c) > 3;
    int lines = c->h >= 4 * r->n ? 2 : 1;
    for (int i = 0; i < r->n; i++) most = fmax(most, in_equal_time(r, &r->racer[i]));
    canvas_text(c, 1, 2, ST_DIM, "kernel");
    draw_right(c, c->w - (wide ? 22 : 11), 2, ST_DIM, wide ? "SpMVs in equal time" : "SpMVs");
    draw_right(c, c->w - 1, 2, ST_DIM, "mean");
    struct ruler spmvs = {RULER_WHOLE, 0, most, NULL};
    int foot = 4 + r->n * lines + (c->figure ? AXIS_LINES : 0);
    for (int i = 0; i < r->n; i++) draw_kernel(c, r, i, 3 + i * lines, most);
    if (c->figure && wide && most > 0)
        axis_below_bars(c->figure, &spmvs, NAME + 3, 3, r->n * lines, bar_of(c), "SpMVs in equal time");
    if (r->dev->kind == DEV_EMU)
        draw_wrapped(c, 1, foot, 2, ST_DIM,
                     "The emulator does not model time: results are checked, but no kernel wins.");
}

/* ---- the view ---- */

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct race *r = s->race;
    if (!r || !r->dev) {
        draw_title(c, "race", NULL, "%s", "");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "no race yet: `race cg gmres bicgstab` starts a race");
        return;
    }
    draw_title(c, "race", r->matrix, "on %s, %s%s", r->dev->name, precision_of(&r->matrix->csr, r->real),
               r->paused ? ", paused" : "");
    if (r->kernels)
        draw_kernels(c, r);
    else
        draw_solvers(c, r, st);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    struct race_state *own = st->own;
    if (k == 't') own->by_iteration = !own->by_iteration;
    return true;
}

static bool changes(const struct session *s, int k)
{
    return s->race && k == 'x';
}

static const char all_keys[] = "? help  q leave  t next picture  x stop all";

/* The key x is listed only while the race runs. The key t is listed only if there is a plot, which a race of kernels
   does not have. */
static const char *keys_now(const struct session *s)
{
    const struct race *r = s->race;
    bool plot = r && r->dev && !r->kernels;
    if (r && r->paused)
        return plot ? "? help  q leave  t next picture  continue at the prompt resumes"
                    : "? help  q leave  continue at the prompt resumes it";
    if (r && r->running) return all_keys;
    return plot ? "? help  q leave  t next picture" : "? help  q leave";
}

static const char *nothing(const struct session *s)
{
    return s->race ? NULL : "no race yet; `race cg jacobi` starts a race";
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    if (s->race->paused) return fail(e, E_USAGE, "the race is paused; use `continue` or `stop` first");
    out_race(s->out, s->race);
    return true;
}

static bool exists(const struct session *s)
{
    return s->race;
}

static bool has_ended(const struct session *s)
{
    return s->race && !s->race->stopped;
}

static void state_copy(void *to, const void *from)
{
    *(struct race_state *)to = *(const struct race_state *)from;
}

const struct view view_race = {
    .name = "race",
    .about = "solvers or kernels side by side in equal time: residuals, or SpMVs done",
    .keys = all_keys,
    .rows = (const struct row_kind *const[]){&row_raced_solver, &row_raced_kernel, NULL},
    .any = true,
    .state_size = sizeof(struct race_state),
    .state_copy = state_copy,
    .exists = exists,
    .has_ended = has_ended,
    .keys_now = keys_now,
    .draw = draw,
    .key = key,
    .changes = changes,
    .nothing = nothing,
    .numbers = numbers,
};
