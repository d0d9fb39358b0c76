/* Commands: their table, and how lines and scripts are run. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct args;
struct err;
struct session;

/* To add a command, write one entry at the end of its file and one line in commands.def.
   grammar: items separated by spaces. UPPER = a value of that kind, by position; lower = a required word;
   [..] optional; [key KIND] an optional pair, in any order; [word] an optional flag; A... one or more.
   The main kinds: MATRIX FORMAT KERNEL DEVICE SOLVER RACER COMMAND VIEW GENERATOR FILE NAME N (integer) R (real)
   WORD TEXT (the rest of the line). Kind PARAMS: key-value pairs of integers, checked by the command. */
struct command {
    const char *name, *about; /* about: one line, shown by `help` */
    const char *grammar;
    const char *help; /* a few lines, with an example */
    bool (*run)(struct session *s, const struct args *a, struct err *e);
    bool runs_script;       /* the log lists the commands of its script instead of this command */
    bool unrecorded;        /* not written to recordings, because a replay would end, nest or repeat itself */
    bool rows_only_in_json; /* as text, it prints a drawing or prose; it changes nothing, so it can run twice */
};
extern const struct command *const commands[]; /* ended by NULL */
extern const struct registry command_registry;
const struct command *command_find(const char *name);
/* Run one line: commands separated by ';', # comments, quotes, !shell. Returns false if any command failed; its error
   has been printed through out_error. */
bool run_line(struct session *s, const char *line);
bool run_file(struct session *s, FILE *f, const char *name); /* stops at the first failure */
/* Completions of the word that ends at `line[pos]`, one per call to `give`. */
void complete(struct session *s, const char *line, size_t pos, void (*give)(void *user, const char *word), void *user);

enum { SOURCE_DEPTH = 16 }; /* the deepest nesting of scripts */
/* The title of the command's group in `help`. */
const char *command_group(const struct command *c);
/* The next line of f without its end, in line[LINE_LIMIT + 2]. A line that is too long or contains a NUL byte is read
   to its end and refused. */
enum got { GOT_LINE, GOT_END, GOT_BAD };
enum got line_next(FILE *f, char *line, struct err *e);
/* Run the lines of f, called `name` in messages; `stop`: end at the first line that fails. */
bool run_stream(struct session *s, FILE *f, const char *name, bool stop);
/* Run a command given as separate words, such as load and a file name; quotes and # in them have no special meaning. */
bool run_words(struct session *s, int n, const char *const *word);

#endif
