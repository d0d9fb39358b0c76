/* `solve direct`, which cmd_solve.c calls. */
#ifndef CMD_DIRECT_H
#define CMD_DIRECT_H

#include <stdbool.h>

struct args;
struct direct_answer;
struct err;
struct matrix;
struct out;
struct row_kind;
struct session;
struct solve;

/* Did the user name `direct` in place of a solver, or only words of `solve direct`, such as the name of a library? */
bool direct_was_typed(const struct args *a);
/* If the line names no solver: has it only words with which a direct solver can be chosen for it? */
bool direct_may_be_chosen(struct session *s, const struct args *a);
/* Solve A x = b directly, print the result, and keep the answer in the session. */
bool run_solve_direct(struct session *s, struct matrix *m, const struct args *a, struct err *e);
/* Print an answer, and the error of the iterative solve `before`, which may be NULL, if it solved the same system. */
void out_direct(struct out *o, const struct direct_answer *a, const struct solve *before);
/* Refuse the options that only `solve direct` takes. */
bool direct_options_absent(const struct args *a, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_solve_direct_column, row_solve_direct;

#endif
