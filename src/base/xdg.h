/* Where the user's own files are kept: the XDG directories. */
#ifndef XDG_H
#define XDG_H

#include <stdbool.h>
#include <stddef.h>

/* The path of a file: $VARIABLE/FILE if that variable is set to an absolute path, else $HOME/OTHERWISE/FILE. false:
   neither variable is set, or the path is too long. */
bool xdg_path(const char *variable, const char *otherwise, const char *file, char *out, size_t size);
/* Make the directories of path, up to its last slash, for the user alone; on failure errno states why. */
bool xdg_make_folders(char *path);

#endif
