/* The values in each cell of a grid over a window of a matrix: the largest absolute value and the signs, found slice by
   slice or estimated from a sample of rows. */
#ifndef CELL_VALUES_H
#define CELL_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "window.h"

struct csr;
struct err;
struct watch;

/* The signs that occur in a cell. Zeros and NaN have no sign. A complex value has no sign either. */
enum { SIGN_PLUS = 1, SIGN_MINUS = 2, SIGN_NONE = 4 };

/* Marks to collect in place of signs: `mark` gives the bits of the entry (row, col), not 0. It may be called by several
   threads. */
struct cell_marker {
    uint8_t (*mark)(const void *user, int64_t row, int64_t col); /* NULL: signs */
    const void *user;
};

/* Cell (y, x) has the index y*w + x. The struct owns both arrays. */
struct cell_values {
    int h, w;
    struct cell_marker marker; /* set after cell_values_new; the magnitudes are then not looked at */
    uint64_t *largest; /* the bits of the largest |a|: as integers, these bits have the same order as the values */
    uint8_t *signs;    /* signs or marks; 0: no entry has been seen in the cell */
};
bool cell_values_new(struct cell_values *v, int h, int w, struct err *e);
void cell_values_free(struct cell_values *v);
double cell_largest(const struct cell_values *v, int64_t i);

/* To look at all entries in slices, call survey_begin, then call survey_more until it returns false. A slice is about
   half a million entries and takes about a millisecond; the matrix is only read. The assignment of entries to cells and
   the limits of the window are those of density_of. */
struct survey {
    const struct csr *A;
    struct window win;
    struct cell_values *to; /* just made by cell_values_new; owned by the caller */
    int64_t done, end;      /* the next entry, and the end of the entries */
};
void survey_begin(struct survey *t, const struct csr *A, struct window win, struct cell_values *to);
bool survey_more(struct survey *t);
bool cell_values_of(const struct csr *A, struct window win, struct cell_values *to, struct watch *watch, struct err *e);
/* Look at a sample of the rows, spread evenly over each row of cells. The time does not grow with the size of A. */
void cell_values_glance(const struct csr *A, struct window win, struct cell_values *to);

#endif
