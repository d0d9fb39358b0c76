/* The vectors of the last solve and of the last SpMV, as copies on the host. */
#ifndef VECTORS_H
#define VECTORS_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct session;

struct vector {
    const char *matrix; /* name of the matrix with which the vector was computed */
    char about[160];    /* "the solution after 40 iterations of cg" */
    int64_t n;
    double *value, *imag; /* [n], owned; imag is NULL for a real vector */
    bool pairs;           /* while the vector is being made: `value` holds n pairs */
};
/* x, b, r or y. x, b and r = b - A x are vectors of the last solve. If there was no solve, x is the operand of the last
   SpMV. y = alpha A x + beta y0 is the result of the last SpMV, computed
   again by its kernel from the same x and y0. */
bool vector_of(struct session *s, const char *name, struct vector *out, struct err *e);
/* The vector of eigenpair `pair` of the last `eigs`, counted from 1. */
bool vector_of_pair(struct session *s, int64_t pair, struct vector *out, struct err *e);
/* The name of the ith vector, from 0 on; NULL after the last vector. */
const char *vector_name(int i);
void vector_free(struct vector *v);

#endif
