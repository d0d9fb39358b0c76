/* The checks of SpMM kernels that must hold on the cpu, the emulator and the GPU. */
#ifndef SPMM_KIT_H
#define SPMM_KIT_H

#include <stdint.h>

struct device;

/* Check every SpMM kernel that runs on d, for every shape x format parameters x precision x number of vectors: each
   vector against the reference, and against sums in double precision that use neither the reference nor a kernel.
   Kernels that are marked as deterministic run twice and must repeat their bits; before the second run, `disturb`
   (which may be NULL) changes something that must not affect the result. Stored matrices of more than `slots` slots are
   skipped. */
void check_spmm(struct device *d, int64_t slots, void (*disturb)(int round));

#endif
