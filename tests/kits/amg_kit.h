/* Multigrid on any device; for test_amg.c and gpu_precond.c. */
#ifndef AMG_KIT_H
#define AMG_KIT_H

#include "base/precision.h"
#include "solve_kit.h"

/* The first `levels` levels that the device makes are those that the host makes, up to rounding. A GPU rounds sums
   differently, so that ties in coarse matrices may be broken differently: two levels can be compared there. */
void check_amg_levels(const struct problem *p, const char *device, enum precision real, int levels);
void check_amg_levels_of(struct bed *bed, const char *device, enum precision real, int levels);

/* The iterations of a solve with amg, which must converge. */
int64_t amg_iterations(struct bed *bed, const char *solver, const char *device);
/* A solve with amg on the device takes as many iterations as on the host, up to two. */
void check_amg_iterations(const struct problem *p, const char *solver, const char *device);

/* A suite's setup: small matrices have several levels. */
int amg_of_few_rows(void **state);

#endif
