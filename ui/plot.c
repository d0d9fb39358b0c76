/* Plots of residuals on a log scale, for the views of solves and races: frame, scale and dots. */
#include "plot.h"
#include "draw.h"
#include "figure.h"
#include "solvers/solve.h"

#include <math.h>

bool can_plot(double residual)
{
    return residual > 0 && isfinite(residual);
}

struct plot plot_new(const struct canvas *c, int y, int h, double least, double most)
{
    struct plot p = {PLOT_LEFT, y, c->w - PLOT_LEFT - 2, h, floor(log10(least)), ceil(log10(most) - 0.01)};
    if (p.high - p.low < 1) p.high = p.low + 1;
    return p;
}

int plot_level(const struct plot *p, double residual, int dots)
{
    int d = (int)((p->high - log10(residual)) / (p->high - p->low) * dots);
    return d < 0 ? 0 : d < dots ? d : dots - 1;
}

double plot_depth(const struct plot *p, double residual)
{
    double at = (p->high - log10(residual)) / (p->high - p->low);
    return at < 0 ? 0 : at < 1 ? at : 1;
}

/* The scale as numbers and thin lines, and the tolerance as a dashed line. */
static void figure_scale(struct figure *f, const struct plot *p, double tol)
{
    struct ruler r = {RULER_LOG, pow(10, p->low), pow(10, p->high), NULL};
    char text[32];
    axis_up(f, &r, p->x, p->y, p->h, p->w);
    if (!(tol > 0)) return;
    double y = p->y + p->h * plot_depth(p, tol);
    for (double x = p->x; x < p->x + p->w; x += 1.5) figure_stroke(f, ST_PLOT_B, 1, x, y, x + 0.75, y);
    snprintf(text, sizeof text, "tol %.3g", tol);
    double below = y + 1.2 < p->y + p->h ? 0.1 : -1.1;
    figure_words(f, ST_PLOT_B, SIDE_LEFT, p->x + 0.5, y + below, text);
}

void plot_across(struct canvas *c, const struct plot *p, enum ruler_kind kind, double far, const char *name)
{
    struct ruler r = {kind, 0, far > 0 ? far : 1, NULL};
    axis_across(c->figure, &r, p->x, p->y + p->h, p->w, p->h, name);
}

static void draw_tolerance(struct canvas *c, const struct plot *p, double tol)
{
    int y = p->y + plot_level(p, tol, p->h);
    for (int x = p->x; x < p->x + p->w; x += 2) canvas_put(c, x, y, ST_PLOT_B, 0xb7);
    canvas_text(c, p->x, y, ST_PLOT_B, "tol ");
}

void plot_scale(struct canvas *c, const struct plot *p, double tol)
{
    char text[32];
    if (c->figure) {
        figure_scale(c->figure, p, tol);
        return;
    }
    int every = (int)ceil((p->high - p->low) * 2 / p->h);
    for (int d = (int)p->high; d >= p->low; d -= every > 0 ? every : 1) {
        snprintf(text, sizeof text, "1e%+03d", d);
        draw_right(c, p->x - 1, p->y + plot_level(p, pow(10, d), p->h), ST_AXIS, text);
    }
    for (int y = p->y; y < p->y + p->h; y++) canvas_put(c, p->x - 1, y, ST_AXIS, 0x2502);
    canvas_put(c, p->x - 1, p->y + p->h, ST_AXIS, 0x2514);
    draw_fill(c, p->x, p->y + p->h, p->w, ST_AXIS, 0x2500);
    if (tol > 0) draw_tolerance(c, p, tol);
}

void plot_dot(struct canvas *c, const struct plot *p, int x, int y, enum style st, char letter)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int cx = p->x + x / 2, cy = p->y + y / 4;
    if (cx < 0 || cy < 0 || cx >= c->w || cy >= c->h) return;
    uint32_t was = c->cell[cy * c->w + cx].glyph;
    uint32_t dots = was >= 0x2800 && was <= 0x28ff ? was : 0x2800;
    canvas_put(c, cx, cy, st, c->ascii ? (uint32_t)letter : dots | bit[y % 4][x % 2]);
}

double plot_between(const struct solve *v, const double *history, double at)
{
    int64_t i = (int64_t)at, next = i < v->iterations ? i + 1 : i;
    return i > v->iterations ? NAN : history[i] * pow(history[next] / history[i], at - (double)i);
}
