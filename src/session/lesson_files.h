/* Lessons and puzzles by name: the files NAME.txt in their folders. */
#ifndef LESSON_FILES_H
#define LESSON_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/registry.h"

enum library { LIBRARY_LESSONS, LIBRARY_PUZZLES };

/* Write the path of the file with that name. Returns false if there is no such file. */
bool library_find(enum library l, const char *name, char *path, size_t size);
/* The names of all files, in alphabetical order within a folder. */
void library_list(enum library l, give_fn *give, void *user);
/* Call visit with the name and path of each file. If two files have the same name, only the file that library_find
   finds is visited. */
typedef void library_visit(void *user, const char *name, const char *path);
void library_each(enum library l, library_visit *visit, void *user);

#endif
