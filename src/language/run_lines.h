/* How lines and scripts are run. */
#ifndef RUN_LINES_H
#define RUN_LINES_H

#include <stdbool.h>
#include <stdio.h>

struct alias;
struct err;
struct session;
struct words;

/* Split the next command of a line into words: by words_split_formula if the command takes a formula, else by
   words_split. */
bool command_split(struct words *w, const char **line, struct err *e);
/* The alias that begins the line; its name has *n bytes. NULL: there is none, or the user did not type the line. */
const struct alias *alias_typed(const struct session *s, const char *line, size_t *n);
/* Run one line, which may contain commands separated by ';', quotes, a # comment, or !COMMAND for the shell. Returns
   false if any command failed; its error has been printed through out_error. */
bool run_line(struct session *s, const char *line);
bool run_file(struct session *s, FILE *f, const char *name); /* run the lines of f up to the first failure */

enum { SOURCE_DEPTH = 16 }; /* the deepest nesting of scripts */
/* Read the next line of f, without its line end, into line[LINE_LIMIT + 2]. If a line is too long or contains a NUL
   byte, it is read to its end and refused. */
enum got { GOT_LINE, GOT_END, GOT_BAD };
enum got line_next(FILE *f, char *line, struct err *e);
/* Run the lines of f, called `name` in messages. If `stop` is set, stop at the first line that fails. */
bool run_stream(struct session *s, FILE *f, const char *name, bool stop);
/* Run a command given as separate words, such as load and a file name; quotes and # in the words have no special
   meaning. */
bool run_words(struct session *s, int n, const char *const *word);

#endif
