/* Long loops that Ctrl-C can end. loop_enter stores a command's watch (watch.h) for the thread that runs the command,
   so that loops deep in the call tree need no watch as an argument:

       struct loop l = loop_of("packing", rows);
       #pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (rows > THREADS_FROM)
       for (int64_t from = 0; from < rows; from += LOOP_EVERY)
           for (int64_t i = from, end = loop_share(&l, from, rows); i < end; i++) ...;
       return loop_end(&l, e);

   A parallel loop cannot be left early. Therefore, its iterations are shares of LOOP_EVERY elements: even if each of
   10^8 elements only looked at `stopped`, the rest of the loop would take 100 ms after Ctrl-C. A loop of one thread is
   left at once:

       for (int64_t i = 0; i < rows && loop_runs(&l); i++)
           for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) ...;

   Only the thread that has the watch calls the watch's tick; the other threads see that the loop was stopped. A loop in
   a thread without a watch never stops. After a stop, the remaining iterations do nothing, and all further loops up
   to the next loop_enter do nothing, too. A function without a struct err may therefore leave its result unfinished,
   provided that its caller calls loop_end or loop_tick before it trusts the result. */
#ifndef LOOP_H
#define LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base.h"

C_BEGIN

struct err;
struct watch;

/* LOOP_SHARE: iterations that a thread takes at a time. LOOP_EVERY: iterations between two checks. LOOP_SHARES: the
   same share in units of LOOP_EVERY iterations, for `schedule`. LOOP_LONG: a pass over a vector of at least this many
   elements may take 1 ms */
enum { LOOP_SHARE = 1024, LOOP_EVERY = 256, LOOP_SHARES = LOOP_SHARE / LOOP_EVERY, LOOP_LONG = 1 << 18 };

struct loop {
    const char *what; /* "": the loop is part of work that reports its own progress */
    int64_t total;
    struct watch *watch; /* the watch of the thread that began the loop */
    bool stopped;        /* read and written atomically */
};

/* Set this thread's watch, which may be NULL. Returns the thread's previous watch. */
struct watch *loop_enter(struct watch *w);
struct watch *loop_watch(void);
/* Call watch_tick with this thread's watch. Also returns false if a loop of this thread has been stopped. */
bool loop_tick(const char *what, int64_t done, int64_t total, struct err *e);

struct loop loop_of(const char *what, int64_t total);
/* loop_check is for slow iterations. loop_check returns false once the loop has been stopped, and ticks if 1 ms has
   passed since the last tick. */
bool loop_check(struct loop *l, int64_t i);
/* Does a pass over n elements take so long that it should be checked? If the thread has no watch, no pass is checked.
 */
bool loop_worth(int64_t n);
/* Returns false with E_CANCELLED if a loop of this thread has been stopped since loop_enter. Does not tick. */
bool loop_unbroken(const char *what, struct err *e);
/* For tests: every check ticks, also in short passes. */
void loop_check_all(bool on);
/* Returns false with E_CANCELLED if the loop was stopped. */
bool loop_end(const struct loop *l, struct err *e);

/* memcpy of any size. Returns false with E_CANCELLED if the copy was stopped. */
bool loop_copy(void *to, const void *from, int64_t bytes, const char *what, struct err *e);

/* memset of any size to 0. The same. */
bool loop_zero(void *to, int64_t bytes, const char *what, struct err *e);

/* Set n integers, on all threads if n is large. Returns false with E_CANCELLED if the loop was stopped. */
bool loop_fill(int *to, int64_t n, int value, const char *what, struct err *e);

/* Has the loop not been stopped? Does not tick. */
static inline bool loop_runs(const struct loop *l)
{
    return !__atomic_load_n(&l->stopped, __ATOMIC_RELAXED);
}

/* Like loop_check, but for iterations that take much less than 1 us. */
static inline bool loop_goes(struct loop *l, int64_t i)
{
    return i % LOOP_EVERY ? loop_runs(l) : loop_check(l, i);
}

/* Check, and return the end of the share of LOOP_EVERY elements of n that begins at `from`; `from` if the loop was
   stopped. */
static inline int64_t loop_share(struct loop *l, int64_t from, int64_t n)
{
    if (!loop_check(l, from)) return from;
    return n - from < LOOP_EVERY ? n : from + LOOP_EVERY;
}

C_END
#endif
