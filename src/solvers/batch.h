/* Several right sides of one matrix, solved at the same time: all columns advance in lock step, with one product A P of
   several vectors per SpMV of the solver, so that A is read once for all of them. Each column has its own scalars, its
   own stop rule and its own end; its iterates are those of a solve of this column alone, up to rounding. A column that
   is done keeps its x while the others go on. */
#ifndef BATCH_H
#define BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/vec_ops.h"
#include "solve.h"

/* The columns that advance together unless the user says otherwise: on cpu, those whose sums the product keeps in
   registers, because the vectors of more columns do not stay in the cache. */
int batch_width(const struct device *d);

struct batch_column {
    enum reason reason;
    int64_t iterations;
    double residual;      /* the recursive residual, relative to ||b|| */
    double residual_true; /* after batch_end: b - A x in double, relative to ||b|| */
};

struct batch {
    struct solve *solve; /* of all columns; batch_end frees its memory on the device */
    int columns;
    int64_t rows;
    int64_t iterations; /* in lock step: those of the column with the most */
    int running;        /* columns that are not done */
    double us;          /* time of the iterations */
    double rate_us;     /* time of one iteration, measured in the last slice; 0: not known */
    int64_t queued;     /* iterations of the last slice */
    struct batch_column column[COLUMNS_MAX];
    double b_norm[COLUMNS_MAX];
    const double *b; /* [columns * rows], one column after another; lent */
    double *x;       /* the same for the solutions, after batch_end */
};

/* Do the matrix, the solver and the preconditioner suit a batch? Call this before anything is packed. */
bool batch_check(const struct csr *A, const struct solve_options *o, struct err *e);
/* Check the values, and begin a batch. b and x0: `columns` vectors, one
   after another; at most COLUMNS_MAX. A->mat is in the format of the kernel. b must outlive the batch, like A; x0 is
   read only here. The caller calls batch_free, also after a failure. */
bool batch_begin(struct batch *t, const struct solve_matrix *A, const struct spmm_kernel *kernel,
                 const struct solve_options *o, int columns, const double *b, const double *x0, struct err *e);
/* About `us` microseconds of iterations. Call again while t->running > 0. After Ctrl-C, it fails with E_CANCELLED, and
   the batch is lost. */
bool batch_slice(struct batch *t, double us, struct err *e);
/* Copy x to the host, and compute the true residuals. Frees the memory on the device. */
bool batch_end(struct batch *t, struct err *e);
void batch_free(struct batch *t);
/* The bytes that an iteration of all columns moves at least; and those of an iteration of each column alone. */
double batch_bytes(const struct batch *t);
double batch_bytes_alone(const struct batch *t);

#endif
