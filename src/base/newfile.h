/* Write a file completely or not at all: write a temporary file, then rename it. */
#ifndef NEWFILE_H
#define NEWFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "target.h"

struct err;

struct newfile {
    char where[256];         /* the requested name, safe to print */
    struct target target;    /* the file to make or to replace; for a link, the file that it points to */
    char name[NAME_MAX + 1]; /* temporary file in the same folder, or empty */
    char temp[PATH_MAX];     /* its absolute path, or empty */
    int fd;                  /* file descriptor of the temporary file, or -1 */
    bool fresh;              /* the target must not exist when the file is complete */
    bool shared; /* the target has several names (hard links), so its content is replaced, not the file itself */
};
/* Open a temporary file for the file that a line writes, in the same folder, with the permissions of the file that it
   will replace, or of a new file. A file that exists is refused, unless `force` is set. A temporary file that a session
   left behind when it was killed is removed. If a signal ends the program, the temporary file is removed. If the file
   becomes larger than the process may write (RLIMIT_FSIZE), newfile_write fails. newfile_close may be called even after
   a failure. */
bool newfile_open(struct newfile *f, const char *path, bool force, struct err *e);
/* The same for a path that the program itself or an answer of the user chose, so that the guard is not asked. */
bool newfile_open_own(struct newfile *f, const char *path, bool force, struct err *e);
bool newfile_write(struct newfile *f, const void *data, int64_t n, struct err *e);
/* If ok, rename the temporary file to the target; a file that another program made meanwhile is kept, unless `force`
   was set. If not ok, or if renaming fails, remove the temporary file. */
bool newfile_close(struct newfile *f, bool ok, struct err *e);
/* Would newfile_open succeed? Call this before long work whose result will be written to path. */
bool newfile_allowed(const char *path, bool force, struct err *e);
/* Fail with the message "cannot DOING: REASON". `why` is the errno value that gives the reason. Returns false. */
bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e);

#endif
