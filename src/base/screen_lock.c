/* The lock between the worker thread and the screen: a mutex that is handed over in the order of arrival. With a plain
   mutex, the worker thread could take the lock back before the screen's thread wakes up. */
#include "screen_lock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t turn;
    uint64_t next;    /* the next ticket to hand out */
    uint64_t serving; /* the ticket of the thread that holds the lock */
    atomic_int waiting;
    atomic_bool started;
} lock = {.mutex = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_COND_INITIALIZER};

static _Thread_local bool holds;

void screen_lock_start(void)
{
    if (atomic_exchange(&lock.started, true)) return;
    lock.next = 1;
    holds = true;
}

bool screen_lock_take(void)
{
    if (holds || !atomic_load_explicit(&lock.started, memory_order_relaxed)) return false;
    atomic_fetch_add(&lock.waiting, 1);
    pthread_mutex_lock(&lock.mutex);
    uint64_t mine = lock.next++;
    while (lock.serving != mine) pthread_cond_wait(&lock.turn, &lock.mutex);
    pthread_mutex_unlock(&lock.mutex);
    atomic_fetch_sub(&lock.waiting, 1);
    return holds = true;
}

bool screen_lock_give(void)
{
    if (!holds) return false;
    pthread_mutex_lock(&lock.mutex);
    lock.serving++;
    holds = false;
    pthread_cond_broadcast(&lock.turn);
    pthread_mutex_unlock(&lock.mutex);
    return true;
}

void screen_lock_back(bool gave)
{
    if (gave) screen_lock_take();
}

/* The caller takes a new ticket, so a thread that already waits is served first. A thread that is counted in `waiting`
   but has no ticket yet may miss this turn; it gets the next turn. */
void screen_lock_offer(void)
{
    if (!holds || !atomic_load_explicit(&lock.waiting, memory_order_relaxed)) return;
    screen_lock_give();
    screen_lock_take();
}
