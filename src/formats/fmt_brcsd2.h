/* BRCSD-II: the table entry and the arrays. */
#ifndef FMT_BRCSD2_H
#define FMT_BRCSD2_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_brcsd2;

enum { BRCSD2_OFFSETS, BRCSD2_DATA, BRCSD2_PTR, BRCSD2_DNUM }; /* param 0: nrows */

/* Fails if there are too many records or diagonals for the format. */
bool brcsd2_sizes(struct stored *S, int64_t records, int64_t diagonals, struct err *e);

C_END
#endif
