/* BRCSD-I: the rows are cut into blocks where a diagonal enters or leaves the matrix, so that inside a block every
   diagonal runs from the first row to the last. Each block is cut again into pieces of at most `piece` rows, and a
   piece stores the diagonals that have an entry in it. brcsd1_offsets has one record per piece: the piece's first row,
   followed by the offsets of its diagonals. Record k is brcsd1_ptr[k] .. brcsd1_ptr[k+1]-1. The values of piece k,
   diagonal by diagonal, begin at slot brcsd1_start[k].

     row 0   * * . *         cut at row 3, where offset 3 ends and -3 begins:
         1     * * . *       brcsd1_offsets = 0 | 0 1 3, 3 | -3 0 1
         2       * * . *     brcsd1_ptr = 0 4 8
         3         * *       brcsd1_start = 0 9 18: 3 rows of 3 diagonals each
         4   . *     *
         5   . . *     *

   Cuts that would leave a block of fewer than `min` rows are dropped; the default of 64 is the height at which the
   paper cuts blocks again. */
#include "fmt_brcsd1.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/search.h"
#include "diagonals.h"
#include "format.h"
#include "matrix/csr.h"

struct layout {
    struct blocks pieces;
    int *start; /* first row of each piece */
    int *dnum;  /* for each piece, the number of diagonals in all pieces before it */
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
    struct loop l = loop_of("finding diagonals", A->rows + A->cols);
    for (int64_t d = 0; d < A->rows + A->cols && loop_goes(&l, d); d++) {
        int64_t offset = d - A->rows;
        if (number[d] < 0) continue;
        mark(marks, A->rows, -offset);
        mark(marks, A->rows, A->cols - offset);
    }
    mem_free(number);
    return loop_end(&l, e);
}

int64_t brcsd1_piece(const struct stored *S)
{
    return S->format == &format_brcsd1 ? S->param[BRCSD1_PIECE] : BRCSD1_ROWS;
}

/* Append the starts of the pieces of rows first .. last-1, each of at most `piece` rows, to the n starts in `start`.
   Returns the new n. */
static int64_t cut_again(int64_t first, int64_t last, int64_t piece, int *start, int64_t n)
{
    for (int64_t row = first; row < last; row += piece) start[n++] = (int)row;
    return n;
}

int64_t brcsd1_most_starts(int64_t n, const struct stored *S)
{
    return n + 2 + S->rows / brcsd1_piece(S);
}

int64_t brcsd1_starts(int64_t n, const int *cut, const struct stored *S, int *start)
{
    struct loop l = loop_of("cutting rows", n);
    int64_t pieces = 0, first = 0, min = S->param[BRCSD1_MIN], height = brcsd1_piece(S);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++)
        if (cut[i] - first >= min && S->rows - cut[i] >= min) {
            pieces = cut_again(first, cut[i], height, start, pieces);
            first = cut[i];
        }
    pieces = cut_again(first, S->rows, height, start, pieces);
    start[pieces] = (int)S->rows;
    return pieces;
}

/* Replace the marks, in place, by the list of marked rows. Returns the length of the list. */
static int64_t list_marks(int *marks, int64_t rows)
{
    struct loop l = loop_of("cutting rows", rows);
    int64_t n = 0;
    for (int64_t row = 1; row < rows && loop_goes(&l, row); row++)
        if (marks[row]) marks[n++] = (int)row;
    return n;
}

/* Returns the first row of each piece, in memory that the caller frees. *pieces receives the number of pieces. */
static int *starts_of(const struct csr *A, const struct stored *S, int64_t *pieces, struct err *e)
{
    int *marks = mem_zero(A->rows + 1, sizeof *marks, "the cuts of rows", e), *start = NULL;
    if (marks && mark_cuts(A, marks, e)) {
        int64_t n = list_marks(marks, A->rows);
        start = mem_new(brcsd1_most_starts(n, S), sizeof *start, "the starts of pieces", e);
        if (start) *pieces = brcsd1_starts(n, marks, S, start);
    }
    mem_free(marks);
    if (!start || loop_unbroken("cutting rows", e)) return start;
    mem_free(start);
    return NULL;
}

struct brcsd1_numbers brcsd1_count(int64_t n, const int *start, const int *dnum)
{
    struct brcsd1_numbers N = {.pieces = n, .records = n + dnum[n]};
    for (int64_t k = 0; k < n; k++) N.slots += (int64_t)(start[k + 1] - start[k]) * (dnum[k + 1] - dnum[k]);
    return N;
}

static bool lay(const struct csr *A, const struct stored *S, struct layout *L, struct err *e)
{
    int64_t n = 0;
    *L = (struct layout){.start = starts_of(A, S, &n, e)};
    if (!L->start) return false;
    L->pieces = (struct blocks){.n = n, .start = L->start};
    L->dnum = count_diagonals(A, &L->pieces, e);
    if (!L->dnum) return false;
    L->of = brcsd1_count(n, L->start, L->dnum);
    return true;
}

bool brcsd1_sizes(struct stored *S, const struct brcsd1_numbers *N, struct err *e)
{
    if (!records_fit(S, N->records, e)) return false;
    plan_array(S, "brcsd1_offsets", ROLE_DIAGONALS, T_I32, N->records);
    plan_values(S, "brcsd1_data", N->slots);
    plan_array(S, "brcsd1_ptr", ROLE_LAYOUT, T_I32, N->pieces + 1);
    plan_array(S, "brcsd1_start", ROLE_LAYOUT, T_I64, N->pieces + 1);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    bool ok = lay(A, S, &L, e) && brcsd1_sizes(S, &L.of, e);
    layout_free(&L);
    return ok;
}

void brcsd1_point(int64_t n, const int *start, const int *dnum, int *ptr, int64_t *first)
{
    ptr[0] = 0;
    first[0] = 0;
    for (int64_t k = 0; k < n; k++) {
        int diagonals = dnum[k + 1] - dnum[k];
        ptr[k + 1] = ptr[k] + 1 + diagonals;
        first[k + 1] = first[k] + (int64_t)(start[k + 1] - start[k]) * diagonals;
    }
}

static void put_pointers(const struct layout *L, struct stored *S)
{
    int *offsets = S->a[BRCSD1_OFFSETS].data, *ptr = S->a[BRCSD1_PTR].data;
    brcsd1_point(L->pieces.n, L->start, L->dnum, ptr, S->a[BRCSD1_START].data);
    for (int64_t k = 0; k < L->pieces.n; k++) offsets[ptr[k]] = L->start[k];
}

static void put_piece(void *to, const struct csr *A, struct block *B)
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
        ok = visit_blocks(A, &L.pieces, put_piece, S, e);
    }
    layout_free(&L);
    return ok;
}

/* The number of rows of piece k. */
static int64_t height_of(const struct stored *S, int64_t k)
{
    const int *offsets = S->a[BRCSD1_OFFSETS].data, *ptr = S->a[BRCSD1_PTR].data;
    return (k + 2 < S->a[BRCSD1_PTR].n ? offsets[ptr[k + 1]] : S->rows) - offsets[ptr[k]];
}

/* The first element of a record and the pointers of a piece refer to the piece's first row. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *offsets = S->a[BRCSD1_OFFSETS].data, *ptr = S->a[BRCSD1_PTR].data;
    const int64_t *start = S->a[BRCSD1_START].data;
    int64_t n = S->a[BRCSD1_PTR].n - 1;
    if ((k == BRCSD1_PTR || k == BRCSD1_START) && i == n) return (struct place){SLOT_POINTER, -1, -1};
    int64_t p = k == BRCSD1_OFFSETS ? span_of(ptr, n, i) : k == BRCSD1_DATA ? span_of_wide(start, n, i) : i;
    int64_t first = offsets[ptr[p]], height = height_of(S, p);
    if (k == BRCSD1_OFFSETS && i > ptr[p]) return place_of_offset(first, offsets[i]);
    if (k != BRCSD1_DATA) return (struct place){SLOT_POINTER, first, -1};
    int64_t slot = i - start[p], at = first + slot % height;
    return place_of_value(S, k, i, at, at + offsets[ptr[p] + 1 + slot / height]);
}

static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    const int64_t *start = S->a[BRCSD1_START].data;
    if (k + 1 >= S->a[BRCSD1_START].n) return false;
    *operands = start[k + 1] - start[k];
    return true;
}

const struct format format_brcsd1 = {
    .name = "brcsd1",
    .about = "BRCSD-I: diagonals in pieces of a few rows, cut where a diagonal enters or leaves the matrix",
    .source = "Gao et al.; DRM, sec. 3.3, fig. 3; 64 rows: sec. 5.1; dropped cuts [ours]",
    .params = {{"min", 64, 1, INT32_MAX, "smallest number of rows between two cuts"},
               {"piece", BRCSD1_ROWS, 1, 1024, "largest number of rows per piece of a block"}},
    .zeros_fade = true,
    .value = BRCSD1_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
