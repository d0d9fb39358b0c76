/* What the kernels of dense LU share: sizes, the search for a pivot, names of the operands, and the launches that
   k_lu.cu collects in a table. Matrices are stored column by column; neighbouring threads work on neighbouring rows. */
#ifndef LU_KERNELS_H
#define LU_KERNELS_H

#include "gpu/dialect.h"

#include "machine/lu_ops.h"

#include <cfloat>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace KERNEL_SPACE
{

/* Threads per block. In the panel, each step has a fixed cost per warp, so a few threads that hold many values each
   are faster than many threads: a block has LU_PANEL_THREADS threads. Blocks of other kernels have at most LU_THREADS
   or LU_INNER_THREADS threads. */
enum {
    LU_BLOCK = 256,
    LU_PANEL_THREADS = 256,
    LU_THREADS = 512,
    LU_INNER_THREADS = 1024,
    LU_WARPS = LU_THREADS / WARP,
    LU_WIDTH = 16, /* maximum number of columns of a panel that one block holds */
};

/* The type of |v|. */
template <typename T> struct lu_magnitude {
    typedef T type;
};
template <typename R> struct lu_magnitude<cplx<R>> {
    typedef R type;
};
template <typename T> using lu_size = typename lu_magnitude<T>::type;

template <typename T> __device__ lu_size<T> lu_abs(T v)
{
    if constexpr (std::is_floating_point_v<T>)
        return v < 0 ? -v : v;
    else
        return hypot(v.re, v.im);
}

/* What is measured of a diagonal element of U: its value, or its absolute value if it is complex. */
template <typename T> __device__ double lu_diagonal(T v)
{
    if constexpr (std::is_floating_point_v<T>)
        return (double)v;
    else
        return (double)lu_abs(v);
}

/* The maximum over the lanes of a warp, returned to all lanes. */
static __device__ unsigned lu_warp_max(unsigned v)
{
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(FULL_MASK, v);
#else
    for (int d = WARP / 2; d > 0; d /= 2) v = max(v, __shfl_xor_sync(FULL_MASK, v, d));
    return v;
#endif
}

/* The bits of nonnegative numbers, read as integers, have the same order as the numbers. */
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

/* The larger of two pivot candidates; if they are equal, the candidate in the upper row. */
template <typename T> __device__ void lu_larger(T &best, int &at, T other, int where)
{
    if (!(other > best || (other == best && where < at))) return;
    best = other;
    at = where;
}

/* The best candidate of a warp, returned to all lanes: candidates are compared by the upper half of their bits, then
   by the lower half, then by the row. `best` must not be negative; `best` = 0 with row INT32_MAX means that there is no
   candidate. */
template <typename T> __device__ void lu_warp_argmax(T &best, int &at)
{
    auto bits = lu_bits(best);
    const int half = sizeof bits > sizeof(unsigned) ? 32 : 0;
    unsigned high = lu_warp_max((unsigned)(bits >> half)), low = 0;
    bool mine = (unsigned)(bits >> half) == high;
    if (half) low = lu_warp_max(mine ? (unsigned)bits : 0);
    if (half) mine = mine && (unsigned)bits == low;
    at = (int)(INT32_MAX - lu_warp_max(mine ? (unsigned)(INT32_MAX - at) : 0));
    bits = half ? (decltype(bits))high << half | low : high;
    memcpy(&best, &bits, sizeof best);
}

/* The best candidate of the block, returned to all threads after one barrier; `high` and `where` have LU_WARPS slots
   each for temporary values. */
template <typename T, typename H, typename P> __device__ void lu_block_argmax(T &best, int &at, H high, P where)
{
    int lane = threadIdx.x % WARP, slot = lane % LU_WARPS;
    bool used = slot < (int)blockDim.x / WARP;
    lu_warp_argmax(best, at);
    if (lane == 0) {
        high[threadIdx.x / WARP] = best;
        where[threadIdx.x / WARP] = at;
    }
    __syncthreads(); /* all threads of the block: the best candidate of each warp is in shared memory */
    best = used ? high[slot] : (T)0;
    at = used ? where[slot] : INT32_MAX;
    lu_warp_argmax(best, at);
}

/* The original position of the row that is at position `row` after the row swaps of the panel's columns [from, w). */
template <typename P> __device__ int lu_origin(P swap, int from, int w, int row)
{
#pragma unroll 1
    for (int k = w - 1; k >= from; k--) row = row == k ? swap[k] : row == swap[k] ? k : row;
    return row;
}

/* Does the thread of swap k write row swap[k]? Rows 0 .. w-1 have threads of their own, and of several swaps with the
   same row, the first writes it. */
template <typename P> __device__ bool lu_writes(P swap, int w, int k)
{
    int row = swap[k];
    bool writes = row >= w;
    for (int i = 0; i < k && writes; i++) writes = swap[i] != row;
    return writes;
}

/* ---- the launches, each in the file of its kernels; see struct lu_ops ---- */

template <typename T> void lu_launch_paper(struct device *d, struct lu_at A, int64_t k, int b);
template <typename T> int lu_launch_panel_width(int64_t rows, int most);
template <typename T> void lu_launch_panel(struct device *d, struct lu_at A, int64_t j, int w);
template <typename T> void lu_launch_column(struct device *d, struct lu_at A, int64_t j, int64_t from, int64_t to);
template <typename T>
void lu_launch_inner(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to);
template <typename T>
void lu_launch_swap(struct device *d, struct lu_at A, int64_t j, int w, int64_t from, int64_t to, int what);
template <typename T>
void lu_launch_gemm(struct device *d, struct lu_at A, int64_t j, int w, int64_t below, int64_t from, int64_t to);
template <typename T> void lu_launch_solve(struct device *d, struct lu_at A, void *b, void *room);
template <typename T> void lu_launch_measure(struct device *d, struct lu_at A, double *out);

} // namespace KERNEL_SPACE

/* The operands of a kernel with the element type T. */
#define MATRIX(A) VECTOR("A", ROLE_SQUARE, (A).a, (A).n *(A).n, T)
#define READ_MATRIX(A) VECTOR("A", ROLE_SQUARE, (A).a, (A).n *(A).n, const T)
#define PIVOTS(A) VECTOR("piv", ROLE_WORK, (A).piv, (A).n, int)
#define READ_PIVOTS(A) VECTOR("piv", ROLE_WORK, (A).piv, (A).n, const int)
#define INFO(A) VECTOR("info", ROLE_WORK, (A).info, 1, int)

#endif
