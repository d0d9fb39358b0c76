/* The residual by iteration, on a log scale. */
#include "base/text.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/plot.h"
#include "view_solve.h"

#include <math.h>

/* Columns between two marks of true residuals that lie on the curve. */
enum { MARK_EVERY = 8 };

static const enum style ST_TRUE = ST_ROW + 3;

/* A curve: the recursive residual, or the residual of the normal equations of a solver of least squares. */
struct curve {
    const double *value; /* by iteration; NULL: there is no such curve */
    enum style st;
    char letter;
};
static struct curve residual_curve(const struct solve *v)
{
    return (struct curve){v->history.residual, ST_PLOT_A, '*'};
}
static struct curve normal_curve(const struct solve *v)
{
    return (struct curve){v->solver->least_squares ? v->history.alpha : NULL, ST_PLOT_B, '+'};
}

static void widen(const struct solve *v, struct curve of, double *least, double *most)
{
    for (int64_t i = 0; of.value && i <= v->iterations; i++) {
        if (!can_plot(of.value[i])) continue;
        *least = fmin(*least, of.value[i]);
        *most = fmax(*most, of.value[i]);
    }
}

static struct plot plot_of(const struct canvas *c, const struct solve *v, int y, int h)
{
    double least = v->set.tol > 0 ? v->set.tol : 1, most = 1;
    widen(v, residual_curve(v), &least, &most);
    widen(v, normal_curve(v), &least, &most);
    for (int64_t i = 0; i < v->history.ntruth; i++)
        if (can_plot(v->history.truth[i].residual)) most = fmax(most, v->history.truth[i].residual);
    return plot_new(c, y, h, least, most);
}

/* The range of residuals in dot column k of n. A column covers several iterations if there are more than n
   iterations. */
static bool column_range(const struct solve *v, const double *value, int k, int n, double *low, double *high)
{
    int64_t all = v->iterations + 1;
    if (all < n) {
        *low = *high = plot_between(v, value, (double)v->iterations * k / (n - 1));
        return can_plot(*low);
    }
    *low = INFINITY;
    *high = 0;
    for (int64_t i = k * all / n; i < (k + 1) * all / n; i++) {
        if (!can_plot(value[i])) continue;
        *low = fmin(*low, value[i]);
        *high = fmax(*high, value[i]);
    }
    return *high > 0;
}

/* Draw the curve; each dot column starts where the previous column ended. */
static void draw_curve(struct canvas *c, const struct plot *p, const struct solve *v, struct curve of)
{
    int before = -1, columns = p->w * 2;
    for (int k = 0; of.value && k < columns; k++) {
        double low, high;
        if (!column_range(v, of.value, k, columns, &low, &high)) continue;
        int top = plot_level(p, high, p->h * 4), bottom = plot_level(p, low, p->h * 4);
        if (before >= 0 && before < top) top = before;
        if (before > bottom) bottom = before;
        for (int y = top; y <= bottom; y++) plot_dot(c, p, k, y, of.st, of.letter);
        before = plot_level(p, low, p->h * 4);
    }
}

/* ---- as a figure ---- */

/* Number of points of the curve per cell: about one point per pixel. */
enum { FINE = 8 };

static double figure_x(const struct plot *p, const struct solve *v, double iteration)
{
    return p->x + p->w * (v->iterations > 0 ? iteration / (double)v->iterations : 0);
}

static void figure_curve(struct figure *f, const struct plot *p, const struct solve *v, struct curve of)
{
    int64_t all = v->iterations + 1, n = (int64_t)p->w * FINE;
    bool begun = false;
    for (int64_t k = 0; of.value && k < (all < n ? all : n); k++) {
        double low, high, at = all < n ? (double)k : (double)(k * all / n);
        bool there =
            all < n ? can_plot(low = high = of.value[k]) : column_range(v, of.value, (int)k, (int)n, &low, &high);
        if (there && !begun) figure_line(f, of.st, 1, 1.5);
        begun = there;
        if (!there) continue;
        figure_point(f, figure_x(p, v, at), p->y + p->h * plot_depth(p, high));
        if (low < high) figure_point(f, figure_x(p, v, at), p->y + p->h * plot_depth(p, low));
    }
}

static void figure_truth(struct figure *f, const struct plot *p, const struct solve *v)
{
    double before = -MARK_EVERY;
    for (int64_t i = 0; i < v->history.ntruth; i++) {
        const struct truth *t = &v->history.truth[i];
        if (t->iteration > v->iterations || !can_plot(t->residual)) continue;
        double x = figure_x(p, v, (double)t->iteration), r = v->history.residual[t->iteration];
        bool off = can_plot(r) && fabs(log10(r / t->residual)) > 0.1;
        if (!off && x - before < MARK_EVERY && i + 1 < v->history.ntruth) continue;
        figure_circle(f, ST_TRUE, x, p->y + p->h * plot_depth(p, t->residual), 0.4);
        before = x;
    }
    if (v->history.ntruth && can_plot(v->result.residual_true))
        figure_circle(f, ST_TRUE, p->x + p->w, p->y + p->h * plot_depth(p, v->result.residual_true), 0.4);
}

static void figure_legend(struct figure *f, const struct plot *p, const struct solve *v)
{
    double y = p->y + p->h + 1.1;
    if ((!v->history.ntruth && !normal_curve(v).value) || p->w < 60) return;
    figure_line(f, ST_PLOT_A, 1, 1.5);
    figure_point(f, p->x, y + 0.5);
    figure_point(f, p->x + 2, y + 0.5);
    figure_words(f, ST_PLOT_A, SIDE_LEFT, p->x + 3, y, "recursive residual");
    figure_circle(f, ST_TRUE, p->x + 25, y + 0.5, 0.4);
    figure_words(f, ST_TRUE, SIDE_LEFT, p->x + 26, y, "true residual, b - A x");
    if (normal_curve(v).value && p->w >= 80)
        figure_words(f, ST_PLOT_B, SIDE_LEFT, p->x + 51, y, "||A' r|| / (||A|| ||r||)");
}

static void draw_figure(struct canvas *c, const struct plot *p, const struct solve *v)
{
    plot_across(c, p, RULER_WHOLE, (double)v->iterations, "iterations");
    figure_curve(c->figure, p, v, residual_curve(v));
    figure_curve(c->figure, p, v, normal_curve(v));
    figure_truth(c->figure, p, v);
    figure_legend(c->figure, p, v);
}

/* ---- as cells ---- */

/* The column of an iteration, consistent with column_range. */
static int column_of(const struct plot *p, const struct solve *v, int64_t i)
{
    int64_t all = v->iterations + 1, n = 2 * p->w;
    return (int)(all < n ? i * (n - 1) / (all > 1 ? all - 1 : 1) : i * n / all) / 2;
}

/* Mark true residuals: all residuals that are not on the curve, some that are on the curve, and the last residual. */
static void draw_truth(struct canvas *c, const struct plot *p, const struct solve *v)
{
    if (v->history.ntruth && can_plot(v->result.residual_true))
        canvas_put(c, p->x + p->w - 1, p->y + plot_level(p, v->result.residual_true, p->h), ST_TRUE, 'o');
    int before = -MARK_EVERY;
    for (int64_t i = 0; i < v->history.ntruth; i++) {
        const struct truth *t = &v->history.truth[i];
        if (t->iteration > v->iterations || !can_plot(t->residual)) continue;
        int x = column_of(p, v, t->iteration), y = plot_level(p, t->residual, p->h);
        bool off =
            can_plot(v->history.residual[t->iteration]) && y != plot_level(p, v->history.residual[t->iteration], p->h);
        if (!off && x - before < MARK_EVERY && i + 1 < v->history.ntruth) continue;
        canvas_put(c, p->x + x, p->y + y, ST_TRUE, 'o');
        before = x;
    }
}

/* Draw the legend next to the axis, if it fits. */
static void draw_legend(struct canvas *c, const struct plot *p, const struct solve *v, int room)
{
    int x = p->x + 3, y = p->y + p->h + 1;
    bool brief = room < 38;
    if ((!v->history.ntruth && !normal_curve(v).value) || room < 20) return;
    x = canvas_text(c, x, y, ST_PLOT_A, brief ? "recursive" : "recursive residual");
    x = canvas_text(c, x + 2, y, ST_TRUE, brief ? "o true" : "o true, b - A x");
    if (normal_curve(v).value && room > 60) canvas_text(c, x + 2, y, ST_PLOT_B, "||A' r|| / (||A|| ||r||)");
}

/* Draw the plot in h lines, beginning at line y; returns the line below the plot. */
int solve_view_plot(struct canvas *c, const struct solve *v, int y, int h)
{
    char last[32];
    struct plot p = plot_of(c, v, y, h);
    plot_scale(c, &p, v->set.tol);
    if (c->figure) {
        draw_figure(c, &p, v);
        return p.y + p.h + 1 + AXIS_LINES;
    }
    draw_curve(c, &p, v, residual_curve(v));
    draw_curve(c, &p, v, normal_curve(v));
    draw_truth(c, &p, v);
    canvas_text(c, p.x, p.y + p.h + 1, ST_AXIS, "0");
    show_count(v->iterations, last, sizeof last);
    draw_right(c, p.x + p.w, p.y + p.h + 1, ST_AXIS, last);
    draw_legend(c, &p, v, p.w - 3 - text_width(last));
    return p.y + p.h + 2;
}
