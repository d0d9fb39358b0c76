/* lu-paper: one column at a time, one thread per element of the trailing update. */
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

/* One block: find the pivot of column k and swap it to the diagonal, in this column only. */
template <typename T> __global__ void lu_paper_pivot(int64_t n, int64_t k, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    SHARED(lu_size<T>, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    lu_size<T> best = 0;
    int at = INT32_MAX;
    for (int64_t i = k + threadIdx.x; i < n; i += LU_BLOCK) lu_larger(best, at, lu_abs<T>(a[k * n + i]), (int)i);
    lu_block_argmax(best, at, high, where);
    if (threadIdx.x != 0) return;
    int64_t p = at < n ? at : k;
    T top = a[k * n + k], pivot = a[k * n + p];
    a[k * n + p] = top;
    a[k * n + k] = pivot;
    piv[k] = (int)p;
    if (pivot == 0 && info[0] < 0) info[0] = (int)k;
}

/* Exchanges row k with the pivot row and computes column k of L, in parallel: one thread per element. */
template <typename T> __global__ void lu_paper_row_column(int64_t n, int64_t k, GPTR(T) a, GPTR(const int) piv)
{
    SHARED(T, pivot, 1);
    int64_t at = (int64_t)blockIdx.x * LU_BLOCK + threadIdx.x;
    if (threadIdx.x == 0) pivot[0] = a[k * n + k];
    __syncthreads(); /* all threads of the block: the pivot is in shared memory */
    if (at < n) {
        int64_t p = piv[k];
        if (at == k || p == k) return;
        T top = a[at * n + k];
        a[at * n + k] = a[at * n + p];
        a[at * n + p] = top;
    } else if (k + 1 + at - n < n && pivot[0] != 0) {
        a[k * n + k + 1 + at - n] /= pivot[0];
    }
}

/* The trailing update: one thread per element, in tiles of b x b. The first b threads of a block copy the tile's part
   of the pivot row and of the pivot column to shared memory: neighbouring threads read neighbouring elements of the
   column, and elements of the row that are n apart. */
template <typename T> __global__ void lu_paper_update(int64_t n, int64_t k, GPTR(T) a)
{
    SHARED(T, row, WARP);
    SHARED(T, col, WARP);
    int64_t i = k + 1 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t j = k + 1 + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (threadIdx.y == 0) {
        int64_t of_row = j + threadIdx.x;
        if (i < n) col[threadIdx.x] = a[k * n + i];
        if (of_row < n) row[threadIdx.x] = a[of_row * n + k];
    }
    __syncthreads(); /* all threads of the block: these parts of the row and of the column are in shared memory */
    if (i < n && j < n) a[j * n + i] -= col[threadIdx.x] * row[threadIdx.y];
}

/* ---- the launches ---- */

template <typename T> void lu_launch_paper(struct device *d, struct lu_at A, int64_t k, int b)
{
    unsigned tiles = blocks_for(A.n - k - 1, b);
    LAUNCH(d, 1, LU_BLOCK, lu_paper_pivot<T>)(A.n, k, MATRIX(A), PIVOTS(A), INFO(A));
    LAUNCH(d, blocks_for(A.n + A.n - k - 1, LU_BLOCK), LU_BLOCK, lu_paper_row_column<T>)
    (A.n, k, MATRIX(A), READ_PIVOTS(A));
    if (tiles) LAUNCH(d, dim3(tiles, tiles), dim3(b, b), lu_paper_update<T>)(A.n, k, MATRIX(A));
}

INSTANTIATE(lu_launch_paper, struct device *, struct lu_at, int64_t, int);

} // namespace KERNEL_SPACE
