/* The state of the explorer: which views the screen shows, which of them have changed, and their background work. */
#include "base/mem.h"
#include "base/registry.h"
#include "explore.h"
#include "explorer.h"
#include "microscope/tracing.h"
#include "screen.h"
#include "session/front.h"
#include "session/session.h"
#include "session/stale.h"
#include "ui/views/view_state.h"

bool explorer_say(struct explorer *x, bool bad, const char *text)
{
    snprintf(x->status, sizeof x->status, "%.239s", text);
    x->status_bad = bad;
    return !bad;
}

void explorer_tell(struct explorer *x, const char *text)
{
    explorer_say(x, false, text);
}

bool explorer_is_valid(struct session *s, const struct view *v)
{
    const struct view_state *st = screen_view_state(s, v);
    return st->of == s->current && st->stale_seen == stale_count();
}

/* ---- which views are shown ---- */

void explorer_show(struct explorer *x, const struct view *v)
{
    if (x->split.node[x->split.root].used)
        split_show(&x->split, v);
    else
        split_begin(&x->split, v);
    x->pane = v;
}

int explorer_visible(const struct session *s, const struct view *shown[PANES_MAX])
{
    const struct explorer *x = screen_explorer((struct session *)s);
    const struct split *t = &x->split;
    int pane[PANES_MAX], n = x->on && split_shows_all(t) ? split_panes(t, pane) : 0;
    for (int i = 0; i < n; i++) shown[i] = t->node[pane[i]].view;
    if (n) return n;
    shown[0] = x->pane;
    return x->pane ? 1 : 0;
}

static int index_of(const struct view *v)
{
    int i = 0;
    while (views[i] != v) i++;
    return i;
}

struct pane_picture *explorer_picture(struct explorer *x, const struct view *v)
{
    return &x->picture[index_of(v)];
}

void explorer_stale(struct session *s, const struct view *v)
{
    struct explorer *x = screen_explorer(s);
    for (int i = 0; views[i]; i++)
        if (!v || views[i] == v) x->picture[i].fresh = false;
}

void explorer_free_pictures(struct explorer *x)
{
    for (int i = 0; i < VIEWS_MAX; i++) {
        canvas_free(&x->picture[i].c);
        figure_free(&x->picture[i].figure);
        image_free(&x->picture[i].image);
        x->picture[i].fresh = false;
    }
}

/* Views mark the elements that the traced warp works on. If the trace has moved since the last frame, all panes may
   look different. */
void explorer_follow_trace(struct session *s)
{
    struct explorer *x = screen_explorer(s);
    const struct tracing *v = s->trace;
    struct trace_mark_at now = {.of = v};
    if (v) now = (struct trace_mark_at){v, v->at, v->t.block, v->t.warp, v->t.launch, v->lane};
    const struct trace_mark_at *was = &x->marked;
    bool same = now.of == was->of && now.step == was->step && now.block == was->block && now.warp == was->warp &&
                now.launch == was->launch && now.lane == was->lane;
    if (!same) explorer_stale(s, NULL);
    x->marked = now;
}

/* A pane whose work was never started is listed only while it is shown. */
bool explorer_lists(const struct session *s, const struct view *v)
{
    return v == screen_explorer((struct session *)s)->pane || !v->exists || v->exists(s);
}

/* Fill `pane` with the panes in the order of the session's views; returns their number. */
int explorer_panes(const struct session *s, const struct view *pane[VIEWS_MAX])
{
    const struct view *v;
    int n = 0;
    for (int i = 0; (v = (const struct view *)registry_at(s->front->views, i)); i++)
        if (explorer_lists(s, v)) pane[n++] = v;
    return n;
}

const struct view *explorer_numbered(const struct session *s, int number)
{
    const struct view *v = NULL;
    for (int i = 0; i < number && (v = (const struct view *)registry_at(s->front->views, i)); i++) continue;
    return v;
}

int explorer_number(const struct session *s, const struct view *v)
{
    int number = 1;
    for (const struct view *at; (at = explorer_numbered(s, number)) && at != v;) number++;
    return number;
}

struct rect explorer_area(int w, int h)
{
    int listed = h >= LISTED_FROM;
    return (struct rect){0, listed, w, h - listed - 1};
}

/* ---- background work ---- */

static enum work work_of(struct session *s, const struct view *v)
{
    if (!v->work || !s->current || !view_has_matrix(v, s, NULL)) return WORK_NONE;
    if (screen_explorer(s)->on && !explorer_is_valid(s, v)) return WORK_NONE;
    enum work left = v->work(s, screen_view_state(s, v));
    if (left == WORK_DRAW) explorer_stale(s, v);
    return left;
}

enum work explorer_work(struct session *s)
{
    const struct view *shown[PANES_MAX];
    enum work left = WORK_NONE;
    for (int i = 0, n = explorer_visible(s, shown); i < n && left == WORK_NONE; i++) left = work_of(s, shown[i]);
    return left;
}

void explorer_try_pixels(struct explorer *x)
{
    x->no_pixels = false;
}

void explorer_free(struct explorer *x)
{
    explorer_free_pictures(x);
    mem_free(x->last_output);
    x->last_output = NULL;
}
