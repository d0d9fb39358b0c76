/* The vectors b and x0 of A x = b, named by a word or read from a file. */
#ifndef RIGHT_SIDE_H
#define RIGHT_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/registry.h"

struct csr;
struct err;

/* Fill b[A->rows] by name: aones, ones, random, zero, or a file. aones is A * ones, and is the default (name NULL).
   Sets *known_ones to true if all elements of the solution x are 1, otherwise to false. */
bool right_side_make(const struct csr *A, const char *word, uint64_t seed, double *b, bool *known_ones, struct err *e);
/* Fill x0[A->rows] by name: zero, ones, random, or a file. The default (name NULL) is zero. */
bool start_vector_make(const struct csr *A, const char *word, uint64_t seed, double *x0, struct err *e);

/* Offer the names that stand for b or x0. */
void right_sides_list(give_fn *give, void *user);
void start_vectors_list(give_fn *give, void *user);

#endif
