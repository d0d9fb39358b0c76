/* Command lines made from the registry of commands, their grammars and the kinds of values: the shortest line of a
   command, and random lines, reproducible by seed. */
#ifndef LINES_KIT_H
#define LINES_KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct session;

/* Write the line of command c with only the words that it requires. For the first argument whose values the session can
   list (a view, a format, ...), write the nth of these values, even if the argument is optional. Returns false if the
   list has no nth value. */
bool plain_line(const struct command *c, struct session *s, int nth, char *line, size_t size);
/* Write a line of one to three commands. Most words are words that the grammar allows next, with small numbers and
   names of files in the current folder; some words are hostile. The line contains no `!` and no slash, so that no shell
   runs and no file outside the current folder is written. */
void random_line(uint64_t *random, struct session *s, char *line, size_t size);

#endif
