/* What Ctrl-C must end: command lines for every command of the registry, on a matrix of a chosen size. */
#ifndef CANCEL_KIT_H
#define CANCEL_KIT_H

#include "base/registry.h"

#include <stdbool.h>
#include <stdint.h>

/* A line of the command. `before` prepares it; the matrix A is there already, and the files a.mtx, a.wsb, a.npz,
   a.mtx.gz and the others that cancel_files makes. Words in capitals are replaced: GRID and SQUARE by generators of the
   chosen size, EACH by every entry of the registry `each`. */
struct cancel_case {
    const char *command, *before, *line;
    const struct registry *each;
};
extern const struct cancel_case cancel_cases[]; /* ended by command NULL */

enum { CANCEL_LINE = 400 };
struct cancel_line {
    const char *command;
    char before[CANCEL_LINE], line[CANCEL_LINE];
};
/* All lines for matrices of about `nonzeros`, to be freed with free(); NULL: no memory. */
struct cancel_line *cancel_lines(double nonzeros, int *n);
/* The first command of the registry without a case, NULL: there is none. */
const char *cancel_missing(void);
/* The line that makes A. */
void cancel_matrix(double nonzeros, char out[CANCEL_LINE]);
/* Write the files of the cases into the current folder, by running the program; `samples`: the folder of the samples,
   absolute. Returns false if that fails. */
bool cancel_files(const char *program, const char *samples, double nonzeros);

#endif
