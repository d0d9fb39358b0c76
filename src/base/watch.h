/* Progress and cancellation of long work. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base.h"

C_BEGIN

struct err;

/* Long work calls watch_tick at least every 2 ms, so that it ends soon after Ctrl-C and its progress is shown. If
   `what` is "", the progress that is shown does not change. The member `tick` may be NULL. */
struct watch {
    bool (*tick)(struct watch *w, const char *what, int64_t done, int64_t total); /* false: cancel */
    void *user;
};
/* Report that `done` of `total` (0: unknown) of `what` is finished. Returns false with E_CANCELLED if the user
   cancelled. w may be NULL. Only the worker thread may call watch_tick. In a parallel loop, only the loop's master
   thread may call watch_tick. */
bool watch_tick(struct watch *w, const char *what, int64_t done, int64_t total, struct err *e);

C_END
#endif
