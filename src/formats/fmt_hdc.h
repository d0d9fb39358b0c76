/* HDC: the table entry and the arrays. */
#ifndef FMT_HDC_H
#define FMT_HDC_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_hdc;

enum { HDC_OFFSETS, HDC_DATA, HDC_PTR, HDC_COL, HDC_VAL }; /* param 0: fill, in % */

/* outside: entries that are not on stored diagonals */
void hdc_sizes(struct stored *S, int64_t diagonals, int64_t outside);
/* The minimum number of entries of a diagonal in the DIA part. */
int64_t hdc_least(const struct stored *S);

C_END
#endif
