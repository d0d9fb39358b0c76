/* CSR as a stored format: the table entry and the arrays. */
#ifndef FMT_CSR_H
#define FMT_CSR_H

#include "base/base.h"

C_BEGIN

struct format;

extern const struct format format_csr;

enum { CSR_PTR, CSR_COL, CSR_VAL };

C_END
#endif
