/* The keys and commands that arrange panes: several views at once, dividing, closing and resizing. */
#include "base/err.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "explore.h"
#include "explorer.h"
#include "screen.h"
#include "screen_thread.h"
#include "session/front.h"
#include "session/session.h"
#include "ui/views/view_state.h"

#include <string.h>

/* One press of a key moves a border by this many cells. */
enum { WIDER = 4, HIGHER = 2 };

/* ---- several views at once ---- */

static int list_length(struct session *s, const struct view *list[VIEWS_MAX])
{
    const struct view *v;
    int n = 0;
    for (int i = 0; (v = (const struct view *)registry_at(s->front->views, i)); i++) list[n++] = v;
    return n;
}

/* Fill `list` with the views of `view all`, the most useful first. */
static int best_views(struct session *s, const struct view *list[PANES_MAX])
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

/* Fill `list` with the views of a list such as "spy,trace"; each view is shown once. Returns their number, or 0. */
static int read_names(const char *names, const struct view *list[PANES_MAX], struct err *e)
{
    int n = 0;
    for (const char *at = names; *at; at += *at == ',') {
        char name[32];
        int length = (int)strcspn(at, ","), k = 0;
        snprintf(name, sizeof name, "%.*s", length, at);
        const struct view *v = view_find(name);
        if (!v) return fail(e, E_USAGE, "there is no view `%s`; `help view` lists the views", name);
        while (k < n && list[k] != v) k++;
        if (k == PANES_MAX) return fail(e, E_LIMIT, "more than %d views do not fit on one screen", +PANES_MAX);
        list[k] = v;
        if (k == n) n++;
        at += length;
    }
    return n;
}

bool explorer_arrange(struct session *s, const char *names, struct rect area, struct split *made, struct err *e)
{
    const struct view *list[PANES_MAX] = {views[0]};
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

static bool divide(struct session *s, enum split_way way, const struct view **added, struct err *e)
{
    const struct view *v = next_hidden(s);
    if (!v) return fail(e, E_USAGE, "all views are shown already; X closes a pane");
    if (!split_divide(&screen_explorer(s)->split, way, v, e)) return false;
    *added = v;
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

bool explorer_pane_key(struct session *s, int key, const struct view **added)
{
    struct explorer *x = screen_explorer(s);
    struct err e = {0};
    *added = NULL;
    bool ok = key == '|'   ? divide(s, SIDE_BY_SIDE, added, &e)
              : key == '_' ? divide(s, ONE_ABOVE_OTHER, added, &e)
              : key == 'X' ? split_close(&x->split, &e)
              : key == 'F' ? show_alone(x, &e)
              : key == '<' ? resize(x, SIDE_BY_SIDE, -WIDER, &e)
              : key == '>' ? resize(x, SIDE_BY_SIDE, WIDER, &e)
              : key == '{' ? resize(x, ONE_ABOVE_OTHER, -HIGHER, &e)
                           : resize(x, ONE_ABOVE_OTHER, HIGHER, &e);
    if (!ok) explorer_say(x, true, e.text);
    return ok;
}
