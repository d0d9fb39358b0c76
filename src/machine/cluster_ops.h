/* Iterations of a small solve in one launch: the thread blocks of one cluster store the matrix and the vectors in their
   shared memory. Implemented by src/machine/cluster_plan.c and gpu/kernels/k_cluster.cu. */
#ifndef CLUSTER_OPS_H
#define CLUSTER_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"
#include "base/base.h"

C_BEGIN

struct csr;
struct device;
struct err;
struct mat;

/* Block b of the cluster stores rows [b * rows, (b + 1) * rows) of the matrix and of each vector. */
struct cluster_plan {
    int blocks;        /* 0: no plan */
    int threads;       /* per block */
    int lanes;         /* threads per row, a power of 2 */
    int rows, entries; /* per block, at most */
    int64_t bytes;     /* shared memory per block */
};

/* The system of a solve, on the device: A in CSR, the inverted diagonal of the preconditioner (NULL: M = I), the
   solver's scalars, the vectors of the launch, and, for a solver that restarts, the iterations per cycle. */
enum { CLUSTER_VECTORS = 5 };
struct cluster_system {
    const struct mat *A;
    const void *dinv;
    double *s;
    void *vec[CLUSTER_VECTORS];
    int64_t m;
};

/* Do n iterations, or fewer if the solve or, for a solver that restarts, the cycle ends. The vectors that an iteration
   changes and the scalars are then those after the last iteration, and the live record has a record of each iteration.
   Also adds the times of the parts of the iterations to s[S_SPMV_US] and so on. */
typedef void cluster_steps(struct device *d, const struct cluster_plan *plan, const struct cluster_system *c,
                           int64_t n);

/* The launches of a solver, by the type of its vectors; the comment of its kernel lists them. */
struct cluster_kernel {
    cluster_steps *steps[NUMBER_TYPES];
};

struct cluster_ops {
    int (*blocks)(struct device *d); /* the largest number of blocks in a cluster; 0: d has no clusters */
    int threads;                     /* the largest number of threads in a block */
    int64_t bytes;                   /* the largest amount of shared memory of a block for matrix and vectors */
#define CLUSTER(solver) const struct cluster_kernel *solver;
#include "clusters.def"
#undef CLUSTER
};
/* NULL: this kind of device has no clusters. */
const struct cluster_ops *cluster_ops_of(const struct device *d);

/* Plan a cluster for A, `vectors` vectors and, in each block, `more` further bytes. Fails if the device has no
   clusters, or if all of this does not fit in the shared memory of one cluster. */
bool cluster_plan_make(struct device *d, const struct csr *A, enum type real, int vectors, int64_t more,
                       struct cluster_plan *out, struct err *e);

C_END
#endif
