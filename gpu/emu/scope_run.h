/* Watching launches: the structs that the emulator's microscope files share. */
#ifndef SCOPE_RUN_H
#define SCOPE_RUN_H

#include "base/err.h"
#include "machine/as_compiled.h"
#include "scope.h"

enum { CACHED = 256, THREADS_MAX = 64, LOOPS_DEEP = 6 };

struct cached {
    struct lane_access t;
    int launch, site;
};

struct scope_thread {
    struct scope_run *run;
    struct cached cached[CACHED];
    /* Used while notes are merged. remaining: how many notes of each lane at a site are still to be merged. pending:
       the lanes that have such notes, one bit each. */
    uint32_t remaining[SCOPE_SITES][LANES], pending[SCOPE_SITES];
    /* The number of a lane's visits to a site in this block. While notes are merged, the number also counts visits in
       notes that have not been merged yet. */
    uint32_t visits[1024 / LANES][SCOPE_SITES][LANES];
    /* In this block: 1 + the last site from which a lane went back to this site; 0: no lane did. */
    int iteration_end[SCOPE_SITES];
    uint64_t transitions[SCOPE_SITES][SCOPE_SITES / 64 + 1]; /* bit b of entry a: a lane went from site a to b */
    struct tally by_site[SCOPE_SITES];
    struct launch_counts launch[SCOPE_LAUNCHES];
    struct tally exact_site[SCOPE_SITES]; /* the same for the blocks that are always watched: see pick.h */
    struct launch_counts exact_launch[SCOPE_LAUNCHES];
    int64_t accesses;                          /* number of accesses by single lanes, in all blocks */
    int64_t sectors, warp_steps[1024 / LANES]; /* sectors of the running block, and steps of each of its warps */
    /* Of a running block that may be left early: what all accesses will be when it is left, the values of the matrix
       that it has loaded, and the exact counts before it. */
    int64_t leave_at, values;
    bool left;
    struct tally before_site[SCOPE_SITES];
    struct launch_counts before_launch;
    struct request_facts facts;
    int64_t *last;              /* see elide.c; NULL: not needed so far */
    struct request *gathered;   /* likewise */
    struct lane_rounds *rounds; /* see rounds.c; NULL: not needed so far */
};

/* The loops around a site, as numbers of as_compiled.loop, the outermost one first. */
struct site_loops {
    bool known; /* the code of the site's launch is known */
    bool own;   /* the site is in the body of the kernel, not in a function that it calls */
    int n, loop[LOOPS_DEEP];
    int as;    /* the site whose requests are also those of this one; usually itself */
    bool twin; /* of another site */
};

struct scope_run {
    struct scope scope;
    const struct mat *M; /* NULL if scope.kernel is NULL */
    struct {
        const char *file, *name;
    } origin[SCOPE_SITES]; /* pointers to strings in the kernel's object file */
    struct scope_thread *thread[THREADS_MAX];
    uint64_t *requested[SCOPE_ARRAYS];     /* per array: the sectors that were requested, one bit each */
    bool together;                         /* blocks depend on one another, so all blocks must run, in order */
    int64_t sample;                        /* approximate number of blocks to watch per launch; 0: all */
    double all;                            /* an estimate of the accesses of all blocks, if `part` is not 0 */
    double part;                           /* instead of it: the part of the blocks to watch; 0: by `sample` */
    int64_t every, from;                   /* the watched blocks of the running launch: from, from + every, ... */
    unsigned char *pick[SCOPE_LAUNCHES];   /* instead of those: an enum pick for each block; NULL: not chosen */
    int64_t light[SCOPE_LAUNCHES];         /* the blocks with PICK_SAMPLE */
    int64_t *sampled[SCOPE_LAUNCHES];      /* their numbers, by their entries */
    double *block_sectors[SCOPE_LAUNCHES]; /* the sectors of each block that was watched */
    int64_t parts_each[SCOPE_LAUNCHES]; /* parts of the format per block, to choose blocks by entries; 0: not known */
    const struct array *starts[SCOPE_LAUNCHES]; /* the number of the first entry of each part */
    double *slots[SCOPE_LAUNCHES];              /* the values of the matrix that each block loads, if they are known */
    int64_t block_most;                         /* accesses after which an exact block is left; 0: it runs to its end */
    const struct as_compiled *compiled;         /* count as this code does; NULL: as the source */
    const struct elision *elision[SCOPE_SITES]; /* of each site; NULL: none */
    struct site_loops loops[SCOPE_SITES];
    const struct scope_sink *sink;
    struct watch *watch;
    struct trace *trace; /* NULL, or the trace that receives the steps of one warp */
    int64_t trace_most;  /* steps of a trace */
    bool traced;         /* the trace is complete or full */
    bool full;           /* the table of sites or the table of arrays is full */
    struct err err;
};

/* Count a request of a warp, or keep it if one warp is traced. */
void scope_request(struct scope_thread *s, int64_t block, int warp, const struct request *r);

#endif
