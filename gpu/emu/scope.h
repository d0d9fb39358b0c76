/* Watching launches on the emulator: lanes note their accesses, which are merged into requests of warps and counted or
   kept. */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"
#include "base/role.h"
#include "machine/microscope.h"

C_BEGIN

/* A lane's note of one access. */
struct lane_note {
    int site;
    int64_t at; /* the index of the element, or the mask of a warp collective */
};
/* The notes of one lane. The notes before `next` have been merged. */
struct lane_log {
    struct lane_note *r;
    int n, next;
    bool more; /* the lane waits because its log is full; it has more notes to make */
};
enum { SCOPE_LOG = 2048 }; /* notes per lane */

/* The state of a watch over one or more launches. */
struct scope_run;
/* The part of a scope_run that one host thread uses. */
struct scope_thread;

/* emu_scope: let `run` watch the later launches of this host thread; NULL: stop watching. emu_scope_kernel: state
   whether these launches are those of the kernel itself or of its set-up. */
void emu_scope(struct scope_run *run);
void emu_scope_kernel(bool on);

/* The functions below are for the emulator. scope_begin: a launch begins; false: the table of launches is full, and
   this launch is not watched. */
bool scope_begin(struct scope_run *run, const char *name, const char *function, const char *instance, int64_t blocks,
                 int64_t threads);
/* How to treat a block: skip it, run it, or run and watch it. */
enum scope_block { SCOPE_SKIP, SCOPE_RUN, SCOPE_WATCH };
enum scope_block scope_block(const struct scope_run *run, int64_t block);
bool scope_watches_warp(const struct scope_run *run, int warp);
bool scope_skips(const struct scope_run *run); /* do only watched blocks run? */
bool scope_alone(const struct scope_run *run); /* blocks must run one after another */
/* Report progress: the last block that began is number `done` of `blocks`. The launching thread calls this from time to
   time. false: the user has cancelled. */
bool scope_tick(const struct scope_run *run, int64_t done, int64_t blocks, struct err *e);
/* Has the running block, which counts only for itself, been watched long enough? It is then left. */
bool scope_leaves(struct scope_thread *s);
/* The warp that runs first and alone if it can, because only this warp is traced; -1: there is none, or the work of a
   warp depends on the order of the warps. */
int scope_first_warp(const struct scope_run *run);
/* Is this a run with a trace? */
bool scope_traces(const struct scope_run *run);
/* The traced block begins: follow the values that a kernel stores in shared memory (shared_places.h). false: no memory
   is left. */
bool scope_follow(const struct scope_run *run, struct err *e);
/* Is the trace complete or full, so that nothing more of the launches needs to run? */
bool scope_traced(const struct scope_run *run);
/* A block that is watched begins on host thread t. Returns the state of the thread; NULL: not enough memory; the run
   stores the error. */
struct scope_thread *scope_block_begin(struct scope_run *run, int64_t block, int t);
/* An access of a lane, and its line in the source. `base` is a host address, or an offset in shared memory. `name` is
   the name of the array or of the warp collective. */
struct lane_access {
    enum access_kind kind;
    bool shared, integral, once;
    int size, elements; /* bytes of an element; elements per access */
    uint64_t base;
    int64_t n;
    const char *name, *file;
    enum role role;
    int unroll;
    int line, column;
};
/* The file name in a path. */
const char *scope_file_name(const char *path);
/* The number of an access site, which is added at its first use. */
int access_site_of(struct scope_thread *s, const struct lane_access *t);
/* Merge the notes of the lanes of a warp as far as their order is certain. If no lane will make more notes, merge all
   notes. */
void scope_merge(struct scope_thread *s, int64_t block, int warp, struct lane_log *lane);
/* Call this after the notes of all warps of the block have been merged. */
void scope_block_end(struct scope_thread *s, int64_t block, int warps);

C_END
#endif
