/* Progress and cancellation of long work. */
#include "watch.h"
#include "err.h"
#include "screen_lock.h"

bool watch_tick(struct watch *w, const char *what, int64_t done, int64_t total, struct err *e)
{
    if (!w || !w->tick) return true;
    bool took = screen_lock_take();
    bool goes_on = w->tick(w, what, done, total);
    if (took)
        screen_lock_give();
    else
        screen_lock_offer();
    return goes_on || fail(e, E_CANCELLED, "%s: cancelled", what);
}
