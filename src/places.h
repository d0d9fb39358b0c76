/* Where the user's own files are kept: the XDG directories. */
#ifndef PLACES_H
#define PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* $VARIABLE/FILE, where it is set to an absolute path, else $HOME/USUAL/FILE; false: neither is known or it is too
 * long. */
bool xdg_place(const char *variable, const char *usual, const char *file, char *out, size_t size);
/* Make the directories of path, up to its last slash, for the user alone; errno tells why not. */
bool xdg_make(char *path);

#endif
