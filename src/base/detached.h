/* Detached threads: no other thread waits for them to end. */
#ifndef DETACHED_H
#define DETACHED_H

#include <stdbool.h>

/* Starts run(arg) on a thread that is never joined. The main thread handles the signals that set flags or end the
   program, so the new thread blocks them; a fault (SIGSEGV, SIGFPE, ...) ends the program in any thread. Returns false,
   without calling `run`, if the system refuses another thread. */
bool detached_start(void *(*run)(void *arg), void *arg);

#endif
