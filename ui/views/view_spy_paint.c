/* The picture of a matrix in a file: a cell of counts is one or more pixels. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "session/matrix.h"
#include "ui/draw.h"
#include "ui/figure.h"
#include "ui/paint.h"
#include "view_spy.h"

#include <math.h>
#include <string.h>

enum { NOTHING = ST_COUNT }; /* the style of an empty cell */

struct pixels {
    struct window win;
    int w, h;  /* size in cells */
    int scale; /* pixels per cell */
    int left, top;
    enum spy_by by;
    uint32_t *n;
    struct cell_values values;
    uint8_t *style;
    double least, most; /* lowest and highest density or magnitude of the cells that are not empty */
    unsigned sets;      /* which sets of signs occur: bit 1 << spy_signed() */
    const char *owners; /* the title of the legend of owners */
};

static int64_t begin_of(int64_t from, int64_t n, int cells, int k)
{
    return from + ((int64_t)k * n + cells - 1) / cells;
}

static double share_of(const struct pixels *x, int i)
{
    const struct window *v = &x->win;
    int row = i / x->w, col = i % x->w;
    int64_t rows = begin_of(0, v->row1 - v->row0, x->h, row + 1) - begin_of(0, v->row1 - v->row0, x->h, row);
    int64_t cols = begin_of(0, v->col1 - v->col0, x->w, col + 1) - begin_of(0, v->col1 - v->col0, x->w, col);
    return (double)x->n[i] / ((double)rows * (double)cols);
}

static int step_of(const struct pixels *x, double tone)
{
    if (x->most <= x->least) return RAMP_STEPS - 1;
    int k = (int)(log(tone / x->least) / log(x->most / x->least) * RAMP_STEPS);
    return k < 0 ? 0 : k < RAMP_STEPS ? k : RAMP_STEPS - 1;
}

/* Make cells square; if one side of the picture would be too thin to see, draw it thicker. */
static void fit_pixels(struct pixels *x, int w, int h)
{
    enum { THIN = 8 };
    int64_t rows = x->win.row1 - x->win.row0, cols = x->win.col1 - x->win.col0;
    double step = fmax((double)rows / h, (double)cols / w);
    if (step <= 1) {
        x->scale = (int)(1 / step);
        x->h = (int)rows;
        x->w = (int)cols;
        return;
    }
    double down = fmax((double)rows / step, rows < THIN ? (double)rows : THIN);
    double across = fmax((double)cols / step, cols < THIN ? (double)cols : THIN);
    x->scale = 1;
    x->h = (int)fmin(ceil(down - 1e-9), h);
    x->w = (int)fmin(ceil(across - 1e-9), w);
}

/* The density or largest |a| that the shade of cell i shows. */
static double tone_of(const struct pixels *x, int i)
{
    return x->by == SPY_MAGNITUDE ? cell_largest(&x->values, i) : share_of(x, i);
}

static void find_range(struct pixels *x)
{
    x->least = INFINITY;
    x->most = 0;
    for (int i = 0; i < x->w * x->h; i++) {
        double tone = x->n[i] ? tone_of(x, i) : 0;
        if (!(tone > 0) || isinf(tone)) continue;
        x->least = fmin(x->least, tone);
        x->most = fmax(x->most, tone);
    }
}

static uint8_t look_of(struct pixels *x, int i)
{
    if (!x->n[i]) return NOTHING;
    if (x->by == SPY_OWNER) {
        x->sets |= x->values.signs[i];
        return (uint8_t)spy_owners_style(x->values.signs[i]);
    }
    if (x->by == SPY_SIGN) {
        x->sets |= 1U << spy_signed(x->values.signs[i]);
        return (uint8_t)spy_signs_style(x->values.signs[i]);
    }
    double tone = tone_of(x, i);
    return (uint8_t)(tone > 0 ? ST_RAMP + step_of(x, tone) : ST_DIM);
}

/* Draw the cells of each style; adjacent cells in a row become one rectangle. */
static void paint_cells(struct painter *p, const struct pixels *x, bool light)
{
    for (int st = 0; st < ST_COUNT; st++) {
        if (!memchr(x->style, st, (size_t)x->w * (size_t)x->h)) continue;
        p->fill(p, paint_colour((enum style)st, light));
        for (int y = 0; y < x->h; y++)
            for (int col = 0, from; col < x->w; col++) {
                for (from = col; col < x->w && x->style[y * x->w + col] == st;) col++;
                if (col > from)
                    p->rect(p, x->left + from * x->scale, x->top + y * x->scale, (col - from) * x->scale, x->scale);
            }
        p->done(p);
    }
}

static void paint_frame(struct painter *p, int x, int y, int w, int h, bool light)
{
    p->fill(p, paint_colour(ST_AXIS, light));
    p->rect(p, x - 1, y - 1, w + 2, 1);
    p->rect(p, x - 1, y + h, w + 2, 1);
    p->rect(p, x - 1, y, 1, h);
    p->rect(p, x + w, y, 1, h);
    p->done(p);
}

static void put_line(struct painter *p, int row, enum style st, bool light, const char *text, int most)
{
    char line[512];
    int cells;
    size_t n = text_fit(text, most, &cells);
    snprintf(line, sizeof line, "%.*s", (int)n, text);
    if (cells > 0) p->text(p, p->cw, row, paint_colour(st, light), st == ST_TITLE, line, cells);
}

/* Draw the ends of the ramp and the ramp between them, at pixel y. */
static void paint_ramp(struct painter *p, const struct pixels *x, int y, bool light)
{
    bool count = x->by == SPY_COUNT;
    char low[64], high[32];
    snprintf(low, sizeof low, count ? "filled %.3g%%" : "largest |a| %.3g", count ? 100 * x->least : x->least);
    snprintf(high, sizeof high, count ? "%.3g%%" : "%.3g (log)", count ? 100 * x->most : x->most);
    put_line(p, y, ST_DIM, light, x->most > 0 ? low : "nothing is stored here", 60);
    if (x->most <= x->least) return;
    int at = ((int)strlen(low) + 2) * p->cw;
    for (int k = 0; k < RAMP_STEPS; k++) {
        p->fill(p, paint_colour(ST_RAMP + k, light));
        p->rect(p, at + 2 * k * p->cw, y + p->ch / 8, 2 * p->cw, p->ch * 3 / 4);
        p->done(p);
    }
    p->text(p, at + (2 * RAMP_STEPS + 1) * p->cw, y, paint_colour(ST_DIM, light), false, high, (int)strlen(high));
}

/* Draw a square and a name for each set of signs in the picture. */
static void paint_signs(struct painter *p, const struct pixels *x, int y, bool light)
{
    static const uint8_t sets[] = {SIGN_PLUS, SIGN_MINUS, SIGN_PLUS | SIGN_MINUS, 0};
    int at = p->cw;
    for (int i = 0; i < COUNT(sets); i++) {
        const char *name = sets[i] ? spy_signs_name(sets[i]) : "0";
        if (!(x->sets & 1U << sets[i])) continue;
        p->fill(p, paint_colour(spy_signs_style(sets[i]), light));
        p->rect(p, at, y + p->ch / 8, p->ch * 3 / 4, p->ch * 3 / 4);
        p->done(p);
        p->text(p, at + 2 * p->cw, y, paint_colour(ST_DIM, light), false, name, (int)strlen(name));
        at += (4 + (int)strlen(name)) * p->cw;
    }
}

/* Draw a square and a number for each colour of parts, and one for columns of other parts. */
static void paint_owners(struct painter *p, const struct pixels *x, int y, bool light)
{
    int at = p->cw, n = (int)strlen(x->owners);
    p->text(p, at, y, paint_colour(ST_DIM, light), false, x->owners, n);
    at += n * p->cw;
    for (int k = 0; k <= SPY_OWNERS; k++) {
        char name[32];
        if (!(x->sets & 1U << k)) continue;
        snprintf(name, sizeof name, k == SPY_OWNERS ? "column of another part" : "%d", k);
        p->fill(p, paint_colour(spy_owners_style((uint8_t)(1 << k)), light));
        p->rect(p, at, y + p->ch / 8, p->ch * 3 / 4, p->ch * 3 / 4);
        p->done(p);
        p->text(p, at + 2 * p->cw, y, paint_colour(ST_DIM, light), false, name, (int)strlen(name));
        at += (4 + (int)strlen(name)) * p->cw;
    }
}

/* Draw axes with the numbers of rows and columns. A tick is in the middle of its row or column. */
static bool paint_axes(struct painter *p, const struct pixels *x, bool names, bool light, struct err *e)
{
    const struct window *v = &x->win;
    struct figure f = {0};
    struct ruler rows = {RULER_WHOLE, (double)v->row0, (double)v->row1 - 1, NULL};
    struct ruler cols = {RULER_WHOLE, (double)v->col0, (double)v->col1 - 1, NULL};
    double wide = (double)(x->w * x->scale) / p->cw, high = (double)(x->h * x->scale) / p->ch;
    double left = (double)x->left / p->cw, top = (double)x->top / p->ch;
    double half_row = high / (double)(v->row1 - v->row0) / 2, half_col = wide / (double)(v->col1 - v->col0) / 2;
    if (cols.high > cols.low)
        axis_across(&f, &cols, left + half_col, top + high, wide - 2 * half_col, 0, names ? "columns" : "");
    if (rows.high > rows.low) axis_down(&f, &rows, left - 0.5 / p->cw, top + half_row, high - 2 * half_row);
    bool ok = !f.failed || fail(e, E_MEMORY, "not enough memory for the picture");
    if (ok) figure_paint(&f, p, light);
    figure_free(&f);
    return ok;
}

static void paint_titles(struct painter *p, const struct matrix *m, const struct window *v, enum spy_by by, int w,
                         bool light)
{
    char name[256], a[32], b[32], c[32], line[512];
    int most = w / p->cw - 2;
    snprintf(line, sizeof line, "%s  %s x %s, %s nnz%s", show_safe(m->name, name, sizeof name),
             show_count(m->csr.rows, a, sizeof a), show_count(m->csr.cols, b, sizeof b),
             show_count(m->csr.nnz, c, sizeof c),
             by == SPY_COUNT   ? ""
             : by == SPY_SIGN  ? "  by sign"
             : by == SPY_OWNER ? "  by owner"
                               : "  by magnitude");
    put_line(p, p->ch / 4, ST_TITLE, light, line, most);
    if (v->row0 == 0 && v->col0 == 0 && v->row1 >= m->csr.rows && v->col1 >= m->csr.cols) return;
    snprintf(line, sizeof line, "rows %lld to %lld, columns %lld to %lld, counted from 0", (long long)v->row0,
             (long long)v->row1 - 1, (long long)v->col0, (long long)v->col1 - 1);
    put_line(p, p->ch * 5 / 4, ST_DIM, light, line, most);
}

static bool fill_cells(struct pixels *x, const struct matrix *m, struct watch *watch, struct err *e)
{
    const struct csr *A = &m->csr;
    int64_t n = (int64_t)x->w * x->h;
    x->n = mem_zero(n, sizeof *x->n, "the picture", e);
    x->style = x->n ? mem_new(n, 1, "the picture", e) : NULL;
    if (!x->style || !density_of(A, x->win, x->h, x->w, x->n, watch, e)) return false;
    if (x->by != SPY_COUNT) {
        if (!cell_values_new(&x->values, x->h, x->w, e)) return false;
        x->values.marker = spy_marker(m, x->by);
        if (!cell_values_of(A, x->win, &x->values, watch, e)) return false;
    }
    find_range(x);
    for (int i = 0; i < n; i++) x->style[i] = look_of(x, i);
    return true;
}

static int digits_of(int64_t n)
{
    char text[32];
    return text_width(show_count(n, text, sizeof text));
}

bool spy_paint(struct painter *p, const struct matrix *m, struct window win, enum spy_by by, int w, int h, bool light,
               struct watch *watch, struct err *e)
{
    struct pixels x = {.win = win, .by = by, .top = 5 * p->ch / 2, .owners = spy_owners_title(m)};
    bool any = win.row1 > win.row0 && win.col1 > win.col0;
    int margin = any ? (digits_of(win.row1 - 1) + 2) * p->cw : p->cw;
    int room_w = w - margin - p->cw, room_h = h - x.top - 5 * p->ch / 2;
    if (room_w < 8 || room_h < 8)
        return fail(e, E_USAGE, "%d x %d pixels are too few for the picture; give a larger `size`", w, h);
    if (any) fit_pixels(&x, room_w, room_h);
    int wide = x.w * x.scale, high = x.h * x.scale, middle = (w - wide) / 2;
    x.left = middle > margin ? middle : margin;
    bool ok = fill_cells(&x, m, watch, e);
    if (ok) {
        paint_titles(p, m, &win, by, w, light);
        paint_frame(p, x.left, x.top, wide, high, light);
        paint_cells(p, &x, light);
        (!m->csr.nnz       ? paint_ramp
         : by == SPY_SIGN  ? paint_signs
         : by == SPY_OWNER ? paint_owners
                           : paint_ramp)(p, &x, x.top + high + 9 * p->ch / 8, light);
        ok = !any || paint_axes(p, &x, w > 70 * p->cw, light, e);
    }
    cell_values_free(&x.values);
    mem_free(x.n);
    mem_free(x.style);
    return ok;
}
