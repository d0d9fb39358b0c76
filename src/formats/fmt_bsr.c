/* BSR: compressed rows of b x b blocks. Block k of val consists of b*b values, row by row; block row I holds the blocks
   ptr[I] .. ptr[I+1]-1 at block columns col[]. Absent entries, and elements beyond the matrix's edges, are 0.

   The default b = 4 suits the small dense blocks of finite elements (2 to 6 unknowns per node), and two 4 x 4 blocks
   fill a warp. */
#include "fmt_bsr.h"
#include "matrix/csr.h"
#include "format.h"
#include "base/search.h"
#include "base/loop.h"
#include "base/threads.h"

enum { BLOCK_MAX = 32 };

static int64_t block_rows(const struct csr *A, int64_t b)
{
    return (A->rows + b - 1) / b;
}

/* The block column of entry k of a row that ends at `end`. If k >= end, the result is larger than any block column. */
static int block_of(const struct csr *A, int k, int end, int b)
{
    return k < end ? (int)((unsigned)A->col[k] / (unsigned)b) : INT32_MAX;
}

/* Merge the rows of block row I and return the number of blocks in it. If `list` is not NULL, write the block columns
   of these blocks to it in ascending order. */
static int64_t block_columns(const struct csr *A, int64_t I, int b, int *list)
{
    int64_t first = I * b, n = 0, rows = A->rows - first < b ? A->rows - first : b;
    const int *end = A->rowptr + first + 1;
    int at[BLOCK_MAX], block[BLOCK_MAX], next = INT32_MAX;
    for (int64_t r = 0; r < rows; r++) {
        at[r] = A->rowptr[first + r];
        block[r] = block_of(A, at[r], end[r], b);
        if (block[r] < next) next = block[r];
    }
    for (; next != INT32_MAX; n++) {
        int least = next;
        if (list) list[n] = least;
        next = INT32_MAX;
        for (int64_t r = 0; r < rows; r++) {
            while (block[r] == least) block[r] = block_of(A, ++at[r], end[r], b);
            if (block[r] < next) next = block[r];
        }
    }
    return n;
}

void bsr_sizes(struct stored *S, int64_t blocks)
{
    int64_t b = S->param[0];
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, (S->rows + b - 1) / b + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, blocks);
    plan_array(S, "val", ROLE_VALUES, S->real, blocks * b * b);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t b = S->param[0], blocks = 0;
    struct loop l = loop_of("planning blocks", block_rows(A, b));
#pragma omp parallel for schedule(dynamic, LOOP_SHARE) reduction(+ : blocks) if (A->nnz > THREADS_FROM)
    for (int64_t I = 0; I < block_rows(A, b); I++) blocks += loop_goes(&l, I) ? block_columns(A, I, (int)b, NULL) : 0;
    bsr_sizes(S, blocks);
    return loop_end(&l, e);
}

static void put_block_row(const struct csr *A, int64_t I, int b, struct stored *S)
{
    const int *ptr = S->a[BSR_PTR].data;
    int *col = S->a[BSR_COL].data;
    block_columns(A, I, b, col + ptr[I]);
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
    struct loop l = loop_of("packing blocks", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARE) if (A->nnz > THREADS_FROM)
    for (int64_t I = 0; I < n; I++) ptr[I + 1] = loop_goes(&l, I) ? (int)block_columns(A, I, b, NULL) : 0;
    for (int64_t I = 0; I < n; I++) ptr[I + 1] += ptr[I];
#pragma omp parallel for schedule(dynamic, LOOP_SHARE) if (A->nnz > THREADS_FROM)
    for (int64_t I = 0; I < n; I++)
        if (loop_goes(&l, I)) put_block_row(A, I, b, S);
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
};
