/* Report card: work of a library that cannot be cancelled, on a thread that is left behind when the user has enough. */
#include "card.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { WORKING, DONE, LEFT, SLEEP_LEAST_US = 50, SLEEP_MOST_US = 5000 };

struct worker {
    void (*work)(void *job);
    void (*done)(void *job);
    void *job;
    atomic_int state; /* whoever comes second frees */
};

static void *worker_main(void *p)
{
    struct worker *w = p;
    w->work(w->job);
    if (atomic_exchange(&w->state, DONE) == LEFT) {
        w->done(w->job);
        mem_free(w);
    }
    return NULL;
}

/* Signals go to the thread that draws. */
static bool start(struct worker *w)
{
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = !pthread_create(&thread, NULL, worker_main, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok) pthread_detach(thread);
    return ok;
}

bool card_worker(void (*work)(void *job), void (*done)(void *job), void *job, const char *what, struct watch *watch,
                 struct err *e)
{
    struct worker *w = mem_zero(1, sizeof *w, what, e);
    if (w) *w = (struct worker){.work = work, .done = done, .job = job};
    if (!w || !start(w)) {
        mem_free(w);
        done(job);
        return fail(e, E_MEMORY, "no thread could be made for %s; close other programs and try again", what);
    }
    useconds_t sleep = SLEEP_LEAST_US;
    while (watch_tick(watch, what, 0, 0, e)) {
        if (atomic_load(&w->state) == DONE) {
            mem_free(w);
            return true;
        }
        usleep(sleep);
        if (sleep < SLEEP_MOST_US) sleep *= 2;
    }
    if (atomic_exchange(&w->state, LEFT) == WORKING) return false;
    done(job);
    mem_free(w);
    return false;
}
