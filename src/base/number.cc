/* Read decimal numbers with fast_float and write them with std::to_chars. This file is C++ because fast_float and
   std::to_chars are C++. */
#include "number.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fast_float/fast_float.h>
#include <limits>

enum { DIGITS = 19 }; /* every integer of 19 digits fits in 64 bits */
/* DECIDING: more digits than any midpoint of two doubles has. FAR: above any exponent */
enum { DECIDING = 800, FAR = 1000000000 };
static const uint64_t power_of_ten[DIGITS + 1] = {1,
                                                  10,
                                                  100,
                                                  1000,
                                                  10000,
                                                  100000,
                                                  1000000,
                                                  10000000,
                                                  100000000,
                                                  1000000000,
                                                  10000000000,
                                                  100000000000,
                                                  1000000000000,
                                                  10000000000000,
                                                  100000000000000,
                                                  1000000000000000,
                                                  10000000000000000,
                                                  100000000000000000,
                                                  1000000000000000000,
                                                  10000000000000000000u};

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Length of the Fortran exponent at p: D, an optional sign and digits; or a sign and three digits, since Fortran drops
   the letter if the field is too narrow. If the mantissa has a decimal point, fewer than three digits suffice, since
   Fortran also reads such exponents. Returns 0 if there is no such exponent. */
static size_t fortran_exponent(const char *p, const char *end, bool point)
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
    return letter ? (q > digits ? q - p : 0) : (q - digits == 3 || (point && q > digits && q - digits < 3) ? q - p : 0);
}

/* The value of a Fortran exponent of `len` bytes. A value beyond FAR is inexact, but such an exponent gives 0 or inf
   anyway. */
static int64_t fortran_power(const char *p, size_t len)
{
    const char *end = p + len;
    int64_t power = 0;
    if (!digit(*p) && *p != '+' && *p != '-') p++;
    bool negative = *p == '-';
    if (!digit(*p)) p++;
    for (; p < end; p++)
        if (power < FAR) power = 10 * power + *p - '0';
    return negative ? -power : power;
}

/* Read mantissa [at, mid) and Fortran exponent [mid, mid + len) by converting a copy of the number that uses the
   exponent letter e. The copy starts at the first nonzero digit and has as many digits as can affect rounding; a single
   1 replaces the later digits if any of them is nonzero. */
static const char *fortran(const char *at, const char *mid, size_t len, double *value)
{
    char copy[DECIDING + 32];
    size_t n = 0;
    int64_t power = fortran_power(mid, len);
    bool point = false, more = false;
    bool negative = *at == '-';
    for (const char *p = at + negative; p < mid; p++) {
        point |= *p == '.';
        if (*p == '.') continue;
        if (!digit(*p)) return nullptr; /* an e before the Fortran exponent */
        bool kept = n < DECIDING && (n > 0 || *p != '0');
        if (kept) copy[n++] = *p;
        power += (n == DECIDING && !kept) - point;
        more |= !kept && *p != '0';
    }
    if (more) copy[n++] = '1';
    n += static_cast<size_t>(
        snprintf(copy + n, sizeof copy - n, "%se%lld", n ? "" : "0", static_cast<long long>(power - more)));
    fast_float::from_chars(copy, copy + n, *value);
    if (negative) *value = -*value;
    return mid + len;
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
        if (size_t len = fortran_exponent(r.ptr, end, memchr(at, '.', static_cast<size_t>(r.ptr - at)) != nullptr)) {
            *how |= NUMBER_FORTRAN;
            r.ptr = fortran(at, r.ptr, len, value);
            finite = std::isfinite(*value);
        }
    }
    if (!finite) *how |= digits ? NUMBER_OVERFLOW : NUMBER_SPECIAL;
    return r.ptr;
}

/* Set *value to w * 10^q, correctly rounded, by fast_float's compute_float. Returns false if the result is infinite or
   uncertain. */
static inline bool scaled(uint64_t w, int64_t q, bool negative, double *value)
{
    using format = fast_float::binary_format<double>;
    fast_float::adjusted_mantissa m = fast_float::compute_float<format>(q, w);
    uint64_t power = static_cast<uint64_t>(m.power2);
    uint64_t bits = m.mantissa | power << format::mantissa_explicit_bits() | static_cast<uint64_t>(negative) << 63;
    memcpy(value, &bits, sizeof bits);
    return power < static_cast<uint64_t>(format::infinite_power());
}

/* Read the exponent whose letter is at p and add it to *q. Returns the end of the exponent, or NULL if it has no digits
   or more than four. */
static const char *plain_exponent(const char *p, int64_t *q)
{
    uint64_t power;
    bool negative = *++p == '-';
    p += negative || *p == '+';
    int n = digits_read(p, &power);
    *q += negative ? -static_cast<int64_t>(power) : static_cast<int64_t>(power);
    return n > 0 && n <= 4 ? p + n : nullptr;
}

const char *number_plain(const char *at, double *value)
{
    bool negative = *at == '-';
    const char *p = at + negative;
    uint64_t whole = static_cast<unsigned char>(*p) - '0', part = 0;
    bool one = whole < 10 && p[1] == '.'; /* the most common form has one digit before the point */
    int n = one ? 1 : digits_read(p, &whole), after = 0;
    p += n;
    if (n == 0) return nullptr;
    if (*p == '.') {
        after = digits_read(++p, &part);
        p += after;
        if (after == 0) return nullptr;
    }
    if ((whole ? n : 0) + after > DIGITS || n > DIGITS) return nullptr;
    int64_t q = -after;
    if ((*p == 'e' || *p == 'E') && !(p = plain_exponent(p, &q))) return nullptr;
    bool ends = *p == ' ' || *p == '\n' || *p == '\t' || *p == '\r';
    return ends && scaled(whole * power_of_ten[after] + part, q, negative, value) ? p : nullptr;
}

size_t number_print(double value, char *out)
{
    if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN(); /* without a sign */
    return static_cast<size_t>(std::to_chars(out, out + NUMBER_ROOM, value).ptr - out);
}
