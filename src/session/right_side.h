/* The vectors b and x0 of A x = b, named by a word or read from a file. */
#ifndef RIGHT_SIDE_H
#define RIGHT_SIDE_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;

/* b[A->rows]: aones, which is A * ones (the default, NULL), ones, random, zero, or a file. *known_ones is set to
   whether the solution x is all ones. */
bool right_side_make(const struct csr *A, const char *word, uint64_t seed, double *b, bool *known_ones, struct err *e);
/* x0[A->rows]: zero (the default, NULL), ones, random, or a file. */
bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e);

#endif
