/* Dense LU with partial pivoting: the paper's kernels, one thread an element, and those of the blocked method, whose
   panel one block holds in its registers. Matrices are stored column by column; neighbours work on rows. */
#include "kernel.h"

#include "../src/lu.h"

#include <cfloat>
#include <cstring>

namespace KERNEL_SPACE
{

enum {
    LU_BLOCK = 256,
    LU_FEW =
        256, /* threads of the panel: each step costs every warp the same, so that few with many values are better */
    LU_THREADS = 512,
    LU_MANY = 1024,
    LU_WARPS = LU_THREADS / WARP,
    LU_WIDTH = 16,
    LU_ROWS = 32,
    LU_STRETCH = 32,
    LU_DOWN = 8
};

/* Values that a thread of the panel holds; as many registers as 255 a thread leave for them. */
template <typename T> struct lu_room {
    enum { VALUES = 768 / sizeof(T) };
};
/* Columns of a panel of which each thread holds R rows. */
template <typename T, int R> struct lu_shape {
    enum { FIT = lu_room<T>::VALUES / R, W = FIT > LU_WIDTH ? +LU_WIDTH : +FIT };
};

template <typename T> __device__ T lu_abs(T v)
{
    return v < 0 ? -v : v;
}

/* What a pivot is multiplied by before it is inverted: 1, unless the inverse would overflow. */
static __device__ double lu_lift(double v)
{
    return lu_abs(v) < DBL_MIN ? 0x1p200 : 1;
}
static __device__ float lu_lift(float v)
{
    return lu_abs(v) < FLT_MIN ? 0x1p60f : 1;
}

/* Over the lanes of a warp, known to all of them. */
static __device__ unsigned lu_most(unsigned v)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL_MASK, v);
#else
    for (int d = WARP / 2; d > 0; d /= 2) v = max(v, __shfl_xor_sync(FULL_MASK, v, d));
    return v;
#endif
}

/* Numbers that are not negative have the order of their bits. */
static __device__ unsigned long long lu_bits(double v)
{
    unsigned long long bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static __device__ unsigned lu_bits(float v)
{
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* The larger of two candidates for a pivot; of equal ones the upper. */
template <typename T> __device__ void lu_better(T &best, int &at, T other, int where)
{
    if (!(other > best || (other == best && where < at))) return;
    best = other;
    at = where;
}

/* The best of a warp, known to all of its lanes: the largest by its upper half, then by its lower one, then the upper
   row. best is not negative; 0 with INT32_MAX stands for none. */
template <typename T> __device__ void lu_best_of_warp(T &best, int &at)
{
    auto bits = lu_bits(best);
    const int half = sizeof bits > sizeof(unsigned) ? 32 : 0;
    unsigned high = lu_most((unsigned)(bits >> half)), low = 0;
    bool mine = (unsigned)(bits >> half) == high;
    if (half) low = lu_most(mine ? (unsigned)bits : 0);
    if (half) mine = mine && (unsigned)bits == low;
    at = (int)(INT32_MAX - lu_most(mine ? (unsigned)(INT32_MAX - at) : 0));
    bits = half ? (decltype(bits))high << half | low : high;
    memcpy(&best, &bits, sizeof best);
}

/* The best of the block, known to all of its threads after one barrier; high and where: LU_WARPS slots not in use. */
template <typename T, typename H, typename P> __device__ void lu_best_of_block(T &best, int &at, H high, P where)
{
    int lane = threadIdx.x % WARP, slot = lane % LU_WARPS;
    bool used = slot < (int)blockDim.x / WARP;
    lu_best_of_warp(best, at);
    if (lane == 0) {
        high[threadIdx.x / WARP] = best;
        where[threadIdx.x / WARP] = at;
    }
    __syncthreads(); /* all of the block: each warp has named its best */
    best = used ? high[slot] : (T)0;
    at = used ? where[slot] : INT32_MAX;
    lu_best_of_warp(best, at);
}

/* The row that `row` of the panel comes from, after the swaps of its columns from .. w-1. */
template <typename P> __device__ int lu_origin(P swap, int from, int w, int row)
{
#pragma unroll 1
    for (int k = w - 1; k >= from; k--) row = row == k ? swap[k] : row == swap[k] ? k : row;
    return row;
}

__global__ void lu_begin(GPTR(int) info)
{
    info[0] = -1;
}

/* ---- lu-paper ---- */

/* One block: the pivot of column k, brought to its place in this column. */
template <typename T> __global__ void lu_paper_pivot(int64_t n, int64_t k, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    SHARED(T, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    T best = 0;
    int at = INT32_MAX;
    for (int64_t i = k + threadIdx.x; i < n; i += LU_BLOCK) lu_better(best, at, lu_abs<T>(a[k * n + i]), (int)i);
    lu_best_of_block(best, at, high, where);
    if (threadIdx.x != 0) return;
    int64_t p = at < n ? at : k;
    T top = a[k * n + k], pivot = a[k * n + p];
    a[k * n + p] = top;
    a[k * n + k] = pivot;
    piv[k] = (int)p;
    if (pivot == 0 && info[0] < 0) info[0] = (int)k;
}

/* Row k of U, which changes places with the pivot's, and column k of L, in parallel: a thread for each element. */
template <typename T> __global__ void lu_paper_row_column(int64_t n, int64_t k, GPTR(T) a, GPTR(const int) piv)
{
    SHARED(T, pivot, 1);
    int64_t at = (int64_t)blockIdx.x * LU_BLOCK + threadIdx.x;
    if (threadIdx.x == 0) pivot[0] = a[k * n + k];
    __syncthreads(); /* all of the block: the pivot is there */
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

/* The trailing update: one thread an element, in tiles of b x b whose piece of the pivot row is shared. */
template <typename T> __global__ void lu_paper_update(int64_t n, int64_t k, GPTR(T) a)
{
    SHARED(T, row, WARP);
    int64_t i = k + 1 + (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    int64_t j = k + 1 + (int64_t)blockIdx.y * blockDim.y + threadIdx.y;
    if (threadIdx.x == 0 && j < n) row[threadIdx.y] = a[j * n + k];
    __syncthreads(); /* all of the block: its piece of the row is there */
    if (i < n && j < n) a[j * n + i] -= a[k * n + i] * row[threadIdx.y];
}

/* ---- the panel ---- */

/* The rows of a panel that a thread holds: r is row threadIdx.x + r * blockDim.x of m. Loops are unrolled and all is
   inlined, so that x stays in registers. */
template <typename T, int R> struct lu_rows {
    enum { W = lu_shape<T, R>::W };
    T x[R][W];
};

static __device__ int lu_row(int r)
{
    return threadIdx.x + r * blockDim.x;
}

/* The best candidate for column k, the first that the thread still holds. Rows beyond the panel hold zeros, which are
   none; only a thread's first row may lie above row k. */
template <typename T, int R> __device__ void lu_candidate(const lu_rows<T, R> &own, int k, T &best, int &at)
{
#pragma unroll
    for (int r = 0; r < R; r++) {
        T v = r == 0 && (int)threadIdx.x < k ? (T)0 : lu_abs(own.x[r][0]);
        if (!(v > best)) continue;
        best = v;
        at = lu_row(r);
    }
}

/* Rows k and p change places, through shared memory: row p, the pivot's, is left for all in rows[0 .. W-1], or, where
   it is row k, row k in rows[W .. 2W-1]; none of the threads keeps it. mine: this thread holds row p. The warps that
   hold neither pass by. */
template <typename T, int R, typename P>
__device__ void lu_exchange(lu_rows<T, R> &own, int k, int p, bool mine, P rows)
{
    enum { W = lu_rows<T, R>::W };
    if ((int)threadIdx.x == k)
#pragma unroll
        for (int c = 0; c < W; c++) rows[W + c] = own.x[0][c];
    if (mine)
#pragma unroll
        for (int r = 0; r < R; r++)
#pragma unroll
            for (int c = 0; c < W; c++)
                if (lu_row(r) == p) rows[c] = own.x[r][c];
    __syncthreads(); /* all of the block: both rows are there */
    if (!mine || p == k) return;
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < W; c++)
            if (lu_row(r) == p) own.x[r][c] = rows[W + c];
}

/* The first column becomes column k of L, written to `column`, and those right of it lose their multiple of it and move
   up to its place: so each step is the same code, which the multiprocessor need not fetch anew. size: |pivot|, which
   is in a register, so that its inverse need not wait for the row; 0: there is no pivot, and nothing changes. */
template <typename T, int R, typename P>
__device__ void lu_eliminate(lu_rows<T, R> &own, int k, int m, T size, P pivots, GPTR(T) column)
{
    enum { W = lu_rows<T, R>::W };
    T lift = lu_lift(size), inverse = (T)1 / (size * lift), u[W];
    bool none = size == 0;
    if (pivots[0] < 0) inverse = -inverse;
#pragma unroll
    for (int c = 0; c < W; c++) u[c] = none ? (T)0 : pivots[c];
#pragma unroll
    for (int r = 0; r < R; r++) {
        T l = none ? own.x[r][0] : own.x[r][0] * lift * inverse;
        if (lu_row(r) > k && lu_row(r) < m) column[lu_row(r)] = l;
        if (none) l = 0;
#pragma unroll
        for (int c = 1; c < W; c++) own.x[r][c - 1] = own.x[r][c] - l * u[c];
    }
}

/* Columns of L were written when their turn came: the swaps of the steps that followed are made up for. `swap`: rows of
   the panel. 2w threads a column, of which all are read before any is written. */
template <typename T, typename P> __device__ void lu_catch_up(int64_t n, int w, P swap, GPTR(T) panel)
{
    int rows = 2 * w, each = (int)blockDim.x / rows, mine = (int)threadIdx.x / rows, i = (int)threadIdx.x % rows;
    __syncthreads(); /* all of the block: the columns are written, and the last swap */
    int row = i < w ? i : swap[i - w];
    for (int first = 0; first < w; first += each) {
        int c = first + mine;
        bool busy = mine < each && c < w;
        T v = busy ? panel[c * n + lu_origin(swap, c + 1, w, row)] : (T)0;
        __syncthreads(); /* all of the block: what changes places is read */
        if (busy && row > c) panel[c * n + row] = v;
    }
}

/* Columns j .. j+w-1 from row j on, by one block. A column costs two barriers: the best of each warp; the pivot row and
   the row it changes places with. Each also guards what the step before left in shared memory: it was read before
   anyone came to the next. */
template <typename T, int R>
__global__ void __launch_bounds__(LU_FEW)
    lu_panel(int64_t n, int64_t j, int w, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    enum { W = lu_rows<T, R>::W };
    SHARED(T, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    SHARED(T, rows, 2 * W);
    SHARED(int, swap, W);
    int m = (int)(n - j);
    lu_rows<T, R> own;
    follow();
#pragma unroll
    for (int r = 0; r < R; r++)
#pragma unroll
        for (int c = 0; c < W; c++) own.x[r][c] = c < w && lu_row(r) < m ? a[(j + c) * n + j + lu_row(r)] : (T)0;
#pragma unroll 1
    for (int k = 0; k < w; k++) {
        T best = 0;
        int at = INT32_MAX;
        lu_candidate(own, k, best, at);
        int candidate = at;
        lu_best_of_block(best, at, high, where);
        bool found = at < m; /* else all are 0, or not numbers */
        int p = found ? at : k;
        lu_exchange(own, k, p, found && candidate == p, rows);
        auto pivots = rows + (p == k ? +W : 0);
        T pivot = pivots[0];
        if (threadIdx.x == 0) {
            swap[k] = p;
            piv[j + k] = (int)j + p;
            if (pivot == 0 && info[0] < 0) info[0] = (int)j + k;
        }
        if ((int)threadIdx.x < w - k) a[(j + k + threadIdx.x) * n + j + k] = pivots[threadIdx.x];
        lu_eliminate(own, k, m, found ? best : pivot, pivots, a + ((j + k) * n + j));
    }
    lu_catch_up(n, w, swap, a + (j * n + j));
}

/* A panel of one column, where not even two fit a block's registers: the block strides through it. It also swaps the
   rows of columns from .. to-1, so that many blocks may share a column in the update that follows. */
template <typename T>
__global__ void __launch_bounds__(LU_THREADS)
    lu_column(int64_t n, int64_t j, int64_t from, int64_t to, GPTR(T) a, GPTR(int) piv, GPTR(int) info)
{
    SHARED(T, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    T best = 0;
    int at = INT32_MAX;
#pragma unroll 4
    for (int64_t i = j + threadIdx.x; i < n; i += blockDim.x) lu_better(best, at, lu_abs<T>(a[j * n + i]), (int)i);
    lu_best_of_block(best, at, high, where);
    int64_t p = at < n ? at : j;
    T top = a[j * n + j], pivot = a[j * n + p];
    __syncthreads(); /* all of the block: both are read before either is written */
    if (threadIdx.x == 0) {
        a[j * n + j] = pivot;
        piv[j] = (int)p;
        if (pivot == 0 && info[0] < 0) info[0] = (int)j;
    }
    if (pivot == 0) return; /* in all threads alike; then p is j */
    for (int64_t c = from + threadIdx.x; c < to; c += blockDim.x) {
        if (c == j || p == j) continue;
        T v = a[c * n + j];
        a[c * n + j] = a[c * n + p];
        a[c * n + p] = v;
    }
    T lift = lu_lift(pivot), inverse = (T)1 / (pivot * lift);
#pragma unroll 4
    for (int64_t i = j + 1 + threadIdx.x; i < n; i += blockDim.x) {
        T v = i == p ? top : a[j * n + i];
        a[j * n + i] = v * lift * inverse;
    }
}

/* The update by one column: blocks across the columns right of it and down their rows, LU_DOWN rows a thread. */
template <typename T> __global__ void lu_rank_one(int64_t n, int64_t j, GPTR(T) a)
{
    int64_t c = j + 1 + blockIdx.x, first = j + 1 + (int64_t)blockIdx.y * LU_BLOCK * LU_DOWN + threadIdx.x;
    T u = a[c * n + j];
#pragma unroll
    for (int s = 0; s < LU_DOWN; s++) {
        int64_t i = first + s * LU_BLOCK;
        if (i < n) a[c * n + i] -= a[j * n + i] * u;
    }
}

/* ---- within the outer panel ---- */

/* A block takes COLUMNS columns of the outer panel from row j on: the swaps of the inner panel's w columns; and, right
   of it, w rows of U and the update with them. No other block touches these columns, so that nothing need wait. */
template <typename T, int W>
__global__ void __launch_bounds__(LU_MANY)
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

/* ---- beside the outer panel ---- */

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

/* The trailing update where no library does it: a block of 16 x 16 threads makes a tile of 64 x 64, each thread 4 x 4
   of it, from stretches of 8 columns of L and 8 rows of U in shared memory. */
enum { TILE = 64, DEEP = 8, EACH = 4, ACROSS = TILE / EACH };

template <typename T> __global__ void lu_gemm(int64_t n, int64_t j, int w, int64_t from, int64_t to, GPTR(T) a)
{
    SHARED(T, l, DEEP * TILE);
    SHARED(T, u, DEEP * TILE);
    int me = threadIdx.x, x = me % ACROSS, y = me / ACROSS;
    int64_t row = j + w + (int64_t)blockIdx.x * TILE, col = from + (int64_t)blockIdx.y * TILE;
    T sum[EACH][EACH];
    for (int p = 0; p < EACH; p++)
        for (int q = 0; q < EACH; q++) sum[p][q] = 0;
    for (int k = 0; k < w; k += DEEP) {
        for (int t = me; t < DEEP * TILE; t += ACROSS * ACROSS) {
            int64_t i = row + t % TILE, c = col + t / DEEP;
            int deep = k + t / TILE, down = k + t % DEEP;
            l[t] = i < n && deep < w ? a[(j + deep) * n + i] : (T)0;
            u[t % DEEP * TILE + t / DEEP] = c < to && down < w ? a[c * n + j + down] : (T)0;
        }
        __syncthreads(); /* all of the block: the stretches are there */
        for (int d = 0; d < DEEP; d++)
            for (int p = 0; p < EACH; p++)
                for (int q = 0; q < EACH; q++) sum[p][q] += l[d * TILE + x + p * ACROSS] * u[d * TILE + y + q * ACROSS];
        __syncthreads(); /* all of the block: the stretches were used */
    }
    for (int q = 0; q < EACH; q++)
        for (int p = 0; p < EACH; p++) {
            int64_t i = row + x + p * ACROSS, c = col + y + q * ACROSS;
            if (i < n && c < to) a[c * n + i] -= sum[p][q];
        }
}

/* ---- solving ---- */

/* Unknowns first .. first+w-1: each block's first warp finds them, lane by lane, and all threads take what they
   contribute from the rows still to come, a row a thread. The first block also writes them down. */
template <typename T, bool UPPER>
__global__ void lu_substitute(int64_t n, int64_t first, int w, GPTR(const T) a, GPTR(T) b, GPTR(T) x)
{
    SHARED(T, found, LU_STRETCH);
    int me = threadIdx.x;
    int64_t at = first * n + first;
    if (me < WARP) {
        T v = me < w ? b[first + me] : (T)0;
        for (int s = 0; s < w; s++) {
            int k = UPPER ? w - 1 - s : s;
            if (UPPER && me == k) v /= a[at + k * n + k];
            T known = __shfl_sync(FULL_MASK, v, k);
            if (me < w && (UPPER ? me < k : me > k)) v -= a[at + k * n + me] * known;
        }
        if (me < w) found[me] = v;
        if (me < w && blockIdx.x == 0) x[first + me] = v;
    }
    __syncthreads(); /* all of the block: the unknowns are found */
    int64_t i = (int64_t)blockIdx.x * LU_BLOCK + me + (UPPER ? 0 : first + w);
    if (i >= (UPPER ? first : n)) return;
    T sum = b[i];
#pragma unroll 8
    for (int k = 0; k < w; k++) sum -= a[(first + k) * n + i] * found[k];
    b[i] = sum;
}

/* A block a column: its largest element of U, and its diagonal element. */
template <typename T> __global__ void lu_measure(int64_t n, GPTR(const T) a, GPTR(double) out)
{
    SHARED(T, high, LU_WARPS);
    SHARED(int, where, LU_WARPS);
    int64_t j = blockIdx.x;
    T best = 0;
    int at = 0;
    for (int64_t i = threadIdx.x; i <= j; i += LU_BLOCK) lu_better(best, at, lu_abs<T>(a[j * n + i]), 0);
    lu_best_of_block(best, at, high, where);
    if (threadIdx.x != 0) return;
    out[j] = (double)best;
    out[n + j] = (double)a[j * n + j];
}

/* ---- the launches ---- */

#define MATRIX(A) VECTOR("A", (A).a, (A).n *(A).n, T)
#define READ_MATRIX(A) VECTOR("A", (A).a, (A).n *(A).n, const T)
#define PIVOTS(A) VECTOR("piv", (A).piv, (A).n, int)
#define READ_PIVOTS(A) VECTOR("piv", (A).piv, (A).n, const int)
#define INFO(A) VECTOR("info", (A).info, 1, int)

static void begin(struct device *d, struct lu_at A)
{
    LAUNCH(d, 1, 1, lu_begin)(INFO(A));
}

template <typename T> static void paper(struct device *d, struct lu_at A, int64_t k, int b)
{
    unsigned tiles = blocks_for(A.n - k - 1, b);
    LAUNCH(d, 1, LU_BLOCK, lu_paper_pivot<T>)(A.n, k, MATRIX(A), PIVOTS(A), INFO(A));
    LAUNCH(d, blocks_for(A.n + A.n - k - 1, LU_BLOCK), LU_BLOCK, lu_paper_row_column<T>)
    (A.n, k, MATRIX(A), READ_PIVOTS(A));
    if (tiles) LAUNCH(d, dim3(tiles, tiles), dim3(b, b), lu_paper_update<T>)(A.n, k, MATRIX(A));
}

static int panel_threads(int64_t rows)
{
    int most = lu_hook.threads ? lu_hook.threads : +LU_FEW;
    return rows >= most ? most : (int)(rows + WARP - 1) / WARP * WARP;
}

/* Rows a thread must hold, of those that there are kernels for; more than LU_ROWS: too many. */
static int rows_each(int64_t rows)
{
    static const int each[] = {1, 2, 4, 6, 8, 12, 16, 24, LU_ROWS};
    int64_t need = (rows + panel_threads(rows) - 1) / panel_threads(rows);
    for (int i = 0; i < COUNT(each) && !(lu_hook.rows && rows > lu_hook.rows); i++)
        if (need <= each[i]) return each[i];
    return LU_ROWS + 1;
}

template <typename T> static int panel_width(int64_t rows, int most)
{
    int fit = lu_room<T>::VALUES / rows_each(rows);
    if (rows_each(rows) > LU_ROWS || fit < 2) return 0;
    if (fit > LU_WIDTH) fit = LU_WIDTH;
    return fit < most ? fit : most;
}

template <typename T> using panel_launch = void(struct device *d, struct lu_at A, int64_t j, int w);

template <typename T, int R> static void launch_panel(struct device *d, struct lu_at A, int64_t j, int w)
{
    FOLLOW(d, 1, panel_threads(A.n - j), lu_panel<T, R>)(A.n, j, w, MATRIX(A), PIVOTS(A), INFO(A));
}

template <typename T> static void column(struct device *d, struct lu_at A, int64_t j, int64_t from, int64_t to)
{
    dim3 blocks((unsigned)(to - j - 1), blocks_for(A.n - j - 1, LU_BLOCK * LU_DOWN));
    LAUNCH(d, 1, lu_hook.threads ? lu_hook.threads : +LU_THREADS, lu_column<T>)
    (A.n, j, from, to, MATRIX(A), PIVOTS(A), INFO(A));
    if (blocks.x && blocks.y) LAUNCH(d, blocks, LU_BLOCK, lu_rank_one<T>)(A.n, j, MATRIX(A));
}

template <typename T> static void panel(struct device *d, struct lu_at A, int64_t j, int w)
{
    static const struct {
        int rows;
        panel_launch<T> *launch;
    } shape[] = {{1, launch_panel<T, 1>},   {2, launch_panel<T, 2>},   {4, launch_panel<T, 4>},
                 {6, launch_panel<T, 6>},   {8, launch_panel<T, 8>},   {12, launch_panel<T, 12>},
                 {16, launch_panel<T, 16>}, {24, launch_panel<T, 24>}, {32, launch_panel<T, 32>}};
    for (int i = 0; i < COUNT(shape); i++)
        if (shape[i].rows == rows_each(A.n - j)) shape[i].launch(d, A, j, w);
}

template <typename T, int W>
static void launch_inner(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    int64_t rows = A.n - j;
    FOLLOW(d, (unsigned)(to - from - w),
           rows > LU_MANY      ? +LU_MANY
           : rows > LU_THREADS ? +LU_THREADS
                               : +LU_BLOCK,
           lu_inner<T, W>)
    (A.n, j, w, from, MATRIX(A), READ_PIVOTS(A));
}

template <typename T> static void inner(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
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

template <typename T> static void swap(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    if (from >= to) return;
    if (w <= WARP) return launch_swap<T, 1>(d, A, j, w, from, to);
    if (w <= 2 * WARP) return launch_swap<T, 2>(d, A, j, w, from, to);
    launch_swap<T, LU_WIDEST / WARP>(d, A, j, w, from, to);
}

template <typename T> static void gemm(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to)
{
    if (from >= to || j + w >= A.n) return;
    LAUNCH(d, dim3(blocks_for(A.n - j - w, TILE), blocks_for(to - from, TILE)), ACROSS * ACROSS, lu_gemm<T>)
    (A.n, j, w, from, to, MATRIX(A));
}

#define UNKNOWNS(name, p) VECTOR(name, p, n, T)

/* L y = b leaves y in room; U x = y leaves x in b. */
template <typename T> static void solve(struct device *d, struct lu_at A, void *b, void *room)
{
    int64_t n = A.n, last = (n - 1) / LU_STRETCH * LU_STRETCH;
    for (int64_t k = 0; k < n; k += LU_STRETCH) {
        int w = (int)(n - k < LU_STRETCH ? n - k : +LU_STRETCH);
        unsigned blocks = blocks_for(n - k - w, LU_BLOCK);
        LAUNCH(d, blocks ? blocks : 1, LU_BLOCK, lu_substitute<T, false>)
        (n, k, w, READ_MATRIX(A), UNKNOWNS("b", b), UNKNOWNS("y", room));
    }
    for (int64_t k = last; k >= 0; k -= LU_STRETCH) {
        int w = (int)(n - k < LU_STRETCH ? n - k : +LU_STRETCH);
        unsigned blocks = blocks_for(k, LU_BLOCK);
        LAUNCH(d, blocks ? blocks : 1, LU_BLOCK, lu_substitute<T, true>)
        (n, k, w, READ_MATRIX(A), UNKNOWNS("y", room), UNKNOWNS("x", b));
    }
}

template <typename T> static void measure(struct device *d, struct lu_at A, double *out)
{
    LAUNCH(d, (unsigned)A.n, LU_BLOCK, lu_measure<T>)(A.n, READ_MATRIX(A), VECTOR("out", out, 2 * A.n, double));
}

/* ---- the same on the host ---- */

#ifndef __CUDACC__
namespace host
{

enum { ALONE = 1 << 14 }; /* elements of an update that are not worth waking other threads for */

template <typename T> static int64_t pivot_row(int64_t n, int64_t k, const T *column)
{
    T best = -1;
    int64_t at = k;
    for (int64_t i = k; i < n; i++) {
        if (!(lu_abs(column[i]) > best)) continue;
        best = lu_abs(column[i]);
        at = i;
    }
    return at;
}

/* Column k: its pivot brought up, and divided by it; false where that is 0. */
template <typename T> static bool column(struct lu_at A, int64_t k)
{
    T *c = (T *)A.a + k * A.n;
    int64_t p = pivot_row(A.n, k, c);
    A.piv[k] = (int)p;
    std::swap(c[k], c[p]);
    if (c[k] == 0) {
        if (A.info[0] < 0) A.info[0] = (int)k;
        return false;
    }
    for (int64_t i = k + 1; i < A.n; i++) c[i] /= c[k];
    return true;
}

/* Step k in column j: the swap, and right of column k the update. */
template <typename T> static void update(struct lu_at A, int64_t k, int64_t j)
{
    T *c = (T *)A.a + j * A.n;
    const T *l = (const T *)A.a + k * A.n;
    std::swap(c[k], c[A.piv[k]]);
    if (j < k) return;
    T u = c[k];
#pragma omp simd
    for (int64_t i = k + 1; i < A.n; i++) c[i] -= l[i] * u;
}

template <typename T> static bool factor(struct lu_at A, int threads, struct watch *w, struct err *e)
{
    A.info[0] = -1;
    for (int64_t k = 0; k < A.n; k++) {
        if (!watch_tick(w, "lu", k, A.n, e)) return false;
        column<T>(A, k); /* with a pivot of 0 all that lies below is 0: the update changes nothing */
        int team = (A.n - k) * (A.n - k) < ALONE ? 1 : threads;
#pragma omp parallel for num_threads(team) schedule(static)
        for (int64_t j = 0; j < A.n; j++)
            if (j != k) update<T>(A, k, j);
    }
    return true;
}

template <typename T> static bool serial(struct lu_at A, struct watch *w, struct err *e)
{
    return factor<T>(A, 1, w, e);
}

template <typename T> static bool openmp(struct lu_at A, struct watch *w, struct err *e)
{
    return factor<T>(A, omp_get_max_threads(), w, e);
}

template <typename T> static void solve(struct device *, struct lu_at A, void *b, void *)
{
    const T *a = (const T *)A.a;
    T *x = (T *)b;
    for (int64_t k = 0; k < A.n; k++)
        for (int64_t i = k + 1; i < A.n; i++) x[i] -= a[k * A.n + i] * x[k];
    for (int64_t k = A.n - 1; k >= 0; k--) {
        x[k] /= a[k * A.n + k];
        for (int64_t i = 0; i < k; i++) x[i] -= a[k * A.n + i] * x[k];
    }
}

template <typename T> static void measure(struct device *, struct lu_at A, double *out)
{
    const T *a = (const T *)A.a;
#pragma omp parallel for if (A.n > 256)
    for (int64_t j = 0; j < A.n; j++) {
        T most = -1;
        for (int64_t i = 0; i <= j; i++) most = std::max(most, lu_abs(a[j * A.n + i]));
        out[j] = (double)most;
        out[A.n + j] = (double)a[j * A.n + j];
    }
}

} // namespace host
#endif

} // namespace KERNEL_SPACE

#define LU_KERNELS(id, space, T)              \
    extern "C" const struct lu_ops id;        \
    const struct lu_ops id = {                \
        .begin = space::begin,                \
        .paper = space::paper<T>,             \
        .panel_width = space::panel_width<T>, \
        .panel = space::panel<T>,             \
        .column = space::column<T>,           \
        .inner = space::inner<T>,             \
        .swap = space::swap<T>,               \
        .gemm = space::gemm<T>,               \
        .solve = space::solve<T>,             \
        .measure = space::measure<T>,         \
    }
#define LU_LOOPS(id, space, T)         \
    extern "C" const struct lu_ops id; \
    const struct lu_ops id = {         \
        .serial = space::serial<T>,    \
        .openmp = space::openmp<T>,    \
        .solve = space::solve<T>,      \
        .measure = space::measure<T>,  \
    }

LU_KERNELS(VEC_SYMBOL(lu_f32), KERNEL_SPACE, float);
LU_KERNELS(VEC_SYMBOL(lu_f64), KERNEL_SPACE, double);
#ifndef __CUDACC__
LU_LOOPS(cpu_vec_lu_f32, KERNEL_SPACE::host, float);
LU_LOOPS(cpu_vec_lu_f64, KERNEL_SPACE::host, double);
#endif
