/* A registry: the entries of one kind (formats, kernels, solvers, commands, ...) in a table, found by their names. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "base.h"

C_BEGIN

/* A callback that receives one name per call, for lists, suggestions and completion. */
typedef void give_fn(void *user, const char *name);

/* Every entry's struct begins with these two members. */
struct named {
    const char *name, *about;
};

struct registry {
    const void *entries;
    /* bytes per entry, if `entries` is a table of structs, terminated by a NULL name; 0 if `entries` is a table of
       pointers, terminated by NULL */
    size_t size;
    /* offset of the member `const char *aliases` in an entry; 0: entries have no such member. `aliases` lists other
       names, separated by blanks; NULL: none */
    size_t aliases;
};

/* Entry i, or NULL if i is past the last entry. */
const struct named *registry_at(const struct registry *r, int i);
int registry_count(const struct registry *r);
/* The other names of an entry, or "". */
const char *registry_aliases(const struct registry *r, const struct named *entry);
/* Is `name` one of the words in `list`? The words are separated by blanks. */
bool has_word(const char *list, const char *name);
/* The index of the entry that has that name or, if no entry has that name, of the entry that has that alias. -1: no
   entry was found. */
int registry_index(const struct registry *r, const char *name);
/* The entry with that name or alias, or NULL. */
const void *registry_find(const struct registry *r, const char *name);
/* The names of the entries that have a trait, as a sentence lists them: "cg, minres and gmres" if `word` is NULL, or,
   if it is "precond", "`precond ilu0` or `precond ic0`"; "none" if there are none. Names that do not fit are left out.
 */
struct name_list {
    char text[200];
    int n;
};
struct name_list registry_names(const struct registry *r, bool (*has)(const void *entry), const char *word);
void registry_list(const struct registry *r, give_fn *give, void *user);

C_END
#endif
