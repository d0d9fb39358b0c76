/* Included before a user's file that is plain CUDA C, which src/lab has changed little: pointers to global memory
   became GPTR, and arrays in shared memory SHARED. */
#ifndef PLAIN_H
#define PLAIN_H

#include "gpu/dialect.h"

#include <cstdio>

#define __host__
#define __constant__ static
#define __noinline__ __attribute__((noinline))
#define warpSize 32
/* The user may write inline as well, which must not be there twice. */
#undef __device__
#define __device__
#undef __forceinline__
#define __forceinline__

/* A two-dimensional array in shared memory: s[i][j]. */
template <typename T> struct shared_rows {
    simt::array<T> of;
    int64_t width;

    simt::array<T> operator[](int64_t i) const { return of + i * width; }
};
#define SHARED_TABLE(T, name, n, m)                                                   \
    shared_rows<T> name                                                               \
    {                                                                                 \
        simt::shared<T>(static_cast<int64_t>(n) * (m), DECLARATION, #name, HERE), (m) \
    }

/* Places in arrays that move, as pointers do. Their elements are read and written by p[i], which knows its line. */
namespace simt
{
template <typename T> array<T> &operator+=(array<T> &p, int64_t k)
{
    p.offset += k;
    return p;
}
template <typename T> array<T> &operator-=(array<T> &p, int64_t k)
{
    return p += -k;
}
template <typename T> array<T> &operator++(array<T> &p)
{
    return p += 1;
}
template <typename T> array<T> &operator--(array<T> &p)
{
    return p -= 1;
}
template <typename T> array<T> operator++(array<T> &p, int)
{
    array<T> before = p;
    p += 1;
    return before;
}
template <typename T> array<T> operator--(array<T> &p, int)
{
    array<T> before = p;
    p -= 1;
    return before;
}
template <typename T, typename U> int64_t operator-(const array<T> &p, const array<U> &q)
{
    return (p.base + p.offset) - (q.base + q.offset);
}
template <typename T, typename U> bool operator<(const array<T> &p, const array<U> &q)
{
    return p - q < 0;
}
template <typename T, typename U> bool operator!=(const array<T> &p, const array<U> &q)
{
    return p - q != 0;
}
} // namespace simt

/* Elements of arrays as arguments of functions whose parameters have one type. */
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

template <typename T> T __ldg(simt::array<T> p, simt::source at = HERE)
{
    return p.load(0, at);
}
template <typename T, typename V> T atomicSub(simt::array<T> p, V v, simt::source at = HERE)
{
    return atomicAdd(p, -static_cast<T>(v), at);
}
template <typename T, typename V> T atomicMin(simt::array<T> p, V v, simt::source at = HERE)
{
    auto slot = atomic_slot(p, at);
    T old = slot.load();
    while (!slot.compare_exchange_weak(old, std::min(old, static_cast<T>(v)))) {
    }
    return old;
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
