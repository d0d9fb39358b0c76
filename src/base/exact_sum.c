/* Sums of doubles without rounding errors. */
#include "exact_sum.h"

#include <math.h>

/* Returns a + b rounded; *lost is the rounding error. */
static double two_sum(double a, double b, double *lost)
{
    double sum = a + b, added = sum - a;
    *lost = (a - (sum - added)) + (b - added);
    return sum;
}

/* Join parts from the largest to the smallest, so that each one is rounded to 53 bits. */
static void join_parts(struct exact_sum *s)
{
    int to = s->n;
    double x = s->part[s->n - 1], lost;
    for (int i = s->n - 2; i >= 0; i--) {
        double sum = two_sum(x, s->part[i], &lost);
        if (lost != 0) s->part[--to] = sum;
        x = lost != 0 ? lost : sum;
    }
    if (x != 0) s->part[--to] = x;
    s->n -= to;
    for (int i = 0; i < s->n; i++) s->part[i] = s->part[to + i];
}

void exact_sum_add(struct exact_sum *s, double x)
{
    int n = 0;
    double lost;
    if (s->n == EXACT_SUM_PARTS) join_parts(s);
    for (int i = 0; i < s->n; i++) {
        x = two_sum(x, s->part[i], &lost);
        if (lost != 0) s->part[n++] = lost;
    }
    if (!isfinite(x)) x = NAN, n = 0; /* stays NaN whatever is added */
    if (x != 0) s->part[n++] = x;
    s->n = n;
}

double exact_sum_value(const struct exact_sum *s)
{
    return s->n ? s->part[s->n - 1] : 0;
}
