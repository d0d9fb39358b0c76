/* Axes of pictures in files: round numbers, ticks and thin lines. */
#include "base/text.h"
#include "figure.h"

#include <math.h>
#include <stdio.h>

/* Lengths in cells: a tick, and the gap between an axis and its numbers. */
static const double TICK = 0.25, GAP = 0.8;

static double mapped(const struct ruler *r, double v)
{
    return r->kind <= RULER_WHOLE ? v : r->kind == RULER_LOG ? log10(v) : log1p(v);
}

double ruler_at(const struct ruler *r, double v)
{
    double low = mapped(r, r->low), high = mapped(r, r->high);
    double at = high > low ? (mapped(r, v) - low) / (high - low) : 1;
    return at > 1 ? 1 : at > 0 ? at : 0;
}

/* The smallest step that is 1, 2 or 5 times a power of ten and fits into the length at most `most` times. */
static double round_step(double length, int most)
{
    double raw = length / most, ten = pow(10, floor(log10(raw))), times = raw / ten;
    return ten * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static int even_ticks(const struct ruler *r, int most, double *tick)
{
    double step = round_step(r->high - r->low, most);
    if (r->kind == RULER_WHOLE && step < 1) step = 1;
    int n = 0;
    for (double k = ceil(r->low / step - 1e-9); n <= most && k * step <= r->high + 1e-9 * step; k++)
        tick[n++] = k * step;
    return n;
}

/* Write each power of ten or, if that would be more than `most` ticks, every second, third, ... power of ten. */
static int power_ticks(const struct ruler *r, int most, double *tick)
{
    int first = (int)ceil(log10(r->low) - 1e-9), last = (int)floor(log10(r->high) + 1e-9), n = 0;
    int every = 1;
    while ((last - first) / every + 1 > most) every++;
    for (int d = first; d <= last && n < most; d += every) tick[n++] = pow(10, d);
    return n;
}

static int zero_ticks(const struct ruler *r, int most, double *tick)
{
    int n = 0;
    if (r->low <= 0) tick[n++] = 0;
    struct ruler above = {RULER_LOG, fmax(r->low, 1), fmax(r->high, 1), NULL};
    return n + power_ticks(&above, most > n + 1 ? most - n : 1, tick + n);
}

int ruler_ticks(const struct ruler *r, int most, double tick[TICKS_MAX])
{
    if (most >= TICKS_MAX) most = TICKS_MAX - 1;
    if (most < 2) most = 2;
    if (!(r->high > r->low)) return tick[0] = r->low, 1;
    return r->kind <= RULER_WHOLE ? even_ticks(r, most, tick)
           : r->kind == RULER_LOG ? power_ticks(r, most, tick)
                                  : zero_ticks(r, most, tick);
}

/* "1e-08" on a log scale; otherwise "2,000", "0.25" or "40%". */
static char *show_tick(const struct ruler *r, double v, char *out, size_t size)
{
    char number[32];
    if (r->kind == RULER_LOG)
        snprintf(number, sizeof number, "1e%+03d", (int)lround(log10(v)));
    else if (v == floor(v) && fabs(v) < 1e15)
        show_count((int64_t)v, number, sizeof number);
    else
        snprintf(number, sizeof number, "%.6g", v);
    snprintf(out, size, "%s%s", number, r->unit ? r->unit : "");
    return out;
}

/* How many numbers fit side by side. */
static int most_across(const struct ruler *r, double w)
{
    char text[64];
    int low = text_width(show_tick(r, r->low, text, sizeof text));
    int high = text_width(show_tick(r, r->high, text, sizeof text));
    return (int)(w / ((low > high ? low : high) + 3));
}

void axis_across(struct figure *f, const struct ruler *r, double x, double y, double w, double h, const char *name)
{
    double tick[TICKS_MAX];
    char text[64];
    int n = ruler_ticks(r, most_across(r, w), tick);
    for (int k = 0; k < n; k++) {
        double at = x + w * ruler_at(r, tick[k]);
        if (h > 0) figure_stroke(f, ST_DIM, 0.3, at, y - h, at, y);
        figure_stroke(f, ST_AXIS, 1, at, y, at, y + TICK);
        show_tick(r, tick[k], text, sizeof text);
        double rightmost = x + w + 1 - text_width(text) / 2.0; /* the last number stays in the picture */
        figure_words(f, ST_AXIS, SIDE_MIDDLE, fmin(at, rightmost), y + TICK, text);
    }
    figure_stroke(f, ST_AXIS, 1, x, y, x + w, y);
    figure_words(f, ST_AXIS, SIDE_RIGHT, x + w, y + 1 + TICK / 2, name);
}

void axis_below_bars(struct figure *f, const struct ruler *r, double x, int y, int lines, double w, const char *name)
{
    axis_across(f, r, x, y + lines + GAP / 4, w, lines, name);
}

/* end: 1 if the lowest number is at the lower end of the axis, 0 if it is at the upper end. */
static void axis_aside(struct figure *f, const struct ruler *r, double x, double y, double h, double w, int end)
{
    double tick[TICKS_MAX];
    char text[64];
    int n = ruler_ticks(r, (int)(h / 1.5) + 1, tick);
    for (int k = 0; k < n; k++) {
        double at = y + h * fabs(end - ruler_at(r, tick[k]));
        if (w > 0) figure_stroke(f, ST_DIM, 0.3, x, at, x + w, at);
        figure_stroke(f, ST_AXIS, 1, x - 2 * TICK, at, x, at);
        figure_words(f, ST_AXIS, SIDE_RIGHT, x - GAP, at - 0.5, show_tick(r, tick[k], text, sizeof text));
    }
    figure_stroke(f, ST_AXIS, 1, x, y, x, y + h);
}

void axis_up(struct figure *f, const struct ruler *r, double x, double y, double h, double w)
{
    axis_aside(f, r, x, y, h, w, 1);
}

void axis_down(struct figure *f, const struct ruler *r, double x, double y, double h)
{
    axis_aside(f, r, x, y, h, 0, 0);
}
