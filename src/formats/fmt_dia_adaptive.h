/* DIA-Adaptive: the entry, the parameters, and the format that was chosen. */
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

/* It has the arrays of its choice at their positions, and nrows at param 0: the kernels of all three fit. */
enum { ADAPTIVE_DATA = 1 };
enum { ADAPTIVE_NROWS, ADAPTIVE_MIN, ADAPTIVE_DIA_PERCENT, ADAPTIVE_BRCSD1_PERCENT, ADAPTIVE_AS }; /* params */
enum { ADAPTIVE_DIA = 1, ADAPTIVE_BRCSD1, ADAPTIVE_BRCSD2 };  /* values of ADAPTIVE_AS once resolved */
const struct format *adaptive_choice(const struct stored *S); /* dia, brcsd1 or brcsd2 */

/* S as one of its formats, with that format's parameter. */
struct stored adaptive_as(const struct stored *S, int64_t as);
/* Its padding is less than `percent` % of the entries. */
bool adaptive_pads_less(const struct stored *S, int64_t percent);

#ifdef __cplusplus
}
#endif
#endif
