/* To add a view, write view_NAME.c, which ends in its struct view, and add one line to views.def. */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canvas;
struct err;
struct painter;
struct row_kind;
struct session;
struct view_state;

enum { OVERVIEW_RANKS = 4 };
enum work {
    WORK_NONE, /* no work is left */
    WORK_ON,   /* there is more work */
    WORK_DRAW  /* the view must be redrawn */
};

/* A view. A function may be NULL only if its comment says what NULL means. */
struct view {
    /* the members of struct view_entry (session/front.h) */
    const char *name, *about, *keys;
    const struct row_kind *const *rows; /* the kinds of rows that `numbers` prints; NULL without `numbers` */

    bool any;       /* needs no matrix */
    bool large;     /* shows large matrices (matrix/csr.h) */
    bool zooms;     /* the wheel acts like + and -; otherwise, it acts like the arrows */
    bool of_lesson; /* shows one of several tables of a lesson, which `export` names */
    bool is_list;   /* a click chooses the line under the mouse */
    int overview;   /* rank in `view all`, 1 to OVERVIEW_RANKS; of
                       views with one rank, the first that has something to show is chosen. 0: not in `view all` */

    /* Size in bytes of the view's own state, st->own; 0: none. */
    size_t state_size;
    /* Release those results in the view's own state that a command may have made invalid. The state stays usable. NULL:
       the state has no such results. */
    void (*state_free)(void *own);
    bool lasts; /* the results depend on the matrix only: they are kept as long as the pane shows the same matrix */
    /* Reset the view's own state for a different matrix. NULL: fill it with zeros. */
    void (*state_reset)(void *own);
    /* Copy the user's choices in the view's own state. NULL: all choices are in struct view_state. */
    void (*state_copy)(void *to, const void *from);

    /* Was the view's work started? If not, the explorer does not list the pane. NULL: always listed. */
    bool (*exists)(const struct session *s);
    /* The keys that have an effect now, for the line at the bottom. NULL: all of `keys`. */
    const char *(*keys_now)(const struct session *s);
    /* Does the view itself handle this key now? The key is a digit or m, which the explorer would otherwise handle.
       NULL: no. */
    bool (*claims)(const struct session *s, int key);

    /* Compute the data that draw needs (statistics, stored forms), without the screen lock. NULL: nothing. */
    bool (*prepare)(struct session *s, struct view_state *st, struct err *e);
    /* Does prepare return within a few milliseconds and change nothing that commands use? Such a pane can be shown
       while a command runs. NULL: no. */
    bool (*prepares_soon)(struct session *s, const struct view_state *st);
    /* The lines that the whole view needs on a canvas as wide as text output; an export of a table without a size has
       as many, and so has a drawing in a lesson, if they are few. NULL: the view fits into any height. */
    int (*lines)(struct session *s, const struct view_state *st);
    /* Draw on the canvas. Reads the session and never changes it. */
    void (*draw)(struct canvas *c, struct session *s, struct view_state *st);
    /* Handle a key (a character or a member of enum keys); returns true if the view must be redrawn. */
    bool (*key)(struct session *s, struct view_state *st, int key);
    /* Move the cursor to the element drawn at this cell of the canvas. Returns false if no element is there. NULL: no
       cursor. */
    bool (*click)(struct session *s, struct view_state *st, int x, int y);
    /* Does the key change data that commands use, such as the solve or the formats of the matrix? While a command runs,
       such a key is handled between two steps of the command if the view shows the command's work; otherwise, the key
       is refused. NULL: no key changes such data. */
    bool (*changes)(const struct session *s, int key);
    /* Use st->typed, the answer to st->question. NULL: the view asks no questions. */
    void (*answer)(struct session *s, struct view_state *st);
    /* Do about a millisecond of background work. Called until a key comes. NULL: none. */
    enum work (*work)(struct session *s, struct view_state *st);

    /* The element at the cursor, with column -1 for a whole row. Returns false if there is no element. Views with `at`
       and `go` share one cursor. */
    bool (*at)(struct session *s, const struct view_state *st, int64_t *row, int64_t *col);
    /* Move to an existing row and column (-1: any column). Returns false if nothing is stored there. NULL: the view has
       no rows. */
    bool (*go)(struct session *s, struct view_state *st, int64_t row, int64_t col);

    /* For a view that continues work while it is shown. is_running: is there unfinished work? drive: continue the work
       until it ends or a key leaves the view. */
    bool (*is_running)(const struct session *s);
    bool (*drive)(struct session *s, struct err *e);
    /* Is the unfinished work paused? NULL: never. */
    bool (*is_paused)(const struct session *s);
    /* Did the work end by itself? If so, the last picture of the work is shown until a key is pressed. */
    bool (*has_ended)(const struct session *s);

    /* If there is nothing to show yet, returns the reason and the cure; otherwise, returns NULL. If the function itself
       is NULL, there is always something to show. */
    const char *(*nothing)(const struct session *s);
    /* Write the view's numbers to s->out as JSON or CSV, for view_numbers. st is the view's state on the screen, or
       NULL without a screen. w and h are the size in characters. NULL: the view has no numbers. */
    bool (*numbers)(struct session *s, const struct view_state *st, int w, int h, struct err *e);
    /* Paint a picture of w x h pixels, finer than the cells of a canvas. NULL: the cells are painted. */
    bool (*paint)(struct painter *p, struct session *s, const struct view_state *st, int w, int h, bool light,
                  struct err *e);
};

extern const struct view *const views[]; /* terminated by NULL */
extern const struct registry view_registry;
const struct view *view_find(const char *name);
enum { VIEWS_MAX = 20 };

/* Draw the whole screen of a view: the view or its help, its message or question, and its keys. */
void view_draw(const struct view *v, struct canvas *c, struct session *s, struct view_state *st);
/* Draw only the keys, on the last line. */
void view_draw_keys(const struct view *v, struct canvas *c, struct session *s, const struct view_state *st);
/* view_has_matrix checks that there is a matrix that the view can show, if the view needs one. view_has_something also
   checks that there is something to show, such as a solve or a race. view_numbers writes the view's numbers. On
   failure, the error message names the missing thing and the cure. */
bool view_has_matrix(const struct view *v, const struct session *s, struct err *e);
bool view_has_something(const struct view *v, const struct session *s, struct err *e);
bool view_numbers(const struct view *v, struct session *s, const struct view_state *st, int w, int h, struct err *e);

#endif
