/* The predicted gain of several GPUs over one, for a product and for an iteration of cg: both scales are logarithms to
   the base 2, and a dotted line is the ideal. */
#include "base/text.h"
#include "commands/cmd_whatif_parts.h"
#include "machine/kernel.h"
#include "microscope/link.h"
#include "microscope/scaling.h"
#include "parts/partition.h"
#include "session/matrix.h"
#include "session/session.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/plot.h"
#include "ui/term.h"
#include "ui/view.h"
#include "view_state.h"

#include <math.h>

enum { TOP = 4, LEFT = 7, BELOW = 3, NOTE = 2, MIN_WIDTH = 24, MIN_LINES = 4, DOTS_ACROSS = 2, DOTS_DOWN = 4 };

static const char missing[] = "nothing was predicted yet; use `whatif parts 1 2 4 8`";

static const struct scaling *scaling_of(const struct session *s)
{
    return s->current ? s->current->scaling : NULL;
}

static bool exists(const struct session *s)
{
    return scaling_of(s) != NULL;
}

static const char *nothing(const struct session *s)
{
    return exists(s) ? NULL : missing;
}

/* ---- scales ---- */

/* The plot in cells, with logarithms to the base 2 of the numbers of GPUs and of the gains at its edges. */
struct sheet {
    struct plot p;
    double left, right, low, high;
};

static double gain(const struct scaling *c, int i, bool cg)
{
    return cg ? scaling_cg_gain(c, i) : scaling_gain(c, i);
}

/* The ideal line leaves the sheet above twice the largest gain. */
static struct sheet sheet_of(const struct canvas *c, const struct scaling *g, int h)
{
    struct sheet t = {.p = {.x = LEFT, .y = TOP, .w = c->w - LEFT - 2, .h = h}, .high = 1};
    t.left = floor(log2(g->point[0].parts));
    t.right = fmax(t.left + 1, ceil(log2(g->point[g->n - 1].parts)));
    for (int i = 0; i < 2 * g->n; i++) {
        double y = log2(gain(g, i / 2, i % 2));
        if (!isfinite(y)) continue;
        t.low = fmin(t.low, floor(y));
        t.high = fmax(t.high, ceil(y + 0.5));
    }
    return t;
}

static double across(const struct sheet *t, double parts)
{
    return (log2(parts) - t->left) / (t->right - t->left);
}

static double down(const struct sheet *t, double value)
{
    return (t->high - log2(value)) / (t->high - t->low);
}

/* ---- drawing ---- */

static int step_of(double range, int room)
{
    int step = 1;
    while (range / step > room) step++;
    return step;
}

/* "1", "2", "4", "1/2": a power of two */
static char *show_power(int k, char *out, size_t size)
{
    char n[32];
    snprintf(out, size, k < 0 ? "1/%s" : "%s", show_count((int64_t)1 << (k < 0 ? -k : k), n, sizeof n));
    return out;
}

static void draw_scale_up(struct canvas *c, const struct sheet *t)
{
    char text[48];
    const struct plot *p = &t->p;
    for (int k = (int)t->low; k <= (int)t->high; k += step_of(t->high - t->low, p->h / 2)) {
        double at = down(t, exp2(k)) * p->h;
        show_power(k, text, sizeof text);
        if (c->figure) {
            figure_words(c->figure, ST_AXIS, SIDE_RIGHT, p->x - 0.5, p->y + at - 0.5, text);
            figure_stroke(c->figure, ST_AXIS, k ? 0.3 : 0.8, p->x, p->y + at, p->x + p->w, p->y + at);
        } else {
            int y = at < p->h ? (int)at : p->h - 1;
            draw_right(c, p->x - 1, p->y + y, ST_AXIS, text);
            if (!k) draw_fill(c, p->x, p->y + y, p->w, ST_PAD, 0xb7); /* as fast as one GPU */
        }
    }
}

static void draw_scale_across(struct canvas *c, const struct sheet *t)
{
    char text[48];
    const struct plot *p = &t->p;
    int step = step_of(t->right - t->left, p->w / 8);
    for (int k = (int)t->left; k <= (int)t->right; k += step) {
        double at = across(t, exp2(k)) * p->w;
        show_power(k, text, sizeof text);
        if (c->figure) {
            bool last = k == (int)t->right;
            figure_words(c->figure, ST_AXIS, last ? SIDE_RIGHT : SIDE_MIDDLE, p->x + at + last, p->y + p->h + 0.2,
                         text);
            figure_stroke(c->figure, ST_AXIS, 0.3, p->x + at, p->y, p->x + at, p->y + p->h);
        } else {
            int x = p->x + (int)at - text_width(text) / 2;
            canvas_text(c, x + text_width(text) < c->w ? x : c->w - text_width(text) - 1, p->y + p->h + 1, ST_AXIS,
                        "%s", text);
        }
    }
    canvas_text(c, 1, p->y + p->h + 1, ST_DIM, "GPUs");
}

static void draw_frame(struct canvas *c, const struct sheet *t)
{
    const struct plot *p = &t->p;
    draw_scale_up(c, t);
    draw_scale_across(c, t);
    if (c->figure) return;
    for (int y = p->y; y < p->y + p->h; y++) canvas_put(c, p->x - 1, y, ST_AXIS, 0x2502);
    canvas_put(c, p->x - 1, p->y + p->h, ST_AXIS, 0x2514);
    draw_fill(c, p->x, p->y + p->h, p->w, ST_AXIS, 0x2500);
}

/* One dot of a curve, at 0 <= x <= 1 and y >= 0 of the sheet; outside: not drawn. */
static void dot(struct canvas *c, const struct sheet *t, double x, double y, enum style st, char letter)
{
    int w = t->p.w * DOTS_ACROSS, h = t->p.h * DOTS_DOWN, k = (int)(y * h);
    if (y < 0 || y > 1) return;
    int at = (int)(x * w);
    plot_dot(c, &t->p, at < w ? at : w - 1, k < h ? k : h - 1, st, letter);
}

/* A straight line between two points of the sheet. */
static void draw_line(struct canvas *c, const struct sheet *t, double x0, double y0, double x1, double y1,
                      enum style st, char letter, int every)
{
    const struct plot *p = &t->p;
    if (c->figure) {
        figure_stroke(c->figure, st, 1, p->x + x0 * p->w, p->y + y0 * p->h, p->x + x1 * p->w, p->y + y1 * p->h);
        return;
    }
    int n = (int)fmax(fabs(x1 - x0) * p->w * DOTS_ACROSS, fabs(y1 - y0) * p->h * DOTS_DOWN) + 1;
    for (int i = 0; i <= n; i += every) dot(c, t, x0 + (x1 - x0) * i / n, y0 + (y1 - y0) * i / n, st, letter);
}

static void draw_ideal(struct canvas *c, const struct sheet *t)
{
    double end = fmin(t->right, t->high);
    if (end > t->left)
        draw_line(c, t, 0, down(t, exp2(t->left)), across(t, exp2(end)), down(t, exp2(end)), ST_DIM, '.', 3);
}

static void draw_curve(struct canvas *c, const struct sheet *t, const struct scaling *g, bool cg, enum style st)
{
    char letter = cg ? 'c' : 's';
    for (int i = 0; i < g->n; i++) {
        double x = across(t, g->point[i].parts), y = down(t, gain(g, i, cg));
        if (!isfinite(y)) return;
        if (i) draw_line(c, t, across(t, g->point[i - 1].parts), down(t, gain(g, i - 1, cg)), x, y, st, letter, 1);
    }
    for (int i = 0; i < g->n; i++) {
        double x = across(t, g->point[i].parts), y = down(t, gain(g, i, cg));
        if (c->figure)
            figure_circle(c->figure, st, t->p.x + x * t->p.w, t->p.y + y * t->p.h, 0.4);
        else
            canvas_put(c, t->p.x + (int)fmin(x * t->p.w, t->p.w - 1), t->p.y + (int)fmin(y * t->p.h, t->p.h - 1), st,
                       (uint32_t)letter);
    }
}

/* "s product   c iteration of cg   . ideal" */
static void draw_legend(struct canvas *c, const struct scaling *g)
{
    int x = canvas_text(c, 1, 2, ST_DIM, "times as fast as one GPU   ");
    x = canvas_text(c, x, 2, ST_PLOT_A, c->figure ? "product" : "s product");
    if (isfinite(g->point[0].cg_us))
        x = canvas_text(c, x, 2, ST_PLOT_B, c->figure ? "   iteration of cg" : "   c iteration of cg");
    canvas_text(c, x, 2, ST_DIM, "   . ideal");
}

static void draw_chosen(struct canvas *c, const struct scaling *g, int i)
{
    char spmv[32], cg[32], text[300];
    const struct scaling_point *p = &g->point[i];
    snprintf(text, sizeof text, "%s: product %s, %.2f times as fast, limited by the %s", how_many(p->parts, "GPU").text,
             show_us(p->spmv_us, spmv, sizeof spmv), scaling_gain(g, i), limit_names[p->spmv_limit]);
    if (isfinite(p->cg_us))
        text_append(text, sizeof text, "; cg %s, %.2f times, limited by the %s", show_us(p->cg_us, cg, sizeof cg),
                    scaling_cg_gain(g, i), limit_names[p->cg_limit]);
    draw_wrapped(c, 1, c->h - 1 - NOTE, NOTE, ST_PLAIN, text);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct scaling *g = scaling_of(s);
    if (!g) {
        draw_title(c, "speedup", s->current, " ");
        draw_wrapped(c, 1, 2, 3, ST_PLAIN, missing);
        return;
    }
    draw_title(c, "speedup", s->current, "predicted");
    canvas_text(c, 1, 1, ST_DIM, "%s, %s, rows divided by %s, %s (%s)", g->machine, g->kernel->name, g->way->name,
                g->link->name, link_origin(g->link));
    int h = c->h - TOP - BELOW - (st->full ? NOTE : 0);
    if (st->full && st->item >= g->n) st->item = g->n - 1;
    if (c->w < MIN_WIDTH || h < MIN_LINES) {
        draw_wrapped(c, 1, 2, 1, ST_DIM, "too small for a picture");
        if (st->full) draw_chosen(c, g, (int)st->item);
        return;
    }
    struct sheet t = sheet_of(c, g, h);
    draw_legend(c, g);
    draw_frame(c, &t);
    draw_ideal(c, &t);
    draw_curve(c, &t, g, true, ST_PLOT_B);
    draw_curve(c, &t, g, false, ST_PLOT_A);
    if (!st->full) return;
    double x = across(&t, g->point[st->item].parts);
    canvas_style(c, t.p.x + (int)fmin(x * t.p.w, t.p.w - 1),
                 t.p.y + (int)fmin(down(&t, scaling_gain(g, (int)st->item)) * t.p.h, t.p.h - 1), ST_CURSOR);
    draw_chosen(c, g, (int)st->item);
}

/* ---- keys and numbers ---- */

static bool key(struct session *s, struct view_state *st, int k)
{
    const struct scaling *g = scaling_of(s);
    if (!g) return false;
    st->item += (k == UI_RIGHT || k == UI_DOWN) - (k == UI_LEFT || k == UI_UP);
    if (k == UI_END || st->item >= g->n) st->item = g->n - 1;
    if (st->item < 0 || k == 'g' || k == UI_HOME) st->item = 0;
    return true;
}

/* One row per number of GPUs. */
static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    const struct scaling *g = scaling_of(s);
    struct out *o = s->out;
    for (int i = 0; i < g->n; i++) {
        const struct scaling_point *p = &g->point[i];
        out_row(o);
        out_str(o, "matrix", NULL, s->current->name);
        out_str(o, "kernel", NULL, g->kernel->name);
        out_str(o, "machine", NULL, g->machine);
        out_str(o, "way", NULL, g->way->name);
        out_str(o, "link", NULL, g->link->name);
        out_str(o, "link_known_by", NULL, link_origin(g->link));
        out_int(o, "parts", "GPUs", p->parts);
        out_time(o, "spmv_us", "spmv", p->spmv_us);
        out_num(o, "spmv_gain", "gain", scaling_gain(g, i), "%.2f");
        out_str(o, "spmv_limit", "limited by", limit_names[p->spmv_limit]);
        out_time(o, "cg_us", "cg", p->cg_us);
        out_num(o, "cg_gain", "cg gain", scaling_cg_gain(g, i), "%.2f");
        out_str(o, "cg_limit", "cg limited by", isfinite(p->cg_us) ? limit_names[p->cg_limit] : NULL);
    }
    return true;
}

const struct view view_speedup = {
    .name = "speedup",
    .about = "the gain that `whatif parts` predicted for several GPUs over one, for a product and an iteration of cg",
    .keys = "? help  q leave  left/right a number of GPUs  g first  End last",
    .rows = (const struct row_kind *const[]){&row_speedup, NULL},
    .exists = exists,
    .draw = draw,
    .key = key,
    .nothing = nothing,
    .numbers = numbers,
};
