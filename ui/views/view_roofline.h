/* The structs and functions that the files of the view roofline share: the plot, with logarithmic axes, and the places
   of labels. */
#ifndef VIEW_ROOFLINE_H
#define VIEW_ROOFLINE_H

#include <stdbool.h>

#include "advice/roofline.h"

struct canvas;

/* The plot in cells, and the decimal logarithms at its edges. */
struct roof_plot {
    int x, y, w, h;
    double left, right, bottom, top;
    enum roof_bytes by;
};
struct roof_state {
    int by;   /* enum roof_bytes */
    int zoom; /* steps; 0: around all kernels, -1: up to the flat roof */
};

/* ---- view_roofline_plot.c ---- */

/* The plot on a canvas that has `below` lines below the axis: all kernels, or, zoomed in, those around `chosen`. */
struct roof_plot roof_plot_of(const struct canvas *c, const struct roofline *r, const struct roof_state *own,
                              int chosen, int below);
void roof_draw_axes(struct canvas *c, const struct roof_plot *p);
/* The column and the row of a value, in cells; may lie outside the plot. */
double roof_column(const struct roof_plot *p, double intensity);
double roof_row(const struct roof_plot *p, double gflops);
double roof_intensity(const struct roof_plot *p, double column); /* the inverse of roof_column */
/* Is the kernel inside the plot? Sets its cell. */
bool roof_cell(const struct roof_plot *p, const struct roof_point *at, int *x, int *y);

/* ---- view_roofline_labels.c ---- */

/* Draw all kernels, and as many of their names as fit without covering one another; `chosen`
   comes first. Returns the number of names; *inside is the number of kernels in the plot. */
int roof_draw_points(struct canvas *c, const struct roof_plot *p, const struct roofline *r, int chosen, int *inside);

#endif
