/* Lanczos in the dress of conjugate gradients: the outer eigenvalues of a symmetric matrix, from inside. */
#ifndef CARD_LANCZOS_H
#define CARD_LANCZOS_H

#include <stdbool.h>
#include <stdint.h>

struct card;
struct err;

struct card_lanczos {
    double low, high; /* Ritz values: between the least and greatest eigenvalue; NaN: none */
    int64_t steps;
    bool indefinite; /* p'Ap <= 0 was met: A is not positive definite */
};
/* At most 300 steps on a real symmetric A with a starting vector of a fixed seed. */
bool card_lanczos(struct card *c, struct card_lanczos *out, struct err *e);

#endif
