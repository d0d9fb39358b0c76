/* Aliases: names that the user gave to command lines. Only lines that the user types use them. */
#ifndef ALIAS_H
#define ALIAS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/registry.h"

struct err;
struct session;

enum { ALIAS_LINE_MAX = 1000 }; /* bytes of the line of an alias */

struct alias {
    struct alias *next;
    char *name, *line; /* owned */
};
/* Give the line a name, or a new line to a name; NULL removes the name. Fails if a command has the name. */
bool alias_set(struct session *s, const char *name, const char *line, struct err *e);
/* The alias that the n bytes at `word` name, or NULL. A command with the same name, of a later version, comes first. */
const struct alias *alias_find(const struct session *s, const char *word, size_t n);
void alias_list(const struct session *s, give_fn *give, void *user);
void aliases_free(struct session *s);

#endif
