/* How many iterations a solve will need, as far as the history of its residual shows it. */
#ifndef FORECAST_H
#define FORECAST_H

#include <stdbool.h>
#include <stdint.h>

struct solve;

struct forecast {
    double rate; /* factor by which the least residual fell per iteration in the second half; NaN: no iterations */
    /* In total, if the residual keeps falling at this rate, or by the condition if that is less. It decides which
       method gets more time, and promises nothing. INFINITY: the residual did not fall. */
    double iterations;
    /* The solve needs between low and high iterations in total. high is INFINITY if that is not yet known, because the
       residual does not fall steadily; low is then the iterations that were done, and one more. */
    double low, high;
};
bool forecast_is_known(const struct forecast *f);
/* residual[0 .. k]: relative residuals of the first k iterations. The second half of the history is divided into four
   windows, and the residual must fall in each. low: it goes on as in the fastest window, or somewhat faster. high: it
   slows down as a power of the number of iterations does, or goes on as in the slowest window, or somewhat slower. If
   the two differ widely, nothing is promised. condition: of the (preconditioned) matrix, for a method that converges
   like conjugate gradients; NaN: not known. */
struct forecast forecast_of(const double *residual, int64_t k, double tol, double condition);
/* The same for a solve that has done some iterations, in iterations since its beginning, with the condition from its
   Ritz values if it gives any. */
struct forecast solve_forecast(const struct solve *v);
/* Without the condition, for reports about a solve that has ended: rate and iterations are NaN after fewer than
   EXPECTED_MIN iterations, which show no rate. */
enum { EXPECTED_MIN = 8 };
struct forecast solve_expected(const struct solve *v);

#endif
