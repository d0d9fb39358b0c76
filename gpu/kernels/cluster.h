/* What the kernels share that do many iterations of a solve in one launch, by one cluster of thread blocks. Each block
   holds a share of the rows: its part of the matrix and of each vector stays in shared memory for the whole launch. A
   block reads the elements of p that it needs from the shared memory of the block that holds them.

   The scalars of the solve are copied to the shared memory of each block. Thread 0 of each block computes them from the
   same sums, so that all blocks decide alike when the solve ends; block 0 writes them back. */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "vec.h"

#include "formats/fmt_csr.h"
#include "machine/cluster_ops.h"

namespace KERNEL_SPACE
{

enum {
    CLUSTER_THREADS = 512,
    CLUSTER_WARPS = CLUSTER_THREADS / WARP,
    OWNER_SHIFT = 16 /* a column is stored as the number of its block, shifted, plus its number in the block */
};

/* The sums t[0] .. t[K-1] over all threads of the cluster, in a fixed order; total[] receives them in every block. A
   cluster_sync must separate two calls. Participants: all threads of the cluster. */
template <int K, typename P> __device__ void cluster_sums(double *t, P part, P slot, P total)
{
    int lane = (int)(threadIdx.x % WARP), warp = (int)(threadIdx.x / WARP), warps = (int)(blockDim.x / WARP);
    for (int d = WARP / 2; d > 0; d /= 2)
        for (int k = 0; k < K; k++) t[k] += __shfl_down_sync(FULL_MASK, t[k], d);
    for (int k = 0; k < K && lane == 0; k++) part[k * CLUSTER_WARPS + warp] = t[k];
    __syncthreads(); /* all threads of the block: `part` is complete */
    for (int k = warp; k < K; k += warps) {
        double sum = lane < warps ? (double)part[k * CLUSTER_WARPS + lane] : 0;
        for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
        sum = __shfl_sync(FULL_MASK, sum, 0);
        if (lane < (int)gridDim.x) in_block(slot, (unsigned)lane)[k * CLUSTER_BLOCKS + (int)blockIdx.x] = sum;
    }
    cluster_sync(); /* all threads of the cluster: `slot` is complete in every block */
    for (int k = warp; k < K; k += warps) {
        double sum = lane < (int)gridDim.x ? (double)slot[k * CLUSTER_BLOCKS + lane] : 0;
        for (int d = WARP / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d);
        if (lane == 0) total[k] = sum;
    }
    __syncthreads(); /* all threads of the block: `total` is complete */
}

/* Copies between the rows of this block in global memory and in shared memory. */
template <typename P, typename Q> __device__ void cluster_load(int rows, int64_t first, P from, Q to)
{
    for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) to[i] = from[first + i];
}
template <typename P, typename Q> __device__ void cluster_save(int rows, int64_t first, P from, Q to)
{
    for (int i = (int)threadIdx.x; i < rows; i += (int)blockDim.x) to[first + i] = from[i];
}

/* The rows of this block, and the part of the matrix that belongs to them: entry k of the block has the value val[k]
   and the column col[k]; row i has the entries begin[i] .. begin[i+1] - 1. */
template <typename T, typename VALS, typename INTS> struct cluster_rows {
    int rows, lanes;
    VALS val;
    INTS col, begin;

    /* Participants: all threads of the block. The caller synchronises the block before the rows are used. */
    __device__ void load(int64_t first, int share, GPTR(const int) ptr, GPTR(const int) cols, GPTR(const T) vals)
    {
        int from = ptr[first], end = ptr[first + rows];
        for (int i = (int)threadIdx.x; i <= rows; i += (int)blockDim.x) begin[i] = ptr[first + i] - from;
        for (int k = (int)threadIdx.x; k < end - from; k += (int)blockDim.x) {
            int c = cols[from + k], owner = c / share;
            col[k] = (owner << OWNER_SHIFT) + (c - owner * share);
            val[k] = vals[from + k];
        }
    }

    /* The element of row i of A p that this lane computes, valid in lane 0 of the row; p: the share of each block.
       Participants: all threads of the warp; i may be beyond the last row. */
    template <typename P> __device__ T product(int i, P p) const
    {
        int lane = (int)threadIdx.x % lanes;
        T sum = 0;
        if (i < rows) {
            int end = begin[i + 1];
            UNROLL(4)
            for (int k = begin[i] + lane; k < end; k += lanes) {
                int where = col[k];
                sum += (T)val[k] * (T)in_block(p, (unsigned)where >> OWNER_SHIFT)[where & ((1 << OWNER_SHIFT) - 1)];
            }
        }
        for (int d = lanes / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, (unsigned)d, lanes);
        return sum;
    }
};

/* The time since `from`, added to s[to]; `from` becomes the present. Only thread 0 of block 0 measures. */
template <typename P> __device__ void cluster_time(P s, int to, double &from)
{
    if (blockIdx.x > 0 || threadIdx.x > 0) return;
    double now = clock_us();
    s[to] = s[to] + (now - from);
    from = now;
}

} // namespace KERNEL_SPACE

#endif
