/* The shared cursor in the trace view: finding the step and the lane that work on an element. If another pane moved the
   cursor, the search runs while no key comes, because a warp may have many steps, and it continues in the warp that has
   the row. */
#include "microscope/tracing.h"
#include "session/session.h"
#include "ui/explorer.h"
#include "ui/screen.h"
#include "ui/screen_thread.h"
#include "ui/view.h"
#include "view_state.h"
#include "view_trace.h"

#include <stdlib.h>

enum { STEPS_AT_ONCE = 32 };

/* The warp, counted over all blocks, that has the row if all warps have equally many rows; -1: unknown. */
static int64_t warp_of_row(const struct tracing *v, int64_t row)
{
    int64_t first, last, all = v->t.scope.launch[v->t.launch].blocks * v->t.warps;
    int64_t here = v->t.block * v->t.warps + v->t.warp;
    if (!tracing_rows(v, &first, &last) || first != here * (last - first + 1)) return -1;
    int64_t there = row / (last - first + 1);
    return there < all ? there : -1;
}

/* Report that the warp does not reach (row, col). Also report which warp has the row, if that is known. */
static void say_absent(const struct tracing *v, struct view_state *st, int64_t row, int64_t col)
{
    int64_t here = v->t.block * v->t.warps + v->t.warp, there = warp_of_row(v, row);
    size_t size = sizeof st->message;
    if (col >= 0 && tracing_has_row(v, row)) {
        snprintf(st->message, size, "no lane of this warp is at (%lld, %lld)", (long long)row, (long long)col);
        return;
    }
    if (there >= 0 && there != here)
        snprintf(st->message, size,
                 "row %lld: block %lld warp %lld (%lld%c), if every warp has the same number of rows", (long long)row,
                 (long long)(there / v->t.warps), (long long)(there % v->t.warps), (long long)llabs(there - here),
                 there > here ? 'w' : 'W');
    else
        snprintf(st->message, size, "row %lld is not in this warp; ]/[ block, w/W warp", (long long)row);
}

bool trace_view_go(struct session *s, struct view_state *st, int64_t row, int64_t col)
{
    struct trace_state *own = st->own;
    const struct explorer *x = screen_explorer(s);
    own->search.on = false;
    if (!s->trace || s->trace->matrix != s->current) return false;
    if (x->on && x->pane != st->view) {
        own->search = (struct step_search){.on = true, .row = row, .col = col, .row_step = -1};
        return true;
    }
    if (tracing_seek(s->trace, row, col)) return true;
    say_absent(s->trace, st, row, col);
    return false;
}

static enum work end_at(struct tracing *v, struct step_search *f, int64_t step, int lane)
{
    v->at = step;
    v->lane = lane;
    f->on = false;
    return WORK_DRAW;
}

/* No step works on the element: go to the step that works on its row, or to the warp that has the row. */
static enum work end_without(struct session *s, struct view_state *st)
{
    struct step_search *f = &((struct trace_state *)st->own)->search;
    struct tracing *v = s->trace;
    int64_t here = v->t.block * v->t.warps + v->t.warp, there = warp_of_row(v, f->row);
    if (f->row_step >= 0) return end_at(v, f, f->row_step, f->row_lane);
    if (f->moved || there < 0 || there == here || screen_thread_serves()) { /* a command runs: begin no other trace */
        f->on = false;
        say_absent(v, st, f->row, -1);
        return WORK_DRAW;
    }
    f->moved = true;
    f->done = 0;
    f->on = trace_view_warp(s, st, there);
    return f->on ? WORK_ON : WORK_DRAW;
}

enum work trace_view_work(struct session *s, struct view_state *st)
{
    struct step_search *f = &((struct trace_state *)st->own)->search;
    struct tracing *v = s->trace;
    int64_t first, last;
    if (!f->on || !v || v->matrix != s->current) return f->on = false, WORK_NONE;
    bool outside = f->done == 0 && tracing_rows(v, &first, &last) && (f->row < first || f->row > last);
    for (int n = 0; n < STEPS_AT_ONCE && f->done < v->t.nsteps && !outside; n++, f->done++) {
        int64_t step = (v->at + f->done) % v->t.nsteps;
        int exact, lane = tracing_lane_of(v, step, f->row, f->col, &exact);
        if (exact >= 0) return end_at(v, f, step, exact);
        if (lane >= 0 && f->col < 0) return end_at(v, f, step, lane);
        if (lane >= 0 && f->row_step < 0) f->row_step = step, f->row_lane = lane;
    }
    return outside || f->done >= v->t.nsteps ? end_without(s, st) : WORK_ON;
}
