/* Charts of numbers: curves over values, and bars. */
#include "chart.h"
#include "base/text.h"
#include "draw.h"
#include "figure.h"
#include "plot.h"

#include <math.h>
#include <string.h>

enum { DOTS_ACROSS = 2, DOTS_DOWN = 4, LABEL_MAX = 44, NUMBER_WIDTH = 28, DASH_DOTS = 3 };
/* Numbers are shown on a logarithmic axis if the largest is at least this many times the smallest. */
static const double CURVES_LOG = 30, BARS_LOG = 100;

char *chart_number(double v, char *out, size_t size)
{
    if (fabs(v) >= 1000 && fabs(v) < 1e15) return show_count(llround(v), out, size);
    snprintf(out, size, "%.4g", v);
    return out;
}

/* ---- the vertical axis ---- */

/* The range of all numbers. Even axes begin at 0 or at the least number below it. */
static struct ruler range_of(const struct chart *g, double log_from)
{
    double least = INFINITY, most = -INFINITY;
    for (int k = 0; k < g->nseries; k++)
        for (int i = 0; i < g->n; i++) {
            double v = g->series[k].y[i];
            if (!isfinite(v)) continue;
            least = fmin(least, v);
            most = fmax(most, v);
        }
    if (!isfinite(least)) return (struct ruler){RULER_EVEN, 0, 1, NULL};
    if (least > 0 && most >= log_from * least)
        return (struct ruler){RULER_LOG, pow(10, floor(log10(least))), pow(10, ceil(log10(most))), NULL};
    double low = fmin(least, 0), high = fmax(most, 0);
    return (struct ruler){high > low ? RULER_EVEN : RULER_WHOLE, low, high > low ? high + 0.05 * (high - low) : low + 1,
                          NULL};
}

static char *tick_text(const struct ruler *r, double v, char *out, size_t size)
{
    if (r->kind == RULER_LOG && (v >= 1e6 || v < 1e-3))
        snprintf(out, size, "1e%+03d", (int)lround(log10(v)));
    else
        chart_number(v == 0 ? 0 : v, out, size); /* a tick can be -0 */
    return out;
}

static int left_of(const struct ruler *r, int h)
{
    double tick[TICKS_MAX];
    char text[48];
    int widest = 3, n = ruler_ticks(r, h / 2, tick);
    for (int k = 0; k < n; k++) {
        int w = text_width(tick_text(r, tick[k], text, sizeof text));
        widest = w > widest ? w : widest;
    }
    return widest + 3;
}

static void draw_up(struct canvas *c, const struct plot *p, const struct ruler *r)
{
    double tick[TICKS_MAX];
    char text[48];
    int n = ruler_ticks(r, p->h / 2, tick);
    for (int k = 0; k < n; k++) {
        double at = (1 - ruler_at(r, tick[k])) * p->h;
        tick_text(r, tick[k], text, sizeof text);
        if (c->figure) {
            figure_stroke(c->figure, ST_DIM, 0.3, p->x, p->y + at, p->x + p->w, p->y + at);
            figure_words(c->figure, ST_AXIS, SIDE_RIGHT, p->x - 0.8, p->y + at - 0.5, text);
        } else {
            draw_right(c, p->x - 1, p->y + (at < p->h ? (int)at : p->h - 1), ST_AXIS, text);
        }
    }
    if (c->figure) figure_stroke(c->figure, ST_AXIS, 1, p->x, p->y, p->x, p->y + p->h);
    for (int y = p->y; !c->figure && y < p->y + p->h; y++) canvas_put(c, p->x - 1, y, ST_AXIS, 0x2502);
}

/* ---- the horizontal axis: a tick at each value, with as many labels as fit ---- */

static double across(const struct chart *g, int i)
{
    double low = INFINITY, high = -INFINITY, x;
    for (int k = 0; k < g->n; k++) {
        low = fmin(low, g->x[k]);
        high = fmax(high, g->x[k]);
    }
    if (!(high > low)) return 0.5;
    x = g->x_log ? log(g->x[i] / low) / log(high / low) : (g->x[i] - low) / (high - low);
    return 0.02 + 0.96 * x;
}

static void draw_tick(struct canvas *c, const struct plot *p, double at, const char *text, bool named)
{
    int w = text_width(text);
    if (c->figure) {
        figure_stroke(c->figure, ST_DIM, 0.3, at, p->y, at, p->y + p->h);
        figure_stroke(c->figure, ST_AXIS, 1, at, p->y + p->h, at, p->y + p->h + 0.25);
        if (named) figure_words(c->figure, ST_AXIS, SIDE_MIDDLE, at, p->y + p->h + 0.3, text);
        return;
    }
    canvas_put(c, (int)at, p->y + p->h, ST_AXIS, 0x253c);
    if (named) canvas_text(c, (int)at - w / 2, p->y + p->h + 1, ST_AXIS, "%s", text);
}

static void draw_across(struct canvas *c, const struct plot *p, const struct chart *g)
{
    if (c->figure) figure_stroke(c->figure, ST_AXIS, 1, p->x, p->y + p->h, p->x + p->w, p->y + p->h);
    if (!c->figure) canvas_put(c, p->x - 1, p->y + p->h, ST_AXIS, 0x2514);
    if (!c->figure) draw_fill(c, p->x, p->y + p->h, p->w, ST_AXIS, 0x2500);
    double end = 0, begin = INFINITY; /* of the labels so far */
    for (int i = 0; i < g->n; i++) {
        double at = p->x + across(g, i) * p->w, w = text_width(g->label[i]);
        bool named = (at - w / 2 > end + 1 || at + w / 2 < begin - 1) && at + w / 2 < c->w;
        draw_tick(c, p, at, g->label[i], named);
        if (named) end = fmax(end, at + w / 2), begin = fmin(begin, at - w / 2);
    }
    int x = c->w - 2 - text_width(g->x_name);
    canvas_text(c, x > 0 ? x : 0, p->y + p->h + 2, ST_DIM, "%s", g->x_name);
}

/* ---- curves ---- */

static char letter_of(int k)
{
    return (char)('a' + k);
}

static void draw_part(struct canvas *c, const struct plot *p, const struct chart_series *s, int k, double x0, double y0,
                      double x1, double y1)
{
    double length = hypot((x1 - x0) * p->w, 2 * (y1 - y0) * p->h);
    int dashes = s->dashed ? (int)(length / 1.5) + 1 : 1;
    for (int d = 0; c->figure && d < dashes; d++) {
        double from = (double)d / dashes, to = s->dashed ? from + 0.6 / dashes : 1;
        figure_line(c->figure, s->style, 1, 1.5);
        figure_point(c->figure, p->x + (x0 + from * (x1 - x0)) * p->w, p->y + (y0 + from * (y1 - y0)) * p->h);
        figure_point(c->figure, p->x + (x0 + to * (x1 - x0)) * p->w, p->y + (y0 + to * (y1 - y0)) * p->h);
    }
    int w = p->w * DOTS_ACROSS, h = p->h * DOTS_DOWN;
    int n = (int)fmax(fabs(x1 - x0) * w, fabs(y1 - y0) * h) + 1;
    for (int i = 0; !c->figure && i <= n; i += s->dashed ? DASH_DOTS : 1) {
        int x = (int)((x0 + (x1 - x0) * i / n) * w), y = (int)((y0 + (y1 - y0) * i / n) * h);
        plot_dot(c, p, x < w ? x : w - 1, y < h ? y : h - 1, s->style, letter_of(k));
    }
}

static void draw_point(struct canvas *c, const struct plot *p, const struct chart_series *s, int k, double x, double y,
                       bool chosen)
{
    if (c->figure) {
        figure_circle(c->figure, s->style, p->x + x * p->w, p->y + y * p->h, s->dashed ? 0.25 : 0.45);
        return;
    }
    int cx = p->x + (int)fmin(x * p->w, p->w - 1), cy = p->y + (int)fmin(y * p->h, p->h - 1);
    canvas_put(c, cx, cy, chosen ? ST_CURSOR : s->style, (uint32_t)letter_of(k));
}

static void draw_curve(struct canvas *c, const struct plot *p, const struct ruler *r, const struct chart *g, int k)
{
    const struct chart_series *s = &g->series[k];
    int last = -1;
    for (int i = 0; i < g->n; i++) {
        if (!isfinite(s->y[i])) continue;
        if (last >= 0)
            draw_part(c, p, s, k, across(g, last), 1 - ruler_at(r, s->y[last]), across(g, i), 1 - ruler_at(r, s->y[i]));
        last = i;
    }
    for (int i = 0; i < g->n; i++)
        if (isfinite(s->y[i])) draw_point(c, p, s, k, across(g, i), 1 - ruler_at(r, s->y[i]), i == g->chosen);
}

void chart_curves(struct canvas *c, const struct chart *g, int y, int h, const char *unit)
{
    struct ruler r = range_of(g, CURVES_LOG);
    int left = left_of(&r, h - CHART_BELOW);
    int gap = c->figure ? 1 : 0; /* half of the highest number is above the plot */
    struct plot p = {.x = left, .y = y + gap, .w = c->w - left - 3, .h = h - CHART_BELOW - gap};
    if (c->w < CHART_MIN_WIDTH || h < CHART_MIN_LINES) {
        canvas_text(c, 1, y, ST_DIM, "too small for a picture");
        return;
    }
    canvas_text(c, 1, y - 1, ST_DIM, "%s%s", unit, r.kind == RULER_LOG ? " (logarithmic)" : "");
    draw_up(c, &p, &r);
    draw_across(c, &p, g);
    for (int k = g->nseries; k-- > 0;) draw_curve(c, &p, &r, g, k);
}

int chart_legend(struct canvas *c, const struct chart *g, int y)
{
    int x = 1, line = y;
    for (int k = 0; k < g->nseries; k++) {
        const struct chart_series *s = &g->series[k];
        int w = text_width(s->name) + 4;
        if (x > 1 && x + w > c->w) x = 1, line++;
        if (c->figure) {
            figure_line(c->figure, s->style, 1, 1.5);
            figure_point(c->figure, x, line + 0.5);
            figure_point(c->figure, x + (s->dashed ? 0.8 : 2), line + 0.5);
            if (s->dashed) figure_line(c->figure, s->style, 1, 1.5);
            if (s->dashed) figure_point(c->figure, x + 1.2, line + 0.5);
            if (s->dashed) figure_point(c->figure, x + 2, line + 0.5);
        } else {
            canvas_put(c, x, line, s->style, (uint32_t)letter_of(k));
        }
        x = canvas_text(c, x + (c->figure ? 3 : 2), line, s->style, "%s", s->name) + 3;
    }
    return line - y + 1;
}

/* ---- bars ---- */

static int numbers_of(const struct chart *g, int i)
{
    int n = 0;
    for (int k = 0; k < g->nseries; k++) n += !isnan(g->series[k].y[i]);
    return n;
}

static int lines_of_point(const struct chart *g, int i)
{
    int n = numbers_of(g, i);
    return n ? n : 1;
}

int chart_bar_lines(const struct chart *g)
{
    int n = 0;
    for (int i = 0; i < g->n; i++) n += lines_of_point(g, i);
    return n;
}

static int label_width(const struct chart *g, const struct canvas *c)
{
    int widest = 0, most = c->w / 3 < LABEL_MAX ? c->w / 3 : LABEL_MAX;
    for (int i = 0; i < g->n; i++) {
        int w = text_width(g->label[i]);
        widest = w > widest ? w : widest;
    }
    return widest < most ? widest : most;
}

/* The columns of the bars, from `left`. */
struct bars {
    struct ruler r;
    int left, w;
};

static void draw_one_bar(struct canvas *c, const struct bars *b, int y, const struct chart_series *s, double v)
{
    char number[48], text[100];
    double share = isfinite(v) ? ruler_at(&b->r, v) : 1;
    snprintf(text, sizeof text, "%s%s%s",
             isfinite(v) ? chart_number(v, number, sizeof number)
             : v > 0     ? "inf"
                         : "-inf",
             *s->after ? " " : "", s->after);
    if (c->figure)
        figure_rect(c->figure, s->style, 0.85, b->left, y + 0.15, fmax(share * b->w, 0.1), 0.7);
    else
        draw_bar(c, b->left, y, b->w, share, s->style);
    canvas_text(c, b->left + (int)ceil(share * b->w) + 1, y, ST_PLAIN, "%s", text);
}

static void draw_label(struct canvas *c, int y, const char *text, int width, bool chosen)
{
    int taken;
    size_t n = text_fit(text, width, &taken);
    canvas_text(c, 1, y, chosen ? ST_CURSOR : ST_PLAIN, "%.*s", (int)n, text);
}

/* "0.1       10,000   us, logarithmic" below the ends of the bars */
static void draw_bar_scale(struct canvas *c, const struct bars *b, int y, const char *unit)
{
    char low[48], high[48];
    int end = b->left + b->w;
    tick_text(&b->r, b->r.low == 0 ? 0 : b->r.low, low, sizeof low);
    canvas_text(c, b->left, y, ST_AXIS, "%s", low);
    draw_right(c, end, y, ST_AXIS, tick_text(&b->r, b->r.high, high, sizeof high));
    canvas_text(c, end + 2, y, ST_DIM, "%.*s", c->w - end - 2, unit);
}

int chart_bars(struct canvas *c, const struct chart *g, int y, int skip, int h, const char *unit)
{
    int width = label_width(g, c), line = 0, drawn = 0;
    struct bars b = {.r = range_of(g, BARS_LOG), .left = width + 3};
    b.w = c->w - b.left - NUMBER_WIDTH;
    if (b.w < 4) b.w = 4;
    for (int i = 0; i < g->n; i++) {
        int first = line, lines = lines_of_point(g, i);
        for (int k = 0, at = 0; k < g->nseries; k++) {
            if (isnan(g->series[k].y[i])) continue;
            int to = first + at++ - skip;
            if (to >= 0 && to < h) draw_one_bar(c, &b, y + to, &g->series[k], g->series[k].y[i]);
        }
        if (first - skip >= 0 && first - skip < h) draw_label(c, y + first - skip, g->label[i], width, i == g->chosen);
        if (!numbers_of(g, i) && first - skip >= 0 && first - skip < h)
            canvas_text(c, b.left + 1, y + first - skip, ST_DIM, "no number");
        line += lines;
    }
    drawn = line - skip < h ? line - skip : h;
    if (drawn < 0) drawn = 0;
    char name[80];
    snprintf(name, sizeof name, "%s%s", unit, b.r.kind == RULER_LOG ? ", logarithmic" : "");
    if (c->figure)
        axis_across(c->figure, &b.r, b.left, y + drawn + 0.2, b.w, 0, name); /* no lines over numbers */
    else
        draw_bar_scale(c, &b, y + drawn, name);
    return drawn;
}
