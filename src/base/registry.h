/* A registry: the entries of one kind (formats, kernels, solvers, commands, ...) in a table, found by their names. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes one of several names: a list, a suggestion, a completion. */
typedef void give_fn(void *user, const char *name);

/* Every entry's struct begins with these two. */
struct named {
    const char *name, *about;
};

struct registry {
    const void *entries;
    size_t size; /* of an entry, in a table of entries ended by a NULL name; 0: a table of pointers ended by NULL */
};

/* Entry i, or NULL at the end. */
const struct named *registry_at(const struct registry *r, int i);
int registry_count(const struct registry *r);
/* The index of the entry of that name, or -1. */
int registry_index(const struct registry *r, const char *name);
/* The entry of that name, or NULL. */
const void *registry_find(const struct registry *r, const char *name);
void registry_list(const struct registry *r, give_fn *give, void *user);

#ifdef __cplusplus
}
#endif
#endif
