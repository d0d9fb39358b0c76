/* Helpers for the tests of stored matrices: small matrices, and comparison of slots with expected slots. */
#ifndef STORED_KIT_H
#define STORED_KIT_H

#include <stdint.h>

struct place;

struct csr thesis4(void); /* the 4 x 4 example of Liang 2012, fig. 2.1 */
/* Row i has length[i] entries in columns 0, 1, ...; the value in column j is 100 i + j + 1. The matrix is square, or
   wider if a row has more entries than there are rows. */
struct csr ragged(int n, const int *length);

/* Pack as doubles with these parameters; fails the test on an error. */
struct stored packed(const struct csr *A, const char *format, const int64_t *param);
void expect_slots(const struct stored *S, int k, int64_t n, const double *want);
void expect_where(const struct stored *S, int k, int64_t i, struct place want);

#endif
