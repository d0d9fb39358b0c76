/* The vectors b and x0 of A x = b, named by a word or read from a file. */
#ifndef RIGHT_SIDE_H
#define RIGHT_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"

struct csr;
struct err;
struct matrix;

/* One or more right sides of a matrix. If the matrix is complex, an element is a pair of numbers. */
struct right_sides {
    int64_t n;        /* right sides */
    int64_t each;     /* numbers in one of them */
    const double *b;  /* [n * each], one right side after another; lent by the matrix unless it is `own` */
    const double *x;  /* [n * x_each]: the solutions as their file gives them, lent by the matrix; NULL: not known */
    int64_t x_each;   /* numbers in one solution */
    bool known_ones;  /* all elements of the solutions are 1 */
    const char *name; /* aones, given, ..., or the file as the user typed it */
    bool from_file;   /* of the matrix or of its own */
    double *own;      /* memory of b; NULL: b is lent */
};
/* Make right sides by name: given (those of the matrix's own file), aones, ones, random, zero, or a file of one or more
   columns. aones is A * ones. The default (name NULL) is `given` if the matrix has right sides, otherwise aones. The
   caller calls right_sides_free. */
bool right_sides_make(const struct matrix *m, const char *word, uint64_t seed, struct right_sides *r, struct err *e);
void right_sides_free(struct right_sides *r);
/* Fill x0[A->rows] by name: zero, ones, random, or a file. The default (name NULL) is zero. */
bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e);
/* The same for a solve with right side i: `given` is the solution in the file of the matrix. */
bool guess_make(const struct matrix *m, const char *word, uint64_t seed, int64_t i, double *x0, struct err *e);

/* Offer the names that stand for b, for a start vector, and for the x0 of a solve. */
void right_sides_list(give_fn *give, void *user);
void start_vectors_list(give_fn *give, void *user);
void guesses_list(give_fn *give, void *user);

#endif
