/* Run a library call that cannot be cancelled on a separate thread, and abandon that thread if the user cancels. */
#include "library_thread.h"
#include "clock.h"
#include "detached.h"
#include "err.h"
#include "mem.h"
#include "watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

enum { WORKING, DONE, ABANDONED, SLEEP_MIN_US = 50, SLEEP_MAX_US = 5000 };

struct worker {
    void (*work)(void *job);
    void (*release)(void *job);
    void *job;
    bool counts_work;    /* now_us of the thread that waits counts processor time */
    clockid_t clock;     /* of the worker's processor time */
    atomic_bool started; /* `clock` is set */
    double worked_us;    /* in all; set before the state becomes DONE */
    atomic_int state;    /* each thread changes the state once; the thread that changes it last frees worker and job */
};

static void *worker_main(void *p)
{
    struct worker *w = p;
    now_counts_work(w->counts_work);
    atomic_store(&w->started, !pthread_getcpuclockid(pthread_self(), &w->clock));
    w->work(w->job);
    w->worked_us = worked_us();
    if (atomic_exchange(&w->state, DONE) == ABANDONED) {
        w->release(w->job);
        mem_free(w);
    }
    return NULL;
}

/* Add the processor time that the worker has used since the last call to that of this thread. */
static void count_work(struct worker *w, bool done, double *counted)
{
    double us = 0;
    if (done)
        us = w->worked_us;
    else if (atomic_load(&w->started))
        us = clock_read_us(w->clock);
    if (us > *counted) worked_add(us - *counted), *counted = us;
}

bool worker_run(void (*work)(void *job), void (*release)(void *job), void *job, const char *what, struct watch *watch,
                struct err *e)
{
    struct worker *w = mem_zero(1, sizeof *w, what, e);
    if (w) *w = (struct worker){.work = work, .release = release, .job = job, .counts_work = now_is_work()};
    if (!w || !detached_start(worker_main, w)) {
        mem_free(w);
        release(job);
        return fail(e, E_MEMORY, "cannot start a thread for %s; close other programs and try again", what);
    }
    useconds_t sleep = SLEEP_MIN_US;
    double counted = 0;
    while (watch_tick(watch, what, 0, 0, e)) {
        bool done = atomic_load(&w->state) == DONE;
        count_work(w, done, &counted);
        if (done) {
            mem_free(w);
            return true;
        }
        usleep(sleep);
        if (sleep < SLEEP_MAX_US) sleep *= 2;
    }
    if (atomic_exchange(&w->state, ABANDONED) == WORKING) return false;
    release(job);
    mem_free(w);
    return false;
}
