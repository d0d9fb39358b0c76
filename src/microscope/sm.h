/* The life of one multiprocessor (SM) over time: its warps, simulated from what the emulator recorded (tape.h) with the
   latencies and rates of the cost model. Everything here is predicted. */
#ifndef SM_H
#define SM_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct sm_costs;
struct tape;

/* What a warp does. READY: it could issue, and waits for its turn or issues. WORKING: arithmetic, shared memory and
   collectives, which take a few cycles. FINISHED: it has returned, but its block has not. EMPTY: the slot has no block.
 */
enum sm_state { SM_READY, SM_WORKING, SM_MEMORY, SM_BARRIER, SM_FINISHED, SM_EMPTY, SM_STATES };
enum { SM_WARPS = 64, SM_BINS = 240 };

struct sm_life {
    int at_once;         /* blocks that run at a time */
    int warps_per_block; /* a slot holds one warp; the slots of a block are neighbours */
    int slots;           /* at_once * warps_per_block, at most SM_WARPS */
    int blocks;          /* blocks that ran */
    bool shows;          /* tape.must_show is one of them */
    double us;
    double ready; /* share of the time in which at least one warp was ready */
    double
        idle[SM_STATES]; /* the rest of the time, divided among what the warps did: WORKING, MEMORY, BARRIER, EMPTY */
    double mean_ready, mean_resident; /* warps */
    float *bin;                       /* [slot][SM_BINS][SM_STATES]: the share of the bin; owned */
};

/* Run `blocks` blocks of the launch that t has recorded: the first ones, or later ones if only these have the block
   t->must_show. threads: per block. Call sm_free also after a
   failure. */
bool sm_simulate(const struct tape *t, int launch, int64_t threads, int blocks, const struct sm_costs *c,
                 struct sm_life *out, struct err *e);
void sm_free(struct sm_life *l);
/* What slots [slot, slot_end) did for the longest time in the part [from, to) of the time, 0 <= from < to <= 1. */
enum sm_state sm_at(const struct sm_life *l, int slot, int slot_end, double from, double to);
/* The number of warps in this state on average in a part of the time. */
double sm_warps(const struct sm_life *l, enum sm_state state, double from, double to);

#endif
