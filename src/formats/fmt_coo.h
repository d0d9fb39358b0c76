/* COO: the table entry and the arrays. */
#ifndef FMT_COO_H
#define FMT_COO_H

#include "base/base.h"

C_BEGIN

struct format;

extern const struct format format_coo;

enum { COO_ROW, COO_COL, COO_VAL };

C_END
#endif
