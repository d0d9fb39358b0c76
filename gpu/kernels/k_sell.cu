/* SpMV kernels (matrix-vector products) for SELL-C-sigma: one stored row per thread. With slices of C = 32 rows, the
   reads of a warp are coalesced. */
#include "gpu/dialect.h"
#include "formats/fmt_sell.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One stored row per thread: its slots lie C apart, and neighbouring threads read neighbouring slots. A row ends at its
   first padding slot. The stores to y[perm[at]] are scattered within a window of the sort. */
template <typename T>
__global__ void sell(unsigned stored_rows, int C, GPTR(const int) perm, GPTR(const int) ptr, GPTR(const int) col,
                     GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= stored_rows) return;
    int row = perm[at];
    if (row < 0) return; /* padding of the last slice */
    unsigned slice = at / C;
    int64_t end = ptr[slice + 1];
    T sum = 0;
    UNROLL(1)
    for (int64_t k = ptr[slice] + (int64_t)(at % C); k < end; k += C) {
        int c = col[k];
        if (c < 0) break;
        sum += val[k] * x[c];
    }
    store(y, row, alpha, sum, beta);
}

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    int64_t n = S->a[SELL_PERM].n;
    LAUNCH(L->A->dev, blocks_for(n, BLOCK), BLOCK, sell<T>)
    ((unsigned)n, (int)S->param[0], ARRAY(L, SELL_PERM, int), ARRAY(L, SELL_PTR, int), ARRAY(L, SELL_COL, int),
     ARRAY(L, SELL_VAL, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", ROLE_Y, L->y, S->rows, T));
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
              "values. The stores to y[perm] are scattered, but only within a window of the sort.\n"
              "A wider window (sigma) means less padding, but the rows of a warp then lie farther from one another\n"
              "and share less of x. sigma 1 keeps the order. A single row of 100000 entries still occupies one lane\n"
              "while 31 lanes wait: use csr-ends or hyb for such matrices.\n",
    .deterministic = true,
    .skips_padding = true,
    VALUE_TYPES(rows_by_threads),
};

#ifndef __CUDACC__
template <typename T> static void sell_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int *perm = (const int *)L->A->ptr[SELL_PERM], *ptr = (const int *)L->A->ptr[SELL_PTR],
              *col = (const int *)L->A->ptr[SELL_COL];
    const T *val = (const T *)L->A->ptr[SELL_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    int64_t C = S->param[0];
    host_shares(L, threads, S->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t at = from; at < to; at++) {
            T sum = 0;
            int64_t row = perm[at], end = ptr[at / C + 1];
            for (int64_t k = ptr[at / C] + at % C; k < end && col[k] >= 0; k += C) sum += val[k] * x[col[k]];
            store(y, row, alpha, sum, beta);
        }
    });
}

HOST_ENTRIES(sell, "sell", sell_host, "the serial host loop over the sorted rows", "[ours]",
             "1024 stored rows at a time",
             "The elements of a row are C slots apart, where C is the slice height: the rows of a slice use the\n"
             "same cache lines one after another, so the stride costs less than in ell. y is written in the\n"
             "order of the sort.\n",
             .skips_padding = true);
#endif
