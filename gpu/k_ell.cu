/* Kernels over ELL: one row per thread. */
#include "parts.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. Element k of all rows lies side by side, so that a warp reads 32 neighbouring slots of col and
   of val. A row ends at its first padding slot; the warp goes on until its longest row has ended. */
template <typename T>
__global__ void ell(unsigned rows, int64_t slots, GPTR(const int) col, GPTR(const T) val, T alpha, GPTR(const T) x,
                    T beta, GPTR(T) y)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    T sum = 0;
#pragma unroll 1
    for (int64_t k = row; k < slots; k += rows) {
        int c = col[k];
        if (c < 0) break;
        sum += val[k] * x[c];
    }
    y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
}

template <typename T> void launch_ell(const struct launch *L, struct ell_part p)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK), BLOCK, ell<T>)
    ((unsigned)S->rows, S->a[p.val].n, ARRAY(L, p.col, int), ARRAY(L, p.val, T), (T)L->alpha,
     VECTOR("x", L->x, S->cols, const T), (T)L->beta, VECTOR("y", L->y, S->rows, T));
}

template void launch_ell<float>(const struct launch *, struct ell_part);
template void launch_ell<double>(const struct launch *, struct ell_part);

static const struct ell_part whole = {ELL_COL, ELL_VAL};

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    launch_ell<T>(L, whole);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(ell) = {
    .name = "ell",
    .format = "ell",
    .about = "coalesced without any exchange between threads; padding costs what the longest row dictates",
    .source = "NOTES, THESIS",
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

template <typename T> void host_ell(const struct launch *L, struct ell_part p, int threads)
{
    const int *col = (const int *)L->A->ptr[p.col];
    const T *val = (const T *)L->A->ptr[p.val], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
    int64_t rows = L->A->of->rows, slots = L->A->of->a[p.val].n;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) if (threads > 1)
    for (int64_t row = 0; row < rows; row++) {
        T sum = 0;
        for (int64_t k = row; k < slots && col[k] >= 0; k += rows) sum += val[k] * x[col[k]];
        y[row] = beta == 0 ? alpha * sum : alpha * sum + beta * y[row];
    }
}

template void host_ell<float>(const struct launch *, struct ell_part, int);
template void host_ell<double>(const struct launch *, struct ell_part, int);

} // namespace KERNEL_SPACE

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    host_ell<T>(L, whole, 1);
    return true;
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    host_ell<T>(L, whole, host_threads(L));
    return true;
}

KERNEL_ENTRY(ell_serial) = {
    .name = "ell-serial",
    .format = "ell",
    .about = "the serial host loop; strides a whole column of slots at each step",
    .source = "THESIS",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(ell_openmp) = {
    .name = "ell-openmp",
    .format = "ell",
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
