/* The paths of the user's configuration and state files, in the XDG directories. */
#ifndef XDG_H
#define XDG_H

#include <stdbool.h>
#include <stddef.h>

/* Write the path of a file: $VARIABLE/FILE if the variable is an absolute path, else $HOME/OTHERWISE/FILE. Returns
   false if HOME is needed but not set, or if the path is too long. */
bool xdg_path(const char *variable, const char *otherwise, const char *file, char *out, size_t size);
/* Create the missing directories of path, up to its last slash; only the user may access them. On failure, errno is
   set. */
bool xdg_make_folders(char *path);

#endif
