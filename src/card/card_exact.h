/* Is a real matrix singular? Decided in exact arithmetic. */
#ifndef CARD_EXACT_H
#define CARD_EXACT_H

#include <stdbool.h>

struct card;
struct err;

enum card_exact { CARD_EXACT_UNKNOWN, CARD_EXACT_SINGULAR, CARD_EXACT_REGULAR };
/* Eliminates A modulo primes near 2^62. If the determinant is not 0 modulo one prime, it is not 0; if it is 0 modulo so
   many primes that their product exceeds Hadamard's bound, it is 0. For a real square matrix of finite values.
   CARD_EXACT_UNKNOWN: more than limit_us would be needed, or memory ran short. */
bool card_exact(struct card *c, double limit_us, enum card_exact *out, struct err *e);

#endif
