/* The panes of the screen. A split is a tree: a leaf is a pane, which shows a view, and a branch divides its rectangle
   between two children. Sizes are shares, so that they survive a change of the terminal's size. */
#ifndef UI_SPLIT_H
#define UI_SPLIT_H

#include <stdbool.h>

struct err;
struct view;

enum { PANES_MAX = 8, PANE_NODES_MAX = 2 * PANES_MAX - 1, NO_NODE = -1 };
/* The smallest pane that is useful, with the line of its name. The screen of 80x24 therefore has one pane. */
enum { PANE_WIDTH_MIN = 40, PANE_HEIGHT_MIN = 12 };

struct rect {
    int x, y, w, h;
};
enum split_way { SIDE_BY_SIDE, ONE_ABOVE_OTHER };

struct split_node {
    bool used;
    const struct view *view; /* NULL: a branch */
    enum split_way way;
    double share; /* of the first child */
    int first, second, up;
    struct rect at;
};

struct split {
    struct split_node node[PANE_NODES_MAX];
    int root, focus; /* focus: the pane that keys go to */
    bool alone;      /* the user shows only the pane with the focus */
    bool fits;       /* there is room for all panes; otherwise, only the pane with the focus is shown */
    struct rect area;
};

/* One pane that shows v. */
void split_begin(struct split *t, const struct view *v);
/* Arrange n views in columns of equal width, so that the panes are as large as possible in the area. Returns
   false, with the size that the panes need, if they would be too small. */
bool split_begin_all(struct split *t, int n, const struct view *const *views, struct rect area, struct err *e);
/* The largest number of panes, up to n, that show their views well in an area of w x h cells; at least 1. */
int split_count_for(int n, int w, int h);
/* Divide the pane with the focus; the new pane shows v and gets the focus. */
bool split_divide(struct split *t, enum split_way way, const struct view *v, struct err *e);
/* Close the pane with the focus, unless it is the only pane. */
bool split_close(struct split *t, struct err *e);
/* Fit the panes into the area; sets `fits` and the rectangles of all panes. */
void split_fit(struct split *t, struct rect area);

int split_count(const struct split *t); /* 0: split_begin was not called yet */
/* Does the screen show several panes now? */
bool split_shows_all(const struct split *t);
/* Fill `pane` with the nodes that are panes, from left to right and from top to bottom; returns their number. */
int split_panes(const struct split *t, int pane[PANES_MAX]);
/* The pane that shows v, or NO_NODE. */
int split_find(const struct split *t, const struct view *v);
/* The visible pane at a cell of the screen, or NO_NODE. */
int split_at(const struct split *t, int x, int y);
/* Show v: move the focus to the pane that shows v, or else change the view of the pane with the focus. */
void split_show(struct split *t, const struct view *v);
/* Move the focus by that many panes; the first pane follows the last. */
void split_turn(struct split *t, int by);
/* Make the pane with the focus wider or higher by that many cells. Returns false if no border can move that far. */
bool split_resize(struct split *t, enum split_way way, int by);

#endif
