/* The picture of a matrix: braille dots where nonzeros are, coloured by density; down to single elements by zooming. */
#include "cmd_view.h"
#include "paint.h"
#include "view_spy.h"

#include "../src/tracing.h"

#include <math.h>
#include <string.h>

enum { VALUE_WIDTH = 8, COMPLEX_WIDTH = 16, BLOCK_WIDTH = 2, THINNEST = 16, ZOOMED_LEAST = 2, SIGNS = 9 };
/* Beside the picture: its frame and the title; above 7 lines one is for the legend. */
enum { LEAST_WIDTH = 10, LEAST_HEIGHT = 6 };
enum { QUICK = 1 << 20 };                        /* entries that are counted before a frame is missed */
static const char sign[SIGNS + 1] = ".:-=+*#%@"; /* densities where there is no braille */

/* One direction of the picture: n elements from `from`, counted in `cells` cells, each `repeat` dots long. Cell k
   begins at element ceil(k * span / cells); span may pass n, so that every cell but the last is as long as the others.
 */
struct axis {
    int64_t from, n, span, each; /* each: elements in a cell where all hold as many, else 0; spares divisions */
    int cells, repeat;
};

struct picture {
    struct axis down, across;
    int dx, dy;  /* dots in a character: 2 x 4 of braille, or 1 x 1 */
    bool values; /* elements are written as numbers, `value` characters wide */
    int value;
    bool exact;     /* a cell is one element at most */
    int x, y, w, h; /* where it is on the canvas, without its frame */
};

static int64_t cell_begin(const struct axis *a, int64_t k)
{
    int64_t at = a->each ? k * a->each : (k * a->span + a->cells - 1) / a->cells;
    return a->from + (at < a->n ? at : a->n);
}

static int cell_of(const struct axis *a, int64_t i)
{
    return (int)((i - a->from) * a->cells / a->span);
}

/* Make the last cell as long as the others, as far as there are elements: it is counted as a whole. */
static void fill_last(struct axis *a, int64_t all)
{
    if (a->n < a->span) a->n = a->from + a->span < all ? a->span : all - a->from;
}

/* Fit n of all elements to `most` dots of about `step` elements: whole elements to a dot or whole dots to an element,
   unless that would shrink the picture by more than a fifth. */
static struct axis axis_of(int64_t from, int64_t n, int64_t all, double step, int most)
{
    struct axis a = {.from = from, .n = n, .span = n, .each = 1, .cells = (int)n, .repeat = 1};
    if (step * most < (double)n) step = (double)n / most;
    if (step <= 1) {
        a.repeat = (int)fmin(1 / step, (double)most / (double)n);
        return a;
    }
    int64_t whole = (int64_t)ceil(step - 1e-9);
    if ((double)whole <= 1.25 * step) {
        a.cells = (int)((n + whole - 1) / whole);
        a.span = whole * a.cells;
        a.each = whole;
        fill_last(&a, all);
    } else {
        a.each = 0;
        a.cells = (int)fmin(ceil((double)n / step - 1e-9), most);
    }
    return a;
}

/* The same with cells of whole multiples of 2^shift elements that begin at such, as sums need; no cells: none fit. */
static struct axis coarse_axis(int64_t from, int64_t n, int64_t all, double step, int most, int shift)
{
    if (shift == 0) return axis_of(from, n, all, step, most);
    int64_t begin = from >> shift << shift, end = (((from + n - 1) >> shift) + 1) << shift;
    if (end > all) end = all;
    struct axis a = {.from = begin, .n = end - begin, .repeat = 1};
    double grain = (double)((int64_t)1 << shift);
    step = fmax(step, (double)a.n / most);
    int64_t whole = (int64_t)ceil(step / grain - 1e-9) << shift;
    if ((double)whole > 1.25 * step) return a;
    a.cells = (int)((a.n + whole - 1) / whole);
    a.span = whole * a.cells;
    a.each = whole;
    fill_last(&a, all);
    return a;
}

/* A side much shorter than the other is drawn longer than it is, so that it can be seen. */
static double visible_step(double step, int64_t n)
{
    return (double)n / step >= THINNEST ? step : (double)n / THINNEST;
}

static void fit_dots(struct picture *p, const struct csr *A, const struct sums *sums, struct window win, int w, int h)
{
    int64_t rows = win.row1 - win.row0, cols = win.col1 - win.col0;
    /* A character is twice as high as wide: a braille dot is square, a whole character is two squares high. */
    double tall = p->dy == 1 ? 2 : 1;
    double step = fmax((double)rows / (tall * h * p->dy), (double)cols / (w * p->dx));
    if (p->dy > 1 && step < 1) step = 1 / floor(1 / step);
    double down = visible_step(step * tall, rows), across = visible_step(step, cols);
    if (sums->A) {
        p->down = coarse_axis(win.row0, rows, A->rows, down, h * p->dy, sums->down);
        p->across = coarse_axis(win.col0, cols, A->cols, across, w * p->dx, sums->across);
        if (p->down.cells && p->across.cells) return;
    }
    p->down = axis_of(win.row0, rows, A->rows, down, h * p->dy);
    p->across = axis_of(win.col0, cols, A->cols, across, w * p->dx);
}

/* Choose how to draw a window in w x h characters: as values, as blocks, or as dots. */
static struct picture picture_of(const struct csr *A, const struct sums *sums, struct window win, int w, int h,
                                 bool ascii, int value)
{
    struct picture p = {.dx = 1, .dy = 1, .value = value};
    int64_t rows = win.row1 - win.row0, cols = win.col1 - win.col0;
    if (rows <= h && cols * BLOCK_WIDTH <= w) {
        p.values = cols * value <= w;
        p.down = axis_of(win.row0, rows, A->rows, 1, h);
        p.across = axis_of(win.col0, cols, A->cols, 1, w);
        int64_t larger = p.values ? 1 : rows * 2 > h ? 1 : h / rows;
        while (larger > 1 && cols * BLOCK_WIDTH * larger > w) larger--;
        p.down.repeat = (int)larger;
        p.across.repeat = p.values ? value : BLOCK_WIDTH * (int)larger;
    } else {
        if (!ascii) p.dx = 2, p.dy = 4;
        fit_dots(&p, A, sums, win, w, h);
    }
    p.exact = p.down.cells == p.down.n && p.across.cells == p.across.n;
    p.w = (p.across.cells * p.across.repeat + p.dx - 1) / p.dx;
    p.h = (p.down.cells * p.down.repeat + p.dy - 1) / p.dy;
    return p;
}

/* Make a visible stretch `want` long where the matrix goes on. */
static void widen(int64_t *from, int64_t *to, int64_t want, int64_t all)
{
    int64_t n = want < all ? want : all;
    if (n <= *to - *from) return;
    *from = *from + n <= all ? *from : all - n;
    *to = *from + n;
}

/* Part of a matrix is shown as wide and high as the screen is; where values fit, with as many as fit. */
static void fill_screen(struct window *win, const struct csr *A, int w, int h, bool ascii, int value)
{
    int64_t rows = win->row1 - win->row0, cols = win->col1 - win->col0;
    if (rows == A->rows && cols == A->cols) return;
    double down = (ascii ? 2 : 4) * h, across = (ascii ? 1 : 2) * w;
    double step = fmax((double)rows / down, (double)cols / across);
    if (rows <= h && cols * value <= w) down = h, across = w / value, step = 1;
    widen(&win->row0, &win->row1, (int64_t)(step * down), A->rows);
    widen(&win->col0, &win->col1, (int64_t)(step * across), A->cols);
}

/* ---- counting ---- */

static void grid_free(struct grid *g)
{
    mem_free(g->n);
    mem_free(g->counting);
    sums_free(&g->sums);
    *g = (struct grid){0};
}

static struct window window_of(const struct picture *p)
{
    return (struct window){p->down.from, p->down.from + p->down.span, p->across.from, p->across.from + p->across.span};
}

/* Empty cells for the picture. */
static bool begin_grid(struct grid *g, const struct picture *p, struct err *e)
{
    mem_free(g->n);
    mem_free(g->counting);
    g->counting = NULL;
    g->win = window_of(p);
    g->h = p->down.cells;
    g->w = p->across.cells;
    g->guessed = g->no_room = false;
    g->n = mem_zero((int64_t)g->h * g->w, sizeof *g->n, "the picture", e);
    return g->n;
}

static bool is_quick(const struct csr *A, struct window win)
{
    int64_t end = win.row1 < A->rows ? win.row1 : A->rows;
    return A->rowptr[end] - A->rowptr[win.row0] <= QUICK;
}

/* Count what the picture shows, at once where that is quick or the text waits for it; else guess, until sums or work()
   know. */
static bool count(struct view_state *st, const struct csr *A, const struct picture *p, struct err *e)
{
    struct spy_state *spy = st->own;
    struct grid *g = &spy->grid;
    struct window win = window_of(p);
    bool same = g->n && !memcmp(&g->win, &win, sizeof win) && g->h == p->down.cells && g->w == p->across.cells;
    if (same && !g->guessed) return true;
    if (!same && !begin_grid(g, p, e)) return false;
    if (sums_ready(&g->sums) && sums_fit(&g->sums, win, g->h, g->w)) {
        sums_cells(&g->sums, win, g->h, g->w, g->n);
        g->guessed = false;
        return true;
    }
    if (same) return true;
    if (!st->full || is_quick(A, win)) return density_of(A, win, g->h, g->w, g->n, NULL, e);
    g->guessed = true;
    return density_sample(A, win, g->h, g->w, g->n, e);
}

/* A slice of the counting of a picture that sums cannot tell. */
static enum work count_on(const struct csr *A, struct grid *g)
{
    if (!g->counting) {
        g->counting = mem_zero((int64_t)g->h * g->w, sizeof *g->counting, "the picture", NULL);
        g->no_room = !g->counting || !density_begin(&g->rest, A, g->win, g->h, g->w, g->counting, NULL);
    }
    if (g->no_room) return WORK_NONE;
    if (density_more(&g->rest)) return WORK_ON;
    mem_free(g->n);
    g->n = g->counting;
    g->counting = NULL;
    g->guessed = false;
    return WORK_DRAW;
}

/* What is seen comes first, then the sums, so that they are there when the picture moves. */
static enum work work(struct session *s, struct view_state *st)
{
    struct spy_state *spy = st->own;
    struct grid *g = &spy->grid;
    if (!g->n || g->no_room) return WORK_NONE;
    if (g->guessed && !sums_fit(&g->sums, g->win, g->h, g->w)) return count_on(&s->current->csr, g);
    if (!g->sums.A || sums_ready(&g->sums)) return WORK_NONE;
    if (sums_more(&g->sums)) return WORK_ON;
    if (sums_ready(&g->sums)) return g->guessed ? WORK_DRAW : WORK_NONE;
    sums_free(&g->sums); /* no memory: without them the picture is counted itself */
    g->sums.down = g->sums.across = -1;
    return WORK_ON;
}

/* What one character shows: its dots, its nonzeros, and the elements it covers. */
struct spot {
    unsigned dots;
    double nonzeros, elements;
};

static double share_of(const struct axis *a, int cell)
{
    return (double)(cell_begin(a, cell + 1) - cell_begin(a, cell)) / a->repeat;
}

static struct spot spot_at(const struct picture *p, const struct grid *g, int x, int y)
{
    static const uint8_t bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    struct spot s = {0};
    for (int dot = 0; dot < p->dx * p->dy; dot++) {
        int i = dot / p->dx, j = dot % p->dx;
        int row = (y * p->dy + i) / p->down.repeat, col = (x * p->dx + j) / p->across.repeat;
        if (row >= g->h || col >= g->w) continue;
        uint32_t n = g->n[row * g->w + col];
        if (n) s.dots |= bit[i][j];
        s.nonzeros += (double)n / (p->down.repeat * p->across.repeat);
        s.elements += share_of(&p->down, row) * share_of(&p->across, col);
    }
    return s;
}

/* The range of densities in the picture. A narrow one is widened, so that chance looks even. */
struct shades {
    double low, high, span;
};

static struct shades shades_of(const struct picture *p, const struct grid *g)
{
    struct shades r = {1, 0, 64};
    for (int i = 0; i < p->w * p->h; i++) {
        struct spot s = spot_at(p, g, i % p->w, i / p->w);
        if (!(s.nonzeros > 0)) continue;
        r.low = fmin(r.low, s.nonzeros / s.elements);
        r.high = fmax(r.high, s.nonzeros / s.elements);
    }
    if (r.high > r.low * r.span) r.span = r.high / r.low;
    return r;
}

/* 0 .. steps-1 by the logarithm of the density. */
static int shade(const struct shades *r, double density, int steps)
{
    double t = 1 - log(r->high / density) / log(r->span);
    int k = (int)(t * steps);
    return k < 0 ? 0 : k < steps ? k : steps - 1;
}

/* ---- drawing ---- */

static void draw_frame(struct canvas *c, const struct picture *p)
{
    int x0 = p->x - 1, y0 = p->y - 1, x1 = p->x + p->w, y1 = p->y + p->h;
    draw_fill(c, p->x, y0, p->w, ST_AXIS, 0x2500);
    draw_fill(c, p->x, y1, p->w, ST_AXIS, 0x2500);
    for (int y = p->y; y < y1; y++) {
        canvas_put(c, x0, y, ST_AXIS, 0x2502);
        canvas_put(c, x1, y, ST_AXIS, 0x2502);
    }
    canvas_put(c, x0, y0, ST_AXIS, 0x250c);
    canvas_put(c, x1, y0, ST_AXIS, 0x2510);
    canvas_put(c, x0, y1, ST_AXIS, 0x2514);
    canvas_put(c, x1, y1, ST_AXIS, 0x2518);
}

/* The element at which character k of the picture begins. */
static int64_t element_at(const struct axis *a, int dots, int k)
{
    int cell = k * dots / a->repeat;
    return cell_begin(a, cell < a->cells ? cell : a->cells);
}

static void draw_axes(struct canvas *c, const struct picture *p)
{
    char text[32];
    int middle = p->h / 2;
    int64_t last_row = p->down.from + p->down.n - 1, last_col = p->across.from + p->across.n - 1;
    draw_right(c, p->x - 1, p->y, ST_AXIS, show_count(p->down.from, text, sizeof text));
    if (p->h > 8)
        draw_right(c, p->x - 1, p->y + middle, ST_AXIS,
                   show_count(element_at(&p->down, p->dy, middle), text, sizeof text));
    if (p->h > 1) draw_right(c, p->x - 1, p->y + p->h - 1, ST_AXIS, show_count(last_row, text, sizeof text));
    int end = canvas_text(c, p->x, p->y - 2, ST_AXIS, "%s", show_count(p->across.from, text, sizeof text));
    show_count(last_col, text, sizeof text);
    int x = p->x + p->w - text_width(text);
    if (p->across.n > 1) canvas_text(c, x > end + 1 ? x : end + 2, p->y - 2, ST_AXIS, "%s", text);
}

/* Entry k with the digits there is room for in `width` characters, one of them blank. */
static void draw_value(struct canvas *c, int x, int y, const struct csr *A, int64_t k, int width)
{
    char text[64];
    for (int digits = 4; digits > 0; digits--) {
        int n = A->imag ? snprintf(text, sizeof text, "%.*g%+.*gi", digits, A->val[k], digits, A->imag[k])
                        : snprintf(text, sizeof text, "%.*g", digits, A->val[k]);
        if (n < width) break;
    }
    draw_right(c, x + width - 1, y, ST_PLAIN, text);
}

static void draw_element(struct canvas *c, const struct csr *A, const struct picture *p, int i, int j)
{
    int64_t k = csr_find(A, p->down.from + i, p->across.from + j);
    int x = p->x + j * p->across.repeat, y = p->y + i * p->down.repeat;
    if (p->values && k >= 0) draw_value(c, x, y, A, k, p->value);
    if (p->values && k < 0) canvas_put(c, x + p->value - 2, y, ST_PAD, 0xb7);
    for (int line = 0; !p->values && k >= 0 && line < p->down.repeat; line++)
        draw_fill(c, x, y + line, p->across.repeat, ST_RAMP + 5, 0x2588);
}

static void draw_elements(struct canvas *c, const struct csr *A, const struct picture *p)
{
    for (int i = 0; i < p->down.cells; i++)
        for (int j = 0; j < p->across.cells; j++) draw_element(c, A, p, i, j);
}

static void draw_dots(struct canvas *c, const struct picture *p, const struct grid *g, const struct shades *r)
{
    for (int i = 0; i < p->w * p->h; i++) {
        int x = i % p->w, y = i / p->w;
        struct spot s = spot_at(p, g, x, y);
        if (!(s.nonzeros > 0)) continue;
        double density = s.nonzeros / s.elements;
        uint32_t glyph = p->dy == 1 ? (uint32_t)sign[shade(r, density, SIGNS)] : 0x2800 + s.dots;
        canvas_put(c, p->x + x, p->y + y, ST_RAMP + (unsigned)shade(r, density, RAMP_STEPS), glyph);
    }
}

/* "0.12%", "34%" */
static char *show_percent(double share, char *out, size_t size)
{
    snprintf(out, size, share < 0.1 ? "%.2g%%" : "%.0f%%", 100 * share);
    return out;
}

/* The shades in use, from the sparsest cell to the densest; without colours braille cannot show them. */
static void draw_shades(struct canvas *c, const struct picture *p, const struct shades *r, int x, int y)
{
    char low[32], high[32];
    const char *what = p->dy > 1 ? "; density of a cell" : "; its density";
    int first = shade(r, r->low, SIGNS);
    show_percent(r->low, low, sizeof low);
    show_percent(r->high, high, sizeof high);
    int rest = x + text_width(low) + text_width(high) + SIGNS - first + 9;
    if (rest + text_width(what) > c->w) what = "; density";
    if (rest + text_width(what) > c->w) return;
    x = canvas_text(c, x, y, ST_DIM, "%s %s", what, low);
    if (!strcmp(low, high)) return;
    if (!c->colours && p->dy > 1) {
        canvas_text(c, x, y, ST_DIM, " to %s", high);
        return;
    }
    x++;
    for (int k = first; k < SIGNS; k++)
        canvas_put(c, x++, y, ST_RAMP + (unsigned)(k * (RAMP_STEPS - 1) / (SIGNS - 1)),
                   p->dy > 1 ? 0x2588 : (uint32_t)sign[k]);
    canvas_text(c, x, y, ST_DIM, " %s (log)", high);
}

/* "15", "15-16" where not all cells are of one length, "1,500" where that makes no difference. */
static char *show_length(const struct axis *a, char *out, size_t size)
{
    int64_t n = a->span / a->cells;
    if (a->span % a->cells && n < 100)
        snprintf(out, size, "%lld-%lld", (long long)n, (long long)n + 1);
    else
        show_count(n, out, size);
    return out;
}

/* "1 dot = 6 x 6 elements; density of a cell 0.1% ████████ 4.4% (log)" */
static void draw_legend(struct canvas *c, const struct picture *p, const struct shades *r, int y)
{
    char rows[48], cols[48];
    if (p->values) return;
    if (p->exact) {
        canvas_text(c, 1, y, ST_DIM, "1 %s = 1 nonzero", p->dy > 1 && p->down.repeat == 1 ? "dot" : "block");
        return;
    }
    show_length(&p->down, rows, sizeof rows);
    show_length(&p->across, cols, sizeof cols);
    int x = canvas_text(c, 1, y, ST_DIM, "1 %s = %s x %s%s", p->dy > 1 ? "dot" : "sign", rows, cols,
                        c->w < 40 ? "" : " elements");
    draw_shades(c, p, r, x, y);
}

/* Where the cursor is, and what is there. */
struct under {
    int64_t row0, row1, col0, col1;
};

static int place_of(const struct axis *a, int dots, int64_t i)
{
    return cell_of(a, i) * a->repeat / dots;
}

static struct under under_cursor(const struct picture *p, const struct view_state *st)
{
    struct under u = {st->row, st->row + 1, st->col, st->col + 1};
    if (p->exact) return u;
    int y = place_of(&p->down, p->dy, st->row), x = place_of(&p->across, p->dx, st->col);
    return (struct under){element_at(&p->down, p->dy, y), element_at(&p->down, p->dy, y + 1),
                          element_at(&p->across, p->dx, x), element_at(&p->across, p->dx, x + 1)};
}

static void draw_cursor(struct canvas *c, const struct picture *p, const struct view_state *st)
{
    int y = p->y + place_of(&p->down, p->dy, st->row), x = p->x + place_of(&p->across, p->dx, st->col);
    int w = p->dx == 1 ? p->across.repeat : 1, h = p->dy == 1 ? p->down.repeat : 1;
    for (int i = 0; i < w * h; i++) canvas_style(c, x + i % w, y + i / w, ST_CURSOR);
}

/* Mark the elements that the lanes of the traced warp are at: a value before its digits, else the whole cell. */
static void draw_lit(struct canvas *c, const struct session *s, const struct picture *p)
{
    struct place lit[LANES];
    for (int n = trace_lit(s, s->current, lit), k = 0; k < n; k++) {
        int64_t row = lit[k].row - p->down.from, col = lit[k].col - p->across.from;
        if (row < 0 || row >= p->down.n || col < 0 || col >= p->across.n) continue;
        int y = p->y + place_of(&p->down, p->dy, lit[k].row), x = p->x + place_of(&p->across, p->dx, lit[k].col);
        int w = p->dx == 1 ? p->across.repeat : 1, h = p->dy == 1 ? p->down.repeat : 1;
        for (int i = 0; i < w * h; i++) canvas_style(c, x + i % w, y + i / w, ST_BAD);
        for (int i = 0; i < (p->values ? 1 : w * h); i++)
            if (!p->values || c->cell[y * c->w + x].glyph == ' ') canvas_put(c, x + i % w, y + i / w, ST_BAD, '>');
    }
}

/* The nonzeros of the cells from under.row0, col0 to row1, col1. */
static int64_t counted(const struct picture *p, const struct grid *g, struct under u)
{
    int64_t n = 0;
    int y1 = cell_of(&p->down, u.row1 - 1), x1 = cell_of(&p->across, u.col1 - 1);
    for (int y = cell_of(&p->down, u.row0); y <= y1; y++)
        for (int x = cell_of(&p->across, u.col0); x <= x1; x++) n += g->n[(int64_t)y * g->w + x];
    return n;
}

static void draw_status(struct canvas *c, const struct csr *A, const struct picture *p, const struct grid *g,
                        struct under u, int y)
{
    char a[32], b[32], d[32], f[32];
    if (u.row1 - u.row0 > 1 || u.col1 - u.col0 > 1) {
        canvas_text(c, 1, y, ST_PLAIN, "rows %s..%s, columns %s..%s: %s%s", show_count(u.row0, a, sizeof a),
                    show_count(u.row1 - 1, b, sizeof b), show_count(u.col0, d, sizeof d),
                    show_count(u.col1 - 1, f, sizeof f), g->guessed ? "about " : "",
                    how_many(counted(p, g, u), "nonzero").text);
        return;
    }
    int64_t k = csr_find(A, u.row0, u.col0);
    int x = canvas_text(c, 1, y, ST_PLAIN, "row %s, column %s: ", show_count(u.row0, a, sizeof a),
                        show_count(u.col0, b, sizeof b));
    if (k < 0)
        canvas_text(c, x, y, ST_DIM, "no entry");
    else if (A->imag)
        canvas_text(c, x, y, ST_BOLD, "%.17g %+.17gi", A->val[k], A->imag[k]);
    else
        canvas_text(c, x, y, ST_BOLD, "%.17g", A->val[k]);
}

/* What the picture is: told once it is known whether it is a guess. */
static void draw_head(struct canvas *c, const struct session *s, const struct view_state *st)
{
    const struct csr *A = &s->current->csr;
    const struct spy_state *spy = st->own;
    const char *guess = spy->grid.no_room ? "sampled: no memory to count all" : "sampled; counting all ...";
    struct place lit[LANES];
    draw_title(c, "spy", s->current, "%s%s", trace_lit(s, s->current, lit) ? "> at work in trace  " : "",
               !A->nnz             ? "nothing is stored"
               : spy->grid.guessed ? guess
                                   : "counted from 0");
}

static void draw_picture(struct canvas *c, const struct session *s, struct view_state *st, const struct picture *p)
{
    const struct csr *A = &s->current->csr;
    const struct grid *g = &((const struct spy_state *)st->own)->grid;
    struct shades r = shades_of(p, g);
    int below = st->full ? 3 : 1;
    draw_frame(c, p);
    draw_axes(c, p);
    if (p->exact && p->dy == 1)
        draw_elements(c, A, p);
    else
        draw_dots(c, p, g, &r);
    draw_lit(c, s, p);
    if (r.high > 0) draw_legend(c, p, &r, st->full ? c->h - below : p->y + p->h + 1);
    struct under u = under_cursor(p, st);
    st->row_step = u.row1 - u.row0;
    st->col_step = u.col1 - u.col0;
    if (!st->full) return;
    draw_cursor(c, p, st);
    draw_status(c, A, p, g, u, c->h - 2);
}

/* Sums are worth their memory where a matrix is large and can be moved about in. */
static void want_sums(struct grid *g, const struct csr *A, bool full)
{
    if (g->sums.A == A || g->sums.down < 0) return;
    sums_free(&g->sums);
    if (full && A->nnz > QUICK) sums_begin(&g->sums, A);
}

static void draw(struct canvas *c, struct session *s, struct view_state *st)
{
    const struct csr *A = &s->current->csr;
    struct spy_state *spy = st->own;
    struct err e = {0};
    char last[32];
    int left = text_width(show_count(st->win.row1, last, sizeof last)) + 2, below = st->full ? 3 : 1;
    int w = c->w - left - 2, h = c->h - 4 - below, value = A->imag ? COMPLEX_WIDTH : VALUE_WIDTH;
    bool room = c->h >= LEAST_HEIGHT + below && c->w >= left + LEAST_WIDTH, any = A->rows && A->cols;
    if (!any || !room) {
        draw_head(c, s, st);
        if (any) draw_wrapped(c, 1, 1, 2, ST_DIM, "too small for a picture");
        return;
    }
    want_sums(&spy->grid, A, st->full);
    if (st->full) fill_screen(&st->win, A, w, h, c->ascii, value);
    struct picture p = picture_of(A, &spy->grid.sums, st->win, w, h, c->ascii, value);
    p.x = left;
    p.y = 3;
    spy->drawn_w = w;
    spy->drawn_h = h;
    spy->drawn_ascii = c->ascii;
    bool ok = count(st, A, &p, &e);
    draw_head(c, s, st);
    if (ok)
        draw_picture(c, s, st, &p);
    else
        draw_wrapped(c, 1, 2, 4, ST_BAD, e.text);
}

/* ---- keys ---- */

static int64_t within(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* Shift a visible stretch, and no further than the matrix goes, until it shows the cursor. */
static void follow(int64_t *from, int64_t *to, int64_t at, int64_t all)
{
    int64_t n = *to - *from;
    if (at < *from) *from = at;
    if (at >= *to) *from = at - n + 1;
    *from = within(*from, 0, all - n);
    *to = *from + n;
}

/* Make a visible stretch `times` as long, the cursor staying where it is in it. */
static void rescale(int64_t *from, int64_t *to, int64_t at, int64_t all, double times)
{
    int64_t n = *to - *from, least = all < ZOOMED_LEAST ? all : ZOOMED_LEAST;
    int64_t size = within((int64_t)ceil((double)n * times), least, all);
    *from = within(at - (int64_t)((double)(at - *from) * (double)size / (double)n), 0, all - size);
    *to = *from + size;
}

static void step(struct view_state *st, int k)
{
    int64_t page = st->win.row1 - st->win.row0;
    switch (k) {
    case UI_UP:
        st->row -= st->row_step;
        break;
    case UI_DOWN:
        st->row += st->row_step;
        break;
    case UI_LEFT:
        st->col -= st->col_step;
        break;
    case UI_RIGHT:
        st->col += st->col_step;
        break;
    case UI_PGUP:
        st->row -= page;
        break;
    case UI_PGDN:
        st->row += page;
        break;
    case UI_END:
        st->row = st->rows - 1;
        st->col = st->cols - 1;
        break;
    }
}

/* Show the place in the middle, as near as the matrix's edges allow. */
static void centre(int64_t *from, int64_t *to, int64_t at, int64_t all)
{
    int64_t n = *to - *from;
    *from = at - n / 2;
    *to = *from + n;
    follow(from, to, at, all);
}

static bool go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    (void)s;
    st->row = row;
    if (col >= 0) st->col = col;
    centre(&st->win.row0, &st->win.row1, st->row, st->rows);
    centre(&st->win.col0, &st->win.col1, st->col, st->cols);
    return true;
}

static bool at(struct session *s, const struct view_state *st, int64_t *row, int64_t *col)
{
    (void)s;
    *row = st->row;
    *col = st->col;
    return st->row < st->rows && st->col < st->cols;
}

static bool key(struct session *s, struct view_state *st, int k)
{
    const struct csr *A = &s->current->csr;
    struct window *w = &st->win;
    double times = k == '+' || k == '=' ? 0.5 : k == '-' ? 2 : 1;
    if (A->rows == 0 || A->cols == 0) return false;
    if (k == 'g' || k == UI_HOME) {
        *w = (struct window){0, A->rows, 0, A->cols};
        st->row = st->col = 0;
    }
    step(st, k);
    st->row = within(st->row, 0, A->rows - 1);
    st->col = within(st->col, 0, A->cols - 1);
    follow(&w->row0, &w->row1, st->row, A->rows);
    follow(&w->col0, &w->col1, st->col, A->cols);
    rescale(&w->row0, &w->row1, st->row, A->rows, times);
    rescale(&w->col0, &w->col1, st->col, A->cols, times);
    return true;
}

static bool click(struct session *s, struct view_state *st, int x, int y)
{
    const struct csr *A = &s->current->csr;
    const struct spy_state *spy = st->own;
    char last[32];
    int left = text_width(show_count(st->win.row1, last, sizeof last)) + 2;
    if (A->rows == 0 || A->cols == 0 || spy->drawn_w < 1 || spy->drawn_h < 1) return false;
    struct picture p = picture_of(A, &spy->grid.sums, st->win, spy->drawn_w, spy->drawn_h, spy->drawn_ascii,
                                  A->imag ? COMPLEX_WIDTH : VALUE_WIDTH);
    if (x < left || x >= left + p.w || y < 3 || y >= 3 + p.h) return false;
    st->row = within(element_at(&p.down, p.dy, y - 3), 0, A->rows - 1);
    st->col = within(element_at(&p.across, p.dx, x - left), 0, A->cols - 1);
    return true;
}

static bool numbers(struct session *s, const struct view_state *st, int w, int h, struct err *e)
{
    char width[16], height[16];
    (void)st;
    snprintf(width, sizeof width, "%d", w);
    snprintf(height, sizeof height, "%d", h);
    const char *word[] = {s->current->name, "width", width, "height", height};
    return run_command(s, &command_spy, COUNT(word), word, e);
}

static bool paint(struct painter *p, struct session *s, const struct view_state *st, int w, int h, bool light,
                  struct err *e)
{
    return paint_spy(p, s->current, st->win, w, h, light, &s->watch, e);
}

static void state_free(void *own)
{
    struct spy_state *spy = own;
    grid_free(&spy->grid);
}

const struct view view_spy = {
    .name = "spy",
    .about = "where the nonzeros are: a dot where there is one; a cell's colour is the share of nonzeros among its "
             "elements. Rows and columns are counted from 0.",
    .keys = "? help  q leave  arrows move  + zoom in  - zoom out  g whole matrix  / go to a row  PgUp/PgDn a screen up "
            "or down  Home whole matrix  End last element",
    .state_size = sizeof(struct spy_state),
    .state_free = state_free,
    .zooms = true,
    .draw = draw,
    .key = key,
    .go = go,
    .at = at,
    .click = click,
    .work = work,
    .numbers = numbers,
    .paint = paint,
};
