/* Command lines that Ctrl-C must be able to end: lines for every command of the registry, on a matrix of a chosen
   size. */
#ifndef CANCEL_KIT_H
#define CANCEL_KIT_H

#include "base/registry.h"

#include <stdbool.h>
#include <stdint.h>

/* A command line to interrupt, and the line `before`, which runs first to prepare the command. The matrix A exists
   already, and so do the files that cancel_files makes: a.mtx, a.wsb, a.npz, a.mtx.gz and others. Words in capitals are
   replaced: GRID and SQUARE by generators of the chosen size, and EACH by every entry of the registry `each`. */
struct cancel_case {
    const char *command, *before, *line;
    const struct registry *each;
};
extern const struct cancel_case cancel_cases[]; /* terminated by an entry whose command is NULL */

enum { CANCEL_LINE = 400 };
struct cancel_line {
    const char *command;
    char before[CANCEL_LINE], line[CANCEL_LINE];
};
/* All lines for matrices of about `nonzeros` nonzeros; the caller frees them with free(). NULL: not enough memory. */
struct cancel_line *cancel_lines(double nonzeros, int *n);
/* The first command in the registry for which there is no case; NULL: every command has a case. */
const char *cancel_missing(void);
/* Write the line that makes the matrix A. */
void cancel_matrix(double nonzeros, char out[CANCEL_LINE]);
/* Write the files of the cases into the current folder, by running the program. `samples` is the absolute path of the
   folder of samples. Returns false if the program fails. */
bool cancel_files(const char *program, const char *samples, double nonzeros);

#endif
