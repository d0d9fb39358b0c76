/* Kernels over DIA: one row per thread, one step per diagonal; no column index is read. */
#include "diagonal_rows.h"

namespace KERNEL_SPACE
{

/* One row per thread. A warp reads 32 neighbouring values of a diagonal and 32 neighbouring x; all lanes read the same
   offset. Places outside the matrix are skipped. */
template <typename T>
__global__ void dia(unsigned rows, int64_t cols, int diagonals, GPTR(const int) offsets, GPTR(const T) data, T alpha,
                    GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = diagonals_sum<T>(row, cols, diagonals, offsets, data + row, rows, x);
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

template <typename T> void launch_dia(const struct launch *L)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, DIA_ROWS), DIA_ROWS, dia<T>)
    ((unsigned)S->rows, S->cols, (int)S->a[DIA_OFFSETS].n, ARRAY(L, DIA_OFFSETS, int), ARRAY(L, DIA_DATA, T),
     (T)L->alpha, VECTOR("x", L->x, S->cols, const T), (T)L->beta, VECTOR("y", L->y, S->rows, T));
}

template void launch_dia<float>(const struct launch *);
template void launch_dia<double>(const struct launch *);

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    launch_dia<T>(L);
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
namespace KERNEL_SPACE
{

enum { TILE = 1024 }; /* rows whose y stays in the first cache while all diagonals pass */

template <typename T> static struct diagonal_rows<T> tile(const struct launch *L, int64_t k) {
    const struct stored *S = L->A->of;
    int64_t first = k * TILE;
    return {
        .first = first,
        .last = min(first + TILE, S->rows),
        .n = S->a[DIA_OFFSETS].n,
        .height = S->rows,
        .offsets = (const int *)L->A->ptr[DIA_OFFSETS],
        .data = (const T *)L->A->ptr[DIA_DATA] + first,
    };
}

template <typename T>
void host_dia(const struct launch *L, int threads)
{
    host_pieces<T>(L, threads, (L->A->of->rows + TILE - 1) / TILE, tile<T>);
}

template void host_dia<float>(const struct launch *, int);
template void host_dia<double>(const struct launch *, int);

} // namespace KERNEL_SPACE

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    host_dia<T>(L, 1);
    return true;
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    host_dia<T>(L, host_threads(L));
    return true;
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
