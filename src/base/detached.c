/* Detached threads: no other thread waits for them to end. */
#include "detached.h"
#include "base.h"

#include <pthread.h>
#include <signal.h>

bool detached_start(void *(*run)(void *arg), void *arg)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    pthread_t thread;
    sigset_t blocked, before;
    sigfillset(&blocked);
    for (int i = 0; i < COUNT(faults); i++) sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    bool started = !pthread_create(&thread, NULL, run, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_detach(thread);
    return started;
}
