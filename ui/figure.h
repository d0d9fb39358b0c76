/* Shapes finer than cells: lines, rectangles and words at any position. A view draws them instead of braille and block
   glyphs if its canvas becomes a picture in a file. Lengths are in cells of the canvas; (0, 0) is its top left
   corner. */
#ifndef FIGURE_H
#define FIGURE_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"

struct painter;

enum shape_kind { SHAPE_LINE, SHAPE_RECT, SHAPE_WORDS, SHAPE_RASTER };
/* Dots in styles, line by line; ST_COUNT: no dot. */
struct raster {
    int w, h;
    const uint8_t *style; /* not owned */
    int64_t version;      /* two rasters of the same view with the same version are equal */
};
struct shape {
    enum shape_kind kind;
    enum style style;
    double strength; /* 1: the colour of the style; towards 0, the colour of the background */
    double x, y, w, h;
    double width; /* for lines only; a thin line has width 1 */
    struct raster raster;
    int64_t from, n; /* a line has n points, and words have n bytes, beginning at `from` */
};
struct figure {
    struct shape *shape; /* all three arrays are owned */
    double *point;       /* x and y of each point */
    char *text;
    int64_t nshapes, npoints, nbytes, room[3];
    int cw, ch;    /* pixels of a cell; 0: unknown */
    double bottom; /* y of the lower edge of the lowest shape */
    bool failed;   /* a shape is missing, because there was not enough memory */
};
enum side { SIDE_LEFT, SIDE_MIDDLE, SIDE_RIGHT };

void figure_free(struct figure *f);
void figure_rect(struct figure *f, enum style st, double strength, double x, double y, double w, double h);
/* Begin a line; figure_point continues it. */
void figure_line(struct figure *f, enum style st, double strength, double width);
void figure_point(struct figure *f, double x, double y);
/* Draw a straight line, or a circle whose radius r is in widths of a cell. */
void figure_stroke(struct figure *f, enum style st, double strength, double x0, double y0, double x1, double y1);
void figure_circle(struct figure *f, enum style st, double x, double y, double r);
/* One line of text whose left side, middle or right side is at x; y is its upper edge. */
void figure_words(struct figure *f, enum style st, enum side side, double x, double y, const char *text);
/* Draw a raster in a rectangle. Its styles must stay unchanged until the figure is painted. */
void figure_raster(struct figure *f, double x, double y, double w, double h, struct raster raster);
/* Add the shapes of another figure, moved by (x, y). */
void figure_add(struct figure *f, const struct figure *from, double x, double y);
/* Remove all shapes; the memory is kept. */
void figure_clear(struct figure *f);
void figure_paint(const struct figure *f, struct painter *p, bool light);

/* ---- axis.c ---- */

/* How numbers map to a length: evenly, by their logarithm, or by log(1 + v), which can show 0. RULER_WHOLE maps numbers
   evenly, and has ticks only at whole numbers. */
enum ruler_kind { RULER_EVEN, RULER_WHOLE, RULER_LOG, RULER_LOG1 };
struct ruler {
    enum ruler_kind kind;
    double low, high; /* low < high; RULER_LOG: above 0 */
    const char *unit; /* follows each number, such as "%"; NULL: none */
};
/* The position of v on the ruler, from 0 (low) to 1 (high), and never outside this range. */
double ruler_at(const struct ruler *r, double v);
enum { TICKS_MAX = 64 };
/* Fill `tick` with round numbers between low and high; at most `most` steps lie between the first and the last number.
   Returns the number of ticks. */
int ruler_ticks(const struct ruler *r, int most, double tick[TICKS_MAX]);
/* Draw a horizontal axis, w cells wide, with numbers below it and `name` below its right end. If h is above 0, thin
   lines, h cells long, go up from the ticks. The axis has AXIS_LINES lines. */
enum { AXIS_LINES = 2 };
void axis_across(struct figure *f, const struct ruler *r, double x, double y, double w, double h, const char *name);
/* Draw the axis of a bar chart whose bars are in `lines` lines from line y on. The axis is below the bars and has
   AXIS_LINES lines. Thin lines go up to line y. */
void axis_below_bars(struct figure *f, const struct ruler *r, double x, int y, int lines, double w, const char *name);
/* Draw a vertical axis that begins at the bottom. It is h cells high, its upper end is at y, its numbers are to the
   left, and thin lines, w cells long, go to the right. */
void axis_up(struct figure *f, const struct ruler *r, double x, double y, double h, double w);
/* Draw a vertical axis that begins at the top, with numbers to the left. */
void axis_down(struct figure *f, const struct ruler *r, double x, double y, double h);

#endif
