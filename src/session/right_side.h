/* The vectors b and x0 of A x = b, named by a word or read from a file. */
#ifndef RIGHT_SIDE_H
#define RIGHT_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"

struct csr;
struct err;
struct matrix;
struct out;

/* One or more right sides of a matrix. If the matrix is complex, an element is a pair of numbers. */
struct right_sides {
    int64_t n;           /* right sides */
    int64_t each;        /* numbers in one of them */
    const double *b;     /* [n * each], one right side after another; lent by the matrix unless it is `own` */
    const double *x;     /* [n * x_each]: the solutions, lent by the matrix unless it is `own_x`; NULL: not known */
    int64_t x_each;      /* numbers in one solution */
    const char *x_from;  /* what gives x: "file" or "varied"; NULL if x is NULL */
    bool known_ones;     /* all elements of the solutions are 1 */
    bool up_to_constant; /* x + c solves the system, too, for any constant c */
    const char *name;    /* aones, given, ..., or the file as the user typed it */
    bool from_file;      /* of the matrix or of its own */
    bool replaces_ones;  /* the default: avaried, because aones tests nothing */
    double *own;         /* memory of b; NULL: b is lent */
    double *own_x;       /* memory of x; NULL: x is lent, or not known */
};
/* Make right sides by name: given (those of the matrix's own file), aones, avaried, ones, random, zero, or a file of
   one or more columns. aones is A * ones. avaried is A * x with x_i = v_i - (the mean of v) and
   v_i = (40503 i (i + 1) / 2 mod 65536) / 65536, i from 0. The default (name NULL) is `given` if the matrix has right
   sides, otherwise aones or, if A * ones is 0 or a multiple of ones up to about 1e-3 of |A| * ones (root of the mean
   square of the rows), avaried. The caller calls right_sides_free. */
bool right_sides_make(const struct matrix *m, const char *word, uint64_t seed, struct right_sides *r, struct err *e);
void right_sides_free(struct right_sides *r);
/* Why b is not aones, as a note, if the default is avaried. */
void right_sides_note(struct out *o, const struct right_sides *r);
/* Fill x0[A->cols] by name: zero, ones, random, or a file. The default (name NULL) is zero. */
bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e);
/* The same for a solve with right side i: `given` is the guess in the file of the matrix or, without one,
   the solution. */
bool guess_make(const struct matrix *m, const char *word, uint64_t seed, int64_t i, double *x0, struct err *e);

/* Offer the names that stand for b, for a start vector, and for the x0 of a solve. */
void right_sides_list(give_fn *give, void *user);
void start_vectors_list(give_fn *give, void *user);
void guesses_list(give_fn *give, void *user);

#endif
