/* `help COMMAND keys` and `help COMMAND schema`: the keys of the rows that a command prints with --json, and of the
   numbers of a view. */
#ifndef HELP_KEYS_H
#define HELP_KEYS_H

#include <stdbool.h>

struct err;
struct out;
struct row_kind;
struct session;

enum { KEYED_ROWS = 64 };

/* A command, a view, or both under one name; the rows that `export` writes for a view have the name of the view as
   their command. */
struct keyed {
    const char *name, *about;
    const struct row_kind *row[KEYED_ROWS + 1]; /* terminated by NULL */
    int n;
};

/* The command or view of this name; returns false if there is none. */
bool keyed_find(const struct session *s, const char *name, struct keyed *k);
/* Print the keys, by kind of row: key, kind of value, meaning. */
void help_keys(struct out *o, const struct keyed *k);
/* Print the JSON Schema of the rows, as text. */
bool help_schema(struct out *o, const struct keyed *k, struct err *e);

/* The keys of the rows that these functions print. */
extern const struct row_kind row_help_key, row_help_schema;

#endif
