/* The Lanczos process in the form of conjugate gradients: estimates of the outermost eigenvalues of a symmetric matrix.
   The estimates lie inside the spectrum. */
#ifndef CARD_LANCZOS_H
#define CARD_LANCZOS_H

#include <stdbool.h>
#include <stdint.h>

struct card;
struct err;

struct card_lanczos {
    double low, high; /* smallest and largest Ritz value; NaN if no step was made */
    int64_t steps;
    bool indefinite; /* a step found p'Ap < 0 by more than rounding errors: A is not positive definite */
};
/* Makes at most 300 steps on a real symmetric A, from a random vector with a fixed seed. */
bool card_lanczos(struct card *c, struct card_lanczos *out, struct err *e);

#endif
