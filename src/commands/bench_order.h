/* The kernels that `bench` measures, those that are likely to be fast first. */
#ifndef BENCH_ORDER_H
#define BENCH_ORDER_H

#include "base/precision.h"

#include <stdint.h>

struct csr;
struct device;
struct kernel;

/* A kernel to measure in one precision. */
struct entrant {
    const struct kernel *kernel;
    enum precision real;
    int precision; /* entrants of a lower number come first */
    int group;     /* 0: the default kernel of csr; 1: that of another format; 2: any other kernel */
    int64_t bytes; /* what it moves for a sample of the rows; INT64_MAX: its format does not fit them */
    int at;        /* its place before the entrants were put in order */
};
/* Put n entrants in order: by precision, then by group, then by bytes. The formats are planned for a few thousand rows
   from the middle of A, and nothing is packed. param: of the kernels' format; NULL: the defaults that suit A and d. */
void bench_order(struct entrant *list, int n, const struct csr *A, const struct device *d, const int64_t *param);

#endif
