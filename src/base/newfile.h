/* Files written completely or not at all: to a temporary file first, which is then renamed. */
#ifndef NEWFILE_H
#define NEWFILE_H

#include <stdbool.h>
#include <stdint.h>

struct err;

#include <limits.h>

struct newfile {
    char where[256];       /* the requested name, safe to print */
    char target[PATH_MAX]; /* the file to replace: a link's target, not the link */
    char temp[PATH_MAX];   /* the temporary file in the same directory; empty: none */
    int fd;                /* of temp; -1: none */
};
/* Open a temporary file next to `path` with the permissions of a new file. Call newfile_close even after a failure. */
bool newfile_open(struct newfile *f, const char *path, struct err *e);
bool newfile_write(struct newfile *f, const void *data, int64_t n, struct err *e);
/* ok: rename it to its target; otherwise, or if that fails, remove it. */
bool newfile_close(struct newfile *f, bool ok, struct err *e);
/* Can a file be created there? Ask before long work whose result goes into it. */
bool newfile_possible(const char *path, struct err *e);
/* "cannot DOING: the reason of errno `why`". */
bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e);

#endif
