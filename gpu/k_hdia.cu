/* Kernels over HDIA: one row per thread, one step per diagonal of its hack. */
#include "diagonal_rows.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread; with hacks of 32 rows a warp takes a hack. Its lanes read the same bounds and offsets, and side
   by side the values of a diagonal and x. */
template <typename T>
__global__ void hdia(unsigned rows, int64_t cols, unsigned hack, GPTR(const int) dnum, GPTR(const int) offsets,
                     GPTR(const T) data, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int first = dnum[row / hack], n = dnum[row / hack + 1] - first;
    int64_t slot = (int64_t)first * hack + row % hack;
    T sum = diagonals_sum<T>(row, cols, n, offsets + first, data + slot, hack, x);
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, hdia<T>)
    ((unsigned)S->rows, S->cols, (unsigned)S->param[0], ARRAY(L, HDIA_HACKOFFSETS, int), ARRAY(L, HDIA_OFFSETS, int),
     ARRAY(L, HDIA_DATA, T), (T)L->alpha, VECTOR("x", L->x, S->cols, const T), (T)L->beta,
     VECTOR("y", L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(hdia) = {
    .name = "hdia",
    .format = "hdia",
    .about = "coalesced like DIA; each hack pays only for its own diagonals",
    .source = "Barbieri et al.; Wang et al. 2024, sec. 3.2",
    .work = "one row per thread, all diagonals of its hack",
    .deterministic = true,
    .f32 = rows_by_threads<float>,
    .f64 = rows_by_threads<double>,
};

#ifndef __CUDACC__
template <typename T> static struct diagonal_rows<T> hack_at(const struct launch *L, int64_t h) {
    const struct stored *S = L->A->of;
    const int *dnum = (const int *)L->A->ptr[HDIA_HACKOFFSETS];
    int64_t hack = S->param[0];
    return {
        .first = h * hack,
        .last = min((h + 1) * hack, S->rows),
        .n = dnum[h + 1] - dnum[h],
        .height = hack,
        .offsets = (const int *)L->A->ptr[HDIA_OFFSETS] + dnum[h],
        .data = (const T *)L->A->ptr[HDIA_DATA] + dnum[h] * hack,
    };
}

template <typename T>
static bool serial(const struct launch *L, struct err *)
{
    host_pieces<T>(L, 1, L->A->of->a[HDIA_HACKOFFSETS].n - 1, hack_at<T>);
    return true;
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    host_pieces<T>(L, host_threads(L), L->A->of->a[HDIA_HACKOFFSETS].n - 1, hack_at<T>);
    return true;
}

KERNEL_ENTRY(hdia_serial) = {
    .name = "hdia-serial",
    .format = "hdia",
    .about = "the serial host loop along the diagonals, a hack at a time",
    .source = "[ours]",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(hdia_openmp) = {
    .name = "hdia-openmp",
    .format = "hdia",
    .about = "the host loop on all cores",
    .source = "[ours]",
    .work = "some hacks at a time per host thread",
    .deterministic = true,
    .host = true,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
