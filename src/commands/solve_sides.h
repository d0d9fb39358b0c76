/* Solves with the right side of a line of `solve`, or with each of several. */
#ifndef SOLVE_SIDES_H
#define SOLVE_SIDES_H

#include <stdbool.h>

struct err;
struct solve_line;

/* Solve with the right side that the line chooses, or with all, one after another, and print the result; for several,
   a row for each. l->o.solver iterates. */
bool solve_sides(struct solve_line *l, struct err *e);

#endif
