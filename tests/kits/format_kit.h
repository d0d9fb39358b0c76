/* The checks that every format must pass with every matrix. */
#ifndef FORMAT_KIT_H
#define FORMAT_KIT_H

#include "base/precision.h"

#include <stdint.h>

struct csr;
struct format;

/* Pack A: the sizes are those of the plan, every entry is in exactly one slot, and unpacking returns A. A matrix whose
   values exceed the precision must be refused. */
void format_check(const struct csr *A, const struct format *f, const int64_t *param, enum precision real);

#endif
