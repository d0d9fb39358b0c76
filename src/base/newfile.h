/* Write a file completely or not at all: write a temporary file, then rename it. */
#ifndef NEWFILE_H
#define NEWFILE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#include <limits.h>

struct newfile {
    char where[256];       /* the requested name, safe to print */
    char target[PATH_MAX]; /* the file to replace; for a link, its target */
    char temp[PATH_MAX];   /* temporary file in the same directory, or empty */
    int fd;                /* file descriptor of the temporary file, or -1 */
    bool shared; /* the target has several names (hard links), so its content is replaced, not the file itself */
};
/* Open a temporary file next to `path`, with the permissions of the file that it will replace, or of a new file if
   `path` does not exist. If a signal ends the program, the temporary file is removed. If the file becomes larger than
   the process may write (RLIMIT_FSIZE), newfile_write fails. Call newfile_close even after a failure. */
bool newfile_open(struct newfile *f, const char *path, struct err *e);
bool newfile_write(struct newfile *f, const void *data, int64_t n, struct err *e);
/* If ok, rename the temporary file to the target. If not ok, or if renaming fails, remove the temporary file. */
bool newfile_close(struct newfile *f, bool ok, struct err *e);
/* Can a file be created at path? Call this before long work whose result will be written to path. */
bool newfile_possible(const char *path, struct err *e);
/* Like newfile_possible, but refuses a file that exists, unless `force` is set. */
bool newfile_allowed(const char *path, bool force, struct err *e);
/* Fail with the message "cannot DOING: REASON". `why` is the errno value that gives the reason. Returns false. */
bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e);

#endif
