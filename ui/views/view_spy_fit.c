/* Fit a window of a matrix to the characters of a screen. */
#include "matrix/csr.h"
#include "view_spy.h"

#include <math.h>

int64_t spy_cell_begin(const struct axis *a, int64_t k)
{
    int64_t at = a->each ? k * a->each : (k * a->span + a->cells - 1) / a->cells;
    return a->from + (at < a->n ? at : a->n);
}

int spy_cell_of(const struct axis *a, int64_t i)
{
    return (int)((i - a->from) * a->cells / a->span);
}

/* Extend the last cell to the length of the other cells, but not beyond the matrix, because whole cells are counted. */
static void fill_last(struct axis *a, int64_t all)
{
    if (a->n < a->span) a->n = a->from + a->span < all ? a->span : all - a->from;
}

/* Map n of `all` elements to at most `most` dots of about `step` elements. Each dot gets a whole number of elements, or
   each element gets a whole number of dots, unless that would shrink the picture by more than a fifth. */
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

/* Like axis_of, but the cells begin at multiples of 2^shift elements, as the sums require. The axis has no cells if not
   even one cell fits. */
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

/* If one side is much shorter than the other, the shorter side is stretched so that it stays visible. */
static double visible_step(double step, int64_t n)
{
    return (double)n / step >= THINNEST ? step : (double)n / THINNEST;
}

static void fit_dots(struct picture *p, const struct csr *A, const struct sums *sums, struct window win, int w, int h)
{
    int64_t rows = win.row1 - win.row0, cols = win.col1 - win.col0;
    /* A character is twice as high as wide, so a braille dot is square, and a whole character is two squares high. */
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

struct picture spy_picture(const struct csr *A, const struct sums *sums, struct window win, int w, int h,
                           struct dots dots, int value)
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
        p.dx = dots.x;
        p.dy = dots.y;
        p.pixels = dots.pixels;
        fit_dots(&p, A, sums, win, w, h);
    }
    p.exact = p.down.cells == p.down.n && p.across.cells == p.across.n;
    p.w = (p.across.cells * p.across.repeat + p.dx - 1) / p.dx;
    p.h = (p.down.cells * p.down.repeat + p.dy - 1) / p.dy;
    return p;
}

/* Widen a visible range to `want` elements, or to fewer if the matrix is smaller. */
static void widen(int64_t *from, int64_t *to, int64_t want, int64_t all)
{
    int64_t n = want < all ? want : all;
    if (n <= *to - *from) return;
    *from = *from + n <= all ? *from : all - n;
    *to = *from + n;
}

void spy_fill_screen(struct window *win, const struct csr *A, int w, int h, struct dots dots, int value)
{
    int64_t rows = win->row1 - win->row0, cols = win->col1 - win->col0;
    if (rows == A->rows && cols == A->cols) return;
    double down = (dots.y == 1 ? 2 : dots.y) * h, across = dots.x * w;
    double step = fmax((double)rows / down, (double)cols / across);
    if (rows <= h && cols * value <= w) down = h, across = w / value, step = 1;
    widen(&win->row0, &win->row1, (int64_t)(step * down), A->rows);
    widen(&win->col0, &win->col1, (int64_t)(step * across), A->cols);
}

int64_t spy_element_at(const struct axis *a, int dots, int k)
{
    int cell = k * dots / a->repeat;
    return spy_cell_begin(a, cell < a->cells ? cell : a->cells);
}

int spy_character_of(const struct axis *a, int dots, int64_t i)
{
    return spy_cell_of(a, i) * a->repeat / dots;
}
