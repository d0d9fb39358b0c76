/* Long loops that Ctrl-C can end. */
#include "loop.h"
#include "clock.h"
#include "err.h"
#include "watch.h"

#include <stddef.h>
#include <string.h>

enum { FILL = 1 << 18 };             /* integers set at a time */
enum { COPY_BYTES = 1 << 20 };       /* bytes copied or set to 0 at a time */
enum { COPY_THREADS = 1 << 24 };     /* from this number of bytes on, by all threads */
static const double EVERY_US = 1000; /* between two ticks */

static _Thread_local struct watch *own;
static _Thread_local double next_us; /* time at which loop_check ticks again */
static _Thread_local bool
    stopped; /* a loop has been stopped since loop_enter: all further loops of this thread do nothing */

static bool all; /* for tests: see loop_check_all */

struct watch *loop_enter(struct watch *w)
{
    struct watch *was = own;
    own = w;
    next_us = 0;
    stopped = false;
    return was;
}

struct watch *loop_watch(void)
{
    return own;
}

bool loop_tick(const char *what, int64_t done, int64_t total, struct err *e)
{
    if (stopped) return fail(e, E_CANCELLED, "%s: cancelled", what);
    stopped = !watch_tick(own, what, done, total, e);
    return !stopped;
}

struct loop loop_of(const char *what, int64_t total)
{
    return (struct loop){.what = what, .total = total, .watch = own, .stopped = stopped};
}

bool loop_check(struct loop *l, int64_t i)
{
    if (__atomic_load_n(&l->stopped, __ATOMIC_RELAXED)) return false;
    if (!own || own != l->watch) return true;
    double now = steady_us();
    if (now < next_us && !all) return true;
    next_us = now + EVERY_US;
    if (loop_tick(l->what, i, l->total, NULL)) return true;
    __atomic_store_n(&l->stopped, true, __ATOMIC_RELAXED);
    return false;
}

bool loop_worth(int64_t n)
{
    return own && (all || n >= LOOP_LONG);
}

bool loop_unbroken(const char *what, struct err *e)
{
    return !stopped || fail(e, E_CANCELLED, "%s: cancelled", what);
}

void loop_check_all(bool on)
{
    all = on;
}

bool loop_end(const struct loop *l, struct err *e)
{
    return !__atomic_load_n(&l->stopped, __ATOMIC_RELAXED) || fail(e, E_CANCELLED, "%s: cancelled", l->what);
}

/* The bytes of the piece that begins at `at`. */
static size_t piece_bytes(int64_t at, int64_t bytes)
{
    return (size_t)(bytes - at < COPY_BYTES ? bytes - at : COPY_BYTES);
}

bool loop_copy(void *to, const void *from, int64_t bytes, const char *what, struct err *e)
{
    struct loop l = loop_of(what, bytes);
#pragma omp parallel for schedule(static) if (bytes >= COPY_THREADS)
    for (int64_t at = 0; at < bytes; at += COPY_BYTES)
        if (loop_check(&l, at)) memcpy((char *)to + at, (const char *)from + at, piece_bytes(at, bytes));
    return loop_end(&l, e);
}

bool loop_zero(void *to, int64_t bytes, const char *what, struct err *e)
{
    struct loop l = loop_of(what, bytes);
#pragma omp parallel for schedule(static) if (bytes >= COPY_THREADS)
    for (int64_t at = 0; at < bytes; at += COPY_BYTES)
        if (loop_check(&l, at)) memset((char *)to + at, 0, piece_bytes(at, bytes));
    return loop_end(&l, e);
}

bool loop_fill(int *to, int64_t n, int value, const char *what, struct err *e)
{
    struct loop l = loop_of(what, n);
#pragma omp parallel for schedule(dynamic, 1) if (n > FILL)
    for (int64_t at = 0; at < n; at += FILL)
        if (loop_check(&l, at))
            for (int64_t i = at; i < n && i < at + FILL; i++) to[i] = value;
    return loop_end(&l, e);
}
