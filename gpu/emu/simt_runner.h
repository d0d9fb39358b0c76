/* The emulator's machine, as its files share it: fibers, the runners of blocks, what every launch is given. */
#ifndef SIMT_RUNNER_H
#define SIMT_RUNNER_H

#include "gpu/dialect.h"
#include "emu.h"
#include "races.h"
#include "scope.h"
#include "base/err.h"
#include "base/mem.h"

#include <cstdarg>

#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define OWN_SWITCH
#else
#include <ucontext.h>
#endif

namespace simt
{

/* A stack and where it stopped. x86-64 saves what a call must preserve and swaps the stack pointer: no system call. */
struct context {
#ifdef OWN_SWITCH
    void *sp;
#else
    ucontext_t uc;
#endif
    const void *bottom; /* for the sanitizer, which must know the stacks */
    size_t size;
    void *fake;
};

struct fiber {
    lane l;
    context c;
    bool ready; /* its stack stands in `thread_loop`, or in a kernel that is under way */
};

/* Lanes of a warp that mean the same exchange, as they come in; up to one meeting a lane can be under way. */
struct meeting {
    exchange x; /* mask, line and what are the same for all of them */
    unsigned arrived;
};
struct warp {
    unsigned gone; /* lanes that can never come: returned, or beyond the block */
    unsigned used; /* which meetings are under way */
    meeting open[WARP];
};

/* What every launch is given. */
struct orders {
    uint64_t seed;
    const char *name;
    bool side_by_side, races;
    scope_run *scope;
    bool scope_kernel;
};
extern orders given;

/* What a host thread runs blocks with. */
struct runner {
    fiber *f; /* BLOCK_MOST of them, made at the first launch */
    char *stacks, *shared;
    scope_record *notes; /* of all lanes; made when first watched */
    scope_log log[BLOCK_MOST];
    context scheduler;
    unsigned threads;                     /* of the block that runs */
    unsigned order[BLOCK_MOST], at, upto; /* the order of turns, whose is next, and where those end that may run now */
    unsigned turns;
    const char *kernel;
    void (*body)(void *);
    void *ctx;
    unsigned shared_used;
    scope_thread *watch; /* NULL: the block is not watched */
    bool broken;
    int64_t block; /* number of the block that broke */
    struct err err;
    warp warps[BLOCK_MOST / WARP];
};
enum { RUNNERS = 64 };
extern constinit thread_local runner *m;
extern std::atomic<bool> halt; /* the user cancels: what goes on ends */

inline unsigned warp_start(const lane *l)
{
    return l->number / WARP * WARP;
}
inline unsigned in_warp(const lane *l)
{
    return l->number % WARP;
}

/* fibers.cc: leave a stack for another; the next lane in order that can run, NULL when all wait or have returned; leave
   the lane that runs. */
void leave_for(context *from, context *to);
fiber *next_runnable();
void give_way();
void own_stack(context *c);
bool make_fibers();
void runner_free(runner *r);

/* simt.cc: the finding of the lane now.self, which does not run; of the scheduler, where no lane runs. */
void found_by(source at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void found_by_scheduler(source at, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* simt.cc: the thread that launched asks now and then whether to go on, and tells all others. */
void tick();

/* lane_notes.cc: a barrier or a warp collective; lanes whose notes are full, or that wait with an atomic, go on: false,
   there are none; a race ends the block: true; the block's notes are put together. */
void note_meeting(enum touch what, const char *name, unsigned mask, source from);
bool make_notes();
bool make_room();
bool let_atomics();
void forget_race();
bool tell_race();
void end_watch();

/* collectives.cc */
bool same_place(source a, source b);
const char *why_gone(const lane *l, int k);

} // namespace simt

#endif
