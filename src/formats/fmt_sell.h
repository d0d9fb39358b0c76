/* SELL-C-sigma: the table entry and the arrays. */
#ifndef FMT_SELL_H
#define FMT_SELL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_sell;

enum { SELL_PERM, SELL_PTR, SELL_COL, SELL_VAL }; /* param 0: C, 1: sigma */

/* Fails if the format cannot store this many slots. */
bool sell_sizes(struct stored *S, int64_t slots, struct err *e);

C_END
#endif
