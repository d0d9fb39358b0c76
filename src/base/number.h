/* Decimal numbers to and from double, exactly rounded and the same in every locale. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    NUMBER_FORTRAN = 1,  /* written 1.5D+03 or 1.5+103 */
    NUMBER_SPECIAL = 2,  /* written inf or nan */
    NUMBER_OVERFLOW = 4, /* beyond the largest double: the value is inf */
    NUMBER_ROOM = 32     /* bytes that number_print needs */
};

/* Read the number that starts at `at`, of any length, correctly rounded. Returns where it ends, NULL when no
   number is there; what follows it is the caller's to judge. *how gets the flags above. */
const char *number_parse(const char *at, const char *end, double *value, unsigned *how);
/* The same for a number as nearly all are written: digits, then perhaps a point and digits, then perhaps e and an
   exponent; a sign or none; at most 19 digits that count; and a blank or line end behind it, of which 8 bytes can be
   read. NULL where it is not that plain, and number_parse is to be asked. */
const char *number_plain(const char *at, double *value);
/* Write the shortest text that reads back as the same double; returns its length, at most NUMBER_ROOM, no NUL. */
size_t number_print(double value, char *out);

/* The top bit of each of eight bytes, less '0' each, that is no digit. The addition carries out of no byte before the
   first such; behind it the bits may be wrong. */
static inline uint64_t digits_end(uint64_t bytes)
{
    return ((bytes + 0x7676767676767676) | bytes) & 0x8080808080808080;
}

/* The number that eight digits make, the first in the lowest byte: neighbours are joined to pairs, fours, eight. */
static inline uint64_t digits_join(uint64_t bytes)
{
    uint64_t pairs = bytes * 10 + (bytes >> 8);
    uint64_t first = (pairs & 0x000000ff000000ff) * (100 + (1000000ULL << 32));
    uint64_t second = (pairs >> 16 & 0x000000ff000000ff) * (1 + (10000ULL << 32));
    return (first + second) >> 32;
}

/* Read the digits at `at`, eight at a time: their count, and what they make if they are not above 19. For
   little-endian machines. Reads up to 8 bytes from the first that is no digit. */
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
    int last = __builtin_ctzll(end), few = last / 8; /* those few move up, and zeros before them */
    *value = v * power[few] + digits_join(bytes << 8 << (63 - last));
    return n + few;
}

#ifdef __cplusplus
}
#endif
#endif
