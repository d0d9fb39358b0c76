/* Sums of doubles without rounding errors. */
#ifndef EXACT_SUM_H
#define EXACT_SUM_H

/* 41 parts of 53 bits suffice for any sum of doubles, whose bits span 2,098 places. Parts may have fewer bits until
   there is no room for one more; they are then joined. */
enum { EXACT_SUM_PARTS = 64 };

/* The sum is exactly that of `part`, whose items ascend in size, and whose bits do not overlap (Shewchuk 1997).
   n = 0: the sum is 0. */
struct exact_sum {
    int n;
    double part[EXACT_SUM_PARTS];
};

void exact_sum_add(struct exact_sum *s, double x);
/* A number with the sign of the sum, near the sum; 0 only if the sum is exactly 0. NaN: the sum left the range of
   doubles on the way, or an item was not finite. */
double exact_sum_value(const struct exact_sum *s);

#endif
