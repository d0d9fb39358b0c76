/* Races between the threads of a block or of a cluster of blocks: which thread accessed which element, and whether two
 * accesses are ordered. */
#ifndef RACES_H
#define RACES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

enum race_kind { RACE_READ, RACE_WRITE, RACE_ATOMIC };

/* One access of a thread to an element. */
struct race_access {
    const char *file; /* path of the source file, as the compiler writes it */
    int line;
    unsigned thread;
    enum race_kind kind;
    uint32_t clock;   /* warp collectives that the thread has passed */
    uint32_t epoch;   /* barriers that its block has passed */
    uint32_t cluster; /* barriers that the cluster has passed */
};

/* A cluster of `blocks` blocks (1: a block alone) of `each` threads begins; the accesses of earlier blocks are deleted.
 */
void races_begin(unsigned blocks, unsigned each);
/* All threads of block number `block` of the cluster have passed a barrier; all threads of the cluster have. */
void races_barrier(unsigned block);
void races_cluster_barrier(void);
/* The lanes of the mask have passed a warp collective: __syncwarp (memory is true), which orders memory, or a shuffle
   or vote, which does not. */
void races_meet(unsigned warp, uint32_t mask, bool memory);
/* Record an access to the element at this address. RACE_FOUND: *other is an earlier access that conflicts with this
   access and is not ordered before it, preferably an access by another warp. */
enum race_answer { RACE_NONE, RACE_FOUND, RACE_NO_MEMORY };
enum race_answer races_access(uint64_t address, unsigned thread, enum race_kind kind, const char *file, int line,
                              struct race_access *other);
void races_close(void);

C_END
#endif
