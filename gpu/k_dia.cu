/* Kernels over DIA: one row per thread, one step per diagonal; no column index is read. */
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. A warp reads 32 neighbouring values of a diagonal and 32 neighbouring x; all lanes read the same
   offset. Places outside the matrix are skipped. */
template <typename T>
__global__ void dia(unsigned rows, int64_t cols, int diagonals, GPTR(const int) offsets, GPTR(const T) data, T alpha,
                    GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
#pragma unroll 1
    for (int d = 0; d < diagonals; d++) {
        int64_t c = (int64_t)row + offsets[d];
        if (c >= 0 && c < cols) sum += data[(int64_t)d * rows + row] * x[c];
    }
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, dia<T>)
    ((unsigned)S->rows, S->cols, (int)S->a[DIA_OFFSETS].n, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, T),
     (T)L->alpha, VECTOR("x", L->x, S->cols, const T), (T)L->beta, VECTOR("y", L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(dia) = {
    .name = "dia",
    .format = "dia",
    .about = "every read coalesced, x included, and no column indices; for matrices of few, full diagonals",
    .source = "DRM, THESIS",
    .work = "one row per thread",
    .deterministic = true,
    .host = false,
    .fits = nullptr,
    .f32 = rows_by_threads<float>,
    .f64 = rows_by_threads<double>,
};

#ifndef __CUDACC__
enum { TILE = 1024 }; /* rows whose y stays in the first cache while all diagonals pass */

template <typename T>
static void add_diagonal(T alpha, const T *data, const T *x, int64_t off, T *y, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) y[i] += alpha * data[i] * x[i + off];
}

template <typename T> static bool dia_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int *offsets = (const int *)L->A->ptr[DIA_OFFSETS];
    const T *data = (const T *)L->A->ptr[DIA_DATA], *x = (const T *)L->x;
    host_scale<T>(L, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1) if (threads > 1)
    for (int64_t tile = 0; tile < S->rows; tile += TILE)
        for (int64_t d = 0; d < S->a[DIA_OFFSETS].n; d++) {
            int64_t off = offsets[d], from = max(tile, -off), to = min(min(tile + TILE, S->rows), S->cols - off);
            add_diagonal((T)L->alpha, data + d * S->rows, x, off, (T *)L->y, from, to);
        }
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return dia_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return dia_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(dia_serial) = {
    .name = "dia-serial",
    .format = "dia",
    .about = "the serial host loop along the diagonals, 1024 rows at a time",
    .source = "DRM",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(dia_openmp) = {
    .name = "dia-openmp",
    .format = "dia",
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
