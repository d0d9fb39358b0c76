/* A monotonic clock that tests can replace, and the median of measured times. */
#include "clock.h"

#include <stdlib.h>
#include <time.h>

double steady_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double (*clock_us)(void) = steady_us;

double now_us(void)
{
    return clock_us();
}

void now_replace(double (*clock)(void))
{
    clock_us = clock ? clock : steady_us;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double times_median(int64_t n, double *us, double *spread)
{
    qsort(us, (size_t)n, sizeof *us, by_size);
    if (spread) *spread = (us[3 * (n - 1) / 4] - us[(n - 1) / 4]) / 2;
    return n % 2 ? us[n / 2] : (us[n / 2 - 1] + us[n / 2]) / 2;
}
