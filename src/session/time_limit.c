/* Limits the time of a part of a command. */
#include "time_limit.h"
#include "base/loop.h"
#include "session.h"

static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct time_limit *l = w->user;
    if (l->outer.tick && !l->outer.tick(&l->outer, what, done, total)) return !(l->stopped = true);
    l->late = l->late || l->clock() > l->until_us;
    return !l->late;
}

void time_limit_begin(struct time_limit *l, struct session *s, double (*clock)(void), double until_us)
{
    *l = (struct time_limit){.outer = s->watch, .clock = clock, .until_us = until_us};
    s->watch = (struct watch){tick, l};
}

void time_limit_end(struct time_limit *l, struct session *s)
{
    s->watch = l->outer;
    if (l->late || l->stopped) loop_enter(loop_watch());
}
