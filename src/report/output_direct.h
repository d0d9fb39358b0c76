/* Prints direct solves. */
#ifndef OUTPUT_DIRECT_H
#define OUTPUT_DIRECT_H

#include <stdint.h>

struct direct_answer;
struct out;
struct row_kind;
struct solve;

/* Print an answer, and the error of the iterative solve `before`, which may be NULL, if it solved the same system. */
void out_direct(struct out *o, const struct direct_answer *a, const struct solve *before);
/* Print the answer for one column of the right sides named b, as a row of a table. */
void out_direct_column(struct out *o, const struct direct_answer *a, const char *b, int64_t column);

/* The keys of rows (fields.h). */
extern const struct row_kind row_solve_direct_column, row_solve_direct;

#endif
