/* Counting the entries of parts of a matrix a slice at a time, by sample, or from sums kept once. */
#ifndef DENSITY_H
#define DENSITY_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

struct err;

/* density_of in slices: begin, then more until it says that nothing is left. The cells begin as zeros and belong to the
   caller. A slice is about 4 million entries, a few milliseconds. */
struct density {
    const struct csr *A;
    struct window win;
    int h, w;
    uint32_t *cells;
    int64_t done; /* rows of cells */
};
bool density_begin(struct density *d, const struct csr *A, struct window win, int h, int w, uint32_t *cells,
                   struct err *e);
bool density_more(struct density *d);
/* What density_of would count, guessed from rows spread evenly over each row of cells, each of them counted whole: time
   does not grow with A, a dense matrix has no pattern, and what has no entry in the rows looked at is missed. */
bool density_sample(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e);

/* Entries above and left of the corners of cells of 2^down rows by 2^across columns, so that four of them give the
   count of any block of cells: counted once, a picture takes no look at the matrix. */
struct sums {
    const struct csr *A;
    int down, across;
    int64_t h, w, done; /* cells each way; rows of them that are counted */
    uint32_t *n;        /* (h+1) x (w+1), row by row */
};
/* Choose the cells, at most 2048 each way and about a quarter as many as A has entries; no memory is taken yet. */
void sums_begin(struct sums *s, const struct csr *A);
bool sums_ready(const struct sums *s);
/* A slice of the counting; false: it is done, or failed for want of memory and is not ready. */
bool sums_more(struct sums *s);
void sums_free(struct sums *s);
/* Do all cells of an h x w picture of the window begin where cells of the sums do? */
bool sums_fit(const struct sums *s, struct window win, int h, int w);
/* cells[y*w + x] = entries in that cell, as density_of counts; the sums are ready and fit. */
void sums_cells(const struct sums *s, struct window win, int h, int w, uint32_t *cells);

#endif
