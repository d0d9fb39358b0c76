/* The predicted times of all kernels for a matrix, which are kept with the matrix: every command that predicts reads
   them here, and watches only those kernels that no command has watched before. */
#ifndef PREDICTIONS_H
#define PREDICTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/precision.h"
#include "session/kept_predictions.h"

struct format;
struct kernel;
struct matrix;
struct session;

/* Predict the times on g of all kernels, or of those kernels of the format f that may be the fastest of f. products 0:
   kernels are compared by the time of one SpMV; otherwise by that of their conversion and as many SpMVs. A failure of a
   single kernel is recorded in out->no. Returns false if the user cancelled, or after an error that ends the command;
   *out then holds the kernels predicted so far. The caller must call predictions_free even if the result is false. */
bool predictions_of(struct session *s, struct matrix *m, const struct format *f, int64_t products, enum precision real,
                    const struct machine *g, struct predictions *out, struct err *e);
/* The same for the fastest of all kernels that are kept: a kernel whose lower bound exceeds a prediction is not
   watched. A lower bound stands for it in *out. */
bool predictions_first(struct session *s, struct matrix *m, enum precision real, const struct machine *g,
                       struct predictions *out, struct err *e);
/* Replace the predictions of the kernels of f by those with other parameters of f, which are not kept. */
bool predictions_with(struct session *s, struct matrix *m, const struct format *f, const int64_t *param,
                      enum precision real, const struct machine *g, struct predictions *p, struct err *e);

#endif
