/* Matrix-vector product with a dense matrix, stored column by column: the baseline that a sparse format must beat. */
#include "formats/fmt_dense.h"
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. A warp reads 32 neighbouring values of a column; all lanes read the same element of x. */
template <typename T>
__global__ void dense(unsigned rows, int64_t cols, GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
    UNROLL(1)
    for (int64_t c = 0; c < cols; c++) sum += val[c * rows + row] * x[c];
    store(y, row, alpha, sum, beta);
}

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, dense<T>)
    ((unsigned)S->rows, S->cols, ARRAY(L, DENSE_VAL, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T),
     (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dense) = {
    .name = "dense",
    .about = "every element of the matrix, zero or not: coalesced, no index is read",
    .format = &format_dense,
    .source = "[ours]",
    .work = "one row per thread",
    .lesson = "Thread t takes row t of a matrix that is stored column by column, zeros included:\n"
              "    step 1        step 2        step 3        step 4\n"
              "    1  0  5  0    7  2  0  6    0  8  3  0    0  0  9  4\n"
              "    0  1  2  3    0  1  2  3    0  1  2  3    0  1  2  3    thread\n"
              "In each step, a warp reads 32 neighbouring values, 8 sectors in fp64, and one element of x for all\n"
              "lanes, 1 sector.\n"
              "No index is read: 8 bytes per element, compared with 12 bytes per entry in CSR. Dense wins only if\n"
              "at least two thirds of the elements are nonzero; with 1 nonzero in 100, dense moves 67 times as\n"
              "many bytes. A matrix with few rows and many columns does not fill the device, because one thread\n"
              "walks a whole row. This kernel is the baseline that every sparse format must beat.\n",
    .functions = {{"dense", BLOCK}},
    .deterministic = true,
    .product = {VALUE_TYPES(rows_by_threads)},
};

#ifndef __CUDACC__
enum { TILE = 1024 }; /* rows whose y stays in the L1 cache while all columns are added */

template <typename T> static void add_columns(const struct launch *L, int64_t from, int64_t to)
{
    const struct stored *S = L->A->of;
    const T *val = (const T *)L->A->ptr[DENSE_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y;
    for (int64_t c = 0; c < S->cols; c++) {
        T scaled = (T)L->alpha * x[c];
        for (int64_t row = from; row < to; row++) y[row] += val[c * S->rows + row] * scaled;
    }
}

template <typename T> static void dense_host(const struct launch *L, int threads)
{
    host_scale<T>(L, threads);
    host_shares(L, threads, L->A->of->rows, TILE, [=](int64_t from, int64_t to) { add_columns<T>(L, from, to); });
}

HOST_ENTRIES(dense, "dense", dense_host, "the serial host loop along the columns, 1024 rows at a time", "[ours]",
             "1024 rows at a time",
             "Goes through all columns for 1024 rows at a time, while their y stays in the L1 cache: one stream of\n"
             "values, no index, vector instructions. Every zero is multiplied.\n");
#endif
