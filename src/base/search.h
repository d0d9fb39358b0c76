/* Search in an ascending array of offsets. */
#ifndef SEARCH_H
#define SEARCH_H

#include <stdint.h>

#include "base.h"

C_BEGIN

/* Find the s in 0 .. n-1 with ptr[s] <= i < ptr[s+1]: the row, column or slice in which slot i lies. */
int64_t span_of(const int *ptr, int64_t n, int64_t i);
int64_t span_of_wide(const int64_t *ptr, int64_t n, int64_t i);

C_END
#endif
