/* Dense: the table entry and the array. */
#ifndef FMT_DENSE_H
#define FMT_DENSE_H

#include "base/base.h"

C_BEGIN

struct format;

extern const struct format format_dense;

enum { DENSE_VAL };

C_END
#endif
