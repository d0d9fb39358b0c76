/* A monotonic clock that tests can replace, and the median of measured times. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base.h"

C_BEGIN

/* Microseconds on a monotonic clock; the zero point is arbitrary. */
double now_us(void);
/* For tests: read the time from the function `clock`, so that screens do not depend on the real time. If `clock` is
   NULL, the monotonic clock is used again. */
void now_replace(double (*clock)(void));
/* Microseconds on a clock of the system; 0 if it cannot be read. */
double clock_read_us(clockid_t clock);
/* Processor time in us: of this thread, which works in each of its parallel loops, and of the workers (worker.h) that
   it waited for. Other programs that use the machine hardly change it. */
double worked_us(void);
/* A worker of this thread has used so much more processor time. */
void worked_add(double us);
/* Let now_us count worked_us in this thread, and in the workers that it starts, unless a test has replaced `clock`.
   Returns the setting before. */
bool now_counts_work(bool on);
bool now_is_work(void);
/* Microseconds on the monotonic clock, even if a test has replaced `clock`. Progress reports use steady_us, because the
   number of their readings varies and must not change the times in a test. */
double steady_us(void);
/* The median of n >= 1 times. Sorts us[] in place. *spread receives half the interquartile range; spread may be
   NULL. */
double times_median(int64_t n, double *us, double *spread);

C_END
#endif
