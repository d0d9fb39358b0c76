/* The lock between the thread that runs commands and the thread that draws the screen. The screen thread holds the lock
   while it handles keys and draws. Between commands, the thread that runs commands holds it; a command itself runs
   without it, so that the screen answers whatever the command does. Whoever changes something that the screen thread
   reads holds the lock for the short time of the change:

       static void put_parting(struct matrix *m, struct parting *p)
       {
           SCREEN_EDIT;
           ...
       }

   Such a function must not do long work, wait for another thread, or wait for the user. Memory
   to which the screen thread may have a pointer is freed only under the lock. A thread that alone changes some data
   reads them without the lock. */
#ifndef SCREEN_LOCK_H
#define SCREEN_LOCK_H

#include <stdbool.h>

#include "base.h"

C_BEGIN

/* Hold the lock from here to the end of the block. Edits may be nested. */
#define SCREEN_EDIT __attribute__((cleanup(screen_edit_end), unused)) const bool screen_edit = screen_lock_take()

/* Other threads use the lock from now on. Before that, as in scripts, no thread ever waits. */
void screen_lock_start(void);
/* Wait for the lock; threads get the lock in the order of their calls. Returns false if this thread already has the
   lock. */
bool screen_lock_take(void);
/* Returns false if this thread does not have the lock. */
bool screen_lock_give(void);
/* Get the lock back after work that needs no lock, unless `gave`, the result of screen_lock_give, is false. */
void screen_lock_back(bool gave);
void screen_edit_end(const bool *screen_edit); /* for SCREEN_EDIT: give the lock, if SCREEN_EDIT took it */

C_END
#endif
