/* The folders that may contain the program's data files. */
#ifndef DATA_FOLDER_H
#define DATA_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Write the path of folder i, counted from 0 in the order of the search: share/warpspy next to the program's bin, the
   source tree that the program was built in, and warpspy in $XDG_DATA_HOME and in each folder of $XDG_DATA_DIRS. Writes
   an empty path if folder i does not exist on this machine. Returns false after the last folder. */
bool data_folder(int i, char *out, size_t size);

#endif
