/* HYB: the table entry and the arrays. */
#ifndef FMT_HYB_H
#define FMT_HYB_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_hyb;

/* param 0: width, which is resolved before hyb_sizes is called */
enum { HYB_ELL_COL, HYB_ELL_VAL, HYB_ROW, HYB_COL, HYB_VAL };

/* over: entries beyond the width of the ELL part */
void hyb_sizes(struct stored *S, int64_t over);

C_END
#endif
