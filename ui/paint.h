/* Pictures in files: a canvas or a matrix is drawn as coloured rectangles and text, in SVG or PNG. */
#ifndef PAINT_H
#define PAINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "canvas.h"

enum { LINE_POINTS = 512 };

/* A painter draws rectangles, lines and text. Lengths are in pixels; a cell of text is cw x ch pixels. */
struct painter {
    int cw, ch;
    void (*fill)(struct painter *p, uint32_t rgb); /* sets the colour of the following rectangles */
    void (*rect)(struct painter *p, int x, int y, int w, int h);
    void (*done)(struct painter *p); /* ends the rectangles of one colour */
    /* Draw a smooth line through n points, at least 2 and at most LINE_POINTS: xy has x and y of each point. */
    void (*line)(struct painter *p, uint32_t rgb, double width, int n, const double *xy);
    /* Draw one line of UTF-8 that is `cells` cells wide; (x, y) is its top left corner. */
    void (*text)(struct painter *p, int x, int y, uint32_t rgb, bool bold, const char *text, int cells);
};

/* ---- picture.c ---- */

/* The colours on a dark background, as in terminals, or on a light background, as on paper. */
uint32_t paint_ground(bool light);
uint32_t paint_colour(enum style st, bool light);
/* Braille and block glyphs are drawn as rectangles, so that plots need no font. */
void paint_canvas(struct painter *p, const struct canvas *c, bool light);

/* ---- svg.c: no library needed ---- */

struct svg {
    struct painter p; /* must be the first member, because the painter's functions receive a pointer to it */
    FILE *f;
    bool open; /* a path is open */
};
/* Begin a picture of w x h cells. title describes the picture for readers who cannot see it. */
void svg_begin(struct svg *s, FILE *f, int w, int h, bool light, const char *title);
void svg_end(struct svg *s);
/* Write text for SVG or HTML: markup characters and quotes become entities, and control bytes are shown in the form
   that print_safe uses. */
void put_escaped(FILE *f, const char *text);

/* ---- png.c: cairo, opened at its first use ---- */

extern const char *png_cairo_name; /* file name of the library; tests set a name that does not exist */
struct png {
    struct painter p;
    void *surface, *context;
};
/* Begin a picture of w x h cells. Call png_end even if this fails. */
bool png_begin(struct png *g, int w, int h, bool light, struct err *e);
/* The same with cells of cw x ch pixels. */
bool png_begin_sized(struct png *g, int w, int h, int cw, int ch, bool light, struct err *e);
/* Move all later shapes and text by (x, y) pixels. */
void png_shift(struct png *g, int x, int y);
/* The pixels painted so far, 0x00rrggbb each; *stride receives the bytes of a line. Valid until png_end. */
const unsigned char *png_pixels(struct png *g, int *stride);
/* If ok is true, write the picture to f. Release the picture in any case. */
bool png_end(struct png *g, FILE *f, bool ok, struct err *e);

#endif
