/* The structs and functions that the emulator's own files share: fibers, the runners of blocks, the settings of a
   launch. */
#ifndef SIMT_RUNNER_H
#define SIMT_RUNNER_H

#include "base/err.h"
#include "base/mem.h"
#include "emu.h"
#include "gpu/dialect.h"
#include "gpu/results.h"
#include "machine/wrong.h"
#include "races.h"
#include "scope.h"

#include <cstdarg>

#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define OWN_SWITCH
#else
#include <ucontext.h>
#endif

namespace simt
{

/* A stack and the point where it was left. On x86-64, a switch saves the registers that a call preserves and swaps the
   stack pointer, without a system call. */
struct context {
#ifdef OWN_SWITCH
    void *sp;
#else
    ucontext_t uc;
#endif
    const void *bottom; /* bottom, size and fake are for the address sanitizer, which must know every stack */
    size_t size;
    void *fake;
};

struct fiber {
    lane l;
    context c;
    bool ready; /* the fiber's stack is set up: the fiber is in thread_loop or within a kernel */
};

/* One warp collective in progress, and the lanes that have reached it so far. A warp has at most as many collectives in
   progress as lanes. */
struct meeting {
    unsigned mask;
    source at;
    enum collective what;
    unsigned arrived; /* lanes that have arrived, one bit each */
};
struct warp {
    unsigned gone; /* lanes that have returned or lie beyond the end of the block, one bit each */
    unsigned used; /* entries of `open` that are in use, one bit each */
    meeting open[WARP];
};

/* The arrays in shared memory that a block has declared so far. */
enum { DECLARED_MAX = 64 };
struct declared_arrays {
    unsigned n, used, given; /* number of SHARED arrays, their bytes, and those of SHARED_GIVEN */
    struct {
        const void *declaration;
        unsigned at;
    } of[DECLARED_MAX];
};

/* Settings for later launches; the functions of emu.h change them. */
struct launch_settings {
    uint64_t seed;     /* seed of the order in which lanes run; 0: lanes run in the order of their numbers */
    const char *name;  /* name of the launch in findings; NULL: the name in the LAUNCH statement */
    bool side_by_side; /* blocks may run on all threads of the host at the same time */
    int64_t launches;  /* so far */
    bool races;        /* look for races within blocks */
    scope_run *scope;  /* watches the launches; NULL: launches are not watched */
    bool scope_kernel; /* the launches are those of the watched kernel itself, not of its set-up */
};
extern launch_settings settings;

/* The state with which one host thread runs blocks, one block at a time. */
struct runner {
    fiber *f; /* BLOCK_MAX fibers, allocated at the first launch */
    char *stacks, *shared;
    lane_note *notes; /* notes of all lanes, SCOPE_LOG per lane; allocated when a launch is first watched */
    lane_log log[BLOCK_MAX];
    context scheduler;
    unsigned threads;          /* number of threads of the running block or cluster */
    unsigned blocks;           /* number of blocks of the running cluster, or 1 */
    unsigned order[BLOCK_MAX]; /* the threads in the order in which they run */
    unsigned from, at, upto;   /* a pass runs order[from .. upto - 1]; order[at .. upto - 1] are still to run */
    unsigned resumes;          /* passes; the cancel flag is checked after every RESUMES_PER_CHECK passes */
    const char *kernel;
    void (*body)(void *);
    void *ctx;
    declared_arrays declared[CLUSTER_BLOCKS]; /* of each block of the cluster */
    unsigned shared_blocks;                   /* number of blocks for which `shared` has room */
    scope_thread *watch;                      /* NULL: the block is not watched */
    bool last;                                /* at the last wait_for_blocks, no other host thread ran a block */
    bool broken;   /* there is a finding or the user has cancelled: nothing more of this launch runs */
    int64_t block; /* number of the running block; after a finding, number of the block with the finding */
    struct err err;
    struct emu_finding finding; /* the same finding as in err, as separate fields */
    warp warps[BLOCK_MAX / WARP];
};
enum { RUNNERS = 64 };
extern constinit thread_local runner *m;
extern std::atomic<bool> cancelled; /* the user has cancelled the launch: every runner stops */
/* The flag `cancelled` is checked after this many passes over the lanes of a warp, or this many accesses, which is
   about 1 ms of work. */
enum { RESUMES_PER_CHECK = 1024, ACCESSES_PER_CHECK = 1 << 16 };

/* The first thread of l's warp. */
inline unsigned warp_start(const lane *l)
{
    return l->number / WARP * WARP;
}
/* l's number within its warp. */
inline unsigned in_warp(const lane *l)
{
    return l->number % WARP;
}

/* stacks.cc: one stack per lane; emu_guard_stacks (machine/remote.h) sets their size. */
char *stacks_new(struct err *e);
void stacks_free(char *stacks);                               /* accepts NULL */
char *stack_of(char *stacks, unsigned number, size_t *bytes); /* the lowest address of the lane's stack */
bool in_guard(const char *stacks, const void *address);       /* does the address belong to the guard of a stack? */

/* runners.cc */
void watch_grid(int64_t blocks); /* a launch begins: check_cancel then calls this thread's watch function */
void check_cancel();             /* stop the launch if the user has cancelled it */
int make_runners(int threads);   /* allocate a runner per thread; returns how many threads have a runner */
void use_runner(int thread);     /* select the runner with which this host thread runs blocks; 0: first_runner */
void discard_stacks(runner *r);  /* reset stacks that a launch left in the middle of its kernels */
void gather_findings();          /* copy the finding of the block with the lowest number to the launching thread */
void runner_free(runner *r);     /* free the memory of r; r is empty then and can be used again */
void free_runners();             /* free the runners of all host threads */

/* fibers.cc */
void switch_stack(context *from, context *to); /* this call returns when another stack switches back to `from` */
fiber *next_runnable(); /* the next lane of order[at .. upto - 1] that can run; NULL: all lanes wait or have returned */
void give_way();        /* suspend the running lane until the scheduler or another lane resumes it */
void note_launch_stack(context *c); /* the stack of the launching thread; only the address sanitizer needs it */
bool make_fibers();                 /* also makes room for the shared memory of m->blocks blocks */

/* In findings.cc: found_by is like `found`, but the lane at fault, now.self, is not running; found_by_scheduler is for
   faults of several lanes */
void found_by(source at, const char *missing, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void found_by_scheduler(source at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* lane_notes.cc */
bool make_notes();                                                                    /* allocate the lanes' logs */
void note_meeting(enum access_kind what, const char *name, unsigned mask, source at); /* barrier, collective, ... */
bool make_room();    /* merge the notes of full logs and let their lanes run; false: no log was full */
bool let_atomics();  /* resume, in order, the lanes that wait before an atomic; false: no lane waited */
void end_of_notes(); /* merge the remaining notes at the end of a block */

/* race_check.cc */
void check_race(enum access_kind what, const void *base, int64_t k, unsigned size, const char *name, source at);
void forget_race();
bool report_race(); /* if a race was found, record it as a finding; false: there was no race */

/* instances.cc: the name of the function at `code`, with its template arguments; "": the function belongs to another
   program file, or its symbol is not known */
void instance_of(const void *code, const char *function, char *out, size_t size);

/* collectives.cc */
inline bool same_line(source a, source b)
{
    return a.line() == b.line() && (a.file_name() == b.file_name() || !strcmp(a.file_name(), b.file_name()));
}
const char *why_gone(const lane *l, int k); /* why lane k of l's warp can never arrive, as the end of a sentence */

} // namespace simt

#endif
