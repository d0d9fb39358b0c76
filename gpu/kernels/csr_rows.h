/* Shared by the CSR kernels that assign a row to a vector of threads: 2 to 32 neighbouring lanes of a warp. */
#ifndef CSR_ROWS_H
#define CSR_ROWS_H

#include "texture.h"

#include "formats/fmt_csr.h"
#include "matrix/csr.h"

namespace KERNEL_SPACE
{

/* The lane mask of the vector of V threads that contains the calling thread. */
template <int V> __device__ unsigned vector_mask()
{
    return V == WARP ? FULL_MASK : ((1u << (V % WARP)) - 1) << (threadIdx.x % WARP / V * V);
}

/* The sum over the V lanes of a vector, valid in lane 0. Participants: all lanes of the vector. */
template <int V, typename T> __device__ T vector_joined(T sum)
{
    for (int d = V / 2; d > 0; d /= 2) sum += __shfl_down_sync(vector_mask<V>(), sum, d, V);
    return sum;
}

/* The sum of val * x over the entries [begin, end), computed by the V lanes of a vector; lane 0 returns it. x is an
   array or a texture. Participants: all lanes of the vector. */
template <typename T, int V, typename U, typename X>
__device__ T vector_sum(int lane, int begin, int end, GPTR(const int) col, GPTR(const U) val, X x)
{
    T sum = 0;
    int first = begin + lane;
    if (V == WARP && end - begin > WARP) first -= begin % WARP; /* align; lanes before `begin` skip one step */
    UNROLL(1)
    for (int k = first; k < end; k += V) {
        if (k >= begin) sum += (T)val[k] * texel<T>(x, col[k]);
        reconverge();
    }
    return vector_joined<V>(sum);
}

/* 0 .. 4 for vectors of 2, 4, 8, 16, 32 threads. As in CUSP, the mean row length is rounded down, and the vector is the
   smallest that is at least as long, at most 32: five entries in nearly every row (mean 4.99) take 4 threads. */
static inline int vector_choice(int64_t rows, int64_t nnz)
{
    int64_t mean = rows ? nnz / rows : 0;
    int k = 0;
    while (k < 4 && 2 << k < mean) k++;
    return k;
}

} // namespace KERNEL_SPACE

#endif
