/* BSR: compressed rows of b x b blocks. Block k of val consists of b*b values, row by row; block row I has the blocks
   ptr[I] .. ptr[I+1]-1 at block columns col[]. Absent entries, and elements beyond the matrix's edges, are 0.

   The default b = 4 suits the small dense blocks of finite elements (2 to 6 unknowns per node), and two 4 x 4 blocks
   fill a warp. For a GPU, the program chooses the b from SUIT_MIN to SUIT_MAX whose blocks need the fewest bytes. */
#include "fmt_bsr.h"
#include "base/loop.h"
#include "base/precision.h"
#include "base/search.h"
#include "base/threads.h"
#include "blocks.h"
#include "format.h"
#include "matrix/csr.h"

enum { SUIT_MIN = 2, SUIT_MAX = 6 };

void bsr_sizes(struct stored *S, int64_t blocks)
{
    int64_t b = S->param[0];
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, (S->rows + b - 1) / b + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, blocks);
    plan_values(S, "val", blocks * b * b);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t blocks = 0;
    if (!count_blocks(A, (int)S->param[0], &blocks, e)) return false;
    bsr_sizes(S, blocks);
    return true;
}

static void put_block_row(const struct csr *A, int64_t I, int b, struct stored *S)
{
    const int *ptr = S->a[BSR_PTR].data;
    int *col = S->a[BSR_COL].data;
    block_columns(A, I, b, col + ptr[I], 1);
    for (int64_t row = I * b; row < (I + 1) * b && row < A->rows; row++) {
        int64_t block = ptr[I];
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
            while (col[block] < A->col[k] / b) block++;
            put_value(&S->a[BSR_VAL], (block * b + row % b) * b + A->col[k] % b, A, k);
        }
    }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int *ptr = S->a[BSR_PTR].data, b = (int)S->param[0];
    int64_t n = block_rows(A, b);
    if (!block_pointers(A, b, ptr, e)) return false;
    struct loop l = loop_of("packing blocks", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t I = from, end = loop_share(&l, from, n); I < end; I++) put_block_row(A, I, b, S);
    return loop_end(&l, e);
}

/* A pointer refers to the first row of its block row; a block column refers to the first column of its block. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *ptr = S->a[BSR_PTR].data, *col = S->a[BSR_COL].data;
    int64_t b = S->param[0], n = S->a[BSR_PTR].n - 1, area = b * b;
    if (k == BSR_PTR) return (struct place){SLOT_POINTER, i < n ? i * b : -1, -1};
    if (k == BSR_COL) return (struct place){SLOT_POINTER, span_of(ptr, n, i) * b, col[i] * b};
    int64_t block = i / area, row = span_of(ptr, n, block) * b + i % area / b;
    return place_of_value(S, k, i, row, col[block] * b + i % b);
}

/* Of two sizes with equal bytes, the smaller one. */
static void suit(const struct csr *A, enum precision real, int multiprocessors, int64_t *param)
{
    int64_t least = INT64_MAX, blocks;
    for (int b = SUIT_MIN; b <= SUIT_MAX && count_blocks(A, b, &blocks, NULL); b++) {
        int64_t bytes = blocks * (b * b * (int64_t)type_size(precisions[real].stored) + (int64_t)sizeof(int));
        if (bytes < least) least = bytes, param[0] = b;
    }
}

const struct format format_bsr = {
    .name = "bsr",
    .aliases = "bcsr",
    .about = "compressed rows of small dense blocks",
    .source = "NOTES; block size [ours]",
    .params = {{"block", 4, 1, BLOCK_MAX, "rows and columns per block"}},
    .zeros_fade = true,
    .value = BSR_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
    .suit = suit,
};
