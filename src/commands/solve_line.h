/* A line of `solve` that iterates: what it asks for, and what is done with one right side. */
#ifndef SOLVE_LINE_H
#define SOLVE_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "language/solve_request.h"
#include "matrix/csr.h"

struct args;
struct err;
struct matrix;
struct session;

struct solve_line {
    struct session *s;
    struct matrix *m;
    const struct args *a;
    struct solve_options o; /* solve_line_begin sets its vectors */
    struct sides_request right;
    struct csr mass; /* the matrix after `mass`; empty: none */
};
/* Begin the session's solve with right side i. */
bool solve_line_begin(struct solve_line *l, int64_t i, struct err *e);
/* Show the solve that has begun full screen if the line says so. */
bool solve_line_show(const struct solve_line *l, struct err *e);
/* Run the solve that has begun, as far as `step` and the user let it run, print its result, and save its x if the line
   says so. */
bool solve_line_run(const struct solve_line *l, struct err *e);
/* Write x of the solve to the file that the line names; true if it names none. */
bool solve_line_save(const struct solve_line *l, struct err *e);

#endif
