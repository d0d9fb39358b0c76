/* Sums of the rows of a CSR matrix, whose entries a block reads coalesced (CSR-Stream, Greathouse and Daga 2014). */
#ifndef STREAM_H
#define STREAM_H

#include "vec.h"

namespace KERNEL_SPACE
{

/* STREAM: number of products that a block holds in shared memory at a time. STREAM_FIRST: number of entries that a
   thread loads before it reads x, while the previous launch may still write x. */
enum { STREAM = 2048, STREAM_FIRST = 4 };

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
                        FRESH(const X) x, int base = 0)
{
    SHARED(T, product, LAYOUT::slot(STREAM));
    int lane = (int)threadIdx.x % V;
    int64_t row = first + threadIdx.x / V, last = min(first + VEC_BLOCK / V, rows);
    int from = ptr[first], to = ptr[last], begin = row < rows ? ptr[row] : to, end = row < rows ? ptr[row + 1] : to;
    T sum = 0;
    int ahead =
        to - from <= STREAM ? min(to, from + STREAM_FIRST * +VEC_BLOCK) : from; /* entries before are loaded now */
    C first_col[STREAM_FIRST];
    U first_val[STREAM_FIRST];
    UNROLL_WHOLE
    for (int j = 0; j < STREAM_FIRST; j++) {
        int k = from + (int)threadIdx.x + j * +VEC_BLOCK;
        first_col[j] = k < ahead ? once(col, k) : C{};
        first_val[j] = k < ahead ? once(val, k) : U{};
        reconverge();
    }
    await_previous();
    UNROLL_WHOLE
    for (int j = 0; j < STREAM_FIRST; j++) {
        int k = (int)threadIdx.x + j * +VEC_BLOCK;
        if (from + k < ahead) product[LAYOUT::slot(k)] = (T)first_val[j] * (T)x[base + (int)first_col[j]];
        reconverge();
    }
    for (int c = from; c < to; c += STREAM) {
        int stop = min(to, c + STREAM), done = c == from ? ahead - from : 0;
        UNROLL(4)
        for (int k = c + done + (int)threadIdx.x; k < stop; k += VEC_BLOCK)
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
