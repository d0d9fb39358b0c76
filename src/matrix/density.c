/* Count the entries in each cell of a grid over a window of a matrix: exactly, from a sample of rows, or from a table
   of sums. */
#include "density.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "csr.h"
#include "scale.h"

#include <string.h>

enum {
    SLICE_ENTRIES = 1 << 20, /* two threads count this many entries in about 1 ms */
    /* One thread counts this many entries in less than 1 ms. More threads are not used, because they would spin for
       milliseconds afterwards. */
    FEW_ENTRIES = 1 << 19,
    PART_ENTRIES = 1 << 18,
    LONG_ROW = 16,
    CELLS_MAX = 2048,
    SAMPLE = 1 << 22,
    GLANCE = 1 << 19, /* one thread needs about 1 ms for a sample of this cost */
    ROW_COST = 64
};

struct picture {
    const struct csr *A;
    struct window win;
    struct scale down, across;
    uint32_t *cells;
};

/* Columns ascend, so find the cell borders in a long row by binary search instead of reading the row. */
static void count_long_row(const struct picture *p, int64_t k, int64_t end, uint32_t *cells)
{
    for (int64_t x = 0; k < end; x++) {
        int64_t next = csr_lower(p->A, k, end, p->win.col0 + cell_begin(&p->across, x + 1));
        cells[x] += (uint32_t)(next - k);
        k = next;
    }
}

static void count_row(const struct picture *p, int64_t row, uint32_t *cells)
{
    const struct csr *A = p->A;
    int64_t k = csr_start(A, row), end = csr_start(A, row + 1);
    if (p->win.col0 > 0) k = csr_lower(A, k, end, p->win.col0);
    if (p->win.col1 < A->cols) end = csr_lower(A, k, end, p->win.col1);
    if (end - k > LONG_ROW * p->across.cells) {
        count_long_row(p, k, end, cells);
        return;
    }
    const struct scale across = p->across;
    for (; k < end; k++) cells[cell_of(&across, A->col[k] - p->win.col0)]++;
}

/* Maps a column i to its cell by (i * times) >> shift. The formula works if the width of the cells is a power of two,
   or if the product stays below 2^64. In the second case, times is 2^shift * cells / size, rounded up, and 2^shift is
   at least size^2, so the result is exact for i < size. */
struct quick {
    uint64_t times;
    int shift;
};

static bool quick_of(const struct scale *s, struct quick *q)
{
    int bits = 0;
    while ((int64_t)1 << bits < s->size) bits++;
    int64_t width = s->size / s->cells;
    *q = (struct quick){1, width ? __builtin_ctzll((uint64_t)width) : 0};
    if (s->size == s->cells << q->shift) return true;
    unsigned __int128 times = (((unsigned __int128)s->cells << 2 * bits) + (uint64_t)s->size - 1) / (uint64_t)s->size;
    *q = (struct quick){(uint64_t)times, 2 * bits};
    return 2 * bits < 64 && times <= UINT64_MAX / (uint64_t)s->size;
}

/* Neighbouring entries often fall in the same cell, and each increment of a count waits for the store of the previous
   increment. Therefore, four sets of counts are used in turn; together they fit in the L1 cache. */
static void count_stretch(const int *col, int64_t n, struct quick q, int64_t w, uint32_t *cells, bool shared)
{
    uint32_t of[4][CELLS_MAX];
    int64_t k = 0;
    for (int i = 0; i < 4; i++) memset(of[i], 0, (size_t)w * sizeof **of);
    for (; k + 4 <= n; k += 4) {
        of[0][(uint64_t)col[k] * q.times >> q.shift]++;
        of[1][(uint64_t)col[k + 1] * q.times >> q.shift]++;
        of[2][(uint64_t)col[k + 2] * q.times >> q.shift]++;
        of[3][(uint64_t)col[k + 3] * q.times >> q.shift]++;
    }
    for (; k < n; k++) of[0][(uint64_t)col[k] * q.times >> q.shift]++;
    for (int64_t x = 0; x < w; x++) {
        uint32_t sum = of[0][x] + of[1][x] + of[2][x] + of[3][x];
        if (!shared)
            cells[x] += sum;
        else if (sum)
#pragma omp atomic
            cells[x] += sum;
    }
}

/* The first matrix row of cell row y. */
static int64_t first_row(const struct picture *p, int64_t y)
{
    int64_t row = p->win.row0 + cell_begin(&p->down, y);
    return row < 0 ? 0 : row < p->A->rows ? row : p->A->rows;
}

/* A row of cells, with the matrix rows that it covers and the entries of those rows. If no column is outside the
   window, these entries are contiguous, so that several threads may divide them among themselves. */
struct line {
    int64_t row0, row1, from, n;
    struct quick quick;
    int parts; /* number of parts that threads may count separately; 0: count row by row */
};

static struct line line_of(const struct picture *p, int64_t y)
{
    const struct csr *A = p->A;
    struct line l = {.row0 = first_row(p, y), .row1 = first_row(p, y + 1)};
    int64_t w = p->across.cells;
    l.from = csr_start(A, l.row0);
    l.n = csr_start(A, l.row1) - l.from;
    bool whole = p->win.col0 == 0 && p->win.col1 >= A->cols && w <= CELLS_MAX;
    if (whole && l.n > w && l.n <= LONG_ROW * w * (l.row1 - l.row0) && quick_of(&p->across, &l.quick))
        l.parts = 1 + (int)(l.n / PART_ENTRIES);
    return l;
}

static void count_part(const struct picture *p, const struct line *l, int part, uint32_t *cells)
{
    if (l->parts) {
        int64_t from = l->n * part / l->parts, to = l->n * (part + 1) / l->parts;
        count_stretch(p->A->col + l->from + from, to - from, l->quick, p->across.cells, cells, l->parts > 1);
        return;
    }
    for (int64_t r = l->row0; r < l->row1; r++) count_row(p, r, cells);
}

/* Count the entries in the rows of cells [from, to). Each row of cells begins `pitch` cells after the previous
   row. All threads of a team call this function; no thread waits for another thread. */
static void count_lines(const struct picture *p, int64_t from, int64_t to, int64_t pitch)
{
    for (int64_t y = from; y < to; y++) {
        struct line l = line_of(p, y);
#pragma omp for schedule(dynamic, 1) nowait
        for (int part = 0; part < l.parts + !l.parts; part++) count_part(p, &l, part, p->cells + y * pitch);
    }
}

/* The end of a slice of rows of cells that begins at y and has about SLICE_ENTRIES entries. */
static int64_t slice_end(const struct picture *p, int64_t y)
{
    int64_t begin = csr_start(p->A, first_row(p, y));
    do y++;
    while (y < p->down.cells && csr_start(p->A, first_row(p, y + 1)) - begin <= SLICE_ENTRIES);
    return y;
}

static bool empty_window(struct window win, int h, int w)
{
    return win.row1 <= win.row0 || win.col1 <= win.col0 || h <= 0 || w <= 0;
}

static struct picture picture_of(const struct csr *A, struct window win, int h, int w, uint32_t *cells)
{
    return (struct picture){A, win, scale_of(win.row1 - win.row0, h), scale_of(win.col1 - win.col0, w), cells};
}

static bool can_count(const struct csr *A, struct window win, struct err *e)
{
    int64_t rows = win.row1 - win.row0, cols = win.col1 - win.col0;
    if (A->nnz > UINT32_MAX)
        return fail(e, E_LIMIT, "%lld entries are too many for a picture: its cells count at most %u",
                    (long long)A->nnz, UINT32_MAX);
    if (rows <= UINT32_MAX && cols <= UINT32_MAX) return true;
    return fail(e, E_LIMIT, "a window of %lld x %lld is too large: at most %u rows and columns", (long long)rows,
                (long long)cols, UINT32_MAX);
}

bool density_begin(struct density *d, const struct csr *A, struct window win, int h, int w, uint32_t *cells,
                   struct err *e)
{
    *d = (struct density){A, win, h, w, cells, empty_window(win, h, w) ? h : 0};
    return can_count(A, win, e);
}

bool density_more(struct density *d)
{
    if (d->done >= d->h) return false;
    struct picture p = picture_of(d->A, d->win, d->h, d->w, d->cells);
    int64_t from = d->done, to = slice_end(&p, from);
#pragma omp parallel if (csr_start(d->A, first_row(&p, to)) - csr_start(d->A, first_row(&p, from)) > FEW_ENTRIES)
    count_lines(&p, from, to, d->w);
    d->done = to;
    return to < d->h;
}

bool density_of(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct watch *watch,
                struct err *e)
{
    struct density d;
    if (!density_begin(&d, A, win, h, w, cells, e)) return false;
    do
        if (!watch_tick(watch, "counting entries", d.done, h, e)) return false;
    while (density_more(&d));
    return true;
}

/* ---- a sample ---- */

/* Count the matrix rows of cell row y until their cost reaches `most`, then scale the counts up to account for the rows
   that were not counted. */
static void sample_cells(const struct picture *p, int64_t y, int64_t most, uint32_t *cells)
{
    int64_t begin = first_row(p, y), rows = first_row(p, y + 1) - begin, looked = 0;
    int64_t stride = rows > 0 ? stride_of(rows) : 0, longest = LONG_ROW * p->across.cells;
    for (int64_t cost = 0; looked < rows && cost < most; looked++) {
        int64_t row = begin + looked * stride % rows, length = csr_row_length(p->A, row);
        count_row(p, row, cells);
        cost += ROW_COST + (length < longest ? length : longest);
    }
    for (int64_t x = 0; looked < rows && x < p->across.cells; x++)
        if (cells[x]) cells[x] = (uint32_t)((double)cells[x] * (double)rows / (double)looked + 0.5);
}

static bool sample(const struct csr *A, struct window win, int h, int w, int64_t most, uint32_t *cells, struct err *e)
{
    if (empty_window(win, h, w)) return true;
    if (!can_count(A, win, e)) return false;
    struct picture p = picture_of(A, win, h, w, cells);
#pragma omp parallel for schedule(dynamic, 4) if (most > GLANCE && A->nnz > THREADS_FROM)
    for (int64_t y = 0; y < h; y++) sample_cells(&p, y, most / h, cells + y * w);
    return true;
}

bool density_sample(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e)
{
    return sample(A, win, h, w, SAMPLE, cells, e);
}

bool density_glance(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e)
{
    return sample(A, win, h, w, GLANCE, cells, e);
}

/* ---- sums ---- */

static int shift_for(int64_t n, int64_t most)
{
    int shift = 0;
    while (n > most << shift) shift++;
    return shift;
}

void sums_begin(struct sums *s, const struct csr *A)
{
    int64_t most = 64;
    while (most < CELLS_MAX && most * most * 4 <= A->nnz) most *= 2;
    *s = (struct sums){.A = A, .down = shift_for(A->rows, most), .across = shift_for(A->cols, most)};
    s->h = (A->rows + (1 << s->down) - 1) >> s->down;
    s->w = (A->cols + (1 << s->across) - 1) >> s->across;
}

bool sums_ready(const struct sums *s)
{
    return s->n && s->done == s->h;
}

void sums_free(struct sums *s)
{
    mem_free(s->n);
    *s = (struct sums){0};
}

/* Replace each count by the sum of all cells above and to the left of it, including itself. All threads of a team call
   this function. The threads first divide the rows among themselves, then the columns. */
static void sum_above_and_left(const struct sums *s, int64_t from, int64_t to)
{
    int64_t pitch = s->w + 1, stretch = 1024;
#pragma omp for schedule(static)
    for (int64_t y = from; y < to; y++) {
        uint32_t *line = s->n + (y + 1) * pitch + 1;
        for (int64_t x = 1; x < s->w; x++) line[x] += line[x - 1];
    }
#pragma omp for schedule(static)
    for (int64_t x0 = 0; x0 < pitch; x0 += stretch)
        for (int64_t y = from; y < to; y++) {
            uint32_t *above = s->n + y * pitch, *line = above + pitch;
            for (int64_t x = x0; x < pitch && x < x0 + stretch; x++) line[x] += above[x];
        }
}

bool sums_more(struct sums *s)
{
    if (s->done >= s->h) return false;
    if (!s->n) s->n = mem_zero((s->h + 1) * (s->w + 1), sizeof *s->n, "sums of entries", NULL);
    if (!s->n) return false;
    struct window all = {0, s->h << s->down, 0, s->w << s->across};
    struct picture p = picture_of(s->A, all, (int)s->h, (int)s->w, s->n + s->w + 2);
    int64_t from = s->done, to = slice_end(&p, from);
#pragma omp parallel if (s->A->nnz > THREADS_FROM)
    {
        count_lines(&p, from, to, s->w + 1);
#pragma omp barrier
        sum_above_and_left(s, from, to);
    }
    s->done = to;
    return to < s->h;
}

/* If the range [from, from+span) is divided into `cells` cells, does each cell begin at a multiple of 2^shift? */
static bool fits(int64_t from, int64_t span, int64_t cells, int shift)
{
    int64_t grain = (int64_t)1 << shift;
    if (shift == 0) return from >= 0;
    return from >= 0 && cells > 0 && from % grain == 0 && span % cells == 0 && span / cells % grain == 0;
}

bool sums_fit(const struct sums *s, struct window win, int h, int w)
{
    return s->A && fits(win.row0, win.row1 - win.row0, h, s->down) && fits(win.col0, win.col1 - win.col0, w, s->across);
}

/* The index of the sum at which cell k begins, limited to `last`. */
static int64_t corner(int64_t from, const struct scale *a, int64_t k, int shift, int64_t last)
{
    int64_t at = (from + cell_begin(a, k)) >> shift;
    return at < last ? at : last;
}

/* Set one row of cells. `top` is the line of sums at the upper edge of that row of cells, and `low` is the line of sums
   at its lower edge. */
static void row_of_cells(const struct sums *s, const struct picture *p, const uint32_t *top, const uint32_t *low,
                         uint32_t *cells)
{
    int64_t left = corner(p->win.col0, &p->across, 0, s->across, s->w);
    uint32_t before = low[left] - top[left];
    for (int64_t x = 0; x < p->across.cells; x++) {
        int64_t right = corner(p->win.col0, &p->across, x + 1, s->across, s->w);
        uint32_t now = low[right] - top[right];
        cells[x] = now - before;
        before = now;
    }
}

void sums_cells(const struct sums *s, struct window win, int h, int w, uint32_t *cells)
{
    struct picture p = picture_of(s->A, win, h, w, cells);
    int64_t pitch = s->w + 1;
    for (int y = 0; y < h; y++) {
        const uint32_t *top = s->n + pitch * corner(win.row0, &p.down, y, s->down, s->h);
        const uint32_t *low = s->n + pitch * corner(win.row0, &p.down, y + 1, s->down, s->h);
        row_of_cells(s, &p, top, low, cells + (int64_t)y * w);
    }
}
