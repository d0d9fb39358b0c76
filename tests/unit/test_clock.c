/* The clocks: processor time counts what this thread and its workers did, and not that it waited. */
#include "base/clock.h"
#include "base/err.h"
#include "base/library_thread.h"
#include "base/watch.h"
#include "kits/test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { WORK_US = 20000, WAITS = 20 };

static double thread_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

struct job {
    atomic_int waits; /* of the thread that waits for the worker */
    bool now_is_worked;
};

static void burn(void *p)
{
    struct job *j = p;
    while (thread_us() < WORK_US) continue;
    double before = thread_us(), now = now_us();
    j->now_is_worked = before <= now && now <= thread_us();
}

static void idle(void *p)
{
    struct job *j = p;
    while (atomic_load(&j->waits) < WAITS) usleep(100);
}

static bool count_waits(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct job *j = w->user;
    atomic_fetch_add(&j->waits, 1);
    return true;
}

/* The processor time of a worker, and the time that passed. */
static double run_worker(void (*work)(void *job), bool *now_is_worked, double *passed)
{
    struct job *j = calloc(1, sizeof *j);
    struct err e = {0};
    assert_non_null(j);
    struct watch w = {count_waits, j};
    double start = steady_us(), before = worked_us();
    assert_true(worker_run(work, free, j, "the test", &w, &e));
    double worked = worked_us() - before;
    *passed = steady_us() - start;
    *now_is_worked = j->now_is_worked;
    free(j);
    return worked;
}

TEST(the_work_of_a_worker_counts)
{
    bool now_is_worked;
    double passed, worked = run_worker(burn, &now_is_worked, &passed);
    assert_true(worked >= WORK_US);
    assert_false(now_is_worked);
    now_counts_work(true);
    run_worker(burn, &now_is_worked, &passed);
    now_counts_work(false);
    assert_true(now_is_worked);
}

TEST(waiting_does_not_count)
{
    bool now_is_worked;
    double passed, worked = run_worker(idle, &now_is_worked, &passed);
    if (!(worked < passed / 2)) fail_msg("%g us of %g", worked, passed);
}

static double made_up(void)
{
    return 42;
}

TEST(now_is_the_clock_that_was_chosen)
{
    assert_false(now_counts_work(true));
    double before = worked_us(), now = now_us(), after = worked_us();
    assert_true(before <= now && now <= after);
    now_replace(made_up);
    assert_true(now_us() == 42);
    now_replace(NULL);
    assert_true(now_counts_work(false));
    before = steady_us(), now = now_us(), after = steady_us();
    assert_true(before <= now && now <= after);
}
