/* Included before a user's file that is plain CUDA C, which src/lab has changed little: pointers to global memory
   became GPTR, and arrays in shared memory SHARED. */
#ifndef PLAIN_H
#define PLAIN_H

#include "gpu/dialect.h"

#include <cstdio>

#define __host__
#define __constant__ static
#define __noinline__ __attribute__((noinline))
#define warpSize WARP

/* A two-dimensional array in shared memory: s[i][j]. */
template <typename T> struct shared_rows {
    simt::array<T> of;
    int64_t width;

    simt::array<T> operator[](int64_t i) const { return of + i * width; }
};
#define SHARED_TABLE(T, name, n, m)                                      \
    shared_rows<T> name                                                  \
    {                                                                    \
        simt::shared<T>(static_cast<int64_t>(n) * (m), #name, HERE), (m) \
    }

/* Elements of arrays as arguments of functions that take values of one type. */
template <typename T> T max(const simt::cell<T> &a, const simt::cell<T> &b)
{
    return std::max<T>(a, b);
}
template <typename T> T max(const simt::cell<T> &a, T b)
{
    return std::max<T>(a, b);
}
template <typename T> T max(T a, const simt::cell<T> &b)
{
    return std::max<T>(a, b);
}
template <typename T> T min(const simt::cell<T> &a, const simt::cell<T> &b)
{
    return std::min<T>(a, b);
}
template <typename T> T min(const simt::cell<T> &a, T b)
{
    return std::min<T>(a, b);
}
template <typename T> T min(T a, const simt::cell<T> &b)
{
    return std::min<T>(a, b);
}

/* Shuffles of an element of an array move its value. */
template <typename T>
T __shfl_down_sync(unsigned mask, const simt::cell<T> &v, unsigned delta, int width = WARP, simt::source at = HERE)
{
    return __shfl_down_sync(mask, static_cast<T>(v), delta, width, at);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, const simt::cell<T> &v, int flip, int width = WARP, simt::source at = HERE)
{
    return __shfl_xor_sync(mask, static_cast<T>(v), flip, width, at);
}

#endif
