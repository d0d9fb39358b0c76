/* What the files of the view roofline share: the plot, with logarithmic axes, and the places of labels. */
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
    int zoom; /* steps */
};

/* The column and the row of a value, in cells; may lie outside the plot. */
double roof_column(const struct roof_plot *p, double intensity);
double roof_row(const struct roof_plot *p, double gflops);
/* Is the kernel inside the plot? Sets its cell. */
bool roof_cell(const struct roof_plot *p, const struct roof_point *at, int *x, int *y);

/* view_roofline_labels.c: draw all kernels, and as many of their names as fit without covering one another; `chosen`
   comes first. Returns the number of names; *inside is the number of kernels in the plot. */
int roof_draw_points(struct canvas *c, const struct roof_plot *p, const struct roofline *r, int chosen, int *inside);

#endif
