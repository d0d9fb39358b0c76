/* Watching launches on the emulator: what lanes note, put together to the requests of warps, counted or kept. */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/microscope.h"
#include "base/role.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a lane notes of one thing it does. */
struct lane_note {
    int site;
    int64_t at; /* the element; of an exchange its mask */
};
/* Notes of one lane, of which those before `next` were put together. `more`: it is not at its end, nor waiting. */
struct lane_log {
    struct lane_note *r;
    int n, next;
    bool more;
};
enum { SCOPE_LOG = 2048 }; /* notes a lane has room for */

/* The watching of one or more launches. */
struct scope_run;
/* A host thread's part of it. */
struct scope_thread;

/* From now on the launches on this host thread are watched by `run`; NULL: not any more. Then: whether the launches
   that come are those of the kernel, not of what it prepares. */
void emu_scope(struct scope_run *run);
void emu_scope_kernel(bool on);

/* For the emulator. A launch begins: false, the place for launches is used up and it is not watched. */
bool scope_begin(struct scope_run *run, const char *name, const char *function, int64_t blocks, int64_t threads);
/* What is to be done with a block: left out, run, or watched too. */
enum scope_block { SCOPE_SKIP, SCOPE_RUN, SCOPE_WATCH };
enum scope_block scope_block(const struct scope_run *run, int64_t block);
bool scope_watches_warp(const struct scope_run *run, int warp);
bool scope_alone(const struct scope_run *run); /* blocks must go one after another */
/* Called by who launched, now and then, block `done` of so many being the last begun: false, the user has cancelled. */
bool scope_tick(const struct scope_run *run, int64_t done, int64_t blocks, struct err *e);
/* The part of host thread t of n; NULL and the error in the run where there is no memory. */
struct scope_thread *scope_thread_of(struct scope_run *run, int t);
/* What a lane touches, and where in the source. base is an address of the host; in shared memory from its beginning.
   name is that of the array, or of what is exchanged. */
struct lane_access {
    enum access_kind kind;
    bool shared, integral;
    int size;
    uint64_t base;
    int64_t n;
    const char *name, *file;
    enum role role;
    int unroll;
    int line, column;
};
/* The file's name in the path that a place has from the compiler. */
const char *scope_file_name(const char *path);
/* The number of a place, made at its first use. */
int access_site_of(struct scope_thread *s, const struct lane_access *t);
/* Put together what the lanes of a warp noted as far as it is certain; all of it where no lane has more to come. */
void scope_merge(struct scope_thread *s, int64_t block, int warp, struct lane_log *lane);
/* All warps of the block are done. */
void scope_block_end(struct scope_thread *s, int64_t block, int warps);

#ifdef __cplusplus
}
#endif
#endif
