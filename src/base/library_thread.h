/* Run library calls that cannot be cancelled on another thread, so that Ctrl-C takes effect immediately. */
#ifndef LIBRARY_THREAD_H
#define LIBRARY_THREAD_H

#include <stdbool.h>

struct err;
struct watch;

/* Run work(job) on a new thread and poll the watch until `work` returns. The job must be on the heap and must
   share nothing with other threads; release(job) frees it. Returns true if the work is finished; the caller then owns
   the job again. Returns false if the thread could not be started (the job is then released) or if the user cancelled
   (the thread then continues alone and releases the job when it ends). */
bool worker_run(void (*work)(void *job), void (*release)(void *job), void *job, const char *what, struct watch *w,
                struct err *e);

#endif
