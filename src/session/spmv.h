/* Multiply a matrix of the session by a vector with one kernel, check the result against the reference, and time the
   kernel. */
#ifndef SPMV_H
#define SPMV_H

#include <stdbool.h>
#include <stdint.h>

#include "base/array.h"

struct device;
struct err;
struct format;
struct kernel;
struct matrix;
struct run;
struct session;

struct spmv_request {
    struct matrix *matrix;
    struct device *dev;
    enum type real;
    int reps; /* number of runs; 0: chosen from the time of one SpMV */
    bool force;
    const int64_t *param; /* parameters of the kernel's format; NULL: the defaults */
};
/* Choose parameters of f that suit d, and write them to param[PARAMS_MAX]; returns param, or NULL for the defaults. */
const int64_t *spmv_params(const struct format *f, const struct device *d, int64_t *param);
/* Check and time one kernel. On the emulator, which does not model time, the kernel is only checked, and the times are
   NaN. */
bool spmv_measure(struct session *s, const struct spmv_request *w, const struct kernel *k, struct run *out,
                  struct err *e);
/* Keep copies of n runs, sorted by time, as the session's last runs. */
bool spmv_keep(struct session *s, struct matrix *m, const struct run *r, int n, struct err *e);

#endif
