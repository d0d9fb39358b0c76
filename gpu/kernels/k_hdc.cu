/* Kernels over HDC: the DIA part first, which writes every y, then the compressed rows of the rest, which add to it. */
#include "csr_rows.h"
#include "diagonal_rows.h"
#include "formats/fmt_dia.h"
#include "formats/fmt_hdc.h"

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
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("y", ROLE_Y, L->y, S->rows, T));
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
    .about = "DIA for what lies on full diagonals, vectors of threads for the rest",
    .format = &format_hdc,
    .source = "Yang et al.; Wang et al. 2024, sec. 2.1",
    .work = "one row per thread, then one row of the rest per 2 to 32 neighbouring threads",
    .lesson = "Two launches. Diagonals that fill half of their slots or more are a DIA matrix, one thread a row;\n"
              "all other entries are compressed rows, 2 to 32 threads a row, which add to y:\n"
              "    DIA   a step reads 32 neighbouring values and x, 8 sectors each, no columns     see dia\n"
              "    rest  a row is read by a vector of threads, x is gathered                       see csr-cusp\n"
              "Padding is at most that of half-full diagonals, and stray entries cost no more than in csr. No\n"
              "atomics: the launches follow one another, and a row without rest leaves its y alone. Same bits\n"
              "every run.\n"
              "y is written, read and written again, and ptr is read for rows without rest too: with no stray\n"
              "entries dia is better, with no full diagonals csr. Many half-broken diagonals end in the rest: drm,\n"
              "hdia.\n"
              "DRM: its format was 1.94 times as fast as HDC in the mean, 3.01 times at most, in fp64: few\n"
              "diagonals passed the threshold, and the rest was read without order.\n",
    .deterministic = true,
    .f32 = dia_then_rest<float>,
    .f64 = dia_then_rest<double>,
};

#ifndef __CUDACC__
template <typename T> static void hdc_host(const struct launch *L, int threads)
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
}

HOST_ENTRIES(hdc, "hdc", hdc_host, "the serial host loops over both parts", "[ours]",
             "1024 rows at a time, of one part, then of the other,",
             "The loop of dia over the full diagonals, then that of csr over the rest, which adds to y.\n");
#endif
