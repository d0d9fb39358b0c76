/* What the warps of one multiprocessor do, in order: recorded by the cost model, replayed over time by sm.c. */
#ifndef TAPE_H
#define TAPE_H

#include <stdbool.h>
#include <stdint.h>

/* A step of a warp, or a wait of it. */
struct moment {
    float n;         /* how many; a wait of one iteration of n unrolled ones counts as 1 / n */
    float l2, first; /* sectors that a step requests from L2, and those of them that no warp requested before */
    uint8_t wait;    /* enum wait; WAIT_STEP: a step */
};
struct warp_tape {
    struct moment *moment;
    int64_t n, room;
};
struct block_tape {
    int64_t block;
    int launch, nwarps;
    struct warp_tape *warp;
};
/* The first blocks of the multiprocessor, in the order in which they start. */
struct tape {
    int at_once;       /* blocks that run at a time; set before recording, as are the next two */
    int sm;            /* the multiprocessor to record, if all blocks are watched; a sample counts as those of one */
    int64_t must_show; /* a block that sm_simulate runs in any case, if it was recorded */
    int n, room;
    struct block_tape *block;
    int64_t moments;
    bool cut; /* later blocks are missing */
};

enum { TAPE_MOMENTS = 2 << 20, TAPE_BLOCKS = 512 };

void tape_free(struct tape *t);

#endif
