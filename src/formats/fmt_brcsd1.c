/* BRCSD-I: the rows are cut into blocks where a diagonal enters or leaves the matrix, so that inside a block every
   diagonal runs from the first row to the last. A block stores the diagonals that have an entry in it. brcsd1_offsets
   has one record per block: the block's first row, followed by the offsets of its diagonals. Record b is brcsd1_ptr[b]
   .. brcsd1_ptr[b+1]-1. The values of block b, diagonal by diagonal, begin at slot brcsd1_start[b].

     row 0   * * . *         cut at row 3, where offset 3 ends and -3 begins:
         1     * * . *       brcsd1_offsets = 0 | 0 1 3, 3 | -3 0 1
         2       * * . *     brcsd1_ptr = 0 4 8
         3         * *       brcsd1_start = 0 9 18: 3 rows of 3 diagonals each
         4   . *     *
         5   . . *     *

   A thread block processes a piece of at most BRCSD1_ROWS rows. Piece k consists of rows brcsd1_row[k] ..
   brcsd1_row[k+1]-1 in block brcsd1_block[k]. Cuts that would leave a block of fewer than `min` rows are dropped; the
   default of 64 is the block size that the paper uses. */
#include "fmt_brcsd1.h"
#include "matrix/csr.h"
#include "diagonals.h"
#include "format.h"
#include "base/mem.h"
#include "base/search.h"

struct layout {
    struct blocks blocks;
    int *start; /* first row of each block */
    int *dnum;  /* for each block, the number of diagonals in all blocks before it */
    struct brcsd1_numbers of;
};

static void layout_free(struct layout *L)
{
    mem_free(L->start);
    mem_free(L->dnum);
}

static void mark(int *marks, int64_t rows, int64_t row)
{
    if (row > 0 && row < rows) marks[row] = 1;
}

/* Mark the rows where a diagonal begins or ends. */
static bool mark_cuts(const struct csr *A, int *marks, struct err *e)
{
    int64_t count;
    int *number = number_diagonals(A, 1, &count, e);
    if (!number) return false;
    for (int64_t d = 0; d < A->rows + A->cols; d++) {
        int64_t offset = d - A->rows;
        if (number[d] < 0) continue;
        mark(marks, A->rows, -offset);
        mark(marks, A->rows, A->cols - offset);
    }
    mem_free(number);
    return true;
}

int64_t brcsd1_starts(int64_t n, const int *cut, int64_t rows, int64_t min, int *start)
{
    int64_t blocks = 0, last = 0;
    if (rows > 0) start[blocks++] = 0;
    for (int64_t i = 0; i < n; i++)
        if (cut[i] - last >= min && rows - cut[i] >= min) {
            last = cut[i];
            start[blocks++] = cut[i];
        }
    start[blocks] = (int)rows;
    return blocks;
}

/* Replace the marks, in place, by the list of marked rows. Returns the length of the list. */
static int64_t list_marks(int *marks, int64_t rows)
{
    int64_t n = 0;
    for (int64_t row = 1; row < rows; row++)
        if (marks[row]) marks[n++] = (int)row;
    return n;
}

/* Returns the first row of each block, in memory that the caller frees. *blocks receives the number of blocks. */
static int *starts_of(const struct csr *A, int64_t min, int64_t *blocks, struct err *e)
{
    int *marks = mem_zero(A->rows + 1, sizeof *marks, "the cuts of rows", e), *start = NULL;
    if (marks && mark_cuts(A, marks, e)) {
        int64_t n = list_marks(marks, A->rows);
        start = mem_new(n + 2, sizeof *start, "the starts of blocks", e);
        if (start) *blocks = brcsd1_starts(n, marks, A->rows, min, start);
    }
    mem_free(marks);
    return start;
}

struct brcsd1_numbers brcsd1_count(int64_t n, const int *start, const int *dnum)
{
    struct brcsd1_numbers N = {.blocks = n, .records = n + dnum[n]};
    for (int64_t b = 0; b < n; b++) {
        int64_t height = start[b + 1] - start[b];
        N.slots += height * (dnum[b + 1] - dnum[b]);
        N.pieces += (height + BRCSD1_ROWS - 1) / BRCSD1_ROWS;
    }
    return N;
}

static bool lay(const struct csr *A, const struct stored *S, struct layout *L, struct err *e)
{
    int64_t n = 0;
    *L = (struct layout){.start = starts_of(A, S->param[0], &n, e)};
    if (!L->start) return false;
    L->blocks = (struct blocks){.n = n, .start = L->start};
    L->dnum = count_diagonals(A, &L->blocks, e);
    if (!L->dnum) return false;
    L->of = brcsd1_count(n, L->start, L->dnum);
    return true;
}

bool brcsd1_sizes(struct stored *S, const struct brcsd1_numbers *N, struct err *e)
{
    if (!records_fit(S, N->records, e)) return false;
    plan_array(S, "brcsd1_offsets", ROLE_DIAGONALS, T_I32, N->records);
    plan_array(S, "brcsd1_data", ROLE_VALUES, S->real, N->slots);
    plan_array(S, "brcsd1_ptr", ROLE_LAYOUT, T_I32, N->blocks + 1);
    plan_array(S, "brcsd1_start", ROLE_LAYOUT, T_I64, N->blocks + 1);
    plan_array(S, "brcsd1_block", ROLE_LAYOUT, T_I32, N->pieces);
    plan_array(S, "brcsd1_row", ROLE_LAYOUT, T_I32, N->pieces + 1);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    bool ok = lay(A, S, &L, e) && brcsd1_sizes(S, &L.of, e);
    layout_free(&L);
    return ok;
}

void brcsd1_point(int64_t n, const int *start, const int *dnum, const struct brcsd1_pointers *to)
{
    int64_t k = 0;
    to->ptr[0] = 0;
    to->start[0] = 0;
    for (int64_t b = 0; b < n; b++) {
        int diagonals = dnum[b + 1] - dnum[b];
        to->ptr[b + 1] = to->ptr[b] + 1 + diagonals;
        to->start[b + 1] = to->start[b] + (int64_t)(start[b + 1] - start[b]) * diagonals;
        for (int64_t r = start[b]; r < start[b + 1]; r += BRCSD1_ROWS, k++) {
            to->block[k] = (int)b;
            to->row[k] = (int)r;
        }
    }
    to->row[k] = start[n];
}

static void put_pointers(const struct layout *L, struct stored *S)
{
    struct brcsd1_pointers to = {S->a[BRCSD1_PTR].data, S->a[BRCSD1_START].data, S->a[BRCSD1_BLOCK].data,
                                 S->a[BRCSD1_ROW].data};
    int *offsets = S->a[BRCSD1_OFFSETS].data;
    brcsd1_point(L->blocks.n, L->start, L->dnum, &to);
    for (int64_t b = 0; b < L->blocks.n; b++) offsets[to.ptr[b]] = L->start[b];
}

static void put_block(void *to, const struct csr *A, struct block *B)
{
    struct stored *S = to;
    const int *ptr = S->a[BRCSD1_PTR].data;
    const int64_t *start = S->a[BRCSD1_START].data;
    int *offsets = S->a[BRCSD1_OFFSETS].data;
    block_put(B, A, offsets + ptr[B->at] + 1, &S->a[BRCSD1_DATA], start[B->at], B->last - B->first);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    bool ok = lay(A, S, &L, e);
    if (ok) {
        put_pointers(&L, S);
        ok = visit_blocks(A, &L.blocks, put_block, S, e);
    }
    layout_free(&L);
    return ok;
}

/* The first element of a record and the pointers of a block refer to the block's first row; the elements of
   brcsd1_block and brcsd1_row refer to the first row of a piece. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *offsets = S->a[BRCSD1_OFFSETS].data, *ptr = S->a[BRCSD1_PTR].data, *row = S->a[BRCSD1_ROW].data;
    const int64_t *start = S->a[BRCSD1_START].data;
    int64_t n = S->a[BRCSD1_PTR].n - 1, pieces = S->a[BRCSD1_BLOCK].n;
    if (k == BRCSD1_BLOCK || k == BRCSD1_ROW) return (struct place){SLOT_POINTER, i < pieces ? row[i] : -1, -1};
    if ((k == BRCSD1_PTR || k == BRCSD1_START) && i == n) return (struct place){SLOT_POINTER, -1, -1};
    int64_t b = k == BRCSD1_OFFSETS ? span_of(ptr, n, i) : k == BRCSD1_DATA ? span_of_wide(start, n, i) : i;
    int64_t first = offsets[ptr[b]], height = (b + 1 < n ? offsets[ptr[b + 1]] : S->rows) - first;
    if (k == BRCSD1_OFFSETS && i > ptr[b]) return place_of_offset(first, offsets[i]);
    if (k != BRCSD1_DATA) return (struct place){SLOT_POINTER, first, -1};
    int64_t slot = i - start[b], at = first + slot % height;
    return place_of_value(S, k, i, at, at + offsets[ptr[b] + 1 + slot / height]);
}

/* The paper divides blocks into parts of 64 rows and processes each part with one thread block. In this program, such a
   part is a piece. */
static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    const int *ptr = S->a[BRCSD1_PTR].data, *block = S->a[BRCSD1_BLOCK].data, *row = S->a[BRCSD1_ROW].data;
    if (k >= S->a[BRCSD1_BLOCK].n) return false;
    int64_t diagonals = ptr[block[k] + 1] - ptr[block[k]] - 1;
    *operands = diagonals * (row[k + 1] - row[k]);
    return true;
}

const struct format format_brcsd1 = {
    .name = "brcsd1",
    .about = "BRCSD-I: diagonals in blocks of rows, cut where a diagonal enters or leaves the matrix",
    .source = "Gao et al.; Wang et al. 2024, sec. 3.3",
    .params = {{"min", 64, 1, INT32_MAX, "smallest number of rows in a block"}},
    .zeros_fade = true,
    .value = BRCSD1_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
