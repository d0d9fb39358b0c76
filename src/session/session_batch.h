/* Begins a batch on a matrix of the session: chooses the kernel, and copies the matrix. */
#ifndef SESSION_BATCH_H
#define SESSION_BATCH_H

#include <stdbool.h>

struct batch;
struct err;
struct matrix;
struct session;
struct solve_options;

/* batch_begin (solvers/batch.h) with m in the format o->format (NULL: csr) on o->dev. `columns` right sides and
   starting guesses, one after another. The caller calls batch_free, also after a failure. */
bool session_batch(struct batch *t, struct session *s, struct matrix *m, const struct solve_options *o, int columns,
                   const double *b, const double *x0, struct err *e);

#endif
