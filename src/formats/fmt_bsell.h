/* Sliced blocks: the table entry, the arrays, and the choice of the block size. */
#ifndef FMT_BSELL_H
#define FMT_BSELL_H

#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_bsell;

enum { BSELL_PERM, BSELL_PTR, BSELL_COL, BSELL_VAL }; /* param 0: block size, 1: C, 2: sigma */
enum { BSELL_C_MAX = 32, BSELL_MIN = 2, BSELL_MAX = 4, BSELL_CHOICES = BSELL_MAX - BSELL_MIN + 1 };

/* The block size, BSELL_MIN to BSELL_MAX, whose blocks need the fewest bytes; the smaller one of two equal sizes.
   blocks[k] is the number of blocks of size BSELL_MIN + k. */
int64_t bsell_choice(const int64_t blocks[BSELL_CHOICES], enum precision real);
/* steps: the sum of the slices' widths, in blocks */
void bsell_sizes(struct stored *S, int64_t steps);

C_END
#endif
