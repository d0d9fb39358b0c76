/* Prints solves by iteration. */
#ifndef OUTPUT_SOLVE_H
#define OUTPUT_SOLVE_H

#include <stddef.h>

struct out;
struct row_kind;
struct solve;
struct solve_right;

/* Print the result of a solve that has ended. */
void out_solve(struct out *o, const struct solve *v);
/* Print the result for one of several right sides, as a row of a table. */
void out_solved_column(struct out *o, const struct solve *v);
/* Print the iteration and the residuals of a solve, as a part of a row. */
void out_reached(struct out *o, const struct solve *v);
/* Print them as a row of a table. */
void out_iterate(struct out *o, const struct solve *v);
/* The same with the largest |x' - x|, if the solver computes it. */
void out_iteration(struct out *o, const struct solve *v, double us);
/* A right side as text, such as "given, from the file of the matrix". Returns out. */
const char *solve_right_text(const struct solve_right *r, char *out, size_t size);

/* The keys of rows (fields.h): what the functions above print, and an iteration as the view solve exports it. */
extern const struct row_kind row_iterate, row_step_iteration, row_solved, row_solve_column;

#endif
