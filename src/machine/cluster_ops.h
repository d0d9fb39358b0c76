/* Iterations of a small solve in one launch: the thread blocks of one cluster hold the matrix and the vectors in their
   shared memory. Implemented by src/machine/cluster_plan.c and gpu/kernels/k_cg_cluster.cu. */
#ifndef CLUSTER_OPS_H
#define CLUSTER_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

#ifdef __cplusplus
extern "C" {
#endif

struct csr;
struct device;
struct err;
struct mat;

/* Block b of the cluster holds rows [b * rows, (b + 1) * rows) of the matrix and of each vector. */
struct cluster_plan {
    int blocks;        /* 0: no plan */
    int threads;       /* per block */
    int lanes;         /* threads per row, a power of 2 */
    int rows, entries; /* per block, at most */
    int64_t bytes;     /* shared memory per block */
};

/* The system of a solve by cg, on the device: A in CSR, and dinv as in cg_ops. s: the solver's scalars. */
struct cluster_cg {
    const struct mat *A;
    const void *dinv;
    void *x, *r, *p;
    double *s;
};

struct cluster_ops {
    int (*blocks)(struct device *d); /* the largest number of blocks in a cluster; 0: d has no clusters */
    int threads;                     /* the largest number of threads in a block */
    int64_t bytes;                   /* the largest amount of shared memory of a block for matrix and vectors */
    /* Do n iterations, or fewer if the solve ends. x, r, p and the scalars are then those after the last iteration, and
       the live record has a record of each iteration. Also adds the times of the parts of the iterations to
       s[S_SPMV_US] and so on. */
    void (*cg)(struct device *d, const struct cluster_plan *plan, const struct cluster_cg *c, int64_t n);
};
/* real: T_F32 or T_F64. NULL: this kind of device has no clusters. */
const struct cluster_ops *cluster_ops_of(const struct device *d, enum type real);

/* Plan a cluster for A and so many vectors. Fails if the device has no clusters, or if A and the vectors do not fit in
   the shared memory of one cluster. */
bool cluster_plan_make(struct device *d, const struct csr *A, enum type real, int vectors, struct cluster_plan *out,
                       struct err *e);

#ifdef __cplusplus
}
#endif
#endif
