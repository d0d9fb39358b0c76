/* The order of eigenvalues. */
#include "wanted.h"

#include <math.h>

double wanted_rank(const struct wanted *w, double re, double im)
{
    if (w->end == WANTED_NEAREST) return hypot(re - w->target, im);
    return w->end == WANTED_SMALLEST ? re : w->end == WANTED_LARGEST ? -re : -hypot(re, im);
}
