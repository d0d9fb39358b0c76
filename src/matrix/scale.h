/* Rows and columns of a matrix mapped to cells of a grid, for the files that count or look at the entries of cells. */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

/* Maps i in 0 .. size-1 to floor(i * cells / size) without a division. The result is i*whole + the upper half of
   i*part, where part is (cells mod size) * 2^64 / size, rounded up. The result is exact for size < 2^32. */
struct scale {
    int64_t size, cells;
    uint64_t whole, part;
};

static inline struct scale scale_of(int64_t size, int64_t cells)
{
    unsigned __int128 rest = (unsigned __int128)(cells % size) << 64;
    return (struct scale){size, cells, (uint64_t)(cells / size),
                          (uint64_t)((rest + (uint64_t)size - 1) / (uint64_t)size)};
}

static inline int64_t cell_of(const struct scale *s, int64_t i)
{
    uint64_t high = (uint64_t)((unsigned __int128)(uint64_t)i * s->part >> 64);
    return (int64_t)((uint64_t)i * s->whole + high);
}

/* The first i in cell k. */
static inline int64_t cell_begin(const struct scale *s, int64_t k)
{
    return (k * s->size + s->cells - 1) / s->cells;
}

/* A stride near n divided by the golden ratio. Taken modulo n, its multiples visit each of 0 .. n-1 once, and the first
   visits are far apart. */
static inline int64_t stride_of(int64_t n)
{
    for (int64_t stride = (int64_t)(0.6180339887 * (double)n) | 1;; stride++) {
        int64_t a = n, b = stride, rest;
        for (; b; b = rest) rest = a % b, a = b;
        if (a == 1) return stride;
    }
}

#endif
