/* The lock between the thread that works and the thread that draws the screen beside it. Whoever holds it may read and
   change the session. The working thread holds it all the time, except
   - in watch_tick, where it lets a waiting screen in, and
   - around long calls that read only what nobody changes and change only what nobody draws: a kernel launch.
   Until screen_lock_start was called, as in scripts and tests, all functions return at once. */
#ifndef SCREEN_LOCK_H
#define SCREEN_LOCK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

void screen_lock_start(void); /* the calling thread holds the lock from now on */
/* Wait for the lock; threads get it in the order in which they asked. Returns false if this thread has it already. */
bool screen_lock_take(void);
/* Returns false if this thread does not have the lock. */
bool screen_lock_give(void);
void screen_lock_offer(void); /* if another thread waits for the lock, let it have it once */

#ifdef __cplusplus
}
#endif
#endif
