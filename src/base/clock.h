/* A steady clock that tests can replace, and the median of measured times. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Microseconds of a steady clock. */
double now_us(void);
/* Tests: use `clock` instead, so that screens do not depend on time. NULL: the steady clock again. */
void now_replace(double (*clock)(void));
/* The median of n >= 1 times, which are sorted in place; *spread is half the distance between their quartiles and may
   be NULL. */
double times_median(int64_t n, double *us, double *spread);

#ifdef __cplusplus
}
#endif
#endif
