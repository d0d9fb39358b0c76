/* SpMV kernels (matrix-vector products) for DRM: a thread block takes a sub-block, a set of segments that were merged
   so that all blocks have similar work. */
#include "diagonal_rows.h"
#include "formats/fmt_drm.h"

namespace KERNEL_SPACE
{

/* One sub-block per thread block: a segment of the sub-block per row of the thread block, one row of the matrix per
   thread. With segments of 32 rows, a warp takes a segment: its lanes read the same bounds and offsets, and access
   neighbouring values of a diagonal and neighbouring elements of x and y. Threads beyond the sub-block's segments or
   the last row return immediately. */
template <typename T>
__global__ void __launch_bounds__(DRM_ROWS)
    drm(unsigned rows, unsigned cols, int stay, GPTR(const int) dnum, GPTR(const int) index, GPTR(const int) blo,
        GPTR(const int) off, GPTR(const T) val, T alpha, GPTR(const T) x, T beta, GPTR(T) y)
{
    int s = blo[blockIdx.x] + (int)threadIdx.y;
    if (s >= blo[blockIdx.x + 1]) return;
    unsigned nrows = blockDim.x, row = (unsigned)index[s] * nrows + threadIdx.x;
    if (row >= rows) return;
    int first = dnum[s], n = dnum[s + 1] - first;
    T sum = diagonals_sum<T>(row, cols, n, s < stay ? n : 0, off + first, val + ((int64_t)first * nrows + threadIdx.x),
                             nrows, x);
    store(y, row, alpha, sum, beta);
}

/* ---- on the host ---- */

/* Sets the launch's note to the number of segments of the largest sub-block. */
static bool find_largest(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    const int *blo = (const int *)S->a[DRM_BLO].data;
    int most = 1;
    for (int64_t b = 0; b + 1 < S->a[DRM_BLO].n; b++) most = max(most, blo[b + 1] - blo[b]);
    *L->note = (uint64_t)most;
    return true;
}

template <typename T> static bool subblocks_by_blocks(const struct launch *L, struct err *)
{
    const struct stored *S = L->A->of;
    LAUNCH(L->A->dev, (unsigned)(S->a[DRM_BLO].n - 1), dim3((unsigned)S->param[0], (unsigned)*L->note), drm<T>)
    ((unsigned)S->rows, (unsigned)S->cols, staying(L, S->a[DRM_DNUM].n - 1), ARRAY(L, DRM_DNUM, int),
     ARRAY(L, DRM_INDEX, int), ARRAY(L, DRM_BLO, int), ARRAY(L, DRM_OFF, int), ARRAY(L, DRM_VAL, T), (T)L->alpha,
     VECTOR("x", ROLE_X, L->x, S->cols, const T), (T)L->beta, VECTOR("y", ROLE_Y, L->y, S->rows, T));
    return true;
}

} // namespace KERNEL_SPACE

using namespace KERNEL_SPACE;

KERNEL_ENTRY(drm) = {
    .name = "drm",
    .about = "coalesced like DIA, and thread blocks with similar work, however uneven the diagonals are",
    .format = &format_drm,
    .source = "DRM, sec. 4.4, algorithm 2; eight diagonals at once [ours]",
    .work = "one row per thread, a sub-block of at most 1024 rows per thread block",
    .lesson = "The rows are cut into segments of 32, as in hdia; then heavy segments are merged with light\n"
              "segments, so that all thread blocks have similar work. With segments of 8, 6, 4 and 2 operands\n"
              "(stored slots):\n"
              "    block 0   8 + 2 = 10     block 1   6 + 4 = 10     variance 0\n"
              "Thread t of a block takes row t % 32 of the block's segment t / 32, so a warp takes a segment: its\n"
              "lanes read one common offset, 32 neighbouring values and 32 neighbouring elements of x, 8 sectors\n"
              "each in fp64. The segments of a block may lie far from one another in the matrix and share little of\n"
              "x. All blocks have as many threads as the largest block has rows (up to 1024); in smaller blocks\n"
              "threads idle. Scattered entries cost 32 slots each: use csr or hdc. Uniform bands are balanced\n"
              "without merging: hdia and dia are as fast there and need less preparation (in the paper, nemeth22\n"
              "had less variance with HDIA).\n"
              "This is our kernel: the loads of 8 diagonals are in flight together. The paper's is drm-paper, one\n"
              "diagonal after another. DRM paper, fp64: the average speed-up was 20.8 over DIA, 1.94 over HDC, 2.26\n"
              "over DIA-Adaptive, 1.13 over HDIA and 2.46 over CSR.\n",
    .functions = {{"drm"}},
    .deterministic = true,
    .prepare = find_largest,
    .product = {VALUE_TYPES(subblocks_by_blocks)},
};

#ifndef __CUDACC__
template <typename T> static struct diagonal_rows<T> segment_at(const struct launch *L, int64_t s) {
    const struct stored *S = L->A->of;
    const int *dnum = (const int *)L->A->ptr[DRM_DNUM];
    int64_t nrows = S->param[0], first = ((const int *)L->A->ptr[DRM_INDEX])[s] * nrows;
    return {
        .first = first,
        .last = min(first + nrows, S->rows),
        .n = dnum[s + 1] - dnum[s],
        .height = nrows,
        .offsets = (const int *)L->A->ptr[DRM_OFF] + dnum[s],
        .data = (const T *)L->A->ptr[DRM_VAL] + dnum[s] * nrows,
    };
}

template <typename T>
static void drm_host(const struct launch *L, int threads)
{
    host_pieces<T>(L, threads, L->A->of->a[DRM_INDEX].n, segment_at<T>);
}

HOST_ENTRIES(drm, "drm", drm_host, "the serial host loop along the diagonals, one segment at a time", "[ours]",
             "several segments at a time",
             "The loop runs along the diagonals of one segment after another, in the order of the merged blocks. A\n"
             "CPU does not need blocks of similar work, because a thread that is free takes the next segments.\n");
#endif
