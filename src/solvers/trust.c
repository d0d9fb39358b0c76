/* How many digits of a computed x are correct, in words. */
#include "trust.h"
#include "base/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int digits_of(double error)
{
    if (isnan(error)) return -1;
    if (!(error < 1)) return 0;
    double digits = error > 0 ? floor(-log10(error)) : DIGITS_MAX;
    return digits < DIGITS_MAX ? (int)digits : DIGITS_MAX;
}

void trust_set(struct trust *t, double error, const char *from, const char *why, ...)
{
    va_list list;
    *t = (struct trust){.digits = digits_of(error), .error = error, .from = isnan(error) ? NULL : from};
    va_start(list, why);
    vsnprintf(t->why, sizeof t->why, why, list);
    va_end(list);
}

void trust_known(struct trust *t, double error, const char *truth)
{
    if (!strcmp(truth, "file"))
        trust_set(t, error, "known", "error %.1e against the x in the file", error);
    else
        trust_set(t, error, "known", "error %.1e against the x of which b was made (%s)", error, truth);
}

void trust_unknown(struct trust *t, const char *why, ...)
{
    va_list list;
    *t = (struct trust){.digits = -1, .error = NAN};
    va_start(list, why);
    vsnprintf(t->why, sizeof t->why, why, list);
    va_end(list);
}

const char *trust_text(const struct trust *t, bool met, char *out, size_t size)
{
    if (t->digits < 0)
        snprintf(out, size, "not known: %s", t->why);
    else if (t->digits == 0)
        snprintf(out, size, "%s%s: %s", t->bound ? "none is certain" : "none is correct",
                 met ? ", although the residual met tol" : "", t->why);
    else
        snprintf(out, size, "%d %s correct: %s", t->digits, t->digits == 1 ? "is" : "are", t->why);
    return out;
}
