/* `solve` without a method. */
#ifndef SOLVE_CHOICE_H
#define SOLVE_CHOICE_H

#include <stdbool.h>

struct err;
struct solve_line;

/* Choose a method as `advise solver` does, say why, and solve by it. */
bool solve_by_choice(struct solve_line *l, struct err *e);

#endif
