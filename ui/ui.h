/* Views and the explorer, which draw on a canvas and take keys. */
#ifndef UI_H
#define UI_H

#include "../src/density.h"
#include "../src/registry.h"
#include "../src/ritz.h"
#include "../src/rows.h"
#include "../src/solve.h"
#include "canvas.h"
#include "prompt.h"
#include "stage.h"
#include "term.h"

/* ---- views ---- */

/* Counts of the visible cells, kept so that moving a cursor counts nothing again. On a whole screen those of a large
   matrix are guessed first and counted while no key comes: in `counting`, or from sums for pictures of any part. */
struct grid {
    struct window win;
    int h, w;
    uint32_t *n;
    bool guessed;
    uint32_t *counting;  /* NULL: not begun */
    struct density rest; /* of the counting */
    struct sums sums;
    bool no_room; /* for what would make it exact */
};

/* What the Hessenberg matrix of gmres told when it was looked at: the Ritz values of least and of largest modulus. */
struct spectrum {
    int64_t iterations, columns;
    double residual; /* of that iteration: tells solves apart */
    double at_us;
    double re[2], im[2], condition;
};

/* Per-view position; kept by the session's front while the program runs. */
struct view_state {
    struct window win;           /* visible part of the matrix */
    int64_t row, col;            /* cursor */
    int64_t row_step, col_step;  /* elements under one cell, as drawn last: how far an arrow moves */
    int64_t scroll, item;        /* lists: first shown, chosen */
    int array;                   /* layout: the array of the chosen slot */
    int bins;                    /* rows: asked of the histogram, as drawn last */
    int mode;                    /* rows: the picture */
    int64_t rank;                /* rows: of the row by length */
    struct row_lengths lengths;  /* rows */
    struct stats row_stats;      /* rows: what it says of them */
    struct warps warps;          /* rows */
    const struct format *format; /* layout */
    struct product *product;     /* layout; found again by prepare */
    int64_t param[PARAMS_MAX];
    bool param_set;
    enum type real;
    const struct matrix *of; /* the matrix this state belongs to, of this size; another one resets it */
    int64_t rows, cols;
    bool full;         /* on a whole screen, with keys; else text once */
    bool pane, listed; /* of the explorer; the other panes are listed above it */
    bool help, asks;   /* shows its keys; takes a line, the number of a row if there is no question */
    char question[96];
    int asks_for;             /* the key that asked the question */
    char asked[24];           /* what was typed of it */
    int64_t count;            /* solve: digits before a key */
    struct ritz ritz;         /* solve: of cg */
    struct spectrum spectrum; /* solve: of gmres */
    int w, h;                 /* size of the text asked for; 0 = the front's */
    struct grid grid;
    int drawn_w, drawn_h; /* spy: room of the picture as drawn last, and its letters */
    bool drawn_ascii;
    char message[120];
};

struct painter;
enum work { WORK_NONE, WORK_ON, WORK_DRAW }; /* nothing is left; something is; there is something new to see */

/* A view is view_NAME.c and one line in views.def. draw reads the session and never changes it. */
struct view {
    const char *name, *about, *keys;
    bool any;     /* needs no matrix */
    bool zooms;   /* the wheel presses + and -, else the arrows */
    bool is_list; /* a click chooses the line that it is on */
    /* Has its work been started? The explorer lists only such panes. NULL: always. */
    bool (*exists)(const struct session *s);
    /* Does it take this key now, which the explorer uses otherwise (a digit, m)? NULL: none. */
    bool (*claims)(const struct session *s, int key);
    /* A view that drives work while it is shown: is the work under way, continue it until it ends or a key leaves it.
     */
    bool (*is_running)(const struct session *s);
    bool (*drive)(struct session *s, struct err *e);
    /* Did the work end by itself? Then its last picture stays until a key. */
    bool (*has_ended)(const struct session *s);
    /* Of the keys those that do something as things are, for the line below; NULL: all do. */
    const char *(*keys_now)(const struct session *s);
    /* Get ready what draw reads (statistics, products); may be NULL. */
    bool (*prepare)(struct session *s, struct view_state *st, struct err *e);
    void (*draw)(struct canvas *c, struct session *s, struct view_state *st);
    /* true: redraw. Keys are characters or enum keys. */
    bool (*key)(struct session *s, struct view_state *st, int key);
    /* Show the row, which exists, and the column, or -1; false: there is nothing there. NULL: has no rows. */
    bool (*go)(struct session *s, struct view_state *st, int64_t row, int64_t col);
    /* Set the cursor to what was drawn at this cell of the canvas, false: nothing was; NULL: has none. */
    bool (*click)(struct session *s, struct view_state *st, int x, int y);
    /* Take st->asked, the answer to st->question; NULL: asks none. */
    void (*answer)(struct session *s, struct view_state *st);
    /* The element the cursor is at, col -1 for a row's; false: at none. Views that tell it share one cursor. */
    bool (*at)(struct session *s, const struct view_state *st, int64_t *row, int64_t *col);
    /* A few milliseconds of what is to be done while no key comes; NULL: never anything. */
    enum work (*work)(struct session *s, struct view_state *st);
    /* Why there is nothing to export yet, and what changes that; NULL: there is. Itself NULL: there always is. */
    const char *(*nothing)(const struct session *s);
    /* The numbers behind it, as rows of s->out in JSON or CSV. st: as the screen has it, NULL without one; w, h: the
       size in letters. NULL: it has none. */
    bool (*numbers)(struct session *s, const struct view_state *st, int w, int h, struct err *e);
    /* A picture of w x h pixels that is finer than the cells of a canvas; NULL: the cells are painted. */
    bool (*paint)(struct painter *p, struct session *s, const struct view_state *st, int w, int h, bool light,
                  struct err *e);
};
/* Run a command with these words after its name: for views whose numbers are a command's. cmd_export.c. */
bool run_command(struct session *s, const struct command *c, int n, const char *const *word, struct err *e);
#define VIEW(id) extern const struct view view_##id;
#include "views.def"
#undef VIEW
extern const struct view *const views[];                               /* ended by NULL */
extern const struct command command_spy, command_rows, command_layout; /* cmd_view.c */
extern const struct registry view_registry;
const struct view *view_find(const char *name);
enum { VIEWS_MAX = 16 };

/* Fit the state to the session's current matrix, dropping what belonged to another one. */
void view_reset(struct view_state *st, const struct matrix *m);
void grid_free(struct grid *g);
/* The whole picture: the view, or why there is none, and its help when asked for. */
void view_draw(const struct view *v, struct canvas *c, struct session *s, struct view_state *st);

/* Drawing helpers (view.c). Each leaves the rest of the canvas alone. */
void draw_title(struct canvas *c, const char *what, const struct matrix *m, const char *fmt, ...) PRINTF(4, 5);
void draw_keys(struct canvas *c, const char *keys);
void draw_fill(struct canvas *c, int x, int y, int n, enum style st, uint32_t glyph);
void draw_bar(struct canvas *c, int x, int y, int width, double share, enum style st); /* to an eighth of a cell */
void draw_right(struct canvas *c, int x, int y, enum style st, const char *text);      /* ends before x */
void draw_wrapped(struct canvas *c, int x, int y, int lines, enum style st, const char *text); /* between words */
/* Reduction of the residual per iteration over the last ones; 0 when there are too few. */
double solve_rate(const struct solve *v);
/* Has the true residual parted from the recursive one, since the solve was begun anew? */
bool solve_parted(const struct solve *v);
/* Iterations left until tol, as the last quarter of them went; NaN: it does not fall. */
double solve_left(const struct solve *v);
char *show_safe(const char *text, char *out, size_t size); /* print_safe of a name */

/* ---- explore.c: panes side by side, and commands below them ---- */

struct explorer {
    bool on; /* the whole screen is the explorer's */
    const struct view *pane;
    int w, h;          /* of the screen as drawn last */
    int pending;       /* a key that work which goes on left to the explorer; 0: none */
    bool typing, deaf; /* a command is typed; the mouse is off */
    char *said;        /* by the last command, drawn over the pane from line `first` on; NULL: nothing */
    int first;
    char title[80];   /* the command that said it */
    char status[240]; /* one line instead of that */
    bool bad;         /* it tells of an error */
    char *parting;    /* to be printed once the screen is given back */
    int mouse_x, mouse_y;
    int cursor_y; /* line of the pane's cursor as drawn last; -1: none */
};
bool explore_enter(struct session *s, const struct view *v, struct err *e); /* show this pane, on the current matrix */
void explore_draw(struct canvas *c, struct session *s);
bool explore_key(struct session *s, int key);   /* false: leave */
bool explore_takes(struct session *s, int key); /* is it the explorer's, not the pane's? */
bool explore_go_on(struct session *s);          /* drive the solve that goes on, if its pane is shown */
void explore_end(struct session *s);

/* ---- loop.c ---- */

struct explorer *front_explorer(struct session *s);
/* Explore, beginning with this view. */
bool explore(struct session *s, const char *view, struct err *e);
/* The work that goes on has this pane of the explorer until it is left. */
void live_pane(struct session *s, const struct view *v);

void front_restyle(struct session *s); /* apply the options of colours, letters and the mouse; restyle.c */
struct view_state *front_state(struct session *s, const struct view *v);
/* Take a view that was not seen for a while to the element the other views are at. */
void front_meet(struct session *s, const struct view *v);
void front_lead(struct session *s, const struct view *v); /* the other views are to come to the cursor of v */
void front_draw(struct session *s);                       /* the explorer, as it is now */
const struct canvas *front_canvas(struct session *s);     /* what was drawn last; NULL: nothing was */
/* Say the view that was drawn last once more, in text of that size or its numbers; 0: the size it would have. */
bool front_again(struct session *s, int w, int h, struct err *e);
/* One key of a full-screen view; false: leave it. */
bool view_key(struct session *s, const struct view *v, int key);

#endif
