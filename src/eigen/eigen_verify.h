/* Were all eigenvalues found? */
#ifndef EIGEN_VERIFY_H
#define EIGEN_VERIFY_H

#include <stdbool.h>

struct eigen;
struct err;

/* Count the eigenvalues beyond a bound, or between two bounds, that separate the first pairs from the last ones. Fills
   v->verified, v->counted, v->from and v->to, or v->unverified. Fails only if Ctrl-C ends the count. */
bool eigen_verify(struct eigen *v, struct err *e);

#endif
