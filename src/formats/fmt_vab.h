/* VAB: the table entry and the arrays. */
#ifndef FMT_VAB_H
#define FMT_VAB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_vab;

enum { VAB_VAL, VAB_COL, VAB_ROW_PIECE }; /* param 0: threads per block */
enum { VAB_PIECE = 4 };                   /* elements per thread, as in the paper */

/* Fails if the format cannot store this many pieces. */
bool vab_sizes(struct stored *S, int64_t pieces, struct err *e);

C_END
#endif
