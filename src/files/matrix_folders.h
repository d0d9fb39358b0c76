/* The folders in which `load` looks for a matrix by its name. */
#ifndef MATRIX_FOLDERS_H
#define MATRIX_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>

/* Find the file of a matrix: 1138_bus, HB/1138_bus, or either with an extension. Writes its path to out, and its
   folder, as a user would call it, to *folder. Returns false if no folder has it. */
bool matrix_find(const char *name, char *out, size_t size, const char **folder);
/* The folders in which matrix_find looks, as a user would call them. Returns out. */
const char *matrix_folders(char *out, size_t size);

#endif
