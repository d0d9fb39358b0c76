/* The cost model: what a kernel's launches ask of a GPU, as the emulator saw it, and how long one would take over it.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/device.h"
#include "machine/microscope.h"

struct csr;
struct device;

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a kernel does (model_watch.c) ---- */

/* What a warp waits for. It issues in order, so that a load costs it nothing until something needs the value. */
enum wait {
    WAIT_STEP,       /* a request of any kind, and the arithmetic that goes with it */
    WAIT_L1,         /* loads that the L1 cache of the multiprocessor answers */
    WAIT_L2,         /* those that go on to the L2 cache */
    WAIT_FIRST,      /* those for sectors that nobody asked for before: from memory, unless L2 kept them */
    WAIT_SHARED,     /* loads from shared memory, in turns of its banks */
    WAIT_COLLECTIVE, /* shuffles and votes */
    WAIT_BARRIER,
    WAITS
};

/* Of a launch; all numbers stand for all blocks, where a sample was watched too. */
struct work {
    char name[64];
    int64_t blocks, threads, seen;    /* of the grid; of a block; watched */
    double steps;                     /* requests and exchanges of all warps */
    double lines;                     /* 128-byte lines, over all global requests: what L1 looks up */
    double sectors;                   /* that loads ask for */
    double l2_loads, l2_stores;       /* sectors that L2 is asked for, and given */
    double atomics, atomic_sectors;   /* lanes; L2 works on one sector at a time */
    double deep;                      /* lanes at one address, the most of each request of atomics, added up */
    double hot;                       /* atomics in the sector that has most */
    double gathered;                  /* sectors of x that L2 is asked for */
    double wavefronts;                /* of shared memory */
    double footprint;                 /* bytes of distinct sectors */
    double wait[WAITS];               /* added up over blocks: of the warps that each block waits for */
    double longest[WAITS];            /* of the block that takes longest */
    double warp_steps, longest_steps; /* of the mean warp; of the longest */
    int64_t longest_block;
    int64_t longest_row; /* a row that the block works on, where one can be told; else -1 */
};

struct workload {
    const struct kernel *kernel;
    int n;
    struct work launch[SCOPE_LAUNCHES];
    double footprint; /* bytes of distinct sectors of all launches */
    bool sampled;
    double us; /* watching took */
};

/* Watch k on M, which lies on the emulator. sms: multiprocessors that blocks are dealt to, in turns. sample: as in
   count_kernel. counts may be NULL. Memory: the requests of a block. Errors: those of count_kernel; memory. */
bool model_watch(const struct kernel *k, const struct csr *A, const struct mat *M, int sms, int64_t sample,
                 struct watch *w, struct counts *counts, struct workload *out, struct err *e);

/* ---- how long it takes (model.c) ---- */

struct machine {
    char name[64];
    bool here; /* ceilings that were measured on this device; else those of the GPU that is built in */
    int sms;   /* multiprocessors */
    struct ceilings c;
};
/* d, where it is a GPU whose ceilings are measured; else an NVIDIA H200. d may be NULL. */
struct machine machine_of(const struct device *d);

/* What may hold a launch up. All go on at once: the slowest decides. */
enum bound {
    BOUND_LATENCY, /* warps wait for loads that depend on one another, and too few are there to fill the time */
    BOUND_LONGEST, /* one block goes on when the others are done */
    BOUND_DRAM,    /* bytes from memory */
    BOUND_L2,      /* sectors from the L2 cache */
    BOUND_L1,      /* lines that the L1 cache looks up */
    BOUND_ISSUE,   /* instructions */
    BOUND_ATOMICS, /* atomics, of all sectors */
    BOUND_HOT,     /* atomics in one sector */
    BOUNDS,
    BOUND_LAUNCH = BOUNDS /* of a prediction: its launches cost more than what they do */
};
extern const char *const bound_names[BOUNDS + 1];

struct prediction {
    double us;
    double launch_us;        /* of that the launches themselves */
    double bound_us[BOUNDS]; /* over all launches: what each would take alone */
    enum bound bound;
    double dram_bytes, l2_bytes; /* that the launches move */
};
struct prediction model_predict(const struct workload *w, const struct machine *g);

#ifdef __cplusplus
}
#endif
#endif
