/* Multiply a matrix of the session by a vector with one kernel, check the result against the reference, and time the
   kernel. */
#ifndef SPMV_H
#define SPMV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "machine/bench.h"

struct csr;
struct device;
struct err;
struct format;
struct kernel;
struct matrix;
struct product;
struct run;
struct session;

enum { SPMV_REPS_MAX = 1000000 }; /* the highest number that a user may give as reps */

struct spmv_request {
    struct matrix *matrix; /* the transposed matrix for A' x */
    struct device *dev;
    enum type real;
    int reps; /* number of runs; 0: chosen from the time of one SpMV */
    bool force;
    const int64_t *param;                   /* parameters of the kernel's format; NULL: the defaults */
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
/* The matrix of w stored in f for products on w->dev, packed there if w->dev is a GPU. param NULL: the defaults. */
struct product *spmv_product(struct session *s, const struct spmv_request *w, const struct format *f,
                             const int64_t *param, struct err *e);
/* Is the verdict right? Otherwise, the error says how wrong the result of `what` is. */
bool product_is_right(const struct verdict *v, const char *what, struct err *e);
/* Check and time one kernel. On the emulator, which does not model time, the kernel is only checked, and the times are
   NaN. */
bool spmv_measure(struct session *s, const struct spmv_request *w, const struct kernel *k, struct run *out,
                  struct err *e);
/* Keep copies of n runs, sorted by time, as the session's last runs. The session takes over y0 of o; o NULL:
   A x. */
bool spmv_keep(struct session *s, struct matrix *m, const struct run *r, int n, struct spmv_operation *o,
               struct err *e);

#endif
