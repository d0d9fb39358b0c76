/* Progress and cancellation of long work. */
#include "watch.h"
#include "err.h"

bool watch_tick(struct watch *w, const char *what, int64_t done, int64_t total, struct err *e)
{
    if (!w || !w->tick) return true;
    return w->tick(w, what, done, total) || fail(e, E_CANCELLED, "%s: cancelled", what);
}
