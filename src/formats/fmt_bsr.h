/* BSR: the table entry and the arrays. */
#ifndef FMT_BSR_H
#define FMT_BSR_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_bsr;

enum { BSR_PTR, BSR_COL, BSR_VAL }; /* param 0: block size */

/* blocks: number of stored blocks */
void bsr_sizes(struct stored *S, int64_t blocks);

C_END
#endif
