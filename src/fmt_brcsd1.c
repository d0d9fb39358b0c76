/* BRCSD-I: rows are cut where a diagonal enters or leaves the matrix, so that each block has its diagonals from its
   first row to its last; it keeps those that have an entry in it. brcsd1_offsets holds a record a block, its start row
   and then its offsets; record b is brcsd1_ptr[b] .. brcsd1_ptr[b+1]-1. The block's values, diagonal by diagonal,
   begin at slot brcsd1_start[b].

     row 0   * * . *         cut at row 3, where offset 3 ends and -3 begins:
         1     * * . *       brcsd1_offsets = 0 | 0 1 3, 3 | -3 0 1
         2       * * . *     brcsd1_ptr = 0 4 8
         3         * *       brcsd1_start = 0 9 18: 3 rows of 3 diagonals each
         4   . *     *
         5   . . *     *

   A thread block takes a piece of BRCSD1_ROWS rows at most: rows brcsd1_row[k] .. brcsd1_row[k+1]-1 of block
   brcsd1_block[k]. Cuts that would leave a block of less than `min` rows are dropped: the
   usual 64 is the size that the paper cuts blocks down to. */
#include "diagonals.h"

struct layout {
    struct blocks blocks;
    int *start, *dnum; /* rows of the blocks; the diagonals of those before each */
    int64_t records, slots, pieces;
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

/* Marks become the start rows of the blocks, ended by the number of rows: in place, since a block's number is never
   above its row. Returns how many blocks there are. */
static int64_t starts_of(int *marks, int64_t rows, int64_t min)
{
    int64_t n = 0, last = 0;
    if (rows > 0) marks[n++] = 0;
    for (int64_t row = 1; row < rows; row++)
        if (marks[row] && row - last >= min && rows - row >= min) {
            last = row;
            marks[n++] = (int)row;
        }
    marks[n] = (int)rows;
    return n;
}

static bool lay(const struct csr *A, const struct stored *S, struct layout *L, struct err *e)
{
    *L = (struct layout){.start = mem_zero(A->rows + 1, sizeof *L->start, "the cuts of rows", e)};
    if (!L->start || !mark_cuts(A, L->start, e)) return false;
    int64_t n = starts_of(L->start, A->rows, S->param[0]);
    L->blocks = (struct blocks){.n = n, .start = L->start};
    L->dnum = count_diagonals(A, &L->blocks, e);
    if (!L->dnum) return false;
    L->records = n + L->dnum[n];
    for (int64_t b = 0; b < n; b++) {
        int64_t height = L->start[b + 1] - L->start[b];
        L->slots += height * (L->dnum[b + 1] - L->dnum[b]);
        L->pieces += (height + BRCSD1_ROWS - 1) / BRCSD1_ROWS;
    }
    return records_fit(S, L->records, e);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    bool ok = lay(A, S, &L, e);
    if (ok) {
        plan_array(S, "brcsd1_offsets", T_I32, L.records);
        plan_array(S, "brcsd1_data", S->real, L.slots);
        plan_array(S, "brcsd1_ptr", T_I32, L.blocks.n + 1);
        plan_array(S, "brcsd1_start", T_I64, L.blocks.n + 1);
        plan_array(S, "brcsd1_block", T_I32, L.pieces);
        plan_array(S, "brcsd1_row", T_I32, L.pieces + 1);
    }
    layout_free(&L);
    return ok;
}

static void put_pointers(const struct layout *L, struct stored *S)
{
    int *offsets = S->a[BRCSD1_OFFSETS].data, *ptr = S->a[BRCSD1_PTR].data;
    int *block = S->a[BRCSD1_BLOCK].data, *row = S->a[BRCSD1_ROW].data;
    int64_t *start = S->a[BRCSD1_START].data, k = 0;
    for (int64_t b = 0; b < L->blocks.n; b++) {
        int diagonals = L->dnum[b + 1] - L->dnum[b];
        offsets[ptr[b]] = L->start[b];
        ptr[b + 1] = ptr[b] + 1 + diagonals;
        start[b + 1] = start[b] + (int64_t)(L->start[b + 1] - L->start[b]) * diagonals;
        for (int64_t r = L->start[b]; r < L->start[b + 1]; r += BRCSD1_ROWS, k++) {
            block[k] = (int)b;
            row[k] = (int)r;
        }
    }
    row[k] = (int)S->rows;
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

/* A record's head and a block's pointers name the block's first row; a piece's, the piece's. */
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

/* The paper cuts blocks down to 64 rows, a thread block each: such a piece it is. */
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
    .about = "BRCSD-I: diagonals of blocks cut where one enters or leaves the matrix",
    .source = "Gao et al.; Wang et al. 2024, sec. 3.3",
    .params = {{"min", 64, 1, INT32_MAX, "rows of the shortest block"}},
    .zeros_fade = true,
    .value = BRCSD1_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
