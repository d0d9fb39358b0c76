/* Sorting of key-value pairs, and prefix sums, between kernels: by a library on a GPU (gpu/cuda/tools_cub.cu), by loops
   on the host for the emulator (tools_host.c). gpu/tools.c implements tools_of. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device;
struct err;

/* Steps per thread block along the rows of a matrix (gpu/kernels/tiles.h); a step is an entry or the end of a row. */
enum { TILE = 2048 };

/* n keys with a payload each. Keys and payloads have two arrays each: one holds the data, and the other is work memory
   for the sort. */
struct pairs {
    int64_t n;
    uint64_t *key[2];
    double *payload[2]; /* moved as 8 bytes, regardless of their type */
};

/* The tools work on device memory and are asynchronous on cuda. temp: work memory on the device, whose size the
   function `bytes` computes. */
struct tools {
    /* Size in bytes of the temporary memory for sorting `sorted` pairs and for a scan of `added` counts; -1 on
       failure. */
    int64_t (*bytes)(struct device *d, int64_t sorted, int64_t added, struct err *e);
    /* Stable sort by bits from .. bits-1 of the keys; *k: the index of the arrays that hold the data, before and after
       the sort. */
    bool (*sort)(struct device *d, const struct pairs *p, int from, int bits, int *k, void *temp, int64_t temp_bytes,
                 struct err *e);
    /* Exclusive prefix sum: at[i] becomes the sum of at[0 .. i-1] for i < n. The old at[n - 1] is not used. */
    bool (*exclusive_scan)(struct device *d, int64_t *at, int64_t n, void *temp, int64_t temp_bytes, struct err *e);
};
const struct tools *tools_of(const struct device *d); /* gpu/tools.c; NULL: none */
extern const struct tools host_tools;                 /* tools_host.c: for emu */

/* The number of bits that can hold any of 0 .. n-1; at least 1. */
int bits_of(int64_t n);

#ifdef __cplusplus
}
#endif
#endif
