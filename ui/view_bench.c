/* The last measurements as bars: every kernel's time against the fastest, with what each achieved. */
#include "ui.h"

#include <math.h>
#include <string.h>

enum { TOP = 3, NAME = 22, RIGHT = 44 };

/* "3.21 us", "12.4 ms" */
static char *show_us(double us, char *out, size_t size)
{
    const char *unit = us < 1e3 ? "us" : us < 1e6 ? "ms" : "s";
    double v = us < 1e3 ? us : us < 1e6 ? us / 1e3 : us / 1e6;
    snprintf(out, size, v < 10 ? "%.2f %s" : v < 100 ? "%.1f %s" : "%.0f %s", v, unit);
    return out;
}

static void draw_run(struct canvas *c, const struct run *r, double slowest, int y, enum style name)
{
    char us[32], text[64];
    int bar = c->w - NAME - RIGHT - 2, x = NAME + 1 + bar + 1;
    canvas_text(c, 1, y, name, "%.*s", NAME - 1, r->kernel->name);
    draw_bar(c, NAME + 1, y, bar, r->us / slowest, ST_BAR);
    draw_right(c, x + 8, y, ST_BOLD, show_us(r->us, us, sizeof us));
    snprintf(text, sizeof text, "%.0f%%", 100 * r->spread_us / r->us);
    draw_right(c, x + 14, y, ST_DIM, text);
    snprintf(text, sizeof text, "%.1f", r->gbs);
    draw_right(c, x + 22, y, ST_PLAIN, text);
    snprintf(text, sizeof text, r->share > 0 ? "%.0f%%" : "-", 100 * r->share);
    draw_right(c, x + 28, y, ST_PLAIN, text);
    snprintf(text, sizeof text, "%.2f", r->gflops);
    draw_right(c, x + 36, y, ST_PLAIN, text);
    draw_right(c, x + 42, y, ST_DIM, r->real == T_F32 ? "f32" : "f64");
}

static void draw_heading(struct canvas *c)
{
    static const struct {
        int end;
        const char *text;
    } column[] = {
        {8, "time"}, {14, "+/-"}, {22, "GB/s"}, {28, "share"}, {36, "GFLOP/s"}, {42, "type"},
    };
    int x = c->w - RIGHT;
    canvas_text(c, 1, TOP - 1, ST_DIM, "kernel");
    for (int i = 0; i < COUNT(column); i++) draw_right(c, x + column[i].end, TOP - 1, ST_DIM, column[i].text);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    char about[200] = "";
    if (s->nruns) snprintf(about, sizeof about, "on %s", s->runs[0].dev->name);
    draw_title(c, "bench", s->runs_of, "%s", about);
    if (!s->nruns) {
        canvas_text(c, 1, 2, ST_PLAIN, "nothing was measured yet: `bench` times every kernel that fits, `spmv` one");
        return;
    }
    int room = c->h - TOP - (st->full ? 2 : 0);
    double slowest = 0;
    for (int i = 0; i < s->nruns; i++) slowest = fmax(slowest, s->runs[i].us);
    if (st->item >= s->nruns) st->item = s->nruns - 1;
    if (st->item < st->scroll) st->scroll = st->item;
    if (st->item >= st->scroll + room) st->scroll = st->item - room + 1;
    draw_heading(c);
    for (int i = (int)st->scroll; i < s->nruns && i < st->scroll + room; i++)
        draw_run(c, &s->runs[i], slowest, TOP + i - (int)st->scroll, st->full && i == st->item ? ST_CURSOR : ST_PLAIN);
    if (st->full)
        canvas_text(c, 1, c->h - 2, ST_DIM, "%s: %s", s->runs[st->item].kernel->name, s->runs[st->item].kernel->about);
}

static bool key(struct session *s, struct view_state *st, int k)
{
    st->item += (k == UI_DOWN) - (k == UI_UP);
    if (st->item >= s->nruns) st->item = s->nruns - 1;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

const struct view view_bench = {
    .name = "bench",
    .about = "the kernels measured last, fastest first: time, spread, bandwidth, share of the ceiling",
    .keys = "up/down choose a kernel  g first  ? help  q leave",
    .any = true,
    .draw = draw,
    .key = key,
};
