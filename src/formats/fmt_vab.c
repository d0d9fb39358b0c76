/* VAB, vertically aligned blocks: rows are divided into pieces of 4 elements. One thread processes one piece. Pieces
   are assigned to thread blocks of `block` threads and stored so that the threads of a warp read adjacent slots.

   Row i has the pieces row_piece[i] .. row_piece[i+1]-1. Element e of piece p is slot

       p/block * 4*block  +  e*block  +  p%block

   The last piece of a row is padded: its missing columns repeat the last column of the row, and its missing values
   are 0. Since columns ascend within a row, a repeated column is padding. The last block is padded with pieces that
   belong to no row; these pieces have column 0 and value 0. */
#include "fmt_vab.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/search.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

/* The number of threads per block is a multiple of 64; the paper uses at least two warps. */
enum { BLOCK_STEP = 64, BLOCK_MAX = 1024 };

static int64_t pieces_of(const struct csr *A, int64_t row)
{
    return (csr_row_length(A, row) + VAB_PIECE - 1) / VAB_PIECE;
}

static int64_t slot_of(int64_t piece, int64_t element, int64_t block)
{
    return piece / block * VAB_PIECE * block + element * block + piece % block;
}

bool vab_sizes(struct stored *S, int64_t pieces, struct err *e)
{
    int64_t block = S->param[0], slots = (pieces + block - 1) / block * block * VAB_PIECE;
    if (block % BLOCK_STEP)
        return fail(e, E_USAGE, "vab: block is %lld, which is not a multiple of %d threads; use 64, 128 or 256",
                    (long long)block, BLOCK_STEP);
    plan_values(S, "val", slots);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, slots);
    plan_array(S, "row_piece", ROLE_LAYOUT, T_I32, S->rows + 1);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct loop l = loop_of("planning rows", A->rows);
    int64_t pieces = 0;
#pragma omp parallel for schedule(static) reduction(+ : pieces) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) pieces += pieces_of(A, i);
    return loop_end(&l, e) && vab_sizes(S, pieces, e);
}

static void put_row(const struct csr *A, int64_t row, struct stored *S)
{
    const int *row_piece = S->a[VAB_ROW_PIECE].data;
    int *col = S->a[VAB_COL].data;
    int64_t first = A->rowptr[row], n = csr_row_length(A, row);
    for (int64_t k = 0; k < pieces_of(A, row) * VAB_PIECE; k++) {
        int64_t slot = slot_of(row_piece[row] + k / VAB_PIECE, k % VAB_PIECE, S->param[0]);
        col[slot] = A->col[first + (k < n ? k : n - 1)];
        if (k < n) put_value(&S->a[VAB_VAL], slot, A, first + k);
    }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int *row_piece = S->a[VAB_ROW_PIECE].data;
    struct loop l = loop_of("packing rows", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) row_piece[i + 1] = row_piece[i] + (int)pieces_of(A, i);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) put_row(A, i, S);
    return loop_end(&l, e);
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *row_piece = S->a[VAB_ROW_PIECE].data, *col = S->a[VAB_COL].data;
    int64_t block = S->param[0], area = VAB_PIECE * block;
    if (k == VAB_ROW_PIECE) return (struct place){SLOT_POINTER, i < S->rows ? i : -1, -1};
    int64_t piece = i / area * block + i % block, element = i % area / block;
    if (piece >= row_piece[S->rows]) return (struct place){SLOT_PADDING, -1, -1};
    int64_t row = span_of(row_piece, S->rows, piece);
    bool repeats = element > 0 && col[i] == col[i - block];
    return (struct place){repeats ? SLOT_PADDING : SLOT_ENTRY, row, repeats ? -1 : col[i]};
}

const struct format format_vab = {
    .name = "vab",
    .about = "rows in pieces of 4, one thread per piece, stored so that a warp's reads coalesce",
    .source = "THESIS, sec. 2.3.1, fig. 2.7; block size and column of padding [ours]",
    .params = {{"block", 256, BLOCK_STEP, BLOCK_MAX, "threads per block, a multiple of 64"}},
    .value = VAB_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
