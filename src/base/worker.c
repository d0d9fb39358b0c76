/* Run a library call that cannot be cancelled on a separate thread, and abandon that thread if the user cancels. */
#include "worker.h"
#include "detached.h"
#include "err.h"
#include "mem.h"
#include "screen_lock.h"
#include "watch.h"

#include <stdatomic.h>
#include <unistd.h>

enum { WORKING, DONE, ABANDONED, SLEEP_LEAST_US = 50, SLEEP_MOST_US = 5000 };

struct worker {
    void (*work)(void *job);
    void (*release)(void *job);
    void *job;
    atomic_int state; /* each thread changes the state once; the thread that changes it last frees worker and job */
};

static void *worker_main(void *p)
{
    struct worker *w = p;
    w->work(w->job);
    if (atomic_exchange(&w->state, DONE) == ABANDONED) {
        w->release(w->job);
        mem_free(w);
    }
    return NULL;
}

bool worker_run(void (*work)(void *job), void (*release)(void *job), void *job, const char *what, struct watch *watch,
                struct err *e)
{
    struct worker *w = mem_zero(1, sizeof *w, what, e);
    if (w) *w = (struct worker){.work = work, .release = release, .job = job};
    if (!w || !detached_start(worker_main, w)) {
        mem_free(w);
        release(job);
        return fail(e, E_MEMORY, "cannot start a thread for %s; close other programs and try again", what);
    }
    useconds_t sleep = SLEEP_LEAST_US;
    while (watch_tick(watch, what, 0, 0, e)) {
        if (atomic_load(&w->state) == DONE) {
            mem_free(w);
            return true;
        }
        bool gave = screen_lock_give();
        usleep(sleep);
        screen_lock_back(gave);
        if (sleep < SLEEP_MOST_US) sleep *= 2;
    }
    if (atomic_exchange(&w->state, ABANDONED) == WORKING) return false;
    release(job);
    mem_free(w);
    return false;
}
