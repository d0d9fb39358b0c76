/* The right sides that a file contains beside its matrix, and the solutions if the file contains these too. */
#ifndef SIDES_H
#define SIDES_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct load_info;

/* The right sides B and the solutions X of A X = B. If A is complex, each element is a pair of a real and an imaginary
   part, otherwise one number. */
struct sides {
    int64_t n;      /* right sides; 0: none */
    int64_t b_each; /* numbers in one right side: the rows of A, or twice as many */
    int64_t x_each; /* numbers in one solution: the columns of A, or twice as many */
    double *b;      /* owned: [n * b_each], one right side after another; NULL: none */
    double *x;      /* owned: [n * x_each], one solution after another; NULL: not known */
    double *guess;  /* owned: [n * x_each], a first guess of each solution; NULL: none */
};
void sides_free(struct sides *t);
/* Right side i, its solution, and the first guess of the solution; NULL if there is none. */
const double *sides_b(const struct sides *t, int64_t i);
const double *sides_x(const struct sides *t, int64_t i);
const double *sides_guess(const struct sides *t, int64_t i);
int64_t sides_memory(const struct sides *t); /* bytes of the arrays */

/* The right sides of A: n columns of b, whose owner becomes the result. */
struct sides sides_of_columns(const struct csr *A, int64_t n, double *b);

/* A dense array from a file, one column after another. */
struct dense_array {
    int64_t rows, cols;
    double *val, *imag; /* owned: [rows * cols]; `imag` is NULL if the array is real; both NULL: there is no array */
};
bool dense_array_new(struct dense_array *d, int64_t rows, int64_t cols, bool complex_values, struct err *e);
void dense_array_free(struct dense_array *d);
/* Store `b` and `x` in *t, which is empty, as far as they fit A: a note in `info` names an array that does not fit, and
   the array is left out. The arrays are not modified. Fails only without memory. */
bool sides_fill(struct sides *t, const struct csr *A, const struct dense_array *b, const struct dense_array *x,
                struct load_info *info, struct err *e);
/* The same for guesses, after sides_fill. */
bool sides_add_guess(struct sides *t, const struct csr *A, const struct dense_array *guess, struct load_info *info,
                     struct err *e);

#endif
