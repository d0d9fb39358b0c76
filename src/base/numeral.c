/* Recognise the numbers that a user typed. */
#include "numeral.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool is_integer(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    long long v = strtoll(text, &end, 10);
    if (end == text || *end || errno || *text == ' ') return false;
    if (value) *value = v;
    return true;
}

bool is_real(const char *text, double *value)
{
    char *end;
    double v = strtod(text, &end);
    if (end == text || *end || !isfinite(v) || strspn(text, "+-.0123456789eE") != strlen(text)) return false;
    if (value) *value = v;
    return true;
}

bool like_number(const char *text)
{
    text += *text == '-' || *text == '+';
    return strchr("0123456789.", *text) && *text;
}
