/* Sums of rows that several warps or blocks share: each leaves a partial sum, a carry, and a second launch adds the
   carries of a row in their order, so that every run gives the same bits. */
#ifndef CARRIES_H
#define CARRIES_H

#include "gpu/dialect.h"

namespace KERNEL_SPACE
{

enum { CARRY_BYTES = sizeof(cplx<double>) }; /* the largest type of values */

/* The first tile after i whose carry is for a row after r; carry_row is ascending. */
static __device__ int carries_end(GPTR(const int) carry_row, int tiles, int i, int r)
{
    int low = i, high = tiles;
    while (low < high) {
        int middle = (low + high) / 2;
        if (carry_row[middle] <= r)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One tile per warp. The warp of the first tile with a carry into a row adds the carries of that row, 32 at a time. */
template <typename T>
__global__ void merge_carries(int tiles, int rows, GPTR(const int) carry_row, GPTR(const T) carry, T alpha, GPTR(T) y)
{
    int lane = threadIdx.x % WARP;
    int i = blockIdx.x * (blockDim.x / WARP) + threadIdx.x / WARP;
    if (i >= tiles) return; /* the whole warp returns */
    int row = carry_row[i];
    if (row >= rows || (i > 0 && carry_row[i - 1] == row)) return; /* the whole warp returns */
    int end = carries_end(carry_row, tiles, i, row);
    T sum = 0;
    AHEAD(UNROLL_AUTO)
    for (int k = i + lane; k < end; k += WARP) sum += carry[k];
    for (int s = WARP / 2; s > 0; s /= 2) sum += __shfl_down_sync(FULL_MASK, sum, s);
    if (lane == 0) y[row] += alpha * sum;
}

} // namespace KERNEL_SPACE

#endif
