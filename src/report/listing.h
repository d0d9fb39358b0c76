/* Numbers with their indices, printed as a grid as wide as the terminal, or as rows of JSON or CSV. */
#ifndef LISTING_H
#define LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct out;

/* The entries of a row or a column, or the elements of a vector. */
struct numbers {
    const char *matrix, *what; /* name of the matrix; "row", "col", or the name of a vector */
    bool column;               /* the numbers are the entries of a column */
    int64_t line;              /* the row or the column; -1 for a vector */
    int64_t n;
    const int *at; /* [n]: the index of each number; NULL: first, first + 1, ... */
    int64_t first;
    const double *re, *im; /* [n]; im is NULL for real numbers */
};
enum { LISTING_LINES = 16, NUMBER_TEXT = 64 };
/* Print at most `lines` lines of text (0: no limit), or all numbers in JSON and CSV. *shown receives how many numbers
   were printed. */
bool listing_print(struct out *o, const struct numbers *v, int lines, int64_t *shown, struct err *e);
/* One element of a matrix or a vector as a row of JSON or CSV; text does not show the row. col -1: the element has no
   column. */
void listing_row(struct out *o, const char *matrix, const char *what, int64_t row, int64_t col, double re, double im,
                 bool stored);
/* "-1.5", or "2-1.5i" if im is not 0, with 6 digits or as many as stated. NaN is "nan". Returns out. */
char *number_text(double re, double im, char out[NUMBER_TEXT]);
char *number_digits(double re, double im, int digits, char out[NUMBER_TEXT]);
/* Width of the terminal, or 80 if text does not go to a terminal. */
int listing_width(const struct out *o);

#endif
