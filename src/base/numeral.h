/* Numbers that a user typed as words. */
#ifndef NUMERAL_H
#define NUMERAL_H

#include <stdbool.h>
#include <stdint.h>

/* Is all of text a number? Its value goes to *value, which may be NULL. is_real takes no inf or nan. */
bool is_integer(const char *text, int64_t *value);
bool is_real(const char *text, double *value);
bool like_number(const char *text); /* begins as one does, right or wrong */

#endif
