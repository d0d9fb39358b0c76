/* Measured multiplications. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "matrix/reference.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ceilings;
struct csr;
struct device;
struct err;
struct kernel;
struct mat;
struct stored;
struct watch;

/* One measured multiplication (bench.c). */
struct run {
    const struct kernel *kernel;
    const struct device *dev;
    const struct stored *of;
    enum type real;
    double us, spread_us; /* median, and half the distance between the quartiles */
    double first_us;      /* the first launch, cold */
    int reps;
    double prep_us, put_us;         /* packing and ready_us; copying to the device, 0 where it was packed there */
    const struct device *packed_on; /* NULL: the host */
    double ready_us;      /* what the kernel prepares on the device beside the matrix, once: tile starts and the like */
    int64_t bytes;        /* that must move at least: arrays used, x once, y once (twice if beta != 0) */
    double gbs, gflops;   /* bytes / us; 2 nnz / us */
    double share;         /* gbs / the measured read ceiling, 0 = ceilings not measured */
    struct verdict error; /* against the reference, from a run with random x, y, alpha, beta */
};

/* What follows from the time and the bytes of a run: gbs, gflops, share. */
void run_rates(struct run *r, const struct ceilings *c);
/* Check k on M against the reference of A (random x and y by seed), then time it. reps 0 = chosen so
   that it takes about 0.2 s. A wrong result is E_NUMERIC and no time is given. */
bool bench_kernel(const struct kernel *k, const struct csr *A, const struct mat *M, int reps, struct watch *w,
                  struct run *out, struct err *e);
/* The check alone; y (rows doubles) may be NULL. */
bool bench_check(const struct kernel *k, const struct csr *A, const struct mat *M, double alpha, double beta,
                 uint64_t seed, double *y, struct verdict *out, struct err *e);
/* Bytes that k must move at least: the arrays, less padding that it need not read, x once, y once or twice. */
int64_t kernel_bytes(const struct kernel *k, const struct stored *S, double beta);

#ifdef __cplusplus
}
#endif
#endif
