/* The parameters of a format with which a kernel reads a matrix. */
#ifndef KERNEL_PARAMS_H
#define KERNEL_PARAMS_H

#include <stdint.h>

#include "base/array.h"
#include "base/param.h"

struct csr;
struct device;
struct kernel;

/* The multiprocessors of d; 0: d is no GPU. */
int multiprocessors_of(const struct device *d);
/* The parameters to pack A with for k: param if it is not NULL; otherwise those that k states; otherwise those that
   suit A and a GPU with this number of multiprocessors, which are written to `own`. NULL: the defaults. */
const int64_t *kernel_params(const struct kernel *k, const int64_t *param, const struct csr *A, enum type real,
                             int multiprocessors, int64_t own[PARAMS_MAX]);

#endif
