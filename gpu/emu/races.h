/* Races between the threads of a block: who touched what, and whether anything orders two touches of one element. */
#ifndef RACES_H
#define RACES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum race_kind { RACE_READ, RACE_WRITE, RACE_ATOMIC };

/* Where a thread touched an element. */
struct race_seen {
    const char *file; /* as the compiler names it */
    int line;
    unsigned thread;
    enum race_kind kind;
    uint32_t clock, epoch; /* the thread's own, raised at each exchange; barriers of the block before it */
};

/* A block of so many threads begins; what was seen before is forgotten. */
void races_block(unsigned threads);
/* All threads of the block have met; lanes of one warp have: at a __syncwarp (memory), or in a shuffle or vote. */
void races_barrier(void);
void races_meet(unsigned warp, uint32_t mask, bool memory);
/* The touch of the element at this address; *other is an earlier touch that nothing orders before it, one of another
   warp if there is. The touch is kept either way. */
enum race_answer { RACE_NONE, RACE_FOUND, RACE_NO_MEMORY };
enum race_answer races_touch(uint64_t address, unsigned thread, enum race_kind kind, const char *file, int line,
                             struct race_seen *other);
void races_close(void);

#ifdef __cplusplus
}
#endif
#endif
