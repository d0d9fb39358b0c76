/* What the tests of stored matrices share: small matrices, and slots held to expected ones. */
#ifndef STORED_KIT_H
#define STORED_KIT_H

#include <stdint.h>

struct place;

struct csr thesis4(void); /* the 4 x 4 example of Liang 2012, fig. 2.1 */
/* Row i has length[i] entries, at columns 0 and on; 100 i + j + 1 at column j. Square, or wider for a longer row. */
struct csr ragged(int n, const int *length);

/* Pack as doubles with these parameters, which must succeed. */
struct stored packed(const struct csr *A, const char *format, const int64_t *param);
void expect_slots(const struct stored *S, int k, int64_t n, const double *want);
void expect_where(const struct stored *S, int k, int64_t i, struct place want);

#endif
