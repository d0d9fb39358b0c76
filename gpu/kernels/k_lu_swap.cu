/* Before the trailing update, apply a panel to other columns: swap rows of these columns, and compute rows of U by a
   triangular solve with the panel's L; within the outer panel, also update the rows below. */
#include "lu_kernels.h"

namespace KERNEL_SPACE
{

/* A block works on COLUMNS columns of the outer panel, in row j and below: it applies the swaps of the inner panel's w
   columns and, to the right of the inner panel, computes w rows of U and updates the rows below. Blocks do not share
   columns. */
template <typename T, int W>
__global__ void __launch_bounds__(LU_INNER_THREADS)
    lu_inner(int64_t n, int64_t j, int w, int64_t from, GPTR(T) a, GPTR(const int) piv)
{
    SHARED(int, swap, W);
    SHARED(T, u, W);
    int64_t c = from + blockIdx.x;
    if (c >= j) c += w;
    int me = threadIdx.x, m = (int)(n - j), row = 0;
    int64_t col = c * n + j, left = j * n + j; /* indices at which the column and the panel begin */
    T v = 0, l[W];                             /* first warp: one row of the triangle per lane, loaded early */
    follow();
#pragma unroll
    for (int k = 0; k < W; k++) l[k] = me > k && me < w ? a[left + k * n + me] : (T)0;
    if (me < w) swap[me] = piv[j + me] - (int)j;
    __syncthreads(); /* all threads of the block: the swaps are in shared memory */
    if (me < 2 * w) {
        row = me < w ? me : swap[me - w];
        v = a[col + lu_origin(swap, 0, w, row)];
    }
    __syncthreads(); /* all threads of the block: the elements to exchange have been read */
    if (me < w || (me < 2 * w && lu_writes(swap, w, me - w))) a[col + row] = v;
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
    __syncthreads(); /* all threads of the block: the rows of U are in shared memory, and all swaps are done */
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

/* One warp per column: lane l holds rows l, l + 32, ... of the panel's w <= 32 E rows, and the elements with which they
   are exchanged. To the right of the panel, the lanes then solve a triangular system with the panel's L, row by row;
   the block loads the columns of L into shared memory, 32 at a time. */
template <typename T, int E>
__global__ void lu_swap(int64_t n, int64_t j, int w, int64_t from, int64_t to, int what, GPTR(T) a, GPTR(const int) piv)
{
    enum { HIGH = E * WARP };
    SHARED(int, swap, HIGH);
    SHARED(int, origin, 2 * HIGH);
    SHARED(T, l, HIGH * WARP);
    follow();
    for (int t = threadIdx.x; t < w; t += LU_BLOCK) swap[t] = what & LU_SWAPS ? piv[j + t] - (int)j : t;
    __syncthreads(); /* all threads of the block: the swaps are in shared memory */
    for (int t = threadIdx.x; t < w; t += LU_BLOCK) {
        origin[t] = lu_origin(swap, 0, w, t);
        origin[w + t] = lu_writes(swap, w, t) ? lu_origin(swap, 0, w, swap[t]) : -1;
    }
    __syncthreads(); /* all threads of the block: the source of each row is in shared memory */
    int lane = threadIdx.x % WARP;
    int64_t c = from + (int64_t)blockIdx.x * (LU_BLOCK / WARP) + threadIdx.x / WARP;
    int64_t col = c * n + j, left = j * n + j;
    bool mine = c < to; /* `mine` is the same for all lanes of a warp */
    T top[E], low[E];
#pragma unroll
    for (int e = 0; e < E; e++) {
        int t = lane + e * WARP;
        top[e] = mine && t < w ? a[col + origin[t]] : (T)0;
        low[e] = mine && t < w && origin[w + t] >= 0 ? a[col + origin[w + t]] : (T)0;
    }
    __syncwarp(); /* the whole warp: the elements to exchange have been read */
#pragma unroll
    for (int e = 0; e < E; e++) {
        int t = lane + e * WARP;
        if (mine && t < w && origin[w + t] >= 0) a[col + swap[t]] = low[e];
    }
#pragma unroll
    for (int s = 0; s < E; s++) {
        if (!(what & LU_SOLVES)) break; /* the whole grid */
        int first = s * WARP;
        __syncthreads(); /* all threads of the block: the previous columns have been used */
#pragma unroll 4
        for (int t = threadIdx.x; t < HIGH * WARP; t += LU_BLOCK) {
            int i = t % HIGH, k = first + t / HIGH;
            l[t] = i > k && i < w ? a[left + k * n + i] : (T)0;
        }
        __syncthreads(); /* all threads of the block: these columns are in shared memory */
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
static void launch_swap(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to, int what)
{
    FOLLOW(d, blocks_for(to - from, LU_BLOCK / WARP), LU_BLOCK, lu_swap<T, E>)
    (A.n, j, w, from, to, what, MATRIX(A), READ_PIVOTS(A));
}

template <typename T>
void lu_launch_swap(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to, int what)
{
    if (from >= to) return;
    if (w <= WARP) return launch_swap<T, 1>(d, A, j, w, from, to, what);
    if constexpr (sizeof(T) > sizeof(double)) /* see lu_widest */
        launch_swap<T, LU_WIDEST / WARP / 2>(d, A, j, w, from, to, what);
    else if (w <= 2 * WARP)
        launch_swap<T, 2>(d, A, j, w, from, to, what);
    else
        launch_swap<T, LU_WIDEST / WARP>(d, A, j, w, from, to, what);
}

INSTANTIATE(lu_launch_inner, struct device *, struct lu_at, int64_t, int, int64_t, int64_t);
INSTANTIATE(lu_launch_swap, struct device *, struct lu_at, int64_t, int, int64_t, int64_t, int);

} // namespace KERNEL_SPACE
