/* A solve as it goes on: the residual by iteration on a log scale, its rate, and where the time goes. */
#include "ui.h"

#include <math.h>
#include <string.h>

/* Lines of the picture besides the plot and the figures: title and device above, axis, phases and state below; on a
   small screen title, axis and the first line of the state. */
enum { LEFT = 8, PLOT_TOP = 3, AROUND = PLOT_TOP + 6, SMALL_TOP = 1, SMALL_AROUND = SMALL_TOP + 3, RECENT = 20 };

double solve_rate(const struct solve *v)
{
    int64_t n = v->iterations < RECENT ? v->iterations : RECENT;
    if (n < 1 || !v->hist) return 0;
    double rate = pow(v->hist[v->iterations] / v->hist[v->iterations - n], 1.0 / (double)n);
    return isfinite(rate) ? rate : 0;
}

/* ---- the plot ---- */

static bool can_plot(double residual)
{
    return residual > 0 && isfinite(residual);
}

/* The canvas cells of the plot, and the decades its height spans. */
struct plot {
    int x, y, w, h;
    double low, high;
};

static struct plot plot_of(const struct solve *v, int y, int w, int h)
{
    struct plot p = {LEFT, y, w - LEFT - 2, h, 0, 0};
    double least = v->tol > 0 ? v->tol : 1, most = 1;
    for (int64_t i = 0; i <= v->iterations; i++) {
        double r = v->hist[i];
        if (!can_plot(r)) continue;
        if (r < least) least = r;
        if (r > most) most = r;
    }
    p.low = floor(log10(least));
    p.high = ceil(log10(most) - 0.01);
    if (p.high - p.low < 1) p.high = p.low + 1;
    return p;
}

/* The dot, of `dots` from the top, at which a residual lies. */
static int level(const struct plot *p, double residual, int dots)
{
    double t = (p->high - log10(residual)) / (p->high - p->low);
    int d = (int)(t * dots);
    return d < 0 ? 0 : d < dots ? d : dots - 1;
}

static void draw_scale(struct canvas *c, const struct plot *p, const struct solve *v)
{
    char text[32];
    int every = (int)ceil((p->high - p->low) * 2 / p->h);
    for (int d = (int)p->high; d >= p->low; d -= every > 0 ? every : 1) {
        int y = p->y + level(p, pow(10, d), p->h);
        snprintf(text, sizeof text, "1e%+03d", d);
        draw_right(c, p->x - 1, y, ST_AXIS, text);
    }
    for (int y = p->y; y < p->y + p->h; y++) canvas_put(c, p->x - 1, y, ST_AXIS, 0x2502);
    canvas_put(c, p->x - 1, p->y + p->h, ST_AXIS, 0x2514);
    draw_fill(c, p->x, p->y + p->h, p->w, ST_AXIS, 0x2500);
    if (!(v->tol > 0)) return;
    int y = p->y + level(p, v->tol, p->h);
    for (int x = p->x; x < p->x + p->w; x += 2) canvas_put(c, x, y, ST_PLOT_B, 0xb7);
    canvas_text(c, p->x, y, ST_PLOT_B, "tol ");
}

/* Between two iterations the line is straight, on the log scale. */
static double between(const struct solve *v, double at)
{
    int64_t i = (int64_t)at, next = i < v->iterations ? i + 1 : i;
    return v->hist[i] * pow(v->hist[next] / v->hist[i], at - (double)i);
}

/* The range of residuals in dot column k of n: of all its iterations, when there are more of them than columns. */
static bool column_range(const struct solve *v, int k, int n, double *low, double *high)
{
    int64_t all = v->iterations + 1;
    if (all < n) {
        *low = *high = between(v, (double)v->iterations * k / (n - 1));
        return can_plot(*low);
    }
    *low = INFINITY;
    *high = 0;
    for (int64_t i = k * all / n; i < (k + 1) * all / n; i++) {
        if (!can_plot(v->hist[i])) continue;
        *low = fmin(*low, v->hist[i]);
        *high = fmax(*high, v->hist[i]);
    }
    return *high > 0;
}

static void set_dot(struct canvas *c, const struct plot *p, int x, int y)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int cx = p->x + x / 2, cy = p->y + y / 4;
    if (cx >= c->w || cy >= c->h) return;
    if (c->ascii) {
        canvas_put(c, cx, cy, ST_PLOT_A, '*');
        return;
    }
    uint32_t was = c->cell[cy * c->w + cx].glyph;
    uint32_t dots = was >= 0x2800 && was <= 0x28ff ? was : 0x2800;
    canvas_put(c, cx, cy, ST_PLOT_A, dots | bit[y % 4][x % 2]);
}

/* A line: each dot column from where the last one ended. */
static void draw_curve(struct canvas *c, const struct plot *p, const struct solve *v)
{
    int before = -1, columns = p->w * 2;
    for (int k = 0; k < columns; k++) {
        double low, high;
        if (!column_range(v, k, columns, &low, &high)) continue;
        int top = level(p, high, p->h * 4), bottom = level(p, low, p->h * 4);
        if (before >= 0 && before < top) top = before;
        if (before > bottom) bottom = before;
        for (int y = top; y <= bottom; y++) set_dot(c, p, k, y);
        before = level(p, low, p->h * 4);
    }
}

/* The line below it. */
static int draw_plot(struct canvas *c, const struct solve *v, int y, int h)
{
    char last[32];
    struct plot p = plot_of(v, y, c->w, h);
    draw_scale(c, &p, v);
    draw_curve(c, &p, v);
    canvas_text(c, p.x, p.y + p.h + 1, ST_AXIS, "0");
    draw_right(c, p.x + p.w, p.y + p.h + 1, ST_AXIS, show_count(v->iterations, last, sizeof last));
    return p.y + p.h + 2;
}

/* ---- the figures below ---- */

static char *show_time(double us, char *out, size_t size)
{
    snprintf(out, size,
             us < 1e3   ? "%.1f us"
             : us < 1e6 ? "%.2f ms"
                        : "%.2f s",
             us < 1e3   ? us
             : us < 1e6 ? us / 1e3
                        : us / 1e6);
    return out;
}

/* Where the next figure goes: beside the last one, or, when it does not fit there, on the next line. */
struct pen {
    int x, y;
};

static void item(struct canvas *c, struct pen *at, const char *name, const char *value)
{
    if (at->x > 1 && at->x + text_width(name) + 1 + text_width(value) > c->w) *at = (struct pen){1, at->y + 1};
    int x = canvas_text(c, at->x, at->y, ST_DIM, "%s ", name);
    at->x = canvas_text(c, x, at->y, ST_BOLD, "%s", value) + 3;
}

/* The line below them. */
static int draw_figures(struct canvas *c, const struct solve *v, int y)
{
    char text[64];
    double rate = solve_rate(v);
    struct pen at = {1, y};
    item(c, &at, "iteration", show_count(v->iterations, text, sizeof text));
    snprintf(text, sizeof text, "%.3e", v->residual);
    item(c, &at, "residual", text);
    snprintf(text, sizeof text, rate > 0 ? "%.4f" : "-", rate);
    item(c, &at, "rate", text);
    item(c, &at, "time", show_time(v->us, text, sizeof text));
    if (v->us > 0 && v->iterations > 0)
        item(c, &at, "each", show_time(v->us / (double)v->iterations, text, sizeof text));
    return at.y + 1;
}

/* One bar cut by the share of each phase, with the names under it. */
static void draw_phases(struct canvas *c, const struct solve *v, int y)
{
    double all = 0, sum = 0;
    int width = c->w - 2, from = 1, x = 1;
    for (int i = 0; i < v->nphases; i++) all += v->phase[i].us;
    for (int i = 0; i < v->nphases && all > 0; i++) {
        enum style st = ST_ROW + (unsigned)(i % ROW_COLOURS);
        sum += v->phase[i].us;
        int to = 1 + (int)lround(sum / all * width);
        /* Without colours a letter tells the phases apart. */
        draw_fill(c, from, y, to - from, st, c->colours ? 0x2588 : (uint32_t)v->phase[i].name[0]);
        from = to;
        if (x + text_width(v->phase[i].name) + 5 > c->w) continue;
        x = canvas_text(c, x, y + 1, st, "%s", v->phase[i].name);
        x = canvas_text(c, x, y + 1, ST_DIM, " %.0f%%", 100 * v->phase[i].us / all) + 3;
    }
}

static void draw_state(struct canvas *c, const struct solve *v, int y)
{
    if (v->reason == RUNNING) {
        canvas_text(c, 1, y, v->paused ? ST_WARN : ST_PLAIN, v->paused ? "paused" : "running");
        return;
    }
    draw_wrapped(c, 1, y, 2, v->reason == CONVERGED ? ST_GOOD : ST_BAD, v->why[0] ? v->why : reason_text(v->reason));
}

static void draw_about(struct canvas *c, const struct solve *v)
{
    char text[200];
    snprintf(text, sizeof text, "||r|| / ||b|| by iteration, log scale; on %s, %s%s%s, %s", v->dev->name,
             v->product ? v->product->S.format->name : "", v->kernel ? ", " : "", v->kernel ? v->kernel->name : "",
             type_name(v->real));
    draw_wrapped(c, 1, 1, PLOT_TOP - 1, ST_DIM, text);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct solve *v = s->solve;
    draw_title(c, v ? v->solver->name : "solve", v ? v->matrix : NULL, "%s", "");
    if (!v || !v->hist) {
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, "nothing was solved yet: `solve cg` or `solve jacobi` does");
        return;
    }
    int lines = draw_figures(c, v, c->h) - c->h; /* outside, only to count them */
    int room = c->h - lines - (st->full ? 1 : 0);
    bool small = room < AROUND + 3;
    int h = room - (small ? SMALL_AROUND : AROUND), y = small ? SMALL_TOP : PLOT_TOP;
    if (!small) draw_about(c, v);
    if (h > 1 && c->w >= 30) y = draw_plot(c, v, y, h);
    y = draw_figures(c, v, y);
    if (!small) draw_phases(c, v, y);
    draw_state(c, v, y + (small ? 0 : 2));
}

/* Steps are for a solve that goes on; what steps it is whoever called live. */
static bool key(struct session *s, struct view_state *st, int k)
{
    struct solve *v = s->solve;
    (void)st;
    if (!v || v->reason != RUNNING) return false;
    if (k == ' ') v->paused = !v->paused, v->steps_left = 0;
    if (k == 's' || k == UI_ENTER) v->paused = false, v->steps_left = 1;
    if (k == 'n') v->paused = false, v->steps_left = 10;
    return true;
}

const struct view view_solve = {
    .name = "solve",
    .about = "the residual of a solve by iteration, its rate, and the time by phase",
    .keys = "? help  q leave  space pause or go on  s one step  n ten steps  x stop, keep x",
    .any = true,
    .draw = draw,
    .key = key,
};
