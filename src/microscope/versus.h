/* Why one kernel is predicted to be faster than another on the same matrix: the difference of their times, split over
   the terms of the model. */
#ifndef VERSUS_H
#define VERSUS_H

#include "model.h"

struct modeled;

enum { DIFFERENCES = BOUNDS + 1 }; /* the bounds, and the launches */

struct difference {
    enum bound term;
    double us;       /* the part of the time of b minus the time of a; the parts add up to the whole difference */
    double alone[2]; /* the time of a and of b if this term were the only limit */
    double count[2]; /* what the term counts, for a and for b: see difference_unit */
};
/* The differences, the largest first; terms that are 0 for both kernels are left out. Returns their number.

   A term cannot be subtracted alone, because the terms overlap. The part of a term is its Shapley value: the change of
   the time when the term of b replaces that of a, averaged over all orders in which the terms can be replaced
   (L. S. Shapley, A value for n-person games, 1953). */
int differences_of(const struct modeled *a, const struct modeled *b, struct difference out[DIFFERENCES]);
/* What a term counts, such as "sectors". */
const char *difference_unit(enum bound term);

#endif
