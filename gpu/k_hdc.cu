/* Kernels over HDC: the DIA part first, which writes every y, then the compressed rows of the rest, which add to it. */
#include "csr_rows.h"
#include "diagonal_rows.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

static_assert(+HDC_OFFSETS == +DIA_OFFSETS && +HDC_DATA == +DIA_DATA, "the DIA part is found where a DIA is");

/* One row of the rest per vector of V neighbouring threads, which read neighbouring elements and gather x. A row
   without rest reads its two pointers and leaves y alone. */
template <typename T, int V>
__global__ void hdc_rest(unsigned rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                         GPTR(const T) x, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    unsigned row = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int begin = ptr[row], end = ptr[row + 1];
    if (begin == end) return; /* likewise */
    T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
    if (lane == 0) y[row] += alpha * sum;
}

template <typename T> static void launch_rest(const struct launch *L)
{
    static void (*const kernel[])(unsigned, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T),
                                  GPTR(T)) = {hdc_rest<T, 2>, hdc_rest<T, 4>, hdc_rest<T, 8>, hdc_rest<T, 16>,
                                              hdc_rest<T, 32>};
    const struct stored *S = L->A->of;
    int64_t rest = S->a[HDC_VAL].n;
    int k = vector_choice(S->rows, rest);
    LAUNCH(L->A->dev, rest ? blocks_for(S->rows, BLOCK / (2 << k)) : 0, BLOCK, kernel[k])
    ((unsigned)S->rows, ARRAY(L, HDC_PTR, int), ARRAY(L, HDC_COL, int), ARRAY(L, HDC_VAL, T), (T)L->alpha,
     VECTOR("x", L->x, S->cols, const T), VECTOR("y", L->y, S->rows, T));
}

template <typename T> static bool dia_then_rest(const struct launch *L, struct err *)
{
    launch_dia<T>(L);
    launch_rest<T>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(hdc) = {
    .name = "hdc",
    .format = "hdc",
    .about = "DIA for what lies on full diagonals, vectors of threads for the rest",
    .source = "Yang et al.; Wang et al. 2024, sec. 2.1",
    .work = "one row per thread, then one row of the rest per 2 to 32 neighbouring threads",
    .deterministic = true,
    .f32 = dia_then_rest<float>,
    .f64 = dia_then_rest<double>,
};

#ifndef __CUDACC__
template <typename T> static bool hdc_host(const struct launch *L, int threads)
{
    const int *ptr = (const int *)L->A->ptr[HDC_PTR], *col = (const int *)L->A->ptr[HDC_COL];
    const T *val = (const T *)L->A->ptr[HDC_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha;
    host_dia<T>(L, threads);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1024) if (threads > 1)
    for (int64_t row = 0; row < L->A->of->rows; row++) {
        T sum = 0;
        for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
        y[row] += alpha * sum;
    }
    return true;
}

template <typename T> static bool serial(const struct launch *L, struct err *)
{
    return hdc_host<T>(L, 1);
}
template <typename T> static bool openmp(const struct launch *L, struct err *)
{
    return hdc_host<T>(L, host_threads(L));
}

KERNEL_ENTRY(hdc_serial) = {
    .name = "hdc-serial",
    .format = "hdc",
    .about = "the serial host loops over both parts",
    .source = "[ours]",
    .work = "all rows of one part, then of the other, in one thread",
    .deterministic = true,
    .host = true,
    .f32 = serial<float>,
    .f64 = serial<double>,
};

KERNEL_ENTRY(hdc_openmp) = {
    .name = "hdc-openmp",
    .format = "hdc",
    .about = "the host loops over both parts on all cores",
    .source = "[ours]",
    .work = "1024 rows at a time per host thread, of one part, then of the other",
    .deterministic = true,
    .host = true,
    .f32 = openmp<float>,
    .f64 = openmp<double>,
};
#endif
