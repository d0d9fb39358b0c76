/* Count the entries in each cell of a grid over a matrix: slice by slice, from a sample of rows, or from a table of
   sums. */
#ifndef DENSITY_H
#define DENSITY_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

struct err;

/* To do the work of density_of in slices, call density_begin, then density_more until it returns false. The caller owns
   the cells and sets them to 0. A slice is about a million entries and takes about a millisecond. */
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
/* Estimate what density_of would count, from a sample of matrix rows spread evenly over each row of cells. The time
   does not grow with A. A cell stays 0 if none of its entries are in the sampled rows. */
bool density_sample(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e);
/* The same from an eighth of the rows, for pictures that move: it takes about a millisecond. */
bool density_glance(const struct csr *A, struct window win, int h, int w, uint32_t *cells, struct err *e);

/* A summed-area table over cells of 2^down rows by 2^across columns: four of its sums give the number of entries in any
   block of cells. Once it is built, a picture needs no access to the matrix. */
struct sums {
    const struct csr *A;
    int down, across;
    int64_t h, w, done; /* cells down and across; rows of cells counted so far */
    uint32_t *n;        /* [(h+1) * (w+1)]: the entries above and left of each corner; owned */
};
/* Choose the cells: at most 2048 each way, and about a quarter as many as A has entries. Allocates nothing. */
void sums_begin(struct sums *s, const struct csr *A);
bool sums_ready(const struct sums *s);
/* Count one slice. Returns false when everything is counted, or if memory ran out; sums_ready stays false if memory ran
   out. */
bool sums_more(struct sums *s);
void sums_free(struct sums *s);
/* Do all cells of an h x w grid over the window begin at cell borders of the sums? */
bool sums_fit(const struct sums *s, struct window win, int h, int w);
/* Set cells[y*w + x] to the counts that density_of would give. sums_ready and sums_fit must be true. */
void sums_cells(const struct sums *s, struct window win, int h, int w, uint32_t *cells);

#endif
