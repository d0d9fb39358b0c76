/* A limit on the time of a part of a command. */
#ifndef TIME_LIMIT_H
#define TIME_LIMIT_H

#include <stdbool.h>

#include "base/watch.h"

struct session;

struct time_limit {
    struct watch outer;    /* the session's own watch */
    double (*clock)(void); /* steady_us, or worked_us: processor time, which other programs do not change */
    double until_us;       /* by this clock */
    bool late;             /* the limit ended the work */
    bool stopped;          /* Ctrl-C did */
};
/* From now on, the session's watch also cancels the work when clock() exceeds until_us. */
void time_limit_begin(struct time_limit *l, struct session *s, double (*clock)(void), double until_us);
/* Give the session its own watch back, and let loops run again if the work was cancelled. */
void time_limit_end(struct time_limit *l, struct session *s);

#endif
