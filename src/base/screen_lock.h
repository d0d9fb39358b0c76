/* The lock between the worker thread and the thread that draws the screen. The thread that holds the lock may read and
   change the session. The worker thread always holds the lock, except
   - in watch_tick, where it lets a waiting screen thread take the lock, and
   - during long calls, such as a kernel launch, that read only data that no other thread changes and change only data
     that no other thread reads.
   All functions return immediately until screen_lock_start is called. Scripts never call screen_lock_start. */
#ifndef SCREEN_LOCK_H
#define SCREEN_LOCK_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

void screen_lock_start(void); /* the calling thread holds the lock from now on */
/* Wait for the lock; threads get the lock in the order of their calls. Returns false if this thread already has the
   lock. */
bool screen_lock_take(void);
/* Returns false if this thread does not have the lock. */
bool screen_lock_give(void);
/* After work that needs no lock: take the lock again if screen_lock_give released it (returned true). */
void screen_lock_back(bool gave);
void screen_lock_offer(void); /* if another thread waits for the lock, let that thread have it once */

#ifdef __cplusplus
}
#endif
#endif
