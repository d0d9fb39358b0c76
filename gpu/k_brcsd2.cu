/* Kernels over BRCSD-II: one row per thread, one step per diagonal of its block of rows. */
#include "diagonal_rows.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread; with blocks of 32 rows a warp takes a block. Its lanes read the same pointers and offsets, which
   neighbouring warps often share, and side by side the values of a diagonal and x. */
template <typename T>
__global__ void brcsd2(unsigned rows, int64_t cols, unsigned nrows, GPTR(const int) offsets, GPTR(const T) data,
                       GPTR(const int) ptr, GPTR(const int) dnum, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    unsigned b = row / nrows;
    int first = dnum[b], n = dnum[b + 1] - first;
    int64_t slot = (int64_t)first * nrows + row % nrows;
    T sum = diagonals_sum<T>(row, cols, n, offsets + (ptr[b] + 1), data + slot, nrows, x);
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

template <typename T> void launch_brcsd2(const struct launch *L)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, brcsd2<T>)
    ((unsigned)S->rows, S->cols, (unsigned)S->param[0], ARRAY(L, BRCSD2_OFFSETS, int), ARRAY(L, BRCSD2_DATA, T),
     ARRAY(L, BRCSD2_PTR, int), ARRAY(L, BRCSD2_DNUM, int), (T)L->alpha, VECTOR("x", L->x, S->cols, const T),
     (T)L->beta, VECTOR("y", L->y, S->rows, T));
}

template void launch_brcsd2<float>(const struct launch *);
template void launch_brcsd2<double>(const struct launch *);

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    launch_brcsd2<T>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(brcsd2) = {
    .name = "brcsd2",
    .format = "brcsd2",
    .about = "coalesced like DIA; each block pays for its own diagonals, and like neighbours read one list of offsets",
    .source = "Gao et al.; Wang et al. 2024, sec. 3.3",
    .work = "one row per thread, all diagonals of its block of rows",
    .deterministic = true,
    .f32 = rows_by_threads<float>,
    .f64 = rows_by_threads<double>,
};

#ifndef __CUDACC__
namespace KERNEL_SPACE
{

template <typename T> static struct diagonal_rows<T> block_at(const struct launch *L, int64_t b) {
    const struct stored *S = L->A->of;
    const int *dnum = (const int *)L->A->ptr[BRCSD2_DNUM];
    int64_t nrows = S->param[0];
    return {
        .first = b * nrows,
        .last = min((b + 1) * nrows, S->rows),
        .n = dnum[b + 1] - dnum[b],
        .height = nrows,
        .offsets = (const int *)L->A->ptr[BRCSD2_OFFSETS] + ((const int *)L->A->ptr[BRCSD2_PTR])[b] + 1,
        .data = (const T *)L->A->ptr[BRCSD2_DATA] + dnum[b] * nrows,
    };
}

template <typename T>
void host_brcsd2(const struct launch *L, int threads)
{
    host_pieces<T>(L, threads, L->A->of->a[BRCSD2_PTR].n, block_at<T>);
}

template void host_brcsd2<float>(const struct launch *, int);
template void host_brcsd2<double>(const struct launch *, int);

} // namespace KERNEL_SPACE

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    host_brcsd2<T>(L, 1);
    return true;
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    host_brcsd2<T>(L, host_threads(L));
    return true;
}

KERNEL_ENTRY(brcsd2_serial) = {
    .name = "brcsd2-serial",
    .format = "brcsd2",
    .about = "the serial host loop along the diagonals, a block at a time",
    .source = "[ours]",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(brcsd2_openmp) = {
    .name = "brcsd2-openmp",
    .format = "brcsd2",
    .about = "the host loop on all cores",
    .source = "[ours]",
    .work = "some blocks of rows at a time per host thread",
    .deterministic = true,
    .host = true,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
