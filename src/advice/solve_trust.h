/* How many digits of the x of a solve are correct. */
#ifndef SOLVE_TRUST_H
#define SOLVE_TRUST_H

#include <stdbool.h>

struct session;
struct solve;

/* Fill v->result.trust of a solve that has ended: by the known solution, or, if `may_factor` is set, by a direct solve.
   The direct solve may take half a second, or a tenth of the time of the solve if that is longer. */
void solve_find_trust(struct session *s, struct solve *v, bool may_factor);

#endif
