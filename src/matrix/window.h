/* A window of a matrix, and the number of entries in each cell of a grid over the window. */
#ifndef WINDOW_H
#define WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct watch;

/* Rows row0 .. row1-1, columns col0 .. col1-1. */
struct window {
    int64_t row0, row1, col0, col1;
};
/* Add to cells[y*w + x] the number of entries of A in cell (y, x) of the h x w grid over the window. Row r is in row y
   of the grid, y = floor((r-row0)*h / (row1-row0)), so the cells in row y of the grid begin at row row0 +
   ceil(y*(row1-row0) / h). Columns are assigned to cells by the same rule. Every entry of the window is in exactly one
   cell; a window may reach beyond A. Parallel: 10^7 nonzeros take less than 60 ms on two cores. */
bool density_of(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct watch *watch,
                struct err *e);

#endif
