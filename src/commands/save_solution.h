/* Writes solutions of linear systems to Matrix Market files. */
#ifndef SAVE_SOLUTION_H
#define SAVE_SOLUTION_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct session;
struct watch;

/* Write x, n numbers or n pairs, to a Matrix Market file. `force`: replace a file that exists. */
bool solve_save_x(const char *file, bool force, int64_t n, bool pairs, const double *x, struct watch *w, struct err *e);
/* The same for several columns of x, one after another; a line of text names the file. */
bool solve_save_columns(struct session *s, const char *file, bool force, int64_t n, int64_t columns, bool pairs,
                        const double *x, struct err *e);

#endif
