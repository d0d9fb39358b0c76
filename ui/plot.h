/* Residuals on a log scale: the frame, the scale and the dots that the views of solves and races share. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>

#include "canvas.h"

struct solve;

enum { PLOT_LEFT = 8 }; /* columns of the scale at the left */

/* The canvas cells of a plot, and the decades its height spans. */
struct plot {
    int x, y, w, h;
    double low, high;
};

/* As wide as the canvas, h lines from line y on, for residuals from least to most. */
struct plot plot_new(const struct canvas *c, int y, int h, double least, double most);
/* Whether a residual has a place on a log scale. */
bool can_plot(double residual);
/* The dot, of `dots` from the top, at which a residual lies. */
int plot_level(const struct plot *p, double residual, int dots);
/* The scale and both axes, and a line at the tolerance if that is above 0. */
void plot_scale(struct canvas *c, const struct plot *p, double tol);
/* Dot (x, y), 2 by 4 of them a cell; in ASCII the cell is `letter`. */
void plot_dot(struct canvas *c, const struct plot *p, int x, int y, enum style st, char letter);
/* The residual at a place between two iterations, where the line is straight on the log scale; NaN beyond the last. */
double plot_between(const struct solve *v, double at);

#endif
