/* DIA-Adaptive: the table entry, the parameters, and the chosen format. */
#ifndef FMT_DIA_ADAPTIVE_H
#define FMT_DIA_ADAPTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct format;
struct stored;

extern const struct format format_dia_adaptive;

/* A DIA-Adaptive matrix has the arrays of the chosen format, in the order of that format, and param 0 is nrows. The
   kernels of the three formats can therefore read the matrix. */
enum { ADAPTIVE_DATA = 1 };
enum { ADAPTIVE_NROWS, ADAPTIVE_MIN, ADAPTIVE_DIA_PERCENT, ADAPTIVE_BRCSD1_PERCENT, ADAPTIVE_AS }; /* params */
/* values of the parameter ADAPTIVE_AS after the format has been chosen */
enum { ADAPTIVE_DIA = 1, ADAPTIVE_BRCSD1, ADAPTIVE_BRCSD2 };
const struct format *adaptive_choice(const struct stored *S); /* dia, brcsd1 or brcsd2 */

/* S as a matrix in format `as` (ADAPTIVE_DIA, ...), with that format's parameter. */
struct stored adaptive_as(const struct stored *S, int64_t as);
/* S planned as DIA: is its padding low enough? */
bool adaptive_takes_dia(const struct stored *S);
/* S planned as BRCSD-I, and the same matrix planned as BRCSD-II: is S chosen? */
bool adaptive_takes_brcsd1(const struct stored *S, const struct stored *brcsd2);

C_END
#endif
