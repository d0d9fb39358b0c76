/* Decimal numbers to and from double, exactly rounded and the same in every locale. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stddef.h>

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
/* Write the shortest text that reads back as the same double; returns its length, at most NUMBER_ROOM, no NUL. */
size_t number_print(double value, char *out);

#ifdef __cplusplus
}
#endif
#endif
