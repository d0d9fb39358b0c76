/* Checked and timed SpMVs. Implemented by gpu/bench.c and gpu/chain.c. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"
#include "base/precision.h"
#include "matrix/reference.h"

C_BEGIN

struct ceilings;
struct csr;
struct device;
struct err;
struct kernel;
struct mat;
struct stored;
struct watch;

/* The operation of an SpMV: alpha A x + beta y0. y0 has rows values, or rows pairs if A is complex; NULL: random
   values. If beta is 0, y0 is not read. */
struct operation {
    double alpha, beta;
    const double *y0;
};
extern const struct operation operation_product; /* A x */
bool operation_is_product(const struct operation *op);

/* The lower bound of a kernel's time: moving its bytes, gathering x, or a launch. */
enum run_bound { BY_NOTHING, BY_BYTES, BY_GATHERS, BY_LAUNCH };

/* The result of timing one kernel on one matrix. */
struct run {
    const struct kernel *kernel;
    const struct device *dev;
    const struct stored *of;
    enum precision real;
    bool transposed;         /* the operation is alpha A^T x + beta y, and `of` is A^T */
    double transpose_us;     /* then: time to transpose A; 0: the kernel uses arrays of A */
    int64_t transpose_bytes; /* and the memory that A^T needs beside A; 0: none */
    double alpha, beta;      /* the operation that was timed is alpha A x + beta y */
    char y0[64];             /* the y before it, as the user named it; empty if beta is 0 */
    double us, spread_us;    /* median time of one SpMV, and half the interquartile range */
    double chain_us;         /* time of one SpMV in a chain (bench_chain); NaN: not timed; 0: not asked for */
    char chain_why[128];     /* why it was not timed; empty: nothing prevents it, or the device is the emulator */
    double predicted_us;     /* by the cost model; 0: not predicted yet; NaN: it cannot be */
    double first_us;         /* time of the first launch, with cold caches */
    int reps;
    double prep_us;                 /* time for packing plus ready_us */
    double put_us;                  /* time for copying to the device (0 if the matrix was packed on the device) */
    double put_gbs;                 /* rate of that copy without allocation; NaN: the device works in host memory */
    const struct device *packed_on; /* NULL: the host */
    /* time of the kernel's own preparation on the device (tile starts and the like); it is done once */
    double ready_us;
    int64_t ready_bytes;  /* memory on the device that the kernel keeps beside the matrix */
    const char *library;  /* the library of the kernel and its version; NULL: a kernel of this program */
    int64_t bytes;        /* minimum traffic: the arrays that the kernel reads, x once, y once (twice if beta != 0) */
    double gbs;           /* bytes / us */
    double gflops;        /* 2 nnz / us; 8 nnz / us if the matrix is complex (type_flops) */
    double share;         /* gbs / the measured read bandwidth; 0: the bandwidth was not measured */
    enum run_bound bound; /* the longest part; BY_NOTHING: the ceilings of the device were not measured */
    double bound_us;      /* its time at the measured ceilings; NaN with BY_NOTHING */
    /* on a device with members: their number, the bytes that they send to each other in one SpMV, and the same SpMV on
       one member alone; of members of two kinds, each alone. us: NaN if it was not timed */
    int members;
    int64_t halo_bytes;
    struct {
        const struct device *dev; /* NULL: none */
        double us;
    } alone[2];
    struct verdict error; /* of the operation that was timed, with a random x */
};

/* The reference result of an operation on A, and the bound of each element's error. */
struct expected {
    const struct csr *A;
    enum precision real;
    struct operation op; /* alpha and beta as rounded for the launch */
    uint64_t seed;       /* of x and a random y */
    double *ref, *bound; /* owned */
};
/* Vectors, references and times that the kernels of one bench share: the results that they must give, which are
   computed once, and the time of the fastest kernel so far. Begins as {0}. */
struct bench_shared {
    bool alone;                  /* for one kernel: keep one result, to save memory */
    struct expected expected[2]; /* of the check of all terms, and of the operation that is timed */
    int computed;                /* number of results that were computed */
    double best_us;              /* 0: no kernel was timed yet */
};
void bench_shared_free(struct bench_shared *b);

/* Set gbs, gflops and share from the time and the bytes of a run. */
void run_rates(struct run *r, const struct ceilings *c);
/* Set bound and bound_us. gathers: the sectors of x that the kernel gathers (csr_gathers), which count on a GPU only;
   0: none. The part of the bytes that stays in the cache between SpMVs moves at the rate of the cache. */
void run_bounds(struct run *r, int64_t gathers, const struct ceilings *c);
/* A product that bench_operation checks and times. */
struct bench_job {
    const struct kernel *kernel;
    const struct csr *A;
    const struct mat *M; /* A, stored for the kernel */
    const struct operation *op;
    int reps;        /* timed launches; 0: as many as run in about 0.2 s, and fewer if the kernel is slower than the
                        fastest kernel of `shared` so far */
    int64_t gathers; /* see run_bounds */
    struct bench_shared *shared; /* NULL: the kernel is measured alone */
};
/* Check the kernel of j against the reference of A with random x and y, then check and time op. If beta is not 0, each
   timed launch begins with the y that the previous launch left. If a result is wrong, fails with E_NUMERIC and does not
   time the kernel. The emulator has no clock: there, times and rates are NaN. */
bool bench_operation(const struct bench_job *j, struct watch *w, struct run *out, struct err *e);
/* bench_operation for A x, alone. */
bool bench_kernel(const struct kernel *k, const struct csr *A, const struct mat *M, int reps, struct watch *w,
                  struct run *out, struct err *e);
/* Check one launch of op by k on M without timing it. `y` receives the result (rows doubles,
   or rows pairs if A is complex) and may be NULL. */
bool bench_result(const struct kernel *k, const struct csr *A, const struct mat *M, const struct operation *op,
                  uint64_t seed, double *y, struct verdict *out, struct err *e);
/* bench_result with a random y0. */
bool bench_check(const struct kernel *k, const struct csr *A, const struct mat *M, double alpha, double beta,
                 uint64_t seed, double *y, struct verdict *out, struct err *e);
/* Launches that are timed: go(ctx) makes one launch on dev. */
struct timed {
    struct device *dev;
    const char *name; /* of the kernel, for the progress */
    bool (*go)(void *ctx, struct err *e);
    void *ctx;
    double before_us; /* the time of a launch that was made before; 0: none was */
    double best_us;   /* the time with which that of a launch is compared; 0: none */
};
/* The median time of a launch in us, and half the interquartile range. *reps: the number of timed launches; if it is 0,
   it receives as many launches as run in about 0.2 s, and fewer if a launch is slower than 1.25 times best_us: only
   three if it is slower than 10 times best_us and than 1 ms. */
bool bench_times(const struct timed *t, int *reps, struct watch *w, double *median, double *spread, struct err *e);
enum { CHAIN_PRODUCTS = 64 };
/* Time a chain of CHAIN_PRODUCTS products by k on M: product i multiplies by what product i - 1 wrote, as in a solver.
   A is square, and the first x is random; each product is scaled by 1 / ||A||_inf, so that nothing overflows, times a
   power of 2 if x would vanish. *us: a device with graphs records the chain as a graph; this is the median time of a
   replay, divided by the number of products. Without graphs, it is the median time of a product in the chain. On the
   emulator, *us is NaN, and the chain has two products. The last product is checked against the reference; that of a
   deterministic kernel must also have the bits that single launches give. b, reps and w are as in bench_operation;
   alone_us: the time of one SpMV that bench_operation measured. y receives the last vector (rows doubles, or rows pairs
   if A is complex) and may be NULL. Fails with E_UNSUPPORTED if the launches of k cannot be recorded. */
bool bench_chain(const struct bench_shared *b, const struct kernel *k, const struct csr *A, const struct mat *M,
                 double alone_us, int reps, struct watch *w, double *us, double *y, struct err *e);
/* Minimum traffic of k in bytes: the arrays (minus the padding, if k skips it), x once, y once (twice if beta != 0). */
int64_t kernel_bytes(const struct kernel *k, const struct stored *S, double beta);

C_END
#endif
