/* SpMV kernels (matrix-vector products) for HDC: a first launch multiplies the DIA part and writes every y; a second
   launch multiplies the remaining entries, in compressed rows, and adds to y. */
#include "csr_rows.h"
#include "diagonal_rows.h"
#include "diagonals_paper.h"
#include "formats/fmt_dia.h"
#include "formats/fmt_hdc.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

static_assert(+HDC_OFFSETS == +DIA_OFFSETS && +HDC_DATA == +DIA_DATA,
              "launch_dia and launch_dia_paper take the DIA part as a DIA matrix");

/* One row of the CSR part per vector of V neighbouring threads, which read neighbouring elements and gather x. For an
   empty row, only the two pointers are read, and y is not touched. */
template <typename T, int V>
__global__ void hdc_remainder(unsigned rows, GPTR(const int) ptr, GPTR(const int) col, GPTR(const T) val, T alpha,
                              GPTR(const T) x, GPTR(T) y)
{
    int lane = threadIdx.x % V;
    unsigned row = blockIdx.x * (blockDim.x / V) + threadIdx.x / V;
    if (row >= rows) return; /* the whole vector: its threads share the row */
    int begin = ptr[row], end = ptr[row + 1];
    if (begin == end) return; /* the whole vector returns */
    T sum = vector_sum<T, V>(lane, begin, end, col, val, x);
    if (lane == 0) y[row] += alpha * sum;
}

template <typename T> static void launch_remainder(const struct launch *L)
{
    static void (*const kernel[])(unsigned, GPTR(const int), GPTR(const int), GPTR(const T), T, GPTR(const T),
                                  GPTR(T)) = {hdc_remainder<T, 2>, hdc_remainder<T, 4>, hdc_remainder<T, 8>,
                                              hdc_remainder<T, 16>, hdc_remainder<T, 32>};
    const struct stored *S = L->A->of;
    int64_t nnz = S->a[HDC_VAL].n;
    if (!nnz) return;
    int k = vector_choice(S->rows, nnz);
    LAUNCH(L->A->dev, blocks_for(S->rows, BLOCK / (2 << k)), BLOCK, kernel[k])
    ((unsigned)S->rows, ARRAY(L, HDC_PTR, int), ARRAY(L, HDC_COL, int), ARRAY(L, HDC_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

/* Without entries in the compressed rows, nothing reads ptr. */
static int64_t bytes_read(const struct stored *S)
{
    int64_t ptr = (int64_t)type_size(S->a[HDC_PTR].type) * S->a[HDC_PTR].n;
    return stored_bytes(S) - (S->a[HDC_VAL].n ? 0 : ptr);
}

template <typename T> static bool dia_then_remainder(const struct launch *L, struct err *)
{
    launch_dia<T>(L);
    launch_remainder<T>(L);
    return true;
}

template <typename T> static bool dia_paper_then_remainder(const struct launch *L, struct err *)
{
    launch_dia_paper<T>(L);
    launch_remainder<T>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(hdc_paper) = {
    .name = "hdc-paper",
    .about = "hdc with dia-paper for the full diagonals, for comparison with the other kernels of the papers",
    .format = &format_hdc,
    .source = "Yang et al.; DRM, sec. 2.1",
    .work = "one row per thread, one diagonal at a time, then one row of the CSR part per 2 to 32 neighbouring threads",
    .lesson = "Two launches, as in hdc. The first one takes the diagonals one after another; the second one is that\n"
              "of hdc:\n"
              "    DIA   a step reads 32 neighbouring values and x, one diagonal per step     see dia-paper\n"
              "    CSR   a vector of threads reads a row, x is gathered                        see csr-cusp\n"
              "With few full diagonals, this kernel takes about as long as hdc.\n"
              "The papers print no kernel for HDC. DRM paper, fp64: DRM was 1.94 times as fast as HDC on average,\n"
              "3.01 times at best.\n",
    .functions = {{"dia_paper"}, {"hdc_remainder", BLOCK}},
    .deterministic = true,
    .reads = bytes_read,
    .product = {VALUE_TYPES(dia_paper_then_remainder)},
};

KERNEL_ENTRY(hdc) = {
    .name = "hdc",
    .about = "DIA for entries on full diagonals, a vector of threads per row for all other entries",
    .format = &format_hdc,
    .source = "Yang et al.; DRM, sec. 2.1",
    .work = "one row per thread, then one row of the CSR part per 2 to 32 neighbouring threads",
    .lesson = "Two launches. Diagonals that are at least half full form a DIA matrix, with one thread per row; all\n"
              "other entries are in compressed rows, with 2 to 32 threads per row, which add to y:\n"
              "    DIA   a step reads 32 neighbouring values and x, 8 sectors each, no columns     see dia\n"
              "    CSR   a vector of threads reads a row, x is gathered                            see csr-cusp\n"
              "At most half of the DIA slots are padding, and stray entries cost no more than in csr. No atomics\n"
              "are needed, because the second launch starts after the first has finished. All runs give the same\n"
              "bits. y is written, then read and written again, and ptr is read even for rows that are empty in the\n"
              "CSR part: without stray entries dia is better, and without full diagonals csr is better. If many\n"
              "diagonals are less than half full, most entries go to the CSR part: use drm or hdia.\n"
              "DRM paper, fp64: DRM was 1.94 times as fast as HDC on average, 3.01 times at best: few diagonals\n"
              "were full enough, and the reads for the other entries were scattered.\n",
    .functions = {{"dia"}, {"dia_by_groups"}, {"hdc_remainder", BLOCK}},
    .deterministic = true,
    .reads = bytes_read,
    .product = {VALUE_TYPES(dia_then_remainder)},
};

#ifndef __CUDACC__
template <typename T> static void hdc_host(const struct launch *L, int threads)
{
    const int *ptr = (const int *)L->A->ptr[HDC_PTR], *col = (const int *)L->A->ptr[HDC_COL];
    const T *val = (const T *)L->A->ptr[HDC_VAL], *x = (const T *)L->x;
    T *y = (T *)L->y, alpha = (T)L->alpha;
    host_dia<T>(L, threads);
    host_shares(L, threads, L->A->of->rows, 1024, [=](int64_t from, int64_t to) {
        for (int64_t row = from; row < to; row++) {
            T sum = 0;
            for (int k = ptr[row]; k < ptr[row + 1]; k++) sum += val[k] * x[col[k]];
            y[row] += alpha * sum;
        }
    });
}

HOST_ENTRIES(hdc, "hdc", hdc_host, "the serial host loops over both parts", "[ours]",
             "1024 rows of the DIA part at a time, then 1024 rows of the CSR part,",
             "The loop of dia over the full diagonals, then the loop of csr over the other entries, which adds to\n"
             "y.\n");
#endif
