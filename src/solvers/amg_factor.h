/* A matrix of a level of multigrid on a device, with the kernel that multiplies by it. */
#ifndef AMG_FACTOR_H
#define AMG_FACTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/mat.h"

struct csr;
struct err;
struct kernel;

struct amg_factor {
    struct stored S;
    struct mat M;
    const struct mat *mat; /* &M, or a matrix of another owner */
    const struct kernel *kernel;
};
/* Copy A, which must outlive the factor, to d. */
bool amg_factor_put(struct amg_factor *f, struct device *d, enum type real, const struct csr *A, struct err *e);
/* y = alpha A x + beta y */
bool amg_factor_multiply(const struct amg_factor *f, double alpha, const void *x, double beta, void *y, struct err *e);
double amg_factor_bytes(const struct amg_factor *f); /* 0 if another owner holds the matrix */
int64_t amg_factor_held(const struct amg_factor *f); /* bytes on the device that the factor owns */
void amg_factor_free(struct amg_factor *f);

#endif
