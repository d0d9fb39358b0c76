/* Kernels over a dense matrix, stored column by column: what a sparse format must beat. */
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. A warp reads 32 neighbouring values of a column; all lanes read the same x. */
template <typename T>
__global__ void dense(unsigned rows, int64_t cols, GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
#pragma unroll 1
    for (int64_t c = 0; c < cols; c++) sum += val[c * rows + row] * x[c];
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, dense<T>)
    ((unsigned)S->rows, S->cols, ARRAY(L, DENSE_VAL, T), (T)L->alpha, VECTOR("x", L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dense) = {
    .name = "dense",
    .format = "dense",
    .about = "every place of the matrix, zero or not: coalesced, no index is read",
    .source = "[ours]",
    .work = "one row per thread",
    .deterministic = true,
    .host = false,
    .fits = nullptr,
    .f32 = rows_by_threads<float>,
    .f64 = rows_by_threads<double>,
};

#ifndef __CUDACC__
enum { TILE = 1024 }; /* rows whose y stays in the first cache while all columns pass */

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

template <typename T> static bool dense_host(const struct launch *L, int threads)
{
    int64_t rows = L->A->of->rows;
    host_scale<T>(L, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t tile = 0; tile < rows; tile += TILE) add_columns<T>(L, tile, min(tile + TILE, rows));
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return dense_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return dense_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(dense_serial) = {
    .name = "dense-serial",
    .format = "dense",
    .about = "the serial host loop along the columns, 1024 rows at a time",
    .source = "[ours]",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(dense_openmp) = {
    .name = "dense-openmp",
    .format = "dense",
    .about = "the host loop on all cores",
    .source = "[ours]",
    .work = "1024 rows at a time per host thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
