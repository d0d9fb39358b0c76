/* Prints batches: several right sides solved at the same time. */
#ifndef OUTPUT_BATCH_H
#define OUTPUT_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "solvers/batch.h"

struct out;
struct row_kind;

/* The solve of one column alone, for comparison. */
struct batch_alone {
    int64_t iterations;
    double difference; /* max |x - x'| / max |x'|, where x' is its x; NaN: the column was not solved alone */
};

/* What the rows of a batch have in common, and its totals. */
struct batch_totals {
    const char *matrix, *b;
    const struct solver *solver;
    const struct precond *pre; /* NULL: none */
    const struct device *dev;
    const struct spmm_kernel *kernel;
    enum precision real;
    int64_t columns, converged;
    int64_t width;             /* columns of a group, which advance together */
    int64_t iterations;        /* in lock step, added up over the groups */
    int64_t column_iterations; /* added up over the columns */
    double us;
    double bytes, bytes_alone; /* see batch_bytes; of the first group */
    bool compared;             /* the columns were solved one after another, too */
    bool known;                /* the solutions are known */
    double us_alone;
    double difference; /* the largest */
};

/* A row for column i. error: relative, of x with respect to the known x; NaN: not known. alone: NULL if not compared.
 */
void out_batch_column(struct out *o, const struct batch_totals *t, int64_t i, const struct batch_column *c,
                      double error, const struct batch_alone *alone);
void out_batch(struct out *o, const struct batch_totals *t);

extern const struct row_kind row_batch_column, row_batch;

#endif
