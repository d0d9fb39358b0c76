/* Kernels over CSR: one row per thread, one row per warp, one row per 2 to 32 threads, and the host's loops. */
#include "csr_rows.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* One row per thread. Neighbouring threads read col and val a row length apart, so a warp's request touches up to
   32 sectors; ptr and y are read and written side by side. */
template <typename T>
__global__ void csr_scalar(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, T beta, GPTR(T) y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int end = ptr[row + 1];
    T sum = 0;
#pragma unroll 1
    for (int k = ptr[row]; k < end; k++) sum += val[k] * x[col[k]];
    y[row] = beta == 0 ? alpha * sum : combine(alpha, sum, beta, y[row]);
}

/* One row per warp. The 32 lanes read 32 neighbouring elements, then add up by shuffles; lane 0 writes y. */
template <typename T>
__global__ void csr_vector(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                           GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % WARP;
    int row = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (row >= rows) return; /* the whole warp: all lanes share the row */
    int end = ptr[row + 1];
    T sum = 0;
#pragma unroll 1
    for (int k = ptr[row] + lane; k < end; k += WARP) sum += val[k] * x[col[k]];
    for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
    if (lane == 0) y[row] = beta == 0 ? alpha * sum : combine(alpha, sum, beta, y[row]);
}

/* One row per vector of V neighbouring threads, V a power of two near the mean row length: lanes of a warp read
   several short rows at a time. With V = 32 a long row is read from an aligned address on. */
template <typename T, int V>
__global__ void csr_cusp(int rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                         GPTR(const T) x, T beta, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    int row = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int begin = ptr[row], end = ptr[row + 1];
    T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
    if (lane == 0) y[row] = beta == 0 ? alpha * sum : combine(alpha, sum, beta, y[row]);
}

template <typename T>
using csr_kernel = void(int, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T), T, GPTR(T));

template <typename T> static bool launch_csr(const struct launch *L, csr_kernel<T> *kernel, int rows_a_block)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, blocks_for(S->rows, rows_a_block), BLOCK, kernel)
    ((int)S->rows, ARRAY(L, CSR_PTR, int), ARRAY(L, CSR_COL, int), ARRAY(L, CSR_VAL, T), (T)L->alpha,
     VECTOR("x", L->x, S->cols, const T), (T)L->beta, VECTOR("y", L->y, S->rows, T));
    return true;
}

template <typename T> static bool scalar(const struct launch *L, struct err *)
{
    return launch_csr<T>(L, csr_scalar<T>, BLOCK);
}

template <typename T> static bool vector(const struct launch *L, struct err *)
{
    return launch_csr<T>(L, csr_vector<T>, BLOCK / WARP);
}

template <typename T> static bool cusp(const struct launch *L, struct err *)
{
    static csr_kernel<T> *const kernel[] = {csr_cusp<T, 2>, csr_cusp<T, 4>, csr_cusp<T, 8>, csr_cusp<T, 16>,
                                            csr_cusp<T, 32>};
    int k = vector_choice(L->A->of->rows, L->A->of->nnz);
    return launch_csr<T>(L, kernel[k], BLOCK / (2 << k));
}

/* Measured on nine matrices: up to 16 entries a row, one thread reads them fastest. */
static bool short_rows(const struct csr *A)
{
    return longest_row(A) <= 16;
}

/* Where no row is much longer than the mean, vectors of threads are; else the row ends must be merged. */
static bool even_rows(const struct csr *A)
{
    return longest_row(A) <= 32 + 8 * (A->nnz / (A->rows ? A->rows : 1));
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(csr_scalar) = {
    .name = "csr-scalar",
    .format = "csr",
    .about = "the plainest CSR kernel: simple, and uncoalesced as soon as rows are longer than one element",
    .source = "NOTES, THESIS",
    .work = "one row per thread",
    .deterministic = true,
    .host = false,
    .fits = nullptr,
    .best = short_rows,
    .f32 = scalar<float>,
    .f64 = scalar<double>,
};

KERNEL_ENTRY(csr_vector) = {
    .name = "csr-vector",
    .format = "csr",
    .about = "coalesced along the row; lanes idle when rows are shorter than a warp",
    .source = "NOTES, THESIS",
    .work = "one row per warp, shuffle reduction",
    .deterministic = true,
    .host = false,
    .fits = nullptr,
    .f32 = vector<float>,
    .f64 = vector<double>,
};

KERNEL_ENTRY(csr_cusp) = {
    .name = "csr-cusp",
    .format = "csr",
    .about = "as many threads a row as the mean row has entries: good for short and long rows, if they are alike",
    .source = "NOTES",
    .work = "one row per 2, 4, 8, 16 or 32 neighbouring threads",
    .deterministic = true,
    .best = even_rows,
    .f32 = cusp<float>,
    .f64 = cusp<double>,
};

#ifndef __CUDACC__
template <typename T> static bool csr_host(const struct launch *L, int threads)
{
    const struct stored *S = L->A->of;
    const int *ptr = (const int *)L->A->ptr[CSR_PTR], *col = (const int *)L->A->ptr[CSR_COL];
    const T *val = (const T *)L->A->ptr[CSR_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha, beta = (T)L->beta;
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) if (threads > 1)
    for (int64_t row = 0; row < S->rows; row++) {
        T sum = 0;
        for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
        y[row] = beta == 0 ? alpha * sum : combine(alpha, sum, beta, y[row]);
    }
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return csr_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return csr_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(csr_serial) = {
    .name = "csr-serial",
    .format = "csr",
    .about = "the serial host loop: the baseline of every speed-up",
    .source = "THESIS",
    .work = "all rows in one thread",
    .deterministic = true,
    .host = true,
    .fits = nullptr,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(csr_openmp) = {
    .name = "csr-openmp",
    .format = "csr",
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
