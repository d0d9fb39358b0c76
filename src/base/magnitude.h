/* The magnitudes of an array, and the power of 2 that brings them near 1. Powers of 2 change no digit of a number, so
   that scaling by them is exact as long as no number leaves the range of its type. */
#ifndef MAGNITUDE_H
#define MAGNITUDE_H

#include <stdint.h>

/* The least and the largest absolute value among the finite numbers that are not 0; both are 0 if there are none. */
struct magnitudes {
    double least, most;
};
struct magnitudes magnitudes_of(int64_t n, const double *x);
struct magnitudes magnitudes_joined(struct magnitudes a, struct magnitudes b);
/* The exponent k for which the largest magnitude times 2^-k is in [1, 2); 0 if this magnitude is between 2^-range and
   2^range. k is less, but at least 0, if the least magnitude would fall below 2^lowest. */
int magnitude_exponent(struct magnitudes m, int range, int lowest);
/* x[i] = from[i] 2^exponent; from may be x. */
void scale_by_power(int64_t n, const double *from, int exponent, double *x);

#endif
