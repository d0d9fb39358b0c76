/* Command lines made from the registry of commands, their grammars and the kinds of values: the shortest line of a
   command, and random lines, reproducible by seed. */
#ifndef LINES_KIT_H
#define LINES_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct session;

/* Write the line of command c with only the words that it requires. `nth` selects a choice for the first value that the
   session can list (a view, a format, ...), even if that value is optional. Returns false if there is no nth choice. */
bool plain_line(const struct command *c, struct session *s, int nth, char *line, size_t size);
/* Write a line of one to three commands. Most words are words that the grammar allows next, with small numbers and
   names of files in the current folder; some words are hostile. The line contains no `!` and no slash, so that no shell
   runs and no file outside the current folder is written. */
void random_line(uint64_t *random, struct session *s, char *line, size_t size);

#endif
