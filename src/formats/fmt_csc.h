/* CSC: the table entry and the arrays. */
#ifndef FMT_CSC_H
#define FMT_CSC_H

#include "base/base.h"

C_BEGIN

struct format;

extern const struct format format_csc;

enum { CSC_PTR, CSC_ROW, CSC_VAL };

C_END
#endif
