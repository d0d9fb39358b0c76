/* How many entries of a matrix fall in each cell of a picture of a window of it. */
#include "session.h"

enum { ENTRIES_A_TICK = 1 << 23, LONG_ROW = 16 };

/* Maps 0 .. size-1 to floor(i * cells / size) with a multiplication: i*whole + the high half of i*part, where
   part is (cells mod size) * 2^64 / size rounded up. Exact for size < 2^32. */
struct scale {
    int64_t size, cells;
    uint64_t whole, part;
};

static struct scale scale_of(int64_t size, int64_t cells)
{
    unsigned __int128 rest = (unsigned __int128)(cells % size) << 64;
    return (struct scale){size, cells, (uint64_t)(cells / size),
                          (uint64_t)((rest + (uint64_t)size - 1) / (uint64_t)size)};
}

static inline int64_t cell_of(const struct scale *s, int64_t i)
{
    uint64_t high = (uint64_t)((unsigned __int128)(uint64_t)i * s->part >> 64);
    return (int64_t)((uint64_t)i * s->whole + high);
}

/* The first i of cell k. */
static int64_t cell_begin(const struct scale *s, int64_t k)
{
    return (k * s->size + s->cells - 1) / s->cells;
}

struct picture {
    const struct csr *A;
    struct window win;
    struct scale down, across;
    uint32_t *cells;
};

/* Columns ascend, so a long row is cut at the cell borders instead of being read. */
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
    int64_t k = A->rowptr[row], end = A->rowptr[row + 1];
    if (p->win.col0 > 0) k = csr_lower(A, k, end, p->win.col0);
    if (p->win.col1 < A->cols) end = csr_lower(A, k, end, p->win.col1);
    if (end - k > LONG_ROW * p->across.cells) {
        count_long_row(p, k, end, cells);
        return;
    }
    const struct scale across = p->across;
    for (; k < end; k++) cells[cell_of(&across, A->col[k] - p->win.col0)]++;
}

/* The first matrix row of cell row y. */
static int64_t first_row(const struct picture *p, int64_t y)
{
    int64_t row = p->win.row0 + cell_begin(&p->down, y);
    return row < 0 ? 0 : row < p->A->rows ? row : p->A->rows;
}

/* The cell row after as many as hold about ENTRIES_A_TICK entries. */
static int64_t slice_end(const struct picture *p, int64_t y)
{
    int64_t begin = p->A->rowptr[first_row(p, y)];
    do y++;
    while (y < p->down.cells && p->A->rowptr[first_row(p, y + 1)] - begin <= ENTRIES_A_TICK);
    return y;
}

bool density_of(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct watch *watch,
                struct err *e)
{
    int64_t rows = win.row1 - win.row0, cols = win.col1 - win.col0;
    if (rows <= 0 || cols <= 0 || h <= 0 || w <= 0) return true;
    if (rows > UINT32_MAX || cols > UINT32_MAX)
        return fail(e, E_LIMIT, "a window of at most %u rows and columns expected, found %lld x %lld", UINT32_MAX,
                    (long long)rows, (long long)cols);
    struct picture p = {A, win, scale_of(rows, h), scale_of(cols, w), cells};
    for (int64_t from = 0, to; from < h; from = to) {
        if (!watch_tick(watch, "counting entries", from, h, e)) return false;
        to = slice_end(&p, from);
#pragma omp parallel for schedule(dynamic, 1)
        for (int64_t y = from; y < to; y++)
            for (int64_t r = first_row(&p, y); r < first_row(&p, y + 1); r++) count_row(&p, r, cells + y * w);
    }
    return true;
}
