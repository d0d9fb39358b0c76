/* Random numbers (splitmix64). Equal states give equal random numbers on every machine. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

#include "base/base.h"

C_BEGIN

uint64_t random_next(uint64_t *state);
uint64_t random_skip(uint64_t state, int64_t n); /* the state after n numbers */
double random_unit(uint64_t *state);             /* a random number in [-1, 1), never exactly 0 */
/* n such numbers; fewer if Ctrl-C stops this loop and all further loops (base/loop.h) */
void random_fill(double *x, int64_t n, uint64_t seed);

C_END
#endif
