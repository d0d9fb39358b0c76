/* Paths in tables as links. */
#ifndef TABLE_LINKS_H
#define TABLE_LINKS_H

#include <stdbool.h>
#include <stdio.h>

/* How a terminal shows the path of a file as a link: `begin` returns false if it cannot. */
struct table_links {
    bool (*begin)(FILE *f, const char *path);
    void (*end)(FILE *f);
};

#endif
