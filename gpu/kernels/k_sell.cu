/* SpMV kernels (matrix-vector products) for SELL-C-sigma: one stored row per thread. With slices of C = 32 rows, the
   reads of a warp are coalesced. */
#include "formats/fmt_sell.h"
#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum {
    BLOCK = 128,
    FEW_THREADS = 1024 /* per multiprocessor */
};

/* One stored row per thread: its slots lie C apart, and neighbouring threads read neighbouring slots. A thread loads
   `batch` slots before it uses the first of them, so that it waits once for their columns and once for their elements
   of x. The first batch is loaded while the previous launch may still write x. A row ends in its first batch with
   padding. The stores to y[perm[at]] are scattered within a window of the sort. */
template <typename T, typename U, int batch>
__global__ void sell(unsigned stored_rows, int C, GPTR(const int) perm, GPTR(const int) ptr, GPTR(const int) col,
                     GPTR(const U) val, T alpha, FRESH(const T) x, T beta, GPTR(T) y)
{
    begin_next();
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= stored_rows) return;
    int row = perm[at];
    unsigned slice = at / C;
    int64_t end = ptr[slice + 1];
    T sum = 0;
    UNROLL(1)
    for (int64_t k = ptr[slice] + (int64_t)(at % C); k < end; k += (int64_t)batch * C) {
        int c[batch];
        U v[batch];
        UNROLL_WHOLE
        for (int j = 0; j < batch; j++) {
            int64_t slot = k + (int64_t)j * C;
            c[j] = slot < end ? once(col, slot) : -1;
            v[j] = slot < end ? once(val, slot) : U{};
            reconverge();
        }
        await_previous();
        UNROLL_WHOLE
        for (int j = 0; j < batch; j++) {
            if (c[j] >= 0) sum += (T)v[j] * x[c[j]];
            reconverge();
        }
        if (c[batch - 1] < 0) break;
    }
    await_previous();
    if (row >= 0) store(y, row, alpha, sum, beta); /* row < 0: padding of the last slice */
}

template <typename T, typename U, int batch> static void launch_rows(const struct launch *L)
{
    const struct stored *S = L->A->of;
    int64_t n = S->a[SELL_PERM].n;
    FOLLOW(L->A->dev, blocks_for(n, BLOCK), BLOCK, sell<T, U, batch>)
    ((unsigned)n, (int)S->param[0], ARRAY(L, SELL_PERM, int), ARRAY(L, SELL_PTR, int), ARRAY(L, SELL_COL, int),
     ARRAY(L, SELL_VAL, U), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* If few threads run on each multiprocessor, each must have many loads under way. If there are enough threads, the
   registers of a large batch would let fewer of them run at the same time. */
template <typename T, typename U = T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    if (L->A->of->a[SELL_PERM].n <= L->A->dev->units * (int64_t)FEW_THREADS)
        launch_rows<T, U, 16>(L);
    else
        launch_rows<T, U, 4>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(sell) = {
    .name = "sell",
    .about = "coalesced like ELL, but each slice is only as wide as its own longest row",
    .format = &format_sell,
    .source = "[ours]",
    .work = "one row per thread, rows of similar length in the same warp",
    .lesson = "Like ell, but in slices of C = 32 rows, each as wide as its longest row. Rows are first sorted by\n"
              "length within windows of 1024, so that the rows of a slice have similar lengths. The 4x4 example\n"
              "with C = 2:\n"
              "    slice 0: row 2, row 0      5 1 | 3 7 | 9 *       3 wide\n"
              "    slice 1: row 1, row 3      2 6 | 8 4             2 wide: nothing is padded\n"
              "A warp takes a slice; each step reads 32 neighbouring slots: 4 sectors of columns and 8 of fp64\n"
              "values. A thread loads 4 steps (16, if there are few rows) before it uses the first of them, so that\n"
              "their loads overlap. The stores to y[perm] are scattered, but only within a window of the sort.\n"
              "A wider window (sigma) means less padding, but the rows of a warp then lie farther from one another\n"
              "and share less of x. sigma 1 keeps the order. A single row of 100000 entries still occupies one lane\n"
              "while 31 lanes wait: use csr-ends or hyb for such matrices.\n",
    .functions = {{"sell", BLOCK}},
    .deterministic = true,
    .follows = true,
    .skips_padding = true,
    .product = {VALUE_TYPES(rows_by_threads), NARROW_TYPES(rows_by_threads)},
};

#ifndef __CUDACC__
template <typename T, typename U = T> static void sell_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int *perm = (const int *)L->A->ptr[SELL_PERM], *ptr = (const int *)L->A->ptr[SELL_PTR],
              *col = (const int *)L->A->ptr[SELL_COL];
    const U *val = (const U *)L->A->ptr[SELL_VAL];
    const T *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    int64_t C = S->param[0];
    host_shares(L, threads, S->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t at = from; at < to; at++) {
            T sum = 0;
            int64_t row = perm[at], end = ptr[at / C + 1];
            for (int64_t k = ptr[at / C] + at % C; k < end && col[k] >= 0; k += C) sum += (T)val[k] * x[col[k]];
            store(y, row, alpha, sum, beta);
        }
    });
}

HOST_NARROW_ENTRIES(
    sell, "sell", sell_host, "the serial host loop over the sorted rows", "[ours]", "1024 stored rows at a time",
    "The elements of a row are C slots apart, where C is the slice height: the rows of a slice use the\n"
    "same cache lines one after another, so the stride costs less than in ell. y is written in the\n"
    "order of the sort.\n",
    .skips_padding = true);
#endif
