/* HDIA: the table entry and the arrays. */
#ifndef FMT_HDIA_H
#define FMT_HDIA_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_hdia;

enum { HDIA_HACKOFFSETS, HDIA_OFFSETS, HDIA_DATA }; /* param 0: hack */

/* diagonals: total number over all hacks */
void hdia_sizes(struct stored *S, int64_t diagonals);

C_END
#endif
