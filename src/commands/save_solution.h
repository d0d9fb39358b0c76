/* Writes the solutions of linear systems to the files that lines name after `save`. */
#ifndef SAVE_SOLUTION_H
#define SAVE_SOLUTION_H

#include <stdbool.h>

#include "files/matrix_market.h"

struct args;
struct err;
struct session;

/* May the line write the file that it names after `save`? Without `force`, the file must be new. True if it names
   none. */
bool save_allowed(const struct args *a, struct err *e);
/* Write the columns of x to the file that the line names, if it names one, and say so. */
bool save_solution(struct session *s, const struct args *a, const struct mtx_columns *x, struct err *e);

#endif
