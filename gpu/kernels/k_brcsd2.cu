/* SpMV kernels (matrix-vector products) for BRCSD-II: one row per thread, one step per diagonal of its block. */
#include "diagonal_rows.h"
#include "formats/fmt_brcsd2.h"

namespace KERNEL_SPACE
{

enum { BLOCK = 128 };

/* A block of rows per row of the thread block, one row of the matrix per thread; with blocks of 32 rows, a warp takes
   one. Its lanes read the same pointers and offsets (often shared with neighbouring warps), neighbouring values of a
   diagonal and neighbouring elements of x. */
template <typename T>
__global__ void brcsd2(unsigned rows, unsigned cols, int stay, GPTR(const int) offsets, GPTR(const T) data,
                       GPTR(const int) ptr, GPTR(const int) dnum, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int b = (int)(blockIdx.x * blockDim.y + threadIdx.y), nrows = (int)blockDim.x;
    unsigned row = (unsigned)(b * nrows) + threadIdx.x;
    if (row >= rows) return;
    int first = dnum[b], n = dnum[b + 1] - first;
    int64_t slot = (int64_t)first * nrows + threadIdx.x;
    T sum = diagonals_sum<T>(row, cols, n, b < stay ? n : 0, offsets + (ptr[b] + 1), data + slot, nrows, x);
    store(y, row, alpha, sum, beta);
}

template <typename T> void launch_brcsd2(const struct launch *L)
{
    const struct stored *S = L->A->of;
    unsigned nrows = (unsigned)S->param[0], blocks = nrows < BLOCK ? BLOCK / nrows : 1;
    LAUNCH(L->A->dev, blocks_for(S->rows, (int)(nrows * blocks)), dim3(nrows, blocks), brcsd2<T>)
    ((unsigned)S->rows, (unsigned)S->cols, staying(L, S->a[BRCSD2_DNUM].n - 1), ARRAY(L, BRCSD2_OFFSETS, int),
     ARRAY(L, BRCSD2_DATA, T), ARRAY(L, BRCSD2_PTR, int), ARRAY(L, BRCSD2_DNUM, int), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
}

INSTANTIATE(launch_brcsd2, const struct launch *);

template <typename T> static bool rows_by_threads(const struct launch *L, struct err *)
{
    launch_brcsd2<T>(L);
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(brcsd2) = {
    .name = "brcsd2",
    .about =
        "coalesced like DIA; each block stores only its own diagonals; neighbours with equal offsets share one list",
    .format = &format_brcsd2,
    .source = "Gao et al.; DRM, sec. 3.3; eight diagonals at once [ours]",
    .work = "one row per thread, all diagonals of its block of rows",
    .lesson = "The rows are cut into blocks of 32, as in hdia; consecutive blocks with the same offsets share one\n"
              "list of them. The 4x4 example with blocks of 2 rows:\n"
              "    rows 0-1   offsets 0, 1       data 1 2 | 7 8\n"
              "    rows 2-3   offsets -2, 0, 1   data 5 6 | 3 4 | 9 *\n"
              "Thread t takes row t, and a warp takes one block. Per step the lanes read one common offset, 32\n"
              "neighbouring values and 32 neighbouring elements of x: 8 sectors each in fp64. The list of offsets\n"
              "is often in the cache, because the neighbouring warp has read it.\n"
              "Padding and balance equal those of hdia; the lists are shorter, but finding a list takes one more\n"
              "index. Scattered entries cost 32 slots each: use hdc or csr. For uneven blocks, use drm. DRM\n"
              "paper: DIA-Adaptive, which falls back on this format, took 2.26 times as long as DRM.\n",
    .functions = {{"brcsd2"}},
    .deterministic = true,
    .product = {VALUE_TYPES(rows_by_threads)},
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

INSTANTIATE(host_brcsd2, const struct launch *, int);

} // namespace KERNEL_SPACE

HOST_ENTRIES(brcsd2, "brcsd2", host_brcsd2, "the serial host loop along the diagonals, one block at a time", "[ours]",
             "several blocks of rows at a time",
             "The loop runs along the diagonals of one block of rows after another: short streams of neighbouring\n"
             "values and x, without column indices. A thread that is free takes the next blocks.\n");
#endif
