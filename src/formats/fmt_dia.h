/* DIA: the table entry and the arrays. */
#ifndef FMT_DIA_H
#define FMT_DIA_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_dia;

enum { DIA_OFFSETS, DIA_DATA };
enum { DIA_ROWS = 128 }; /* maximum number of rows in a piece; our own choice, not from a paper */

/* diagonals: number of stored diagonals */
void dia_sizes(struct stored *S, int64_t diagonals);

C_END
#endif
