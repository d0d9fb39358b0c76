/* The lock between the worker thread and the thread that draws the screen. The thread that holds the lock may read and
   change the session. The worker thread always holds the lock, with two exceptions:
   - watch_tick lets a waiting screen thread take the lock;
   - the worker thread releases the lock during long calls, such as a kernel launch, that read only data that no other
     thread changes and change only data that no other thread reads.
   All functions return immediately until screen_lock_start is called. Scripts never call screen_lock_start. */
#ifndef SCREEN_LOCK_H
#define SCREEN_LOCK_H

#include <stdbool.h>

#include "base.h"

C_BEGIN

void screen_lock_start(void); /* start to use the lock; the calling thread holds it */
/* Wait for the lock; threads get the lock in the order of their calls. Returns false if this thread already has the
   lock. */
bool screen_lock_take(void);
/* Returns false if this thread does not have the lock. */
bool screen_lock_give(void);
/* Take the lock again after work that needs no lock, unless `gave`, the result of screen_lock_give, is false. */
void screen_lock_back(bool gave);
void screen_lock_offer(void); /* if another thread waits for the lock, let that thread have it once */

C_END
#endif
