/* `help COMMAND keys` and `help COMMAND schema`: the keys of the rows that a command prints with --json. */
#ifndef HELP_KEYS_H
#define HELP_KEYS_H

#include <stdbool.h>

struct command;
struct err;
struct out;
struct row_kind;

/* Print the keys of c, by kind of row: key, kind of value, meaning. */
void help_keys(struct out *o, const struct command *c);
/* Print the JSON Schema of the rows of c, as text. */
bool help_schema(struct out *o, const struct command *c, struct err *e);

/* The keys of the rows that these functions print. */
extern const struct row_kind row_help_key, row_help_schema;

#endif
