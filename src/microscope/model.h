/* The cost model: the work of a kernel's launches, as observed on the emulator, and the time a GPU takes for it. */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "gpu_profile.h"
#include "machine/microscope.h"

struct csr;

C_BEGIN

enum { LINE = 128 }; /* bytes of a line of L1 and L2 */

/* ---- the work of a kernel (model_watch.c) ---- */

/* What a warp waits for. A warp issues instructions in order, so a load costs nothing until an instruction needs its
   value. */
enum wait {
    WAIT_STEP,       /* a request of any kind, and the arithmetic that goes with it */
    WAIT_L1,         /* loads that the L1 cache of the multiprocessor answers */
    WAIT_L2,         /* loads that the L2 cache answers */
    WAIT_FIRST,      /* loads of sectors requested for the first time, which come from memory unless L2 kept them */
    WAIT_SHARED,     /* loads from shared memory, by wavefronts */
    WAIT_COLLECTIVE, /* shuffles and votes */
    WAIT_BARRIER,
    WAIT_ARRIVAL, /* atomics that announce a block's stores to another block: the stores must have reached L2 */
    WAITS
};

/* The work of one launch. All numbers are totals over all blocks, scaled up if only a sample was watched. */
struct work {
    char name[64];
    int64_t blocks;        /* blocks of the grid */
    int64_t threads;       /* threads per block */
    int64_t shared_bytes;  /* shared memory of a block */
    int64_t registers;     /* registers of a thread, as nvcc compiled the function; 0: not known */
    int64_t seen;          /* blocks watched */
    double steps;          /* requests and warp collectives of all warps */
    double lines;          /* 128-byte lines of all global requests, each looked up in L1 */
    double sectors;        /* sectors requested by loads */
    double l2_loads;       /* sectors that L2 delivers */
    double l2_stores;      /* sectors that L2 receives */
    double l2_lines;       /* 128-byte lines of these sectors, counted for each request */
    double atomics;        /* atomics of lanes */
    double atomic_sectors; /* sectors that L2 updates, one at a time */
    double hot;            /* atomics that others wait for, one after another, because they go to one sector */
    double hottest;        /* atomics in the sector with the most atomics, of blocks that run at the same time */
    double lost;           /* sectors of the matrix that L2 delivers again, after it has replaced them */
    double gathered;       /* sectors of x that L2 delivers */
    double gathered_lines; /* 128-byte lines of these sectors, counted for each request */
    double x_lines;        /* 128-byte lines of the requests for x */
    double wavefronts;     /* shared-memory wavefronts */
    double footprint;      /* bytes of distinct sectors */
    double wait[WAITS];    /* waits of the slowest warp of each block, summed over blocks */
    double longest[WAITS]; /* waits of the slowest block */
    double warp_steps;     /* steps per warp on average */
    double longest_steps;  /* steps of the longest warp */
    int64_t longest_block;
    int64_t longest_row; /* the longest row that this block stores; -1: not known */
};

struct workload {
    const struct kernel *kernel;
    int n;
    struct work launch[SCOPE_LAUNCHES];
    double footprint; /* bytes of distinct sectors of all launches */
    double in_lines;  /* bytes of the lines of these sectors: L2 keeps whole lines, of which it loads some sectors */
    double once;      /* the share of them that the kernel marks as read once, for L2 to replace them first */
    double again;     /* sectors of x that L2 reads from memory again, beyond the first time */
    bool sampled;
    double flops; /* multiplications and additions of stored values */
    bool single;  /* they are done in fp32 */
    bool plain;   /* predict without the factors of the kernel, to compare it with a kernel that has none */
    double us;    /* time spent watching the kernel, in us */
};

/* Watch k on M, which must be on the emulator. Blocks are assigned to the multiprocessors of g round robin. accesses:
   as in count_within. `counts` may be NULL. The requests of a block are kept in memory. Fails with the errors of
   count_within. */
bool model_watch(const struct kernel *k, const struct csr *A, const struct mat *M, const struct machine *g,
                 int64_t accesses, struct watch *w, struct counts *counts, struct workload *out, struct err *e);

/* The same, and record the warps of the first multiprocessor, of which tape->at_once blocks run at a time. tape NULL:
   record nothing. */
struct tape;
bool model_record(const struct kernel *k, const struct csr *A, const struct mat *M, const struct machine *g,
                  int64_t accesses, struct watch *w, struct counts *counts, struct tape *tape, struct workload *out,
                  struct err *e);

/* ---- the predicted time (model.c) ---- */

/* What can limit a launch. All limits act at the same time; the slowest determines the time. */
enum bound {
    BOUND_LATENCY, /* warps wait for dependent loads, and there are too few warps to hide the wait */
    BOUND_LONGEST, /* one block still runs when all other blocks have finished */
    BOUND_DRAM,    /* bytes from memory */
    BOUND_L2,      /* sectors from the L2 cache */
    BOUND_L1,      /* lines that the L1 cache looks up */
    BOUND_ISSUE,   /* instructions */
    BOUND_FLOPS,   /* multiplications and additions */
    BOUND_ATOMICS, /* atomics to all sectors */
    BOUND_HOT,     /* atomics to one sector, which run one after another */
    BOUNDS,
    BOUND_LAUNCH = BOUNDS /* only in a prediction: launching costs more than the work */
};
extern const char *const bound_names[BOUNDS + 1];

struct prediction {
    double us;
    double launch_us; /* launch overhead, which is included in `us` */
    /* per product in a graph of products, each of which reads what the one before wrote; NAN: not known for this GPU,
       or for several launches */
    double chain_us;
    double bound_us[BOUNDS]; /* the time of all launches if this were the only limit */
    enum bound bound;
    double dram_bytes, l2_bytes; /* bytes moved by the launches */
};
/* What the time of a workload is computed from: the time of each launch if one bound were its only limit. */
struct terms {
    int n;        /* launches of the kernel */
    int launches; /* those that have blocks */
    double launch_us, us[SCOPE_LAUNCHES][BOUNDS];
    double dram_bytes, l2_bytes;
};
/* What `hot` of a launch is if its atomics go to as many sectors evenly. */
double model_even_hot(double atomics, double sectors);
/* The share of sectors that L2 has replaced once it has loaded this many bytes of other lines. */
double model_lost(const struct machine *g, double bytes);
/* The sectors of x that L2 keeps. */
double model_x_sectors(const struct machine *g);
/* The bandwidth in GB/s at which launches read long arrays from memory. */
double model_stream_gbs(const struct machine *g);
/* The cost of n launches that follow one another in a stream. */
double model_launches_us(int64_t n, const struct machine *g);
void model_terms(const struct workload *w, const struct machine *g, struct terms *out);
double terms_us(const struct terms *t); /* the predicted time */

/* A lower bound of the predicted time in us of k on g, if it moves at least this many bytes, and if a warp works on a
   row of `row` entries alone (0: on none). single: in fp32. */
double model_least_us(const struct kernel *k, int64_t bytes, int64_t row, bool single, const struct machine *g);

/* The launch whose warps do the most. */
const struct work *workload_busiest(const struct workload *w);
/* What limits the number of blocks that a multiprocessor holds. */
enum residency_limit {
    LIMITED_BY_BLOCKS,
    LIMITED_BY_THREADS,
    LIMITED_BY_SHARED,
    LIMITED_BY_REGISTERS,
    RESIDENCY_LIMITS
};
extern const char
    *const residency_limit_names[RESIDENCY_LIMITS]; /* "blocks", "threads", "shared memory", "registers" */
struct residency {
    double blocks; /* that a multiprocessor of the GPU holds, at least 1 */
    double share;  /* the occupancy: their warps / the warps that a multiprocessor can hold */
    enum residency_limit by;
};
/* For blocks with the threads, shared memory and registers of w. */
struct residency model_residency(const struct machine *g, const struct work *w);
double model_resident(const struct machine *g, const struct work *w); /* the blocks */
/* The model's constants that a simulation of one multiprocessor needs (sm.c), in ns. */
struct sm_costs {
    double wait[WAITS];   /* memory: if L2 did not keep the sector, `missed` is in wait[WAIT_FIRST] already */
    double issue;         /* between two requests of any warps */
    double block;         /* between the starts of two blocks */
    double l2_sector;     /* a multiprocessor's share of L2's bandwidth */
    double memory_sector; /* its share of the bandwidth of memory, times the share of sectors that come from there */
};
/* How long a warp waits for a load that a cache or the memory answers, in ns, at the clock of g: constants of the
   model, which were fitted to times of kernels. */
struct latencies {
    double l1, l2, memory;
};
struct latencies model_latencies(const struct machine *g);
struct sm_costs model_sm_costs(const struct workload *w, const struct machine *g);
struct prediction model_predict(const struct workload *w, const struct machine *g);
/* The predicted time in us of w without a cause, where `without` is w without it. model_predict(without) would count
   what was hidden behind the cause, or what hid it, in nearly full; see model.c. */
double model_without(const struct workload *w, const struct workload *without, const struct machine *g);

C_END
#endif
