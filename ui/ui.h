/* The screen: a canvas of styled cells that every view draws on, and what takes it to a terminal. */
#ifndef UI_H
#define UI_H

#include "../src/solver.h"

/* What a cell means; term.c and canvas_print give it a colour. */
enum style {
    ST_PLAIN, ST_DIM, ST_BOLD, ST_TITLE, ST_GOOD, ST_WARN, ST_BAD, ST_PAD, ST_CURSOR, ST_AXIS, ST_BAR,
    ST_PLOT_A, ST_PLOT_B,
    ST_RAMP,                 /* ST_RAMP .. ST_RAMP+7: density, low to high */
    ST_ROW = ST_RAMP + 8,    /* ST_ROW .. ST_ROW+7: colours of rows in layout */
    ST_COUNT = ST_ROW + 8
};

struct cell { uint32_t glyph; uint8_t style; };
struct canvas { int w, h; bool ascii; struct cell *cell; };

bool canvas_new(struct canvas *c, int w, int h, bool ascii, struct err *e);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
void canvas_put(struct canvas *c, int x, int y, enum style st, uint32_t glyph); /* outside: ignored */
int canvas_text(struct canvas *c, int x, int y, enum style st, const char *fmt, ...) PRINTF(5, 6); /* returns next x */
enum colours { COLOURS_NONE, COLOURS_16, COLOURS_256, COLOURS_24BIT };
/* As text, lines without trailing blanks; ANSI colours as asked. */
void canvas_print(const struct canvas *c, FILE *f, enum colours colours);
enum colours colours_of_env(bool terminal); /* NO_COLOR, COLORTERM, TERM */
bool utf8_locale(void);

/* Per-view position; kept by the session's front while the program runs. */
struct view_state {
    struct window win;        /* visible part of the matrix */
    int64_t row, col;         /* cursor */
    int64_t scroll, item;     /* lists: first shown, chosen */
    const struct format *format; /* layout */
    const struct matrix *of;  /* the matrix this state belongs to; another one resets it */
    bool help;
    char message[120];
};

/* A view is view_NAME.c and one line in views.def. draw reads the session and never changes it. */
struct view {
    const char *name, *about, *keys;
    void (*draw)(struct canvas *c, struct session *s, struct view_state *st);
    /* true: redraw. Keys are characters or curses KEY_ codes as in enum keys. */
    bool (*key)(struct session *s, struct view_state *st, int key);
};
extern const struct view *const views[]; /* ended by NULL */
const struct view *view_find(const char *name);

enum keys { UI_UP = 0x110000, UI_DOWN, UI_LEFT, UI_RIGHT, UI_HOME, UI_END, UI_PGUP, UI_PGDN, UI_RESIZE, UI_ENTER, UI_TAB, UI_ESC };

#endif
