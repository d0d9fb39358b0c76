/* Pictures in files: what a canvas or a matrix looks like as coloured rectangles and text, written as SVG or PNG. */
#ifndef PAINT_H
#define PAINT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "canvas.h"

struct matrix;
struct watch;
struct window;

/* What takes rectangles and text. Lengths are pixels; a cell of text is cw x ch of them. */
struct painter {
    int cw, ch;
    void (*fill)(struct painter *p, uint32_t rgb); /* the colour of the rectangles that follow */
    void (*rect)(struct painter *p, int x, int y, int w, int h);
    void (*done)(struct painter *p); /* after the last rectangle of a colour */
    /* One line of UTF-8 that takes so many cells, from the top left corner (x, y). */
    void (*text)(struct painter *p, int x, int y, uint32_t rgb, bool bold, const char *text, int cells);
};

/* ---- picture.c ---- */

/* The colours of a ground, dark as terminals are, or light as paper is. */
uint32_t paint_ground(bool light);
uint32_t paint_colour(enum style st, bool light);
/* Braille and block glyphs are drawn as rectangles, so that plots need no font. */
void paint_canvas(struct painter *p, const struct canvas *c, bool light);
/* A window of a matrix in at most w x h pixels, from (0, 0), as fine as pixels are, with its title and legend: a
   pixel's colour is how full its elements are, on a log scale; where anything is stored, something is seen. */
bool paint_spy(struct painter *p, const struct matrix *m, struct window win, int w, int h, bool light,
               struct watch *watch, struct err *e);

/* ---- svg.c: no library needed ---- */

struct svg {
    struct painter p; /* first, for the functions in it */
    FILE *f;
    bool open; /* a path is */
};
/* w x h cells. title: describes the picture for readers who cannot see it. */
void svg_begin(struct svg *s, FILE *f, int w, int h, bool light, const char *title);
void svg_end(struct svg *s);
/* Text for SVG or HTML: marks and quotes written as entities, control bytes as print_safe does. */
void put_escaped(FILE *f, const char *text);

/* ---- png.c: cairo, opened at its first use ---- */

extern const char *png_cairo_name; /* of the library; tests name one that does not exist */
struct png {
    struct painter p;
    void *surface, *context;
};
/* w x h cells. Whatever comes back, png_end follows. */
bool png_begin(struct png *g, int w, int h, bool light, struct err *e);
/* ok: write the picture to f; release it. */
bool png_end(struct png *g, FILE *f, bool ok, struct err *e);

#endif
