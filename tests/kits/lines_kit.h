/* Command lines made from the registry of commands, their grammars and the kinds of values: the plainest line of a
   command, and random ones, reproducible by seed. */
#ifndef LINES_KIT_H
#define LINES_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct session;

/* Write the line of command c with only the words that it requires. `nth` counts the choices for its first value that
   the session can list (a view, a format, ...), even an optional one; false: it has no more choices. */
bool plain_line(const struct command *c, struct session *s, int nth, char *line, size_t size);
/* Write a line of one to three commands. Most words are those that the grammar allows next, with small numbers and
   names of files in this folder; some are hostile. It holds no `!` and no slash, so that no shell runs and no file
   outside this folder is written. */
void random_line(uint64_t *random, struct session *s, char *line, size_t size);

#endif
