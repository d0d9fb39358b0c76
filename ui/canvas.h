/* The canvas: styled cells that every view draws on. A canvas is printed as plain text or with ANSI colours, or shown
   on a terminal. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

struct err;
struct figure;

/* The meaning of a cell; the palette gives it a colour. */
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
}; /* glyph 0 is the right half of a wide glyph */
struct canvas {
    int w, h;
    bool ascii; /* canvas_put replaces each glyph by an ASCII character */
    struct cell *cell;
    struct figure *figure; /* receives lines, bars and axes instead of the cells; NULL: the cells show them */
    enum colours colours;  /* the colours in which styles will be shown; without colours, views use words instead */
};

bool canvas_new(struct canvas *c, int w, int h, bool ascii, struct err *e);
void canvas_free(struct canvas *c);
void canvas_clear(struct canvas *c);
void canvas_put(struct canvas *c, int x, int y, enum style st, uint32_t glyph); /* outside: ignored */
int canvas_text(struct canvas *c, int x, int y, enum style st, const char *fmt, ...)
    PRINTF(5, 6);                                                 /* returns the column after the text */
void canvas_style(struct canvas *c, int x, int y, enum style st); /* keep the glyph */
/* Print as text, without trailing blanks and without empty lines at the end, with ANSI colours unless `colours` is
   COLOURS_NONE. */
void canvas_print(const struct canvas *c, FILE *f, enum colours colours);
void canvas_print_line(const struct canvas *c, int y, FILE *f, enum colours colours); /* without its line end */
void canvas_print_ansi(const struct canvas *c, FILE *f,
                       enum colours colours); /* uses bold and reverse even without colours */
/* The escape sequence that turns a style on after any other style. */
void style_escape(enum style st, enum colours colours, char *out, size_t size);

/* How a terminal shows a style: bold, reverse, and a colour. The colour is an index into 8, 16 or 256 colours, 0xrrggbb
   for COLOURS_24BIT, or -1 for the terminal's own colour. */
bool style_bold(enum style st);
bool style_reverse(enum style st);
int style_colour(enum style st, enum colours colours);
uint32_t style_rgb(enum style st, bool light); /* on such a background; 0: its own colour */
/* The colours of terminals are those for a dark or for a light background; initially, dark. */
void theme_choose(bool light);
bool theme_is_light(void);
bool cell_blank(struct cell k);                     /* is the cell invisible? */
int canvas_line_end(const struct canvas *c, int y); /* the column after the last cell that is not blank */
int glyph_utf8(uint32_t glyph, char out[5]);
/* The colours chosen by colours_choose or, if none were chosen, by NO_COLOR, COLORTERM and TERM. */
enum colours colours_of_env(bool terminal);
void colours_choose(int colours);                       /* sets the colours of terminals; -1: follow the environment */
bool colours_find(const char *name, enum colours *out); /* none, 8, 16, 256, true */
bool utf8_locale(void);

#endif
