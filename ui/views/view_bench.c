/* The last measurements as bars: the speed of each kernel relative to the fastest, with its figures. */
#include "base/precision.h"
#include "base/text.h"
#include "commands/cmd_bench.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "session/matrix.h"
#include "session/output_run.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>
#include <string.h>

enum { TOP = 3, NAME = 22, RIGHT = 46, NOTE = 2 };

/* The width of the columns at the right: all columns, the first three columns, or only the time. */
static int right_of(const struct canvas *c)
{
    return c->w >= NAME + RIGHT + 4 ? RIGHT : c->w >= NAME + 24 ? 24 : 10;
}

static void column(struct canvas *c, int end, int y, enum style st, const char *text)
{
    if (end < right_of(c)) draw_right(c, c->w - right_of(c) + end, y, st, text);
}

/* Draw a figure, or "-" if it was not measured. */
static void figure(struct canvas *c, int end, int y, enum style st, const char *fmt, double v)
{
    char text[64] = "-";
    if (isfinite(v)) snprintf(text, sizeof text, fmt, v);
    column(c, end, y, st, text);
}

/* The types of the values and, if they differ, of x: "f64", "bf-32". */
static const char *short_name(enum precision real)
{
    static const char *const names[PRECISIONS] = {"f32",   "f64",   "f32",   "f64",  "32-64",
                                                  "16-32", "bf-32", "16-64", "bf-64"};
    return names[real];
}

static void draw_run(struct canvas *c, const struct run *r, double fastest, int y, enum style name)
{
    char us[32] = "-";
    int bar = c->w - NAME - right_of(c) - 2;
    canvas_text(c, 1, y, name, "%.*s", NAME - 1, r->kernel->name);
    if (bar > 0) draw_bar(c, NAME + 1, y, bar, fastest / r->us, ST_BAR);
    column(c, 8, y, ST_BOLD, isfinite(r->us) ? show_us(r->us, us, sizeof us) : us);
    figure(c, 14, y, ST_DIM, "%.0f%%", r->reps == 1 ? NAN : 100 * r->spread_us / r->us);
    figure(c, 22, y, ST_PLAIN, "%.1f", r->gbs);
    if (r->share > 1)
        column(c, 30, y, ST_PLAIN, ">100%");
    else
        figure(c, 30, y, ST_PLAIN, "%.0f%%", r->share > 0 ? 100 * r->share : NAN);
    figure(c, 38, y, ST_PLAIN, "%.2f", r->gflops);
    column(c, 44, y, ST_DIM, short_name(r->real));
}

static void draw_heading(struct canvas *c)
{
    static const struct {
        int end;
        const char *text;
    } heading[] = {
        {8, "time"}, {14, "+/-"}, {22, "GB/s"}, {30, "ceiling"}, {38, "GFLOP/s"}, {44, "type"},
    };
    canvas_text(c, 1, TOP - 1, ST_DIM, "kernel");
    if (c->w - right_of(c) > NAME + 8) canvas_text(c, NAME + 1, TOP - 1, ST_DIM, "speed");
    for (int i = 0; i < COUNT(heading); i++) column(c, heading[i].end, TOP - 1, ST_DIM, heading[i].text);
}

static void draw_axis(struct canvas *c, int lines)
{
    struct ruler r = {RULER_EVEN, 0, 100, "%"};
    int bar = c->w - NAME - right_of(c) - 2;
    if (bar > 0) axis_below_bars(c->figure, &r, NAME + 1, TOP, lines, bar, "speed of the fastest");
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    char about[300] = "";
    if (s->nruns)
        snprintf(about, sizeof about, "on %s%s", s->runs[0].dev->name, s->runs_of->csr.imag ? ", complex values" : "");
    draw_title(c, "bench", s->runs_of, "%s", about);
    if (!s->nruns) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN,
                     "nothing has been measured yet: `bench` times all kernels that fit, `spmv` times one kernel");
        return;
    }
    int room = c->h - TOP - (st->full ? 1 + NOTE : 0) - (c->figure ? AXIS_LINES : 0);
    double fastest = INFINITY;
    for (int i = 0; i < s->nruns; i++) fastest = fmin(fastest, s->runs[i].us);
    if (room < 1) room = 1;
    if (st->item >= s->nruns) st->item = s->nruns - 1;
    if (st->item < st->scroll) st->scroll = st->item;
    if (st->item >= st->scroll + room) st->scroll = st->item - room + 1;
    draw_heading(c);
    for (int i = (int)st->scroll; i < s->nruns && i < st->scroll + room; i++)
        draw_run(c, &s->runs[i], fastest, TOP + i - (int)st->scroll, st->full && i == st->item ? ST_CURSOR : ST_PLAIN);
    if (c->figure) draw_axis(c, s->nruns < room ? s->nruns : room);
    if (!st->full) return;
    snprintf(about, sizeof about, "%s: %s", s->runs[st->item].kernel->name, s->runs[st->item].kernel->about);
    draw_wrapped(c, 1, c->h - 1 - NOTE, NOTE, ST_DIM, about);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    st->item += (k == UI_DOWN) - (k == UI_UP);
    if (st->item >= s->nruns) st->item = s->nruns - 1;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

static const char *nothing(const struct session *s)
{
    return s->nruns ? NULL : "nothing has been measured yet; run `bench`";
}

/* One row per measurement. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    for (int i = 0; i < s->nruns; i++) {
        out_row(s->out);
        out_run(s->out, s->runs_of, &s->runs[i], RUN_ROW);
        out_fitting(s->out, NULL);
    }
    return true;
}

const struct view view_bench = {
    .name = "bench",
    .about = "the kernels measured last, fastest first: time, spread, bandwidth as a percentage of the ceiling",
    .keys = "? help  q leave  up/down choose a kernel  g first",
    .rows = (const struct row_kind *const[]){&row_bench_timed, NULL},
    .any = true,
    .is_list = true,
    .large = true,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
