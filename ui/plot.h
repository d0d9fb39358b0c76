/* Plots of residuals on a log scale, for the views of solves and races: frame, scale and dots. */
#ifndef PLOT_H
#define PLOT_H

#include <stdbool.h>

#include "canvas.h"
#include "figure.h"

struct solve;

enum { PLOT_LEFT = 8 }; /* columns of the scale at the left */

/* The canvas cells of a plot, and the decades its height spans. */
struct plot {
    int x, y, w, h;
    double low, high;
};

/* A plot as wide as the canvas and h lines high, with its top at line y, for residuals from least to most. */
struct plot plot_new(const struct canvas *c, int y, int h, double least, double most);
/* Can the residual be shown on a log scale? */
bool can_plot(double residual);
/* The row of dots that shows a residual, counted from the top. The plot has `dots` rows of dots. */
int plot_level(const struct plot *p, double residual, int dots);
/* The position of a residual, from 0 at the top of the plot to 1 at the bottom. */
double plot_depth(const struct plot *p, double residual);
/* Draw the scale and both axes, and a line at the tolerance if it is above 0. On a canvas with a figure, the caller
   draws the horizontal axis. */
void plot_scale(struct canvas *c, const struct plot *p, double tol);
/* On a canvas with a figure, draw the horizontal axis, from 0 to `far`. */
void plot_across(struct canvas *c, const struct plot *p, enum ruler_kind kind, double far, const char *name);
/* Set dot (x, y); a cell has 2 x 4 dots. In ASCII, the cell becomes `letter`. */
void plot_dot(struct canvas *c, const struct plot *p, int x, int y, enum style st, char letter);
/* The residual between two iterations, interpolated linearly on the log scale; NaN after the last iteration. */
double plot_between(const struct solve *v, const double *history, double at);

#endif
