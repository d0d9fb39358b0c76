/* The table of commands, and their traits. */
#ifndef COMMAND_H
#define COMMAND_H

#include <stdbool.h>
#include <stddef.h>

struct args;
struct err;
struct row_kind;
struct session;

/* To add a command, write a file that ends with a `struct command`, and add one line to commands.def. The grammar is a
   list of items separated by spaces. KIND (in capitals): a value of this kind, by position; word: a required word;
   [...]: an optional item; [key KIND]: an optional pair, in any order; [[key] KIND]: such a pair, whose keyword may be
   left out; [word]: an optional flag; A...: one or more values. The user may type values in any order if each typed
   word fits only one of them. The main kinds: MATRIX FORMAT KERNEL DEVICE SOLVER RACER COMMAND VIEW GENERATOR FILE NAME
   N (integer) R (real) WORD TEXT (the rest of the line) COMMAND_LINE (the
   same, completed as a command). Kind PARAMS: key-value pairs of integers, checked by the
   command. */
struct command {
    const char *name;
    const char *about;   /* one line, which `help` shows */
    const char *aliases; /* other names, separated by blanks; NULL: none */
    const char *grammar;
    const char *help; /* a few lines, with an example */
    /* Append lines of help that list the entries of a registry; NULL: none. */
    void (*help_more)(char *out, size_t size);
    /* the kinds of rows that the command prints (report/fields.h), terminated by NULL; NULL: it prints no rows */
    const struct row_kind *const *rows;
    bool (*run)(struct session *s, const struct args *a, struct err *e);
    bool large;        /* the command takes large matrices (matrix/csr.h) */
    bool in_parts;     /* the command takes matrices that were generated in parts (session/in_parts.h) */
    bool several;      /* the command runs on devices with several members, such as cuda:0+1 (machine/member_rows.h) */
    bool formula;      /* in the command's line, ' is the transpose operator, not a quote */
    bool runs_script;  /* the command runs a script, whose commands the log lists instead of this command */
    bool unrecorded;   /* the command is not recorded, because it would end, nest or repeat a replay */
    bool compares;     /* conditions in the arguments compare with `>`, see redirect_take */
    bool sweeps;       /* `sweep` can run the command: it changes no matrix, file, option or device of the user */
    bool prints_views; /* the command prints the numbers of any view, as the views' tables describe them */
    bool rows_only_in_json; /* text mode prints a drawing or prose, no rows; running the command again to get its rows
                               does no harm */
};
extern const struct command *const commands[]; /* terminated by NULL */
extern const struct registry command_registry;
const struct command *command_find(const char *name); /* by its name or an alias */
/* The command that a typed word stands for: its name, an alias, or the beginning of exactly one name. NULL: none. */
const struct command *command_typed(const char *word);
enum { HELP_ROOM = 8192 };
/* The command's help, with the lines of help_more. `out` has room for HELP_ROOM bytes. */
const char *command_text(const struct command *c, char *out);
/* The title of the command's group in `help`. */
const char *command_group(const struct command *c);

#endif
