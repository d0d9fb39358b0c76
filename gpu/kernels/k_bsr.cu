/* SpMV kernels (matrix-vector products) for BSR: one block row per warp, processed by blocks or by columns. */
#include "base/err.h"
#include "formats/fmt_bsr.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128, SIDE_MAX = WARP }; /* SIDE_MAX: maximum number of rows of a block */

/* Adds n values that lie `stride` lanes apart; this lane holds value number `at`, and the lane that holds value 0
   returns the sum. Participants: the whole warp, including lanes that hold no value (at >= n). */
template <typename T> __device__ T strided_sum(T v, int stride, int n, int at)
{
    int d = 1;
    while (d < n) d *= 2;
    for (d /= 2; d > 0; d /= 2) {
        T other = __shfl_down_sync(FULL_MASK, v, d * stride);
        if (at + d < n) v += other;
    }
    return v;
}

/* One block row per warp. The lanes cover whole blocks in stored order, row by row: as many whole blocks as fit in the
   warp (b = 4: two). If a block has more than 32 entries, the lanes cover as many of its rows as fit.

       b = 4: lanes  0  1  2  3 | 16 17 18 19      b = 8: lanes  0 ..  7   rows 0..3, then
                     4  5  6  7 | 20 21 22 23                    8 .. 15   rows 4..7
                     8  9 10 11 | 24 25 26 27                   16 .. 23
                    12 13 14 15 | 28 29 30 31                   24 .. 31

   The warp reads one contiguous stretch of val; b neighbouring lanes read neighbouring elements of x. First the b lanes
   of a row are added, then the blocks. */
template <typename T>
__global__ void bsr_block(int64_t rows, int64_t cols, int b, GPTR(const int) ptr, GPTR(const int) col,
                          GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % WARP;
    int64_t block_row = (int64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (block_row * b >= rows) return; /* the whole warp: all lanes share the block row */
    int tall = min(b, WARP / b), area = tall * b, blocks = WARP / area;
    int at = lane / area, r = lane % area / b, c = lane % b;
    int first = ptr[block_row] + at, end = ptr[block_row + 1];
    UNROLL(1)
    for (int top = 0; top < b; top += tall) {
        bool inside = at < blocks && top + r < b;
        int64_t row = block_row * b + top + r;
        T sum = 0;
        UNROLL(1)
        for (int64_t k = first; inside && k < end; k += blocks) {
            int64_t j = (int64_t)col[k] * b + c;
            if (j < cols) sum += val[(k * b + top + r) * b + c] * x[j];
        }
        sum = strided_sum(sum, 1, b, c);
        sum = strided_sum(sum, area, blocks, at);
        if (inside && at == 0 && c == 0 && row < rows) store(y, row, alpha, sum, beta);
    }
}

/* One block row per warp, b lanes per column, floor(32/b) columns at a time (b = 4: eight columns of two blocks). Each
   lane stays in one row of the block row; the columns are added at the end, and b neighbouring lanes write y. */
template <typename T>
__global__ void bsr_column(int64_t rows, int64_t cols, int b, GPTR(const int) ptr, GPTR(const int) col,
                           GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % WARP;
    int64_t block_row = (int64_t)blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (block_row * b >= rows) return; /* the whole warp: all lanes share the block row */
    int columns = WARP / b, at = lane / b, r = lane % b, c = at % b, end = ptr[block_row + 1];
    int64_t k = ptr[block_row] + at / b, row = block_row * b + r;
    T sum = 0;
    UNROLL(1)
    while (at < columns && k < end) {
        int64_t j = (int64_t)col[k] * b + c;
        if (j < cols) sum += val[(k * b + r) * b + c] * x[j];
        k += columns / b;
        c += columns % b;
        if (c >= b) {
            c -= b;
            k++;
        }
    }
    sum = strided_sum(sum, b, columns, at);
    if (at == 0 && row < rows) store(y, row, alpha, sum, beta);
}

template <typename T>
using bsr_kernel = void(int64_t, int64_t, int, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), T,
                        GPTR(T));

template <typename T> static bool launch_bsr(const struct launch *L, KERNEL_POINTER(bsr_kernel<T>) kernel)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->a[BSR_PTR].n - 1, BLOCK / WARP), BLOCK, kernel)
    (S->rows, S->cols, (int)S->param[0], ARRAY(L, BSR_PTR, int), ARRAY(L, BSR_COL, int), ARRAY(L, BSR_VAL, T),
     (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

template <typename T> static bool by_block(const struct launch *L, struct err *)
{
    return launch_bsr<T>(L, KERNEL(bsr_block<T>));
}

template <typename T> static bool by_column(const struct launch *L, struct err *)
{
    return launch_bsr<T>(L, KERNEL(bsr_column<T>));
}

static bool fits_warp(const struct stored *S, struct err *e)
{
    if (S->param[0] <= SIDE_MAX) return true;
    return fail(e, E_UNSUPPORTED,
                "a block has %lld rows, more than the %d lanes of a warp; convert with a smaller block",
                (long long)S->param[0], SIDE_MAX);
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(bsr_block) = {
    .name = "bsr-block",
    .about = "a warp reads whole blocks in stored order; lanes idle if b*b does not divide 32",
    .format = &format_bsr,
    .source = "NOTES",
    .work = "one block row per warp, floor(32/(b*b)) blocks at a time",
    .lesson = "A warp takes a row of blocks; its lanes cover whole blocks in the order in which they are stored.\n"
              "The 4x4 example with blocks of 2 x 2, block row 0:\n"
              "    1  7 | 0  0     stored  1 7 0 2 | 0 0 8 0\n"
              "    0  2 | 8  0     lane    0 1 2 3   4 5 6 7     lanes 8 to 31: the next six blocks\n"
              "All lanes read one stretch of val. A block has one column index, so 4 x 4 blocks need 1/16 of the\n"
              "indices of CSR; x is read in runs of b. Shuffles first add the b lanes of a row, then the blocks.\n"
              "Zeros inside blocks are stored and multiplied: unless the matrix has small dense blocks (as in\n"
              "finite elements with several unknowns per node), most of the work is on zeros. Blocks of more\n"
              "than 32 rows do not fit in a warp. If b * b does not divide 32, lanes idle: 5 of 32 with b = 3.\n"
              "bsr-column leaves fewer lanes idle: 2 with b = 3.\n",
    .functions = {{"bsr_block", BLOCK}},
    .deterministic = true,
    .fits = fits_warp,
    .product = {VALUE_TYPES(by_block)},
};

KERNEL_ENTRY(bsr_column) = {
    .name = "bsr-column",
    .about = "each lane stays in one row of the block row; fewer idle lanes than bsr-block",
    .format = &format_bsr,
    .source = "NOTES",
    .work = "one block row per warp, floor(32/b) columns at a time",
    .lesson = "Like bsr-block, but b lanes take one column of a block and a warp takes 32 / b columns at a time, so\n"
              "that each lane stays in one row. The 4x4 example with blocks of 2 x 2, block row 0 (1 7 / 0 2 and\n"
              "0 0 / 8 0):\n"
              "    column  1 | 7 | 0 | 0\n"
              "            0 | 2 | 8 | 0\n"
              "    lanes  0-1 2-3 4-5 6-7     lanes 8 to 31: the columns of the next six blocks\n"
              "Blocks are stored by rows, so the values that the lanes of a column read lie b slots apart. But a\n"
              "request of the warp covers the same sectors as a request of bsr-block. Each column needs one value\n"
              "of x. The sums of the columns are added once at the end, and b neighbouring lanes write y:\n"
              "fewer shuffles and fewer idle lanes (b = 3: 30 of 32 lanes work, 27 in bsr-block).\n"
              "Every zero of a block is still multiplied, so the format pays only if blocks are mostly full: look\n"
              "at the padding that `formats` shows. If most blocks are not full, use a CSR kernel.\n",
    .functions = {{"bsr_column", BLOCK}},
    .deterministic = true,
    .fits = fits_warp,
    .product = {VALUE_TYPES(by_column)},
};

#ifndef __CUDACC__
/* sum[0..b-1] += block times x, over the first `width` columns, which lie inside the matrix. */
template <typename T> static void add_block(const T *block, int64_t b, int64_t width, const T *x, T *sum)
{
    for (int64_t r = 0; r < b; r++)
        for (int64_t c = 0; c < width; c++) sum[r] += block[r * b + c] * x[c];
}

template <typename T> static void host_block_row(const struct launch *L, int64_t block_row)
{
    const struct stored *S = L->A->of;
    const int *ptr = (const int *)L->A->ptr[BSR_PTR], *col = (const int *)L->A->ptr[BSR_COL];
    const T *val = (const T *)L->A->ptr[BSR_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta, sum[SIDE_MAX] = {0};
    int64_t b = S->param[0];
    for (int64_t k = ptr[block_row]; k < ptr[block_row + 1]; k++)
        add_block(val + k * b * b, b, min(b, S->cols - col[k] * b), x + col[k] * b, sum);
    for (int64_t r = 0, row = block_row * b; r < b && row < S->rows; r++, row++) store(y, row, alpha, sum[r], beta);
}

template <typename T> static void bsr_host(const struct launch *L, int threads)
{
    int64_t block_rows = L->A->of->a[BSR_PTR].n - 1;
    host_shares(L, threads, block_rows, 256, [=](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; i++) host_block_row<T>(L, i);
    });
}

HOST_ENTRIES(bsr, "bsr", bsr_host, "the serial host loop, one block after another", "[ours]",
             "256 block rows at a time",
             "Multiplies one block after another: one column index per block, and rows of b values for vector\n"
             "instructions. The zeros inside blocks are multiplied too.\n",
             .fits = fits_warp);
#endif
