/* Sorting of key-value pairs, and prefix sums, for use between kernels. On a GPU, a library does this work
   (gpu/cuda/tools_cub.cu); for the emulator, loops on the host do it (tools_host.c). gpu/tools.c implements
   tools_of. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct device;
struct err;

/* Number of steps of one thread block along the rows of a matrix (gpu/kernels/tiles.h); a step is an entry or the end
   of a row. */
enum { TILE = 2048 };

/* n keys, each with a payload. There are two arrays of keys and two arrays of payloads. One array of each kind has the
   data; the other is work memory for the sort. */
struct pairs {
    int64_t n;
    uint64_t *key[2];
    double *payload[2]; /* the 8 bytes of a payload are copied unchanged, whatever their type */
};

/* The tools work on device memory and are asynchronous on cuda. `temp` is work memory on the device; the function
   `bytes` computes its size. */
struct tools {
    /* Size in bytes of the temporary memory for sorting `sorted` pairs and for a scan of `added` counts; -1 on
       failure. */
    int64_t (*bytes)(struct device *d, int64_t sorted, int64_t added, struct err *e);
    /* Stable sort by the bits [from, bits) of the keys; *k is the index of the arrays with the data, both before and
       after the sort. */
    bool (*sort)(struct device *d, const struct pairs *p, int from, int bits, int *k, void *temp, int64_t temp_bytes,
                 struct err *e);
    /* Exclusive prefix sum: at[i] becomes the sum of at[0 .. i-1] for i < n. The old at[n - 1] is not used. */
    bool (*exclusive_scan)(struct device *d, int64_t *at, int64_t n, void *temp, int64_t temp_bytes, struct err *e);
};
const struct tools *tools_of(const struct device *d); /* gpu/tools.c; NULL: none */
extern const struct tools host_tools;                 /* tools_host.c: for emu */

/* The number of bits that suffice for any of 0 .. n-1; at least 1. */
int bits_of(int64_t n);

C_END
#endif
