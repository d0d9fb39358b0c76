/* Count the entries in each cell of a grid over a matrix: slice by slice, from a sample of rows, or from a table of
   sums. */
#ifndef DENSITY_H
#define DENSITY_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

struct err;

/* To do the work of density_of in slices, call density_begin, then call density_more until it returns false. The caller
   owns the cells and sets them to 0. A slice is about a million entries and takes about a millisecond. */
struct density {
    const struct csr *A;
    struct window win;
    int h, w;
    uint32_t *cells;
    int64_t done; /* rows of cells counted so far */
};
bool density_begin(struct density *d, const struct csr *A, struct window win, int h, int w, uint32_t *cells,
                   struct err *e);
bool density_more(struct density *d);
/* Estimate the counts of density_of from a sample of matrix rows, spread evenly over each row of cells. The time does
   not grow with the size of A. A cell stays 0 if none of its entries are in the sampled rows. */
bool density_sample(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e);
/* Like density_sample, but with a sample of one eighth of the size. The function takes about a millisecond and is meant
   for pictures that change quickly. */
bool density_glance(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e);

/* A summed-area table over cells of 2^down rows by 2^across columns: four of its sums give the number of entries in any
   block of cells. Once the table is built, a picture needs no access to the matrix. */
struct sums {
    const struct csr *A;
    int down, across;
    int64_t h, w; /* number of cells down and across */
    int64_t done; /* number of rows of cells counted so far */
    /* [(h+1) * (w+1)]: number of entries above and to the left of each corner; the table owns this array */
    uint32_t *n;
};
/* Choose the number of cells: at most 2048 in each direction, and about a quarter of the number of entries of A.
   Allocates nothing. */
void sums_begin(struct sums *s, const struct csr *A);
bool sums_ready(const struct sums *s);
/* Count one slice. Returns false when everything has been counted or memory has run out. After running out of memory,
   sums_ready stays false. */
bool sums_more(struct sums *s);
void sums_free(struct sums *s);
/* Do all cells of an h x w grid over the window begin at cell borders of the table? */
bool sums_fit(const struct sums *s, struct window win, int h, int w);
/* Set cells[y*w + x] to the counts that density_of would give. sums_ready and sums_fit must be true. */
void sums_cells(const struct sums *s, struct window win, int h, int w, uint32_t *cells);

#endif
