/* Convert decimal numbers to and from double, correctly rounded, in any locale. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base.h"

C_BEGIN

enum {
    NUMBER_FORTRAN = 1,  /* the number is written like 1.5D+03 or 1.5+103 */
    NUMBER_SPECIAL = 2,  /* the number is spelled inf or nan */
    NUMBER_OVERFLOW = 4, /* beyond the largest double: the value is inf */
    NUMBER_ROOM = 32     /* bytes that number_print needs */
};

/* Read the number at `at`, correctly rounded; it may have any length. Returns the end of the number, or NULL if the
   text is not a number. The caller checks the text after the number. *how receives a sum of NUMBER_... flags. */
const char *number_parse(const char *at, const char *end, double *value, unsigned *how);
/* A fast path for the common form: optional minus, digits, optional point and digits, optional e and exponent, at most
   19 significant digits, then a blank or line end. Reads up to 8 bytes beyond the number. Returns NULL if the text is
   not of this form; then call number_parse. */
const char *number_plain(const char *at, double *value);
/* Write the shortest text that reads back as the same double, without a NUL. Returns the length of the text, at most
   NUMBER_ROOM. */
size_t number_print(double value, char *out);

/* Each byte of `bytes` is a character minus '0'. Set the top bit of each byte that is not a digit. Only the first set
   bit is reliable, because the addition may carry out of the byte after that bit. */
static inline uint64_t digits_end(uint64_t bytes)
{
    return ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
}

/* Returns the number that eight digits form. The lowest byte of `bytes` is the first digit. The digits are joined into
   pairs, the pairs into groups of four, and these groups into the result. */
static inline uint64_t digits_join(uint64_t bytes)
{
    uint64_t pairs = bytes * 10 + (bytes >> 8);
    uint64_t first = (pairs & 0x000000ff000000ff) * (100 + (1000000ULL << 32));
    uint64_t second = (pairs >> 16 & 0x000000ff000000ff) * (1 + (10000ULL << 32));
    return (first + second) >> 32;
}

/* Read the digits at `at`, eight at a time. Returns how many digits there are. *value receives the number that they
   form if there are at most 19 digits. Works on little-endian machines only. Reads up to 8 bytes beyond the last
   digit. */
static inline int digits_read(const char *at, uint64_t *value)
{
    static const uint32_t power[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t v = 0, bytes, end;
    int n = 0;
    for (;; n += 8) {
        memcpy(&bytes, at + n, sizeof bytes);
        bytes ^= 0x3030303030303030;
        end = digits_end(bytes);
        if (end) break;
        v = v * 100000000 + digits_join(bytes);
    }
    int last = __builtin_ctzll(end), few = last / 8; /* shift the last digits up, so that zeros precede them */
    *value = v * power[few] + digits_join(bytes << 8 << (63 - last));
    return n + few;
}

C_END
#endif
