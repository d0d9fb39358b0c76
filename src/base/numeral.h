/* Recognise the numbers that a user typed. */
#ifndef NUMERAL_H
#define NUMERAL_H

#include <stdbool.h>
#include <stdint.h>

/* Is the whole text a number? *value receives the number; value may be NULL. is_real rejects inf and nan. */
bool is_integer(const char *text, int64_t *value);
bool is_real(const char *text, double *value);
bool like_number(const char *text); /* does the text begin like a number, valid or not? */

#endif
