/* Library calls that cannot be cancelled, on a thread of their own so that Ctrl-C need not wait for them. */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>

struct err;
struct watch;

/* Run work(job) on a new thread and poll the watch until it returns. job is on the heap and shares nothing with other
   threads; release(job) frees it. true: the work is finished and the caller owns job again. false: no thread could be
   started, or the watch cancelled; the thread then continues alone and releases the job at its end. */
bool worker_run(void (*work)(void *job), void (*release)(void *job), void *job, const char *what, struct watch *w,
                struct err *e);

#endif
