/* The panes of the explorer: which views the screen shows, dividing and resizing the screen, and the background work of
   all visible views. */
#include "beside.h"
#include "explore.h"
#include "explorer.h"
#include "screen.h"
#include "ui/views/view_state.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "microscope/tracing.h"
#include "session/front.h"
#include "session/session.h"

#include <string.h>

/* One press of a key moves a border by this many cells. */
enum { WIDER = 4, HIGHER = 2 };

/* ---- which views are shown ---- */

void explorer_show(struct explorer *x, const struct view *v)
{
    if (x->split.node[x->split.root].used)
        split_show(&x->split, v);
    else
        split_begin(&x->split, v);
    x->pane = v;
}

int explorer_visible(const struct session *s, const struct view *shown[PANES_MOST])
{
    const struct explorer *x = screen_explorer((struct session *)s);
    const struct split *t = &x->split;
    int pane[PANES_MOST], n = x->on && split_shows_all(t) ? split_panes(t, pane) : 0;
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

/* ---- the shared cursor ---- */

void explorer_cursor_moved(struct session *s, const struct view *by)
{
    const struct view *shown[PANES_MOST];
    if (!screen_explorer(s)->on) return;
    for (int i = 0, n = explorer_visible(s, shown); i < n; i++)
        if (shown[i] != by && explorer_is_valid(s, shown[i]) && cursor_follow_beside(s, shown[i]))
            explorer_stale(s, shown[i]);
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
    const struct view *shown[PANES_MOST];
    enum work left = WORK_NONE;
    for (int i = 0, n = explorer_visible(s, shown); i < n && left == WORK_NONE; i++) left = work_of(s, shown[i]);
    return left;
}

/* ---- several views at once ---- */

static int list_length(struct session *s, const struct view *list[VIEWS_MAX])
{
    const struct view *v;
    int n = 0;
    for (int i = 0; (v = (const struct view *)registry_at(s->front->views, i)); i++) list[n++] = v;
    return n;
}

/* Fill `list` with the views of `view all`, the most useful first. */
static int best_views(struct session *s, const struct view *list[PANES_MOST])
{
    const struct view *all[VIEWS_MAX];
    int n = 0, count = list_length(s, all);
    for (int rank = 1; rank <= OVERVIEW_RANKS; rank++)
        for (int i = 0; i < count; i++) {
            bool there = all[i]->nothing == NULL || !all[i]->nothing(s);
            if (all[i]->overview != rank || !there || !view_has_matrix(all[i], s, NULL)) continue;
            list[n++] = all[i];
            break;
        }
    return n;
}

struct rect explorer_area(int w, int h)
{
    int listed = h >= LISTED_FROM;
    return (struct rect){0, listed, w, h - listed - 1};
}

/* Fill `list` with the views of a list such as "spy,trace"; each view is shown once. Returns their number, or 0. */
static int read_names(const char *names, const struct view *list[PANES_MOST], struct err *e)
{
    int n = 0;
    for (const char *at = names; *at; at += *at == ',') {
        char name[32];
        int length = (int)strcspn(at, ","), k = 0;
        snprintf(name, sizeof name, "%.*s", length, at);
        const struct view *v = view_find(name);
        if (!v) return fail(e, E_USAGE, "there is no view `%s`; `help view` lists the views", name);
        while (k < n && list[k] != v) k++;
        if (k == PANES_MOST) return fail(e, E_LIMIT, "more than %d views do not fit on one screen", +PANES_MOST);
        list[k] = v;
        if (k == n) n++;
        at += length;
    }
    return n;
}

bool explorer_arrange(struct session *s, const char *names, struct rect area, struct split *made, struct err *e)
{
    const struct view *list[PANES_MOST] = {views[0]};
    bool all = !strcmp(names, "all");
    int n = all ? best_views(s, list) : read_names(names, list, e);
    if (!n && !all) return false;
    if (all) n = split_count_for(n, area.w, area.h);
    for (int i = 0; i < n; i++)
        if (!view_has_matrix(list[i], s, e)) return false;
    return split_begin_all(made, n, list, area, e);
}

/* The next view of the list that no pane shows; NULL: all are shown. */
static const struct view *next_hidden(struct session *s)
{
    const struct view *list[VIEWS_MAX];
    const struct explorer *x = screen_explorer(s);
    int n = explorer_panes(s, list), at = 0;
    while (at < n - 1 && list[at] != x->pane) at++;
    for (int i = 1; i < n; i++)
        if (split_find(&x->split, list[(at + i) % n]) == NO_NODE) return list[(at + i) % n];
    return NULL;
}

/* ---- keys ---- */

static bool divide(struct session *s, enum split_way way, struct err *e)
{
    struct explorer *x = screen_explorer(s);
    const struct view *v = next_hidden(s);
    if (!v) return fail(e, E_USAGE, "all views are shown already; X closes a pane");
    if (!split_divide(&x->split, way, v, e)) return false;
    explore_turn_to(s, v);
    return true;
}

static bool show_alone(struct explorer *x, struct err *e)
{
    struct split *t = &x->split;
    if (split_count(t) == 1) return fail(e, E_USAGE, "there is only one pane; | and _ divide it");
    if (!t->fits) return fail(e, E_USAGE, "this window has room for only one of the %d panes", split_count(t));
    t->alone = !t->alone;
    return true;
}

static bool resize(struct explorer *x, enum split_way way, int by, struct err *e)
{
    if (split_count(&x->split) == 1) return fail(e, E_USAGE, "there is only one pane; | and _ divide it");
    if (split_resize(&x->split, way, by)) return true;
    return fail(e, E_USAGE, "no border of this pane can move further that way");
}

bool explorer_is_pane_key(int key)
{
    return key > 0 && key < 0x7f && strchr("|_XF<>{}", key);
}

void explorer_pane_key(struct session *s, int key)
{
    struct explorer *x = screen_explorer(s);
    struct err e = {0};
    bool ok = key == '|'   ? divide(s, SIDE_BY_SIDE, &e)
              : key == '_' ? divide(s, ONE_ABOVE_OTHER, &e)
              : key == 'X' ? split_close(&x->split, &e)
              : key == 'F' ? show_alone(x, &e)
              : key == '<' ? resize(x, SIDE_BY_SIDE, -WIDER, &e)
              : key == '>' ? resize(x, SIDE_BY_SIDE, WIDER, &e)
              : key == '{' ? resize(x, ONE_ABOVE_OTHER, -HIGHER, &e)
                           : resize(x, ONE_ABOVE_OTHER, HIGHER, &e);
    if (!ok) explorer_say(x, true, e.text);
    x->pane = x->split.node[x->split.focus].view;
    if (ok) explore_arranged(s);
}
