/* The arrays of CSR with 64-bit row pointers. */
#ifndef FMT_CSR64_H
#define FMT_CSR64_H

#include "base/base.h"

C_BEGIN

struct format;

extern const struct format format_csr64;
enum { CSR64_PTR, CSR64_COL, CSR64_VAL };

C_END
#endif
