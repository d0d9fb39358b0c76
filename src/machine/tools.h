/* What is done between kernels by a library on a GPU, and by loops of the host for the emulator: sorting keys with
   their values, and prefix sums. */
#ifndef TOOLS_H
#define TOOLS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct device;
struct err;

/* Steps along the rows of a matrix that a block of threads takes (gpu/tiles.h): entries and ends of rows. */
enum { TILE = 2048 };

/* n keys with values, each twice: one of the two is in use, the other is room for the sort. */
struct pairs {
    int64_t n;
    uint64_t *key[2];
    double *with[2]; /* moved as 8 bytes, whatever they mean */
};

/* Work on device memory; asynchronous on cuda. temp: what `bytes` says, of the device. */
struct tools {
    /* So much both can work with; -1: failed. */
    int64_t (*bytes)(struct device *d, int64_t sorted, int64_t added, struct err *e);
    /* Stable, by bits from .. bits-1 of the keys; *k: which of the two is in use, before and after. */
    bool (*sort)(struct device *d, const struct pairs *p, int from, int bits, int *k, void *temp, int64_t temp_bytes,
                 struct err *e);
    /* at[i] becomes the sum of at[0 .. i-1], for i < n; at[n - 1] itself is in no sum. */
    bool (*exclusive_scan)(struct device *d, int64_t *at, int64_t n, void *temp, int64_t temp_bytes, struct err *e);
};
const struct tools *tools_of(const struct device *d); /* gpu/tools.c; NULL: none */
extern const struct tools host_tools;                 /* tools_host.c: for emu */

/* Bits of the numbers 0 .. n-1; at least one. */
int bits_of(int64_t n);

#ifdef __cplusplus
}
#endif
#endif
