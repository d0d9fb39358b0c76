/* The plot of a roofline: the range that it shows, the cell of a value, and its axes. */
#include "base/text.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "view_roofline.h"

#include <math.h>
#include <stdio.h>

enum { LEFT = 8, TOP = 2 };
/* The part of the picture that one step of zooming keeps, the margin around all kernels in decades, and the least
   number of decades. */
static const double ZOOM = 0.6, MARGIN = 0.25, DECADES_MIN = 1;

double roof_column(const struct roof_plot *p, double intensity)
{
    return p->x + (log10(intensity) - p->left) / (p->right - p->left) * p->w;
}

double roof_row(const struct roof_plot *p, double gflops)
{
    return p->y + (p->top - log10(gflops)) / (p->top - p->bottom) * p->h;
}

bool roof_cell(const struct roof_plot *p, const struct roof_point *at, int *x, int *y)
{
    double intensity = point_intensity(at, p->by), gflops = point_gflops(at);
    if (!(intensity > 0) || !(gflops > 0)) return false;
    *x = (int)floor(roof_column(p, intensity));
    *y = (int)floor(roof_row(p, gflops));
    return *x >= p->x && *x < p->x + p->w && *y >= p->y && *y < p->y + p->h;
}

double roof_intensity(const struct roof_plot *p, double column)
{
    return pow(10, p->left + (column - p->x) / p->w * (p->right - p->left));
}

static void widen(double *low, double *high)
{
    double more = DECADES_MIN - (*high - *low);
    if (!(more > 0)) return;
    *low -= more / 2;
    *high += more / 2;
}

/* Around all kernels and half of the slope of memory, or, if `whole` is set, as far as the point where this slope meets
   the flat roof. */
static void reach_all(struct roof_plot *p, const struct roofline *r, bool whole)
{
    double least = INFINITY, most = 0, slow = INFINITY, fast = 0, flat = roof_rate(r, ROOF_COMPUTE);
    for (int i = 0; i < r->n; i++) {
        double at = point_intensity(&r->point[i], p->by);
        if (!(at > 0) || !(point_gflops(&r->point[i]) > 0)) continue;
        least = fmin(least, at);
        most = fmax(most, at);
        slow = fmin(slow, point_gflops(&r->point[i]));
        fast = fmax(fast, point_gflops(&r->point[i]));
    }
    double ridge = flat / roof_rate(r, ROOF_MEMORY);
    if (!(least < INFINITY)) least = most = slow = fast = 1;
    p->left = log10(least) - MARGIN;
    p->right = log10(whole ? fmax(most, ridge) : most) + MARGIN;
    widen(&p->left, &p->right);
    p->bottom = log10(slow) - MARGIN;
    double slope = roof_rate(r, ROOF_MEMORY) * pow(10, (p->left + p->right) / 2);
    p->top = log10(whole ? flat : fmin(flat, fmax(fast, slope))) + MARGIN;
}

/* Shrink the range around the middle, which stays inside the whole range. */
static void shrink(double *low, double *high, double middle, double share)
{
    double half = (*high - *low) * share / 2, at = fmin(fmax(middle, *low + half), *high - half);
    *low = at - half;
    *high = at + half;
}

struct roof_plot roof_plot_of(const struct canvas *c, const struct roofline *r, const struct roof_state *own,
                              int chosen, int below)
{
    struct roof_plot p = {
        .x = LEFT, .y = TOP, .w = c->w - LEFT - 2, .h = c->h - TOP - 2 - below, .by = (enum roof_bytes)own->by};
    reach_all(&p, r, own->zoom < 0);
    if (own->zoom <= 0 || chosen < 0) return p;
    double share = pow(ZOOM, own->zoom), at = point_intensity(&r->point[chosen], p.by);
    if (at > 0) shrink(&p.left, &p.right, log10(at), share);
    shrink(&p.bottom, &p.top, log10(point_gflops(&r->point[chosen])), share);
    return p;
}

/* 0.1 or 1,000, for the axes. */
static char *power_text(int d, char *out, size_t size)
{
    if (d >= 0) return show_count((int64_t)lround(pow(10, d)), out, size);
    snprintf(out, size, "%.*f", -d, pow(10, d));
    return out;
}

static void draw_axes(struct canvas *c, const struct roof_plot *p)
{
    char text[40];
    int last = p->x - 1;
    for (int y = p->y; y < p->y + p->h; y++) canvas_put(c, p->x - 1, y, ST_AXIS, 0x2502);
    canvas_put(c, p->x - 1, p->y + p->h, ST_AXIS, 0x2514);
    draw_fill(c, p->x, p->y + p->h, p->w, ST_AXIS, 0x2500);
    for (int d = (int)ceil(p->bottom); d <= p->top; d++)
        draw_right(c, p->x - 1, (int)floor(roof_row(p, pow(10, d))), ST_AXIS, power_text(d, text, sizeof text));
    for (int d = (int)ceil(p->left); d <= p->right; d++) {
        int x = (int)floor(roof_column(p, pow(10, d))), n = text_width(power_text(d, text, sizeof text));
        canvas_put(c, x, p->y + p->h, ST_AXIS, 0x253c);
        if (x - n / 2 <= last || x + n > c->w) continue;
        last = canvas_text(c, x - n / 2, p->y + p->h + 1, ST_AXIS, "%s", text);
    }
}

static void figure_axes(struct figure *f, const struct roof_plot *p)
{
    struct ruler across = {RULER_LOG, pow(10, p->left), pow(10, p->right), NULL},
                 up = {RULER_LOG, pow(10, p->bottom), pow(10, p->top), NULL};
    axis_across(f, &across, p->x, p->y + p->h, p->w, p->h, "flops per byte");
    axis_up(f, &up, p->x, p->y, p->h, p->w);
}

void roof_draw_axes(struct canvas *c, const struct roof_plot *p)
{
    if (c->figure)
        figure_axes(c->figure, p);
    else
        draw_axes(c, p);
}
