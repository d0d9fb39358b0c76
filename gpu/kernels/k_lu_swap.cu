/* What a panel does to the other columns before the trailing update: the swaps of its rows, and the rows of U by its
   triangle; within the outer panel the update with them as well. */
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

/* A block takes COLUMNS columns of the outer panel from row j on: the swaps of the inner panel's w columns; and, right
   of it, w rows of U and the update with them. No other block touches these columns, so that nothing need wait. */
template <typename T, int W>
__global__ void __launch_bounds__(LU_INNER_THREADS)
    lu_inner(int64_t n, int64_t j, int w, int64_t from, GPTR(T) a, GPTR(const int) piv)
{
    SHARED(int, swap, W);
    SHARED(T, u, W);
    int64_t c = from + blockIdx.x;
    if (c >= j) c += w;
    int me = threadIdx.x, m = (int)(n - j), row = 0;
    int64_t col = c * n + j, left = j * n + j; /* where the column and the panel begin */
    T v = 0, l[W]; /* of the first warp: a row of the triangle a lane, asked for before it is needed */
    follow();
#pragma unroll
    for (int k = 0; k < W; k++) l[k] = me > k && me < w ? a[left + k * n + me] : (T)0;
    if (me < w) swap[me] = piv[j + me] - (int)j;
    __syncthreads(); /* all of the block: the swaps are known */
    if (me < 2 * w) {
        row = me < w ? me : swap[me - w];
        v = a[col + lu_origin(swap, 0, w, row)];
    }
    __syncthreads(); /* all of the block: what changes places is read */
    if (me < 2 * w) a[col + row] = v;
    if (c < j) return; /* the whole block */
    if (me < WARP) {
#pragma unroll
        for (int k = 0; k < W; k++) {
            T above = __shfl_sync(FULL_MASK, v, k);
            if (me > k && me < w) v -= l[k] * above;
        }
        if (me < w) u[me] = v;
        if (me >= w && me < W) u[me] = 0;
    }
    __syncthreads(); /* all of the block: the rows of U are there, and every swap is done */
    if (me < w) a[col + me] = v;
#pragma unroll 2
    for (int i = w + me; i < m; i += blockDim.x) {
        T sum = a[col + i];
#pragma unroll
        for (int k = 0; k < W; k++)
            if (k < w) sum -= a[left + k * n + i] * u[k];
        a[col + i] = sum;
    }
}

/* A warp takes a column: lane l holds rows l, l + 32, ... of the panel's w <= 32 E rows, and what goes to the rows that
   they came from. Right of the panel the lanes then solve with the panel's triangle, row by row; the block brings 32 of
   its columns at a time to shared memory, all of their elements together. */
template <typename T, int E>
__global__ void lu_swap(int64_t n, int64_t j, int w, int64_t from, int64_t to, GPTR(T) a, GPTR(const int) piv)
{
    enum { HIGH = E * WARP };
    SHARED(int, swap, HIGH);
    SHARED(int, origin, 2 * HIGH);
    SHARED(T, l, HIGH * WARP);
    follow();
    for (int t = threadIdx.x; t < w; t += LU_BLOCK) swap[t] = piv[j + t] - (int)j;
    __syncthreads(); /* all of the block: the swaps are known */
    for (int t = threadIdx.x; t < 2 * w; t += LU_BLOCK) origin[t] = lu_origin(swap, 0, w, t < w ? t : swap[t - w]);
    __syncthreads(); /* all of the block: and where each row comes from */
    int lane = threadIdx.x % WARP;
    int64_t c = from + (int64_t)blockIdx.x * (LU_BLOCK / WARP) + threadIdx.x / WARP;
    int64_t col = c * n + j, left = j * n + j;
    bool mine = c < to; /* the whole warp's */
    T top[E], low[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
        int t = lane + e * WARP;
        top[e] = mine && t < w ? a[col + origin[t]] : (T)0;
        low[e] = mine && t < w ? a[col + origin[w + t]] : (T)0;
    }
    __syncwarp(); /* the whole warp: what changes places is read */
#pragma unroll
    for (int e = 0; e < E; e++) {
        int t = lane + e * WARP;
        if (mine && t < w && swap[t] >= w) a[col + swap[t]] = low[e];
    }
#pragma unroll
    for (int s = 0; s < E; s++) {
        if (from < j) break; /* left of the panel there is nothing to solve: the whole grid */
        int first = s * WARP;
        __syncthreads(); /* all of the block: the columns before were used */
#pragma unroll 4
        for (int t = threadIdx.x; t < HIGH * WARP; t += LU_BLOCK) {
            int i = t % HIGH, k = first + t / HIGH;
            l[t] = i > k && i < w ? a[left + k * n + i] : (T)0;
        }
        __syncthreads(); /* all of the block: these columns are there */
#pragma unroll 8
        for (int k = 0; k < WARP; k++) {
            T above = __shfl_sync(FULL_MASK, top[s], k);
            if (lane > k) top[s] -= l[k * HIGH + lane + first] * above;
#pragma unroll
            for (int e = s + 1; e < E; e++) top[e] -= l[k * HIGH + lane + e * WARP] * above;
        }
    }
#pragma unroll
    for (int e = 0; e < E; e++)
        if (mine && lane + e * WARP < w) a[col + lane + e * WARP] = top[e];
}

/* ---- the launches ---- */

template <typename T, int W>
static void launch_inner(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    int64_t rows = A.n - j;
    FOLLOW(d, (unsigned)(to - from - w),
           rows > LU_INNER_THREADS ? +LU_INNER_THREADS
           : rows > LU_THREADS     ? +LU_THREADS
                                   : +LU_BLOCK,
           lu_inner<T, W>)
    (A.n, j, w, from, MATRIX(A), READ_PIVOTS(A));
}

template <typename T> void lu_launch_inner(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    if (to - from == w) return;
    if (w == 1) return launch_inner<T, 1>(d, A, j, w, from, to);
    if (w == 2) return launch_inner<T, 2>(d, A, j, w, from, to);
    if (w <= 4) return launch_inner<T, 4>(d, A, j, w, from, to);
    if (w <= 8) return launch_inner<T, 8>(d, A, j, w, from, to);
    launch_inner<T, LU_WIDTH>(d, A, j, w, from, to);
}

template <typename T, int E>
static void launch_swap(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    FOLLOW(d, blocks_for(to - from, LU_BLOCK / WARP), LU_BLOCK, lu_swap<T, E>)
    (A.n, j, w, from, to, MATRIX(A), READ_PIVOTS(A));
}

template <typename T> void lu_launch_swap(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    if (from >= to) return;
    if (w <= WARP) return launch_swap<T, 1>(d, A, j, w, from, to);
    if (w <= 2 * WARP) return launch_swap<T, 2>(d, A, j, w, from, to);
    launch_swap<T, LU_WIDEST / WARP>(d, A, j, w, from, to);
}

template void lu_launch_inner<float>(struct device *, struct lu_at, int64_t, int, int64_t, int64_t);
template void lu_launch_inner<double>(struct device *, struct lu_at, int64_t, int, int64_t, int64_t);
template void lu_launch_swap<float>(struct device *, struct lu_at, int64_t, int, int64_t, int64_t);
template void lu_launch_swap<double>(struct device *, struct lu_at, int64_t, int, int64_t, int64_t);

} // namespace KERNEL_SPACE
