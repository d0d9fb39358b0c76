/* `spmv on ranks` and `solve on ranks`, which cmd_spmv.c and cmd_solve.c call. */
#ifndef CMD_RANKS_H
#define CMD_RANKS_H

#include <stdbool.h>

struct args;
struct err;
struct matrix;
struct row_kind;
struct session;

/* Does the line say `on ranks`? */
bool on_ranks(const struct args *a);
bool run_spmv_ranks(struct session *s, const struct args *a, struct err *e);
/* Begin the solve of a line of `solve`, as s->solve. */
bool ranks_begin_solve(struct session *s, struct matrix *m, const struct args *a, struct err *e);
/* Refuse the words of `solve` that only ranks take. */
bool ranks_words_absent(const struct args *a, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_spmv_on_ranks;

#endif
