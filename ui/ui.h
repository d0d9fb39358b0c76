/* The screen: a canvas of styled cells that every view draws on, and what takes it to a terminal. */
#ifndef UI_H
#define UI_H

#include <termios.h>

#include "../src/density.h"
#include "../src/ritz.h"
#include "../src/rows.h"
#include "../src/solver.h"

/* ---- canvas.c ---- */

/* What a cell means; the palette gives it a colour. */
enum style {
    ST_PLAIN,
    ST_DIM,
    ST_BOLD,
    ST_TITLE,
    ST_GOOD,
    ST_WARN,
    ST_BAD,
    ST_PAD,
    ST_CURSOR,
    ST_AXIS,
    ST_BAR,
    ST_PLOT_A,
    ST_PLOT_B,
    ST_RAMP,              /* ST_RAMP .. ST_RAMP+7: density, low to high */
    ST_ROW = ST_RAMP + 8, /* ST_ROW .. ST_ROW+7: colours of rows in layout */
    ST_COUNT = ST_ROW + 8
};
enum { RAMP_STEPS = 8, ROW_COLOURS = 8 };
enum colours { COLOURS_NONE, COLOURS_8, COLOURS_16, COLOURS_256, COLOURS_24BIT };

struct cell {
    uint32_t glyph;
    uint8_t style;
}; /* glyph 0: the right half of a wide one */
struct canvas {
    int w, h;
    bool ascii; /* other glyphs become ASCII ones as they are put */
    struct cell *cell;
    enum colours colours; /* what will be seen of the styles: views say in words what colours cannot */
};

bool canvas_new(struct canvas *c, int w, int h, bool ascii, struct err *e);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
void canvas_put(struct canvas *c, int x, int y, enum style st, uint32_t glyph); /* outside: ignored */
int canvas_text(struct canvas *c, int x, int y, enum style st, const char *fmt, ...) PRINTF(5, 6); /* returns next x */
void canvas_style(struct canvas *c, int x, int y, enum style st);                                  /* keep the glyph */
/* As text, lines without trailing blanks, no empty lines at the end; ANSI colours as asked. */
void canvas_print(const struct canvas *c, FILE *f, enum colours colours);
void canvas_print_ansi(const struct canvas *c, FILE *f,
                       enum colours colours); /* with bold and reverse also without colours */
/* The escape sequence that turns a style on, whatever was on before. */
void style_escape(enum style st, enum colours colours, char *out, size_t size);

/* What a style turns on in a terminal. */
enum { INK_BYTES = 40 };
struct ink {
    bool bold, reverse;
    char colour[20];
}; /* a parameter of SGR; "": the terminal's own colour */
struct inks {
    struct ink of[ST_COUNT];
};
void inks_mix(struct inks *inks, enum colours colours);
bool ink_same(const struct ink *a, const struct ink *b);
/* The shortest escape sequence from one to another, NULL: from whatever was on; its bytes, 0: none is needed. */
int ink_change(const struct ink *was, const struct ink *now, char out[INK_BYTES]);
bool cell_blank(struct cell k);                     /* looks like nothing in any style */
int canvas_line_end(const struct canvas *c, int y); /* behind the last cell that is not blank */
uint32_t style_rgb(enum style st);                  /* 0: the terminal's own colour */
bool style_bold(enum style st);
int glyph_utf8(uint32_t glyph, char out[5]);
enum colours colours_of_env(bool terminal);             /* NO_COLOR, COLORTERM, TERM, unless some were chosen */
void colours_choose(int colours);                       /* for terminals; -1: as the environment says */
bool colours_find(const char *name, enum colours *out); /* none, 8, 16, 256, true; restyle.c */
void front_restyle(struct session *s); /* use what `set` says of colours, letters and the mouse; restyle.c */
bool utf8_locale(void);

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
const struct view *view_find(const char *name);
enum { VIEWS_MAX = 16 };

enum keys {
    UI_UP = 0x110000,
    UI_DOWN,
    UI_LEFT,
    UI_RIGHT,
    UI_HOME,
    UI_END,
    UI_PGUP,
    UI_PGDN,
    UI_RESIZE,
    UI_ENTER,
    UI_TAB,
    UI_ESC,
    UI_INTERRUPT,
    UI_BACKTAB,
    UI_CLICK,
    UI_WHEEL_UP,
    UI_WHEEL_DOWN,
    UI_WAIT
};

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

/* ---- frame.c: from what a terminal shows to what it is to show ---- */

struct moves {
    bool right, erase;
}; /* beside ESC [ y ; x H it knows ESC [ n C, and ESC [ K to the end of a line */
/* Is there a cell that would look different? shown: w * h cells, NULL: unknown. */
bool frame_changes(const struct canvas *c, const struct cell *shown);
/* Write what changes, in few bytes; the terminal's styles are unknown before and off behind it. */
void frame_write(const struct canvas *c, const struct cell *shown, struct moves can, FILE *f);

/* ---- term.c: one terminal, borrowed and always given back ---- */

bool term_open(struct err *e); /* the alternate screen, keys one by one */
void term_close(void);         /* as it was; harmless when not open */
bool term_is_open(void);
void term_size(int *w, int *h);         /* of the terminal on stdout, else 80 x 24 */
void term_draw(const struct canvas *c); /* only what changed since the last time */
int term_key(int wait_ms);              /* a key, or -1 when none came; -1 waits without end */
void term_bytes(bool on);               /* term_key gives bytes one by one, for a line; Escape alone stays UI_ESC */
bool term_typed(void);                  /* more was read than taken as keys */
int term_key_between(void);             /* between pieces of work that a key may cut short: a key, or -1 */
enum colours term_colours(void);
void term_mouse(bool on);           /* clicks and the wheel are keys (at first they are), where a terminal has one */
void term_mouse_at(int *x, int *y); /* of the last of them */
/* Signals. Handlers set flags; those of crashes give the terminal back and let the crash go on. */
void term_signals(void);
void term_catch_stop(bool on); /* Ctrl-Z sets a flag (on), or stops the program at once */
bool term_quiet(bool on);      /* keys typed while a command works are kept, and not shown; was it on? */
void term_stop(void);          /* Ctrl-Z: give the terminal back, stop, take it again */
/* Wait for input on stdin or a signal. */
enum happened { H_NOTHING, H_INPUT, H_INTERRUPT, H_STOP, H_RESIZE };
enum happened term_wait(int ms);

/* ---- stage.c: a terminal that is played. While one is set, term.c's functions are about it ---- */

/* A key; with the cell of a click or of the wheel, or the new size that UI_RESIZE tells of. UI_WAIT is no key: what
   follows comes only when nothing is at work. */
struct press {
    int key, x, y;
};
struct stage {
    int w, h;
    enum colours colours;
    bool eager; /* keys cut work short as soon as it looks for one, else they wait for it */
    bool (*next)(void *user, struct press *p); /* false: that was the last */
    void *user;
    bool open, over; /* over: the last was taken; from then on nothing is drawn, and Escape leaves */
    bool held;       /* press was given and not yet taken */
    struct press press;
    int mouse_x, mouse_y;
};
enum { STAGE_MOST = 1000 }; /* columns, and rows */
void stage_begin(struct stage *g);
void stage_end(void);
struct stage *stage_now(void); /* NULL: the terminal is a real one */
bool stage_over(void);
int stage_key(int wait_ms, bool bytes); /* as term_key */

/* Keys as `help keys` names them: "j Tab ':spy' Enter Click:3,4". */
struct presses {
    struct press *press;
    int n, room, next;
};
bool presses_add(struct presses *all, const char *text, struct err *e);
void presses_free(struct presses *all);
bool presses_next(void *user, struct press *p);          /* for a stage, whose user is the presses */
void press_name(struct press p, char *out, size_t size); /* one of them as it could be read again */

/* ---- prompt.c ---- */

void prompt_open(struct session *s); /* history, completion */
void prompt_close(struct session *s);
/* A line (release with mem_free), or NULL at the end of input. */
char *prompt_line(struct session *s);
/* The answer to a question, while a command works; NULL after Ctrl-C too. */
char *prompt_ask(struct session *s, const char *prompt);

/* The line at the bottom of the explorer: readline without its own screen. */
enum line { LINE_ON, LINE_DONE, LINE_LEFT };
bool line_open(struct session *s);
enum line line_key(int key);
char *line_taken(void); /* after LINE_DONE; release with mem_free */
/* What is typed, behind what readline puts before it, and the words it could go on with. */
struct line_shown {
    const char *before, *text;
    int point; /* bytes of text before the cursor */
    char *const *word;
    int words;
};
struct line_shown line_shown(void);

/* ---- guard.c ---- */

/* A process of its own gives the terminal back should this one be killed while `on`. `reset` is written to it; its
   modes become `before` if they still are `raw`. */
void guard(bool on);
void guard_start(const char *reset, const struct termios *before, const struct termios *raw);

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
