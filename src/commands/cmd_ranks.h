/* `spmv on ranks` and `solve on ranks`, which cmd_spmv.c and cmd_solve.c call. */
#ifndef CMD_RANKS_H
#define CMD_RANKS_H

#include <stdbool.h>

struct args;
struct err;
struct row_kind;
struct session;
struct solve_line;

/* Does the line say `on ranks`? */
bool on_ranks(const struct args *a);
bool run_spmv_ranks(struct session *s, const struct args *a, struct err *e);
/* `solve on ranks`: solve by PETSc. Reads the options and the right sides of the line. */
bool solve_on_ranks(struct solve_line *l, struct err *e);
/* Refuse the words of `solve` that only ranks take. */
bool ranks_words_absent(const struct args *a, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_spmv_on_ranks;

#endif
