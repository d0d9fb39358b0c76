/* The magnitudes of an array, and scaling by powers of 2. */
#include "magnitude.h"
#include "loop.h"
#include "threads.h"

#include <float.h>
#include <math.h>

struct magnitudes magnitudes_joined(struct magnitudes a, struct magnitudes b)
{
    if (a.most == 0) return b;
    if (b.most == 0) return a;
    return (struct magnitudes){fmin(a.least, b.least), fmax(a.most, b.most)};
}

struct magnitudes magnitudes_of(int64_t n, const double *x)
{
    double least = INFINITY, most = 0;
    struct loop l = loop_of("looking for the largest number", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(min                    \
                                                                  : least) reduction(max \
                                                                                     : most) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) {
            double size = fabs(x[i]), finite = size <= DBL_MAX ? size : 0;
            most = finite > most ? finite : most;
            least = finite > 0 && finite < least ? finite : least;
        }
    return most > 0 ? (struct magnitudes){least, most} : (struct magnitudes){0, 0};
}

int magnitude_exponent(struct magnitudes m, int range, int lowest)
{
    if (m.most == 0) return 0;
    int k = ilogb(m.most), most = ilogb(m.least) - lowest;
    if (k >= -range && k <= range) return 0;
    if (k > most) k = most > 0 ? most : 0;
    return k;
}

void scale_by_power(int64_t n, const double *from, int exponent, double *x)
{
    struct loop l = loop_of("scaling by a power of 2", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (n > THREADS_FROM)
    for (int64_t at = 0; at < n; at += LOOP_EVERY)
        for (int64_t i = at, end = loop_share(&l, at, n); i < end; i++) x[i] = ldexp(from[i], exponent);
}
