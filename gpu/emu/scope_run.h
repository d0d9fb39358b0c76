/* The watching of launches, as the files of the microscope share it. */
#ifndef SCOPE_RUN_H
#define SCOPE_RUN_H

#include "base/err.h"
#include "scope.h"

enum { CACHED = 256, THREADS_MOST = 64 };

struct cached {
    struct lane_access t;
    int launch, site;
};

struct scope_thread {
    struct scope_run *run;
    struct cached cached[CACHED];
    uint32_t left[SCOPE_SITES][LANES]; /* how often a lane still comes to a place, in its notes; while merging */
    uint32_t will[SCOPE_SITES];        /* the lanes that still do */
    /* How often it did before these notes, in the block; while merging, with all that they tell of. */
    uint32_t visits[1024 / LANES][SCOPE_SITES][LANES];
    /* In the block under way: 1 + the last place from which a lane went back to this one; 0: none did. */
    int round_end[SCOPE_SITES];
    uint64_t went[SCOPE_SITES][SCOPE_SITES / 64 + 1]; /* bit b of a: a lane was seen to go from place a to b */
    struct tally by_site[SCOPE_SITES];
    struct launch_counts launch[SCOPE_LAUNCHES];
    int64_t accesses;                          /* of lanes, of all blocks */
    int64_t sectors, warp_steps[1024 / LANES]; /* of the block under way */
    struct request_facts facts;
};

struct scope_run {
    struct scope scope;
    const struct mat *M;
    struct {
        const char *file, *name;
    } origin[SCOPE_SITES]; /* as the kernel's object has them */
    struct scope_thread *thread[THREADS_MOST];
    uint64_t *asked[SCOPE_ARRAYS]; /* sectors of an array that were asked for, a bit each */
    bool together;                 /* blocks depend on one another: all must run */
    int64_t sample;                /* blocks of a launch to watch, about; 0: all */
    int64_t every, from;           /* of the launch under way are watched: blocks from, from + every, ... */
    const struct scope_sink *sink;
    struct watch *watch;
    struct trace *trace; /* not NULL: one warp's steps are kept */
    bool full;           /* places or arrays are used up */
    struct err err;
};

/* A request of a warp is complete: counted or kept. */
void scope_request(struct scope_thread *s, int64_t block, int warp, const struct request *r);

#endif
