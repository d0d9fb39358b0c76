/* How many digits of a computed x are correct, and how that is known. */
#ifndef TRUST_H
#define TRUST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { DIGITS_MAX = 15 }; /* of a double */

struct trust {
    int digits;       /* decimal digits of the largest elements of x that are correct; -1: not known */
    double error;     /* ||x - x*|| / ||x*||, measured or estimated; NaN: not known */
    const char *from; /* "known": x* is known; "direct": x* is that of a direct solver; "refinement": by another step of
                         refinement; "condition": a bound by the condition; NULL: not known. A static string */
    bool bound;       /* the error is at most `error`, and may be far smaller */
    char why[240];    /* what the digits are based on, or why they are not known */
};

/* Set *t from a relative error, which may be NaN: then the digits are not known. */
void trust_set(struct trust *t, double error, const char *from, const char *why, ...) PRINTF(4, 5);
/* The error against a known solution: that of ones, of the varied x, or of the file ("ones", "varied", "file"). */
void trust_known(struct trust *t, double error, const char *truth);
void trust_unknown(struct trust *t, const char *why, ...) PRINTF(2, 3);
/* A sentence such as "11 are correct: error 3.1e-12 against ones". met: the residual met tol. Returns out. */
const char *trust_text(const struct trust *t, bool met, char *out, size_t size);

#endif
