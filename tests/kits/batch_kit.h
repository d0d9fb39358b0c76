/* Checks of batches that must hold on every device. */
#ifndef BATCH_KIT_H
#define BATCH_KIT_H

#include "base/array.h"
#include "talk.h"

enum { BATCH_SIDES = 5 };
/* The numbers of a key in the rows of JSON, in order; null and "nan" are NaN. Returns their count. */
int batch_numbers(const struct talk *t, const char *key, double *to, int room);
/* Run a line of `batch`, of which every column must converge. */
void batch_line(struct talk *t, const char *line);
/* Every solver that advances columns, on the ten systems of tests/files/batch, in both precisions. */
void check_batch(const char *device);
/* Inner products, divisions and updates of n columns with this number of rows. A column that is done keeps its scalars
   and its vector. */
void check_columns(const char *device, enum type type, int64_t rows, int n);

#endif
