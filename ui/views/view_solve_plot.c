/* The residual by iteration, on a log scale. */
#include "ui/draw.h"
#include "ui/plot.h"
#include "view_solve.h"
#include "solvers/solve.h"
#include "base/text.h"

#include <math.h>

/* Columns between two marks of true residuals that lie on the curve. */
enum { MARK_EVERY = 8 };

static const enum style ST_TRUE = ST_ROW + 3;

static struct plot plot_of(const struct canvas *c, const struct solve *v, int y, int h)
{
    double least = v->set.tol > 0 ? v->set.tol : 1, most = 1;
    for (int64_t i = 0; i <= v->iterations; i++) {
        double r = v->history.residual[i];
        if (!can_plot(r)) continue;
        if (r < least) least = r;
        if (r > most) most = r;
    }
    for (int64_t i = 0; i < v->history.ntruth; i++)
        if (can_plot(v->history.truth[i].residual)) most = fmax(most, v->history.truth[i].residual);
    return plot_new(c, y, h, least, most);
}

/* The range of residuals in dot column k of n. A column covers several iterations if there are more than n
   iterations. */
static bool column_range(const struct solve *v, int k, int n, double *low, double *high)
{
    int64_t all = v->iterations + 1;
    if (all < n) {
        *low = *high = plot_between(v, (double)v->iterations * k / (n - 1));
        return can_plot(*low);
    }
    *low = INFINITY;
    *high = 0;
    for (int64_t i = k * all / n; i < (k + 1) * all / n; i++) {
        if (!can_plot(v->history.residual[i])) continue;
        *low = fmin(*low, v->history.residual[i]);
        *high = fmax(*high, v->history.residual[i]);
    }
    return *high > 0;
}

/* Draw the curve; each dot column starts where the previous column ended. */
static void draw_curve(struct canvas *c, const struct plot *p, const struct solve *v)
{
    int before = -1, columns = p->w * 2;
    for (int k = 0; k < columns; k++) {
        double low, high;
        if (!column_range(v, k, columns, &low, &high)) continue;
        int top = plot_level(p, high, p->h * 4), bottom = plot_level(p, low, p->h * 4);
        if (before >= 0 && before < top) top = before;
        if (before > bottom) bottom = before;
        for (int y = top; y <= bottom; y++) plot_dot(c, p, k, y, ST_PLOT_A, '*');
        before = plot_level(p, low, p->h * 4);
    }
}

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
    if (!v->history.ntruth || room < 20) return;
    x = canvas_text(c, x, y, ST_PLOT_A, brief ? "recursive" : "recursive residual");
    canvas_text(c, x + 2, y, ST_TRUE, brief ? "o true" : "o true, b - A x");
}

/* Draw the plot in h lines, beginning at line y; returns the line below the plot. */
int solve_view_plot(struct canvas *c, const struct solve *v, int y, int h)
{
    char last[32];
    struct plot p = plot_of(c, v, y, h);
    plot_scale(c, &p, v->set.tol);
    draw_curve(c, &p, v);
    draw_truth(c, &p, v);
    canvas_text(c, p.x, p.y + p.h + 1, ST_AXIS, "0");
    show_count(v->iterations, last, sizeof last);
    draw_right(c, p.x + p.w, p.y + p.h + 1, ST_AXIS, last);
    draw_legend(c, &p, v, p.w - 3 - text_width(last));
    return p.y + p.h + 2;
}
