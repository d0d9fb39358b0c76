/* A monotonic clock that tests can replace, and the median of measured times. */
#include "clock.h"

#include <stdlib.h>
#include <time.h>

double clock_read_us(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) ? 0 : (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double steady_us(void)
{
    return clock_read_us(CLOCK_MONOTONIC);
}

static double (*clock_us)(void); /* of a test; NULL: none */
static _Thread_local double of_workers;
static _Thread_local bool counts_work;

double worked_us(void)
{
    return clock_read_us(CLOCK_THREAD_CPUTIME_ID) + of_workers;
}

void worked_add(double us)
{
    of_workers += us;
}

bool now_is_work(void)
{
    return counts_work;
}

bool now_counts_work(bool on)
{
    bool before = counts_work;
    counts_work = on;
    return before;
}

double now_us(void)
{
    return clock_us ? clock_us() : counts_work ? worked_us() : steady_us();
}

void now_replace(double (*clock)(void))
{
    clock_us = clock;
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
