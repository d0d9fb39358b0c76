/* The steps of a symmetrization: their names, their times, and the progress that each reports. */
#include "base/clock.h"
#include "base/watch.h"
#include "device.h"
#include "symmetrize.h"

const char *const sym_step_name[SYM_STEPS] = {"expand", "sort", "transpose", "count", "fill"};

bool sym_begin_step(struct sym *v, enum sym_step step, struct err *e)
{
    if (v->sampling) {
        if (!v->o.dev->ops->sync(v->o.dev, e)) return false;
        double now = now_us();
        if (v->step >= 0) v->step_us[v->step] += now - v->from;
        v->from = now;
        v->step = step == SYM_STEPS ? -1 : (int)step;
    }
    return watch_tick(v->o.watch, "symmetrize", (int64_t)step, SYM_STEPS, e);
}
