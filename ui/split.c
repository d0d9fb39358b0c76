/* The tree of panes: dividing, closing, resizing, and fitting it into the screen. */
#include "split.h"
#include "base/base.h"
#include "base/err.h"

#include <math.h>
#include <stddef.h>

/* The size at which a view shows all its parts; larger panes are no better. */
enum { GOOD_WIDTH = 80, GOOD_HEIGHT = 24 };
static const double QUALITY_MIN = 0.7;

/* ---- the tree ---- */

static int new_node(struct split *t)
{
    for (int i = 0; i < PANE_NODES_MAX; i++)
        if (!t->node[i].used) return i;
    return NO_NODE;
}

static int make_pane(struct split *t, const struct view *v, int up)
{
    int i = new_node(t);
    if (i != NO_NODE) t->node[i] = (struct split_node){.used = true, .view = v, .up = up};
    return i;
}

void split_begin(struct split *t, const struct view *v)
{
    *t = (struct split){.fits = true, .area = t->area};
    t->root = t->focus = make_pane(t, v, NO_NODE);
}

static void add_panes(const struct split *t, int i, int pane[PANES_MAX], int *n)
{
    const struct split_node *k = &t->node[i];
    if (k->view) {
        pane[(*n)++] = i;
        return;
    }
    add_panes(t, k->first, pane, n);
    add_panes(t, k->second, pane, n);
}

int split_panes(const struct split *t, int pane[PANES_MAX])
{
    int n = 0;
    if (t->node[t->root].used) add_panes(t, t->root, pane, &n);
    return n;
}

int split_count(const struct split *t)
{
    int pane[PANES_MAX];
    return split_panes(t, pane);
}

bool split_shows_all(const struct split *t)
{
    return t->fits && !t->alone && !t->node[t->root].view;
}

int split_find(const struct split *t, const struct view *v)
{
    for (int i = 0; i < PANE_NODES_MAX; i++)
        if (t->node[i].used && t->node[i].view == v) return i;
    return NO_NODE;
}

int split_at(const struct split *t, int x, int y)
{
    for (int i = 0; i < PANE_NODES_MAX; i++) {
        const struct split_node *k = &t->node[i];
        bool inside = x >= k->at.x && x < k->at.x + k->at.w && y >= k->at.y && y < k->at.y + k->at.h;
        if (k->used && k->view && inside && (split_shows_all(t) || i == t->focus)) return i;
    }
    return NO_NODE;
}

void split_show(struct split *t, const struct view *v)
{
    int shown = split_find(t, v);
    if (shown != NO_NODE)
        t->focus = shown;
    else
        t->node[t->focus].view = v;
}

void split_turn(struct split *t, int by)
{
    int pane[PANES_MAX], n = split_panes(t, pane), at = 0;
    while (at < n - 1 && pane[at] != t->focus) at++;
    t->focus = pane[((at + by) % n + n) % n];
}

/* ---- sizes ---- */

struct least {
    int w, h;
};

/* The smallest size of the panes below node i. Panes side by side have a border of one column between them. */
static struct least least_of(const struct split *t, int i)
{
    const struct split_node *k = &t->node[i];
    if (k->view) return (struct least){PANE_WIDTH_MIN, PANE_HEIGHT_MIN};
    struct least a = least_of(t, k->first), b = least_of(t, k->second);
    if (k->way == SIDE_BY_SIDE) return (struct least){a.w + 1 + b.w, a.h > b.h ? a.h : b.h};
    return (struct least){a.w > b.w ? a.w : b.w, a.h + b.h};
}

/* The size of the first child of k, from its share and the smallest sizes. */
static int first_size(const struct split *t, const struct split_node *k, struct rect at)
{
    struct least a = least_of(t, k->first), b = least_of(t, k->second);
    bool beside = k->way == SIDE_BY_SIDE;
    int all = beside ? at.w - 1 : at.h, low = beside ? a.w : a.h, high = all - (beside ? b.w : b.h);
    int size = (int)lround(k->share * all);
    return size < low ? low : size > high ? high : size;
}

static void place(struct split *t, int i, struct rect at)
{
    struct split_node *k = &t->node[i];
    struct rect a = at, b = at;
    k->at = at;
    if (k->view) return;
    int size = first_size(t, k, at);
    if (k->way == SIDE_BY_SIDE)
        a.w = size, b.x = at.x + size + 1, b.w = at.w - size - 1;
    else
        a.h = size, b.y = at.y + size, b.h = at.h - size;
    place(t, k->first, a);
    place(t, k->second, b);
}

void split_fit(struct split *t, struct rect area)
{
    struct least least = least_of(t, t->root);
    t->area = area;
    t->fits = t->node[t->root].view || (area.w >= least.w && area.h >= least.h);
    if (t->fits) place(t, t->root, area);
    if (!split_shows_all(t)) t->node[t->focus].at = area;
}

/* The nearest branch above node i that divides in this way. */
static int branch_above(const struct split *t, int i, enum split_way way)
{
    do i = t->node[i].up;
    while (i != NO_NODE && t->node[i].way != way);
    return i;
}

static bool is_below(const struct split *t, int i, int top)
{
    while (i != NO_NODE && i != top) i = t->node[i].up;
    return i == top;
}

bool split_resize(struct split *t, enum split_way way, int by)
{
    int i = branch_above(t, t->focus, way);
    if (i == NO_NODE || !split_shows_all(t)) return false;
    struct split_node *k = &t->node[i];
    int all = way == SIDE_BY_SIDE ? k->at.w - 1 : k->at.h, size = first_size(t, k, k->at);
    double share = k->share;
    k->share = (double)(is_below(t, t->focus, k->first) ? size + by : size - by) / all;
    if (first_size(t, k, k->at) == size) return k->share = share, false;
    split_fit(t, t->area);
    return true;
}

/* ---- dividing and closing ---- */

/* The area of the screen is smaller than the panes need. */
static bool too_small(int n, struct least need, int w, int h, struct err *e)
{
    return fail(e, E_USAGE,
                "%d panes need %d x %d characters in this arrangement, but there is room for %d x %d; "
                "enlarge the window, or use Tab to change the view",
                n, need.w, need.h, w, h);
}

bool split_divide(struct split *t, enum split_way way, const struct view *v, struct err *e)
{
    int old = t->focus, up = t->node[old].up;
    const struct rect at = t->node[old].at;
    bool beside = way == SIDE_BY_SIDE;
    if (split_count(t) == PANES_MAX) return fail(e, E_LIMIT, "there are %d panes already", +PANES_MAX);
    if (t->alone || !t->fits) return fail(e, E_USAGE, "only one of the panes is shown; F shows all of them");
    struct least need = {beside ? 2 * PANE_WIDTH_MIN + 1 : PANE_WIDTH_MIN,
                         beside ? PANE_HEIGHT_MIN : 2 * PANE_HEIGHT_MIN};
    if (at.w < need.w || at.h < need.h)
        return fail(e, E_USAGE, "this pane of %d x %d characters is too small to divide: that needs %d x %d", at.w,
                    at.h, need.w, need.h);
    int branch = make_pane(t, NULL, up), pane = make_pane(t, v, branch);
    struct split_node *k = &t->node[branch];
    k->way = way;
    k->share = 0.5;
    k->first = old;
    k->second = pane;
    if (up == NO_NODE)
        t->root = branch;
    else if (t->node[up].first == old)
        t->node[up].first = branch;
    else
        t->node[up].second = branch;
    t->node[old].up = branch;
    t->focus = pane;
    split_fit(t, t->area);
    return true;
}

bool split_close(struct split *t, struct err *e)
{
    int gone = t->focus, up = t->node[gone].up;
    if (up == NO_NODE) return fail(e, E_USAGE, "this is the only pane; q leaves the full screen");
    const struct split_node *k = &t->node[up];
    int other = k->first == gone ? k->second : k->first, above = k->up;
    t->node[other].up = above;
    if (above == NO_NODE)
        t->root = other;
    else if (t->node[above].first == up)
        t->node[above].first = other;
    else
        t->node[above].second = other;
    t->node[gone].used = t->node[up].used = false;
    int pane[PANES_MAX], n = 0;
    add_panes(t, other, pane, &n);
    t->focus = pane[0];
    if (t->node[t->root].view) t->alone = false;
    split_fit(t, t->area);
    return true;
}

/* ---- several views at once ---- */

/* The number of rows in column k if n panes are in `columns` columns. The first columns get the additional rows. */
static int rows_of(int n, int columns, int k)
{
    return n / columns + (k < n % columns);
}

/* How well the panes show their views: the smaller of width and height, compared with a good size. */
static double quality(int n, int columns, int w, int h)
{
    int width = (w - (columns - 1)) / columns, height = h / rows_of(n, columns, 0);
    return fmin((double)width / GOOD_WIDTH, (double)height / GOOD_HEIGHT);
}

static int best_columns(int n, int w, int h)
{
    int best = 1;
    for (int columns = 2; columns <= n; columns++)
        if (quality(n, columns, w, h) > quality(n, best, w, h)) best = columns;
    return best;
}

int split_count_for(int n, int w, int h)
{
    while (n > 1 && quality(n, best_columns(n, w, h), w, h) < QUALITY_MIN) n--;
    return n > 1 ? n : 1;
}

/* Build a row or column of n nodes; returns the branch above them. */
static int build(struct split *t, enum split_way way, int n, const int *child)
{
    if (n == 1) return child[0];
    int branch = make_pane(t, NULL, NO_NODE), rest = build(t, way, n - 1, child + 1);
    struct split_node *k = &t->node[branch];
    k->way = way;
    k->share = 1.0 / n;
    k->first = child[0];
    k->second = rest;
    t->node[child[0]].up = t->node[rest].up = branch;
    return branch;
}

bool split_begin_all(struct split *t, int n, const struct view *const *views, struct rect area, struct err *e)
{
    int w = area.w, h = area.h;
    struct split made = {.fits = true};
    int columns = best_columns(n, w, h), column[PANES_MAX], pane[PANES_MAX], at = 0;
    for (int k = 0; k < columns; k++) {
        int rows = rows_of(n, columns, k);
        for (int i = 0; i < rows; i++) pane[i] = make_pane(&made, views[at++], NO_NODE);
        column[k] = build(&made, ONE_ABOVE_OTHER, rows, pane);
    }
    made.root = build(&made, SIDE_BY_SIDE, columns, column);
    made.focus = split_find(&made, views[0]);
    struct least need = least_of(&made, made.root);
    if (n > 1 && (w < need.w || h < need.h)) return too_small(n, need, w, h, e);
    *t = made;
    split_fit(t, area);
    return true;
}
