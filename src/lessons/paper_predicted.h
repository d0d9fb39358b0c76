/* For paper_value.c, without a GPU: predicted times of solvers and of dense LU. */
#ifndef PAPER_PREDICTED_H
#define PAPER_PREDICTED_H

#include "base/precision.h"

#include <stdbool.h>

struct err;
struct machine;
struct matrix;
struct paper_time;
struct session;

/* PAPER_DEVICE: the time of an iteration of the solver that `of` describes (see paper_solver) on g. The products are
   predicted by the cost model; the passes over vectors take the time for their bytes and their launches, whose number
   the emulator counts on a small grid. With `sums host`, each launch is counted with its whole overhead, but not the
   time that the host waits and adds. Fails with E_UNSUPPORTED if the kernel cannot be predicted. */
bool predicted_solver(struct session *s, struct matrix *m, const struct machine *g, enum precision real, const char *of,
                      struct paper_time *out, struct err *e);
/* PAPER_FACTOR and PAPER_SOLVE: the time of the LU method that `of` names on g, from its launches and the elements that
   they read and write; a lower bound, which was not compared with measurements. Fails with E_UNSUPPORTED except for
   lu-paper. */
bool predicted_factor(struct matrix *m, const struct machine *g, enum precision real, const char *of,
                      struct paper_time *out, struct err *e);

#endif
