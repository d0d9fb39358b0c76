/* Prints how many digits of a solution are correct. */
#ifndef OUTPUT_TRUST_H
#define OUTPUT_TRUST_H

#include <stdbool.h>

struct out;
struct trust;

/* Print the error of x against a known solution, with the digits that are correct. */
void out_error_in_x(struct out *o, bool known, double error, const struct trust *t);
/* Print how many digits of x are correct, unless the error shows it. met: the residual met tol. */
void out_trust(struct out *o, const struct trust *t, bool met);

#endif
