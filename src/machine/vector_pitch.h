/* Several vectors in one allocation, one after another. Each begins at a whole line of the GPU's memory, so that a warp
   that reads 32 neighbouring elements of any of them needs no more lines than in the first. */
#ifndef VECTOR_PITCH_H
#define VECTOR_PITCH_H

#include <stddef.h>
#include <stdint.h>

enum { VECTOR_LINE = 128 }; /* bytes */

/* Bytes from the beginning of one vector to that of the next, for vectors of `bytes` bytes. */
static inline int64_t vector_pitch(int64_t bytes)
{
    return (bytes + VECTOR_LINE - 1) / VECTOR_LINE * VECTOR_LINE;
}

/* Bytes of n such vectors. Nothing follows the last one. */
static inline int64_t vectors_bytes(int64_t n, int64_t bytes)
{
    return n > 0 ? (n - 1) * vector_pitch(bytes) + bytes : 0;
}

/* The same in elements, for vectors of n elements of `size` bytes, a divisor of VECTOR_LINE: the elements from one
   vector to the next, and those of `count` vectors. */
static inline int64_t vector_stride(int64_t n, size_t size)
{
    return vector_pitch(n * (int64_t)size) / (int64_t)size;
}
static inline int64_t vectors_extent(int64_t count, int64_t n, size_t size)
{
    return vectors_bytes(count, n * (int64_t)size) / (int64_t)size;
}

/* The number of vectors in an allocation of `all` bytes, which vectors_bytes returned. */
static inline int64_t vectors_in(int64_t all, int64_t bytes)
{
    return bytes > 0 && all > 0 ? (all - bytes) / vector_pitch(bytes) + 1 : 0;
}

#endif
