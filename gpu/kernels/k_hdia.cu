/* SpMV kernels (matrix-vector products) for HDIA: one row per thread, one step per diagonal of its hack, a block of
   consecutive rows. */
#include "diagonal_rows.h"
#include "formats/fmt_hdia.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* A hack per row of the thread block, one row of the matrix per thread; with hacks of 32 rows, a warp takes a hack. Its
   lanes read the same bounds and offsets, and neighbouring values of a diagonal and neighbouring elements of x. */
template <typename T>
__global__ void hdia(unsigned rows, unsigned cols, int stay, GPTR(const int) dnum, GPTR(const int) offsets,
                     GPTR(const T) data, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int h = (int)(blockIdx.x * blockDim.y + threadIdx.y), hack = (int)blockDim.x;
    unsigned row = (unsigned)(h * hack) + threadIdx.x;
    if (row >= rows) return;
    int first = dnum[h], n = dnum[h + 1] - first;
    T sum = diagonals_sum<T>(row, cols, n, h < stay ? n : 0, offsets + first,
                             data + ((int64_t)first * hack + threadIdx.x), hack, x);
    store(y, row, alpha, sum, beta);
}

template <typename T> static bool hacks_by_rows(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    unsigned hack = (unsigned)S->param[0], hacks = hack < BLOCK ? BLOCK / hack : 1;
    LAUNCH(L->A->dev, blocks_for(S->rows, (int)(hack * hacks)), dim3(hack, hacks), hdia<T>)
    ((unsigned)S->rows, (unsigned)S->cols, staying(L, S->a[HDIA_HACKOFFSETS].n - 1), ARRAY(L, HDIA_HACKOFFSETS, int),
     ARRAY(L, HDIA_OFFSETS, int), ARRAY(L, HDIA_DATA, T), (T)L->alpha, VECTOR("x", ROLE_X, L->x, S->cols, const T),
     (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(hdia) = {
    .name = "hdia",
    .about = "coalesced like DIA; each hack (block of rows) stores only its own diagonals",
    .format = &format_hdia,
    .source = "Barbieri et al.; DRM, sec. 3.2; eight diagonals at once [ours]",
    .work = "one row per thread, all diagonals of its hack",
    .lesson = "Like dia, but each group of 32 rows (a hack) has its own diagonals. With hacks of 2 rows:\n"
              "    rows 0-1   offset 0   1 2    offset 1   7 8\n"
              "    rows 2-3   offset -2  5 6    offset 0   3 4    offset 1   9 *\n"
              "Thread t takes row t, and a warp takes a hack. All its lanes read the same bounds and offset, 1\n"
              "sector each, then 32 neighbouring values and 32 neighbouring elements of x, 8 sectors each in fp64.\n"
              "No columns are stored.\n"
              "A diagonal that covers only some rows costs slots only in the hacks that it touches. A scattered\n"
              "entry still costs 32 slots; use csr for such matrices. The work of a hack grows with the number of\n"
              "its diagonals, so some warps finish early: in the DRM paper, the variance of work was 8.2 times\n"
              "the variance of DRM on average.\n"
              "DRM paper, fp64: DRM was 1.13 times as fast as HDIA on average, and 1.47 times at best.\n",
    .functions = {{"hdia"}},
    .deterministic = true,
    .product = {VALUE_TYPES(hacks_by_rows)},
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
static void hdia_host(const struct launch *L, int threads)
{
    host_pieces<T>(L, threads, L->A->of->a[HDIA_HACKOFFSETS].n - 1, hack_at<T>);
}

HOST_ENTRIES(hdia, "hdia", hdia_host, "the serial host loop along the diagonals, one hack at a time", "[ours]",
             "several hacks at a time",
             "The loop runs along the diagonals of one hack after another: short streams of neighbouring values\n"
             "and x, without column indices. With hacks of 32 rows, the loops are short for a CPU,\n"
             "unlike the loops of dia.\n");
#endif
