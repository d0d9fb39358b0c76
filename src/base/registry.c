/* Registries: count, find and list the entries. */
#include "registry.h"

#include <stdio.h>
#include <string.h>

const struct named *registry_at(const struct registry *r, int i)
{
    if (!r->size) return ((const void *const *)r->entries)[i];
    const struct named *entry = (const void *)((const char *)r->entries + (size_t)i * r->size);
    return entry->name ? entry : NULL;
}

int registry_count(const struct registry *r)
{
    int n = 0;
    while (registry_at(r, n)) n++;
    return n;
}

const char *registry_aliases(const struct registry *r, const struct named *entry)
{
    const char *text = NULL;
    if (r->aliases) memcpy(&text, (const char *)entry + r->aliases, sizeof text);
    return text ? text : "";
}

bool has_word(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; n && *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (strcspn(p, " ") == n && !strncmp(p, name, n)) return true;
    return false;
}

int registry_index(const struct registry *r, const char *name)
{
    const struct named *entry;
    for (int i = 0; (entry = registry_at(r, i)); i++)
        if (!strcmp(entry->name, name)) return i;
    for (int i = 0; r->aliases && (entry = registry_at(r, i)); i++)
        if (has_word(registry_aliases(r, entry), name)) return i;
    return -1;
}

const void *registry_find(const struct registry *r, const char *name)
{
    int i = registry_index(r, name);
    return i < 0 ? NULL : registry_at(r, i);
}

struct name_list registry_names(const struct registry *r, bool (*has)(const void *entry), const char *word)
{
    struct name_list out = {.text = "none"};
    const struct named *entry;
    char item[64];
    int n = 0;
    size_t used = 0;
    for (int i = 0; (entry = registry_at(r, i)); i++) out.n += has(entry);
    for (int i = 0; (entry = registry_at(r, i)); i++) {
        if (!has(entry)) continue;
        const char *before = n == 0 ? "" : n < out.n - 1 ? ", " : word ? " or " : " and ";
        n++;
        snprintf(item, sizeof item, word ? "%s`%s %s`" : "%s%s%s", before, word ? word : "", entry->name);
        if (used + strlen(item) < sizeof out.text) used += (size_t)sprintf(out.text + used, "%s", item);
    }
    return out;
}

void registry_list(const struct registry *r, give_fn *give, void *user)
{
    const struct named *entry;
    for (int i = 0; (entry = registry_at(r, i)); i++) give(user, entry->name);
}
