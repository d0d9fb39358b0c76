/* The loops over kernels, shapes, precisions and files that the kernel tests run on one device or another. */
#ifndef KERNEL_LOOPS_H
#define KERNEL_LOOPS_H

#include <stdint.h>

struct device;

/* All of them leave out products of more than `slots` slots. */

/* Every kernel that runs on d x every shape x format parameters x precision x (alpha, beta), against the reference. */
void check_shapes(struct device *d, int64_t slots);
/* On problems whose arithmetic is exact: every bit as in the reference, so that any two devices agree. */
void check_exact(struct device *d, int64_t slots);
/* Kernels that call themselves deterministic, run three times; `disturb` (may be NULL) changes something in between
   that must not matter. */
void check_deterministic(struct device *d, int64_t slots, void (*disturb)(int round));
/* Every kernel x every real matrix of WARPSPY_MATRICES of at most `most` nonzeros; skipped where that is not set. */
void check_files(struct device *d, int64_t most, int64_t slots);

struct device *open_or_fail(const char *name); /* the test fails with the reason there is none */
int close_devices(void **state);               /* a group's teardown */

#endif
