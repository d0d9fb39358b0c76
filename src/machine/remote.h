/* Kernels that run in a process of their own, such as those that a user wrote: a launch that loops for ever or writes
   through a wild pointer cannot harm the session. Such a kernel is an entry of the registry whose member `remote` is
   set; src/lab makes these entries. The functions below replace the ones that run a kernel in this process. */
#ifndef REMOTE_H
#define REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/precision.h"

struct counts;
struct csr;
struct emu_finding;
struct err;
struct kernel;
struct launch;
struct machine;
struct mat;
struct tape;
struct trace;
struct watch;
struct watched;
struct workload;

C_BEGIN

/* The time of a kernel's launches on a GPU. */
struct remote_times {
    double us, spread_us; /* median and half the interquartile range */
    double put_us;        /* time to copy the matrix to the process's own GPU memory */
    int reps;
};

struct remote {
    /* as kernel_launch; the launch is finished when the function returns */
    bool (*launch)(const struct kernel *k, const struct launch *L, struct err *e);
    /* as trace_warp */
    bool (*trace)(const struct watched *of, int launch, int64_t block, int warp, struct watch *w, struct trace *out,
                  struct err *e);
    /* as count_kernel, without a sink */
    bool (*count)(const struct kernel *k, const struct mat *M, int64_t sample, struct watch *w, struct counts *out,
                  struct err *e);
    /* as model_record of src/microscope; counts and tape may be NULL */
    bool (*model)(const struct kernel *k, const struct csr *A, const struct mat *M, const struct machine *g,
                  int64_t sample, struct watch *w, struct counts *counts, struct tape *tape, struct workload *out,
                  struct err *e);
    /* as bench_times, for y = alpha A x + beta y on M's device; reps 0: as many as take about 0.2 s */
    bool (*time)(const struct kernel *k, const struct mat *M, double alpha, double beta, int reps, struct watch *w,
                 struct remote_times *out, struct err *e);
    /* Ask nvcc how it compiles the kernel for a GPU of this compute capability (10 * major + minor). `model` does so
       itself. E_UNSUPPORTED: nvcc is not there, or refuses the kernel. */
    bool (*find_code)(const struct kernel *k, int capability, enum precision real, struct watch *w, struct err *e);
    /* How `count` and `model` last counted the kernel: "as nvcc 13.0.88 compiles it for sm_90", or "as in the source: "
       and why. */
    const char *(*counted_as)(const struct kernel *k);
};

/* ---- for the process that runs such kernels; implemented by gpu/emu ---- */

/* From now on, the stack of each lane is larger and ends at a page that faults, so that an overflow cannot overwrite
   the stack of another lane. Call this before the first launch. */
void emu_guard_stacks(void);
/* Is this address in one of those pages? */
bool emu_in_guard(const void *address);
/* The thread that runs now, as "block 3, thread 17"; false: no kernel is running. May be called by a signal handler. */
bool emu_running(char *out, unsigned size);
/* The end of the stack of the running lane, to search it for return addresses; NULL: no kernel is running. */
const void *emu_stack_end(void);
/* The finding that the next sync of the emulator reports (wrong.h); all members are 0 if there is none. */
void emu_last_finding(struct emu_finding *out);
/* Whether later launches look for races within blocks (emu.h). */
void emu_look_for_races(bool on);

C_END
#endif
