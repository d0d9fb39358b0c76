/* The loops over kernels, shapes, precisions and files that the kernel tests run on any device. */
#ifndef KERNEL_LOOPS_H
#define KERNEL_LOOPS_H

#include <stdint.h>

struct device;

/* All loops skip stored matrices of more than `slots` slots. */

/* Compare every kernel that runs on d with the reference, for every shape x format parameters x precision x (alpha,
   beta). */
void check_shapes(struct device *d, int64_t slots);
/* The same on the emulator while it looks for races, with one (alpha, beta): alpha and beta = 0 only leave accesses
 * out. */
void check_races(struct device *d, int64_t slots);
/* Watch every kernel that runs on d, the emulator, and compare the functions that it launches with its entry and with
   the table of what nvcc made of them. */
void check_compiled(struct device *d, int64_t slots);
/* Check that results equal the reference bit for bit on problems with exact arithmetic, so that any two devices agree.
 */
void check_exact(struct device *d, int64_t slots);
/* Run each kernel that is marked as deterministic three times and compare the bits; between the runs, `disturb` (which
   may be NULL) changes something that must not affect the result. */
void check_deterministic(struct device *d, int64_t slots, void (*disturb)(int round));
/* Every kernel that takes values stored in smaller types, in each such precision: the error is within the unit roundoff
   of the stored type and the error bound of the sums, and each of the 65,536 codes of fp16 and bf16 is multiplied
   exactly. */
void check_narrow(struct device *d, int64_t slots);
/* Check the CSR kernels, which must also repeat their results, on large matrices with rows of very different lengths:
   one tile of a kernel then has many entries, and a row crosses several tiles. */
void check_uneven(struct device *d);
/* Launch each kernel that is marked as deterministic `launches` times on larger matrices of six kinds, in every format
   that stores them without much padding, and compare the bits of all results. */
void check_repeats(struct device *d, int launches);
/* Run a chain of products (bench_chain) with every kernel, `times` times with at least `launches` timed launches each,
   and compare the bits of the last vectors of those that are marked as deterministic. */
void check_chains(struct device *d, int64_t slots, int times, int launches);
/* Check every kernel on every real matrix of WARPSPY_MATRICES with at most `most` nonzeros. The check is skipped if the
   variable is not set. */
void check_files(struct device *d, int64_t most, int64_t slots);

struct device *open_or_fail(const char *name); /* if the device cannot be opened, the test fails with the reason */
int close_devices(void **state);               /* the teardown of a group of tests */

#endif
