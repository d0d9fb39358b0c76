/* Corrects predictions by what was measured: after a `bench` of one matrix on a GPU, predictions for similar matrices
   are multiplied by measured time / predicted time. */
#ifndef CORRECTION_H
#define CORRECTION_H

#include "base/precision.h"

#include <stdbool.h>

struct err;
struct kernel;
struct machine;
struct matrix;
struct session;

struct correction {
    double factor;    /* to multiply a predicted time with; 1: there is nothing to correct it by */
    int kernels;      /* the number of measured kernels that it comes from; 1: the kernel itself; 0: none */
    const char *from; /* the name of the matrix that was measured */
};

/* The correction of predictions of k for m on g, from the session's last `bench` or `spmv` on a GPU. There is none if
   the matrix of that bench is not similar to m: entries per row, evenness of rows, and size. If k itself was not
   measured, the correction is the geometric mean over the fastest kernels that were. Predicts the measured kernels when
   they are first needed. Returns false if the user cancelled. */
bool correction_of(struct session *s, const struct matrix *m, const struct kernel *k, enum precision real,
                   const struct machine *g, struct correction *out, struct err *e);
/* The two steps of correction_of, for callers that correct many kernels for one matrix. Does the last bench apply to m?
   This reads all rows of both matrices. */
bool correction_applies(const struct session *s, const struct matrix *m);
/* The correction of k by the last bench, which must apply to the matrix. */
bool correction_by_bench(struct session *s, const struct kernel *k, enum precision real, const struct machine *g,
                         struct correction *out, struct err *e);

#endif
