/* The lock between the thread that runs commands and the screen: a mutex that is handed over in the order of arrival.
   With a plain mutex, one thread could get the lock again and again before the other one wakes up. */
#include "screen_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t turn;
    uint64_t next;    /* the next ticket to hand out */
    uint64_t serving; /* the ticket of the thread that holds the lock */
    atomic_bool started;
} lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};

/* `holds`: this thread has the lock. `ticket`: it has the ticket that is served; without other threads, it needs none.
 */
static _Thread_local struct {
    bool holds, ticket;
} own;

/* In a process that was forked, there is no other thread; the lock may have been held by one. */
static void forget(void)
{
    atomic_store(&lock.started, false);
    own.ticket = false;
}

void screen_lock_start(void)
{
    if (atomic_load(&lock.started)) return;
    lock.serving = 0;
    lock.next = own.holds;
    own.ticket = own.holds;
    pthread_atfork(NULL, NULL, forget);
    atomic_store(&lock.started, true);
}

static void wait_for_turn(void)
{
    pthread_mutex_lock(&lock.mutex);
    uint64_t mine = lock.next++;
    while (lock.serving != mine) pthread_cond_wait(&lock.turn, &lock.mutex);
    pthread_mutex_unlock(&lock.mutex);
}

bool screen_lock_take(void)
{
    if (own.holds) return false;
    own.ticket = atomic_load_explicit(&lock.started, memory_order_relaxed);
    if (own.ticket) wait_for_turn();
    return own.holds = true;
}

bool screen_lock_give(void)
{
    if (!own.holds) return false;
    own.holds = false;
    if (!own.ticket) return true;
    own.ticket = false;
    pthread_mutex_lock(&lock.mutex);
    lock.serving++;
    pthread_cond_broadcast(&lock.turn);
    pthread_mutex_unlock(&lock.mutex);
    return true;
}

void screen_lock_back(bool gave)
{
    if (gave) screen_lock_take();
}

void screen_edit_end(const bool *screen_edit)
{
    if (*screen_edit) screen_lock_give();
}
