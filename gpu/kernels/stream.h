/* Sums of the rows of a CSR matrix, whose entries a block reads coalesced (CSR-Stream, Greathouse and Daga 2014). */
#ifndef STREAM_H
#define STREAM_H

#include "vec.h"

namespace KERNEL_SPACE
{

enum { STREAM = 2048 }; /* number of products that a block holds in shared memory at a time */

/* Where shared memory holds product i of a block. Without padding, rows of 128 bytes all begin in the same bank, and
   so do the reads of 32 lanes that each sum a row. */
struct stream_plain {
    static __device__ constexpr int slot(int i) { return i; }
};

/* Returns the sum of one row per V threads, to the first of them; a block of n threads handles n / V consecutive rows.
   Its threads read the entries of all these rows by coalesced loads, STREAM at a time, and store the products, of type
   T, in shared memory. Then V threads sum the products of their own row. The columns are relative to `base`.
   Participants: all threads of the block. */
template <typename T, typename LAYOUT, int V = 1, typename C, typename U, typename X>
__device__ T stream_row(int64_t first, int64_t rows, GPTR(const int) ptr, GPTR(const C) col, GPTR(const U) val,
                        GPTR(const X) x, int base = 0)
{
    SHARED(T, product, LAYOUT::slot(STREAM));
    int lane = (int)threadIdx.x % V;
    int64_t row = first + threadIdx.x / V, last = min(first + VEC_BLOCK / V, rows);
    int from = ptr[first], to = ptr[last], begin = row < rows ? ptr[row] : to, end = row < rows ? ptr[row + 1] : to;
    T sum = 0;
    for (int c = from; c < to; c += STREAM) {
        int stop = min(to, c + STREAM);
        UNROLL(4)
        for (int k = c + (int)threadIdx.x; k < stop; k += VEC_BLOCK)
            product[LAYOUT::slot(k - c)] = (T)once(val, k) * (T)x[base + (int)once(col, k)];
        __syncthreads(); /* all threads of the block: `product` is complete */
        AHEAD(UNROLL_AUTO)
        for (int k = max(begin, c) + lane; k < min(end, stop); k += V) sum += product[LAYOUT::slot(k - c)];
        __syncthreads(); /* all threads of the block: `product` may be overwritten */
    }
    for (int d = V / 2; d > 0; d /= 2) sum += __shfl_down_sync(FULL_MASK, sum, d, V);
    return sum;
}

} // namespace KERNEL_SPACE

#endif
