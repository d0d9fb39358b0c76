/* The canvas: styled cells that every view draws on, as plain text, with ANSI colours or for a terminal. */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/base.h"

struct err;

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

/* What a style is in a terminal: bold, in reverse, and a colour, -1 for the terminal's own: an index of 8, 16 or 256,
   or 0xrrggbb for COLOURS_24BIT. */
bool style_bold(enum style st);
bool style_reverse(enum style st);
int style_colour(enum style st, enum colours colours);
uint32_t style_rgb(enum style st);                  /* 0: the terminal's own colour */
bool cell_blank(struct cell k);                     /* looks like nothing in any style */
int canvas_line_end(const struct canvas *c, int y); /* behind the last cell that is not blank */
int glyph_utf8(uint32_t glyph, char out[5]);
enum colours colours_of_env(bool terminal);             /* NO_COLOR, COLORTERM, TERM, unless some were chosen */
void colours_choose(int colours);                       /* for terminals; -1: as the environment says */
bool colours_find(const char *name, enum colours *out); /* none, 8, 16, 256, true */
bool utf8_locale(void);

#endif
