/* Charts of numbers: curves over values with axes, and bars with their numbers. As cells, or as shapes if the canvas
   has a figure. */
#ifndef CHART_H
#define CHART_H

#include <stdbool.h>

#include "canvas.h"

enum { CHART_SERIES = 8, CHART_POINTS = 256 };

struct chart_series {
    char name[96];  /* for the legend of curves */
    char after[40]; /* the word after the number of a bar; empty: none */
    enum style style;
    bool dashed;
    double y[CHART_POINTS]; /* NaN: no number */
};
struct chart {
    int n;
    double x[CHART_POINTS]; /* of curves, in ascending or descending order */
    char label[CHART_POINTS][80];
    bool x_log;
    const char *x_name;
    int nseries;
    struct chart_series series[CHART_SERIES];
    int chosen; /* a point to mark; -1: none */
};

/* Draw curves in h lines from line y on: h - CHART_BELOW lines for the plot, then the axis. unit: of y, above its axis,
   in the line before y. */
enum { CHART_BELOW = 3, CHART_MIN_LINES = 7, CHART_MIN_WIDTH = 30 };
void chart_curves(struct canvas *c, const struct chart *g, int y, int h, const char *unit);
/* Draw the names of the curves from line y on, each after its sign. Returns the number of lines. */
int chart_legend(struct canvas *c, const struct chart *g, int y);
/* Draw a line for each number: label, bar, number. The first `skip` lines are left out, and at most h lines are drawn,
   without the axis below them, which has AXIS_LINES lines. Returns the number of lines drawn. */
int chart_bars(struct canvas *c, const struct chart *g, int y, int skip, int h, const char *unit);
int chart_bar_lines(const struct chart *g); /* the lines of all bars */
/* A number with four digits, or as a count. Returns out. */
char *chart_number(double v, char *out, size_t size);

#endif
