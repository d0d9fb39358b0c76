/* Decimal numbers by fast_float and to_chars; C++ only because those are. */
#include "number.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <fast_float/fast_float.h>

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of a Fortran exponent at p: D, a sign or none, digits; or a sign and three digits, where the letter was
   dropped for room. 0 if there is none. */
static size_t fortran_exponent(const char *p, const char *end)
{
    const char *q = p;
    bool letter = q < end && (*q == 'd' || *q == 'D');
    if (letter) q++;
    if (q < end && (*q == '+' || *q == '-'))
        q++;
    else if (!letter)
        return 0;
    const char *digits = q;
    while (q < end && digit(*q)) q++;
    return letter ? (q > digits ? q - p : 0) : (q - digits == 3 ? q - p : 0);
}

/* Read mantissa [at, mid) and Fortran exponent [mid, end) through a copy that says e. */
static const char *fortran(const char *at, const char *mid, size_t len, double *value)
{
    char copy[4096];
    size_t lead = static_cast<size_t>(mid - at), skip = *mid == 'd' || *mid == 'D';
    if (lead + len + 1 > sizeof copy) return nullptr;
    memcpy(copy, at, lead);
    copy[lead] = 'e';
    memcpy(copy + lead + 1, mid + skip, len - skip);
    const char *end = copy + lead + 1 + len - skip;
    return fast_float::from_chars(copy, end, *value).ptr == end ? mid + len : nullptr;
}

const char *number_parse(const char *at, const char *end, double *value, unsigned *how)
{
    *how = 0;
    if (at < end && *at == '+') {
        at++;
        if (at < end && *at == '-') return nullptr;
    }
    auto r = fast_float::from_chars(at, end, *value);
    if (r.ec == std::errc::invalid_argument) return nullptr;
    bool finite = std::isfinite(*value);
    bool digits = finite || digit(r.ptr[-1]) || r.ptr[-1] == '.';
    if (digits && r.ptr < end) {
        if (size_t len = fortran_exponent(r.ptr, end)) {
            *how |= NUMBER_FORTRAN;
            r.ptr = fortran(at, r.ptr, len, value);
            finite = std::isfinite(*value);
        }
    }
    if (!finite) *how |= digits ? NUMBER_OVERFLOW : NUMBER_SPECIAL;
    return r.ptr;
}

size_t number_print(double value, char *out)
{
    return static_cast<size_t>(std::to_chars(out, out + NUMBER_ROOM, value).ptr - out);
}
