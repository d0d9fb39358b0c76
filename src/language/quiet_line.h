/* Runs a line without printing, for commands that use the rows of other commands. */
#ifndef QUIET_LINE_H
#define QUIET_LINE_H

#include <stdbool.h>
#include <stdio.h>

struct err;
struct session;

/* Run the line. Its rows go to `rows` as JSON lines, its notes to `notes`. If a command fails, returns false with its
   error. */
bool run_quietly(struct session *s, const char *line, FILE *rows, FILE *notes, struct err *e);

#endif
