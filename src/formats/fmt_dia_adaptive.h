/* DIA-Adaptive: the table entry, the parameters, and the chosen format. */
#ifndef FMT_DIA_ADAPTIVE_H
#define FMT_DIA_ADAPTIVE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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
/* Is the padding of S less than `percent` % of its entries? */
bool adaptive_pads_less(const struct stored *S, int64_t percent);

#ifdef __cplusplus
}
#endif
#endif
