/* A view is view_NAME.c, which ends in its struct view, and one line in views.def. */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canvas;
struct err;
struct painter;
struct session;
struct view_state;

enum work { WORK_NONE, WORK_ON, WORK_DRAW }; /* nothing is left; something is; there is something new to draw */

/* draw reads the session and never changes it. A function that is NULL does what its comment says. */
struct view {
    const char *name, *about, *keys;
    bool any;     /* needs no matrix */
    bool zooms;   /* the wheel presses + and -, else the arrows */
    bool is_list; /* a click chooses the line that it is on */

    /* Its own state: its size in bytes, 0: it has none. */
    size_t state_size;
    /* Release what the state computed, which a command may have changed; the state stays usable. NULL: nothing. */
    void (*state_free)(void *own);
    /* Begin with another matrix; NULL: with zeros. */
    void (*state_reset)(void *own);
    /* Copy what the user chose to look at; NULL: that is all in struct view_state. */
    void (*state_copy)(void *to, const void *from);

    /* Has its work been started? The explorer lists only such panes. NULL: always. */
    bool (*exists)(const struct session *s);
    /* The keys that do something now, for the line at the bottom; NULL: all do. */
    const char *(*keys_now)(const struct session *s);
    /* Does it take this key now, which the explorer uses otherwise (a digit, m)? NULL: none. */
    bool (*claims)(const struct session *s, int key);

    /* Make what draw reads (statistics, products); NULL: nothing. */
    bool (*prepare)(struct session *s, struct view_state *st, struct err *e);
    void (*draw)(struct canvas *c, struct session *s, struct view_state *st);
    /* true: redraw. Keys are characters or enum keys. */
    bool (*key)(struct session *s, struct view_state *st, int key);
    /* Set the cursor to what was drawn at this cell of the canvas, false: nothing was. NULL: it has no cursor. */
    bool (*click)(struct session *s, struct view_state *st, int x, int y);
    /* Take st->typed, the answer to st->question. NULL: it asks none. */
    void (*answer)(struct session *s, struct view_state *st);
    /* A few milliseconds of background work, called while no key comes. NULL: it has none. */
    enum work (*work)(struct session *s, struct view_state *st);

    /* The element at the cursor, column -1 for a whole row; false: it is at none. Views with `at` and `go` share one
       cursor. */
    bool (*at)(struct session *s, const struct view_state *st, int64_t *row, int64_t *col);
    /* Show the row, which exists, and the column, or -1; false: nothing is stored there. NULL: it has no rows. */
    bool (*go)(struct session *s, struct view_state *st, int64_t row, int64_t col);

    /* A view that drives work while it is shown: is the work under way; continue it until it ends or a key leaves it.
     */
    bool (*is_running)(const struct session *s);
    bool (*drive)(struct session *s, struct err *e);
    /* Did the work end by itself? Then its last picture stays until a key. */
    bool (*has_ended)(const struct session *s);

    /* Why there is nothing to export yet, and what changes that; NULL: there is. Itself NULL: there always is. */
    const char *(*nothing)(const struct session *s);
    /* The numbers behind it, as rows of s->out in JSON or CSV. st: as the screen has it, NULL without one; w, h: the
       size in characters. NULL: it has none. */
    bool (*numbers)(struct session *s, const struct view_state *st, int w, int h, struct err *e);
    /* A picture of w x h pixels that is finer than the cells of a canvas; NULL: the cells are painted. */
    bool (*paint)(struct painter *p, struct session *s, const struct view_state *st, int w, int h, bool light,
                  struct err *e);
};

#define VIEW(id) extern const struct view view_##id;
#include "ui/views/views.def"
#undef VIEW
extern const struct view *const views[]; /* ended by NULL */
extern const struct registry view_registry;
const struct view *view_find(const char *name);
enum { VIEWS_MAX = 16 };

/* The whole picture: the view or its help, its message or question, and its keys. */
void view_draw(const struct view *v, struct canvas *c, struct session *s, struct view_state *st);

#endif
