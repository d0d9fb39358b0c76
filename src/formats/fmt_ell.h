/* ELL: the table entry, the arrays, and functions that HYB shares. */
#ifndef FMT_ELL_H
#define FMT_ELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct array;
struct csr;
struct err;
struct format;
struct place;
struct stored;

extern const struct format format_ell;

enum { ELL_COL, ELL_VAL }; /* param 0: width */

/* longest: entries of the longest row */
bool ell_sizes(struct stored *S, int64_t longest, struct err *e);

/* Write the first `width` entries of each row; element k of row i is slot k*rows + i. */
void ell_put(const struct csr *A, int64_t width, struct array *col, struct array *val);
struct place ell_where(const struct stored *S, const struct array *col, int64_t i);

C_END
#endif
