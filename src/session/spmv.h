/* Multiply a matrix of the session by a vector with one kernel, check the result against the reference, and time the
   kernel. */
#ifndef SPMV_H
#define SPMV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/precision.h"
#include "machine/bench.h"

struct csr;
struct device;
struct err;
struct form;
struct kernel;
struct matrix;
struct run;
struct session;

enum { SPMV_REPS_MAX = 1000000 }; /* the highest number that a user may give as reps */

/* A product by one kernel, as a command asks for it. */
struct spmv_request {
    struct matrix *matrix;       /* the transposed matrix for A' x */
    const struct kernel *kernel; /* NULL: not chosen yet */
    struct device *dev;
    enum precision real;
    int reps; /* number of runs; 0: chosen from the time of one SpMV */
    bool force;
    const int64_t *param;                   /* given for the kernel's format; NULL: kernel_params chooses them */
    const struct spmv_operation *operation; /* NULL: A x */
    struct bench_shared *bench;             /* what the kernels of a bench share; NULL: the kernel is measured alone */
};
/* An operation that the user chose. */
struct spmv_operation {
    struct operation op;
    double *y0;          /* op.y0, owned; NULL: random, or not read because beta is 0 */
    const char *y0_word; /* y0 as the user named it */
};
void spmv_operation_free(struct spmv_operation *o); /* free y0 */
/* The operation as a formula, such as "2 A x + y0 (y0 random)" or "A' x". Returns out. */
const char *operation_text(bool transposed, double alpha, double beta, const char *y0, char *out, size_t size);
/* The stored form of the matrix that the kernel of w reads, with its final parameters. */
struct form spmv_form(const struct spmv_request *w);
/* Is the verdict right? Otherwise, the error says how wrong the result of `what` is. */
bool product_is_right(const struct verdict *v, const char *what, struct err *e);
/* Check and time the kernel of w. On the emulator, which does not model time, the kernel is only checked, and the times
   are NaN. */
bool spmv_measure(struct session *s, const struct spmv_request *w, struct run *out, struct err *e);
/* Keep copies of n runs, sorted by time, as the session's last runs. The session takes over y0 of o; o NULL:
   A x. */
bool spmv_keep(struct session *s, struct matrix *m, const struct run *r, int n, struct spmv_operation *o,
               struct err *e);

#endif
