/* A file written whole or not at all: beside its place first, then renamed. */
#ifndef NEWFILE_H
#define NEWFILE_H

#include "warpspy.h"

#include <limits.h>

struct newfile {
    char where[256];       /* the name asked for, safe to print */
    char target[PATH_MAX]; /* its place: what a link points to is replaced, not the link */
    char temp[PATH_MAX];   /* the file beside it, empty: there is none */
    int fd;                /* of that, -1: none */
};
/* Open a file beside `path` with the rights that a new one would get. Whatever comes back, newfile_close follows. */
bool newfile_open(struct newfile *f, const char *path, struct err *e);
bool newfile_write(struct newfile *f, const void *data, int64_t n, struct err *e);
/* ok: put it in its place; else, or if that fails, remove it. */
bool newfile_close(struct newfile *f, bool ok, struct err *e);
/* Can a file be written there? To be asked before hours of work are put into its content. */
bool newfile_possible(const char *path, struct err *e);
/* "expected to DOING, found: the reason of errno `why`". */
bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e);

#endif
