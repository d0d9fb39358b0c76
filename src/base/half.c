/* Rounding to 16-bit floating-point numbers. */
#include "half.h"

#include <math.h>

/* The bits of v, rounded to `fraction` bits after the point, with this bias of the exponent. The lowest exponent of a
   normal number is 1 - bias; smaller numbers have the same spacing. Rounding up may carry into the exponent, which
   gives the next power of two, or inf. */
static uint16_t narrow(double v, int fraction, int bias)
{
    const unsigned infinite = (2u * (unsigned)bias + 1) << fraction;
    unsigned sign = signbit(v) ? 0x8000u : 0;
    if (isnan(v)) return (uint16_t)(sign | infinite | 1u << (fraction - 1));
    if (v == 0) return (uint16_t)sign;
    int exponent = isinf(v) ? bias + 1 : ilogb(v);
    if (exponent > bias) return (uint16_t)(sign | infinite);
    if (exponent < 1 - bias) exponent = 1 - bias;
    unsigned units = (unsigned)rint(scalbn(fabs(v), fraction - exponent));
    return (uint16_t)(sign | (units + ((unsigned)(exponent + bias - 1) << fraction)));
}

uint16_t fp16_of(double v)
{
    return narrow(v, 10, 15);
}

uint16_t bf16_of(double v)
{
    return narrow(v, 7, 127);
}
