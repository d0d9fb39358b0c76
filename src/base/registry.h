/* A registry: the entries of one kind (formats, kernels, solvers, commands, ...) in a table, found by their names. */
#ifndef REGISTRY_H
#define REGISTRY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A callback that receives one name per call, for lists, suggestions and completion. */
typedef void give_fn(void *user, const char *name);

/* Every entry's struct begins with these two members. */
struct named {
    const char *name, *about;
};

struct registry {
    const void *entries;
    /* bytes per entry, if `entries` is a table of structs that a NULL name ends; 0 if `entries` is a table of pointers
       that NULL ends */
    size_t size;
};

/* Entry i, or NULL if i is past the last entry. */
const struct named *registry_at(const struct registry *r, int i);
int registry_count(const struct registry *r);
/* The index of the entry with that name, or -1. */
int registry_index(const struct registry *r, const char *name);
/* The entry with that name, or NULL. */
const void *registry_find(const struct registry *r, const char *name);
void registry_list(const struct registry *r, give_fn *give, void *user);

#ifdef __cplusplus
}
#endif
#endif
