/* `solve direct`. */
#ifndef CMD_DIRECT_H
#define CMD_DIRECT_H

#include <stdbool.h>

struct args;
struct err;
struct session;
struct solve_line;

/* Did the user name `direct` in place of a solver, or only words of `solve direct`, such as the name of a library? */
bool direct_was_typed(const struct args *a);
/* If the line names no solver: has it only words with which a direct solver can be chosen for it? */
bool direct_may_be_chosen(struct session *s, const struct args *a);
/* Solve A x = b directly, print the result, and keep the answer in the session. The options l->o do not count. */
bool solve_direct(const struct solve_line *l, struct err *e);
/* The same for a line of `solve direct`: also reads the right sides, and refuses words for iterative solvers. */
bool solve_direct_typed(struct solve_line *l, struct err *e);
/* Refuse the options that only `solve direct` takes. */
bool direct_options_absent(const struct args *a, struct err *e);

#endif
