/* Lessons by name: the files NAME.txt in the lesson folders. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/registry.h"

/* Write the path of the lesson with that name. Returns false if there is no such lesson. */
bool library_find(const char *name, char *path, size_t size);
/* The names of all lessons, in alphabetical order within a folder. */
void library_list(give_fn *give, void *user);
/* Call visit with the name and path of each lesson. If two lessons have the same name, only the lesson that
   library_find finds is visited. */
typedef void library_visit(void *user, const char *name, const char *path);
void library_each(library_visit *visit, void *user);

#endif
