/* Matrices without values: those of pattern files, whose entries count as ones where a product needs values. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

struct csr;
struct matrix;
struct session;

bool matrix_is_pattern(const struct matrix *m);
/* The field of a matrix A that was made from m: "pattern" if m is a pattern and every entry of A is still a 1. */
const char *field_after(const struct matrix *m, const struct csr *A);
/* If m is a pattern, note that a solve uses values which nobody gave. */
void note_pattern(struct session *s, const struct matrix *m);

#endif
