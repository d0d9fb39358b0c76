/* Run library calls that cannot be cancelled on another thread, so that Ctrl-C takes effect at once. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>

struct err;
struct watch;

/* Run work(job) on a new thread and poll the watch until it returns. job is on the heap and shares nothing with other
   threads; release(job) frees it. true: the work is finished and the caller owns job again. false: the thread could not
   be started, and job is released; or the user cancelled: the thread continues alone and releases job at its end. */
bool worker_run(void (*work)(void *job), void (*release)(void *job), void *job, const char *what, struct watch *w,
                struct err *e);

#endif
