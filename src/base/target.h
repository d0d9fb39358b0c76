/* The file that a path names after symbolic links were followed, and the guard that decides whether a line may write
   it. */
#ifndef TARGET_H
#define TARGET_H

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

struct err;

/* A name in a folder that stays open: a change of the path's links afterwards does not change where the file is
   written. */
struct target {
    char where[256];         /* the path that was asked for, safe to print */
    int folder;              /* descriptor of the folder; -1: none */
    char name[NAME_MAX + 1]; /* the name in the folder */
    char path[PATH_MAX];     /* the absolute path without links */
    bool guarded;            /* the guard was asked */
    bool there;              /* the file exists, and `st` describes it */
    struct stat st;
};

/* Decides about the files that lines write. */
struct target_guard {
    /* May this file be written? The error says why not. */
    bool (*may)(void *user, const struct target *t, struct err *e);
    /* A file was written that `may` had allowed. */
    void (*wrote)(void *user, const struct stat *st);
    void *user;
};
/* Use this guard, which must stay where it is, from now on. NULL: every file may be written. */
void target_guard_by(const struct target_guard *g);

/* Who chose the path: a line, which the guard checks; or the program, or an answer of the user. */
enum target_by { BY_LINE, BY_USER };

/* Find the file that `path` names; it need not exist. Links are followed, even to a file that does not exist. Fails if
   the guard refuses the file. Call target_close even after a failure. */
bool target_open(struct target *t, const char *path, enum target_by by, struct err *e);
void target_close(struct target *t);
/* Open the file that target_open found, without a temporary file: to append to it, or because it is a device or a pipe.
   A pipe without a reader is refused. `path` is the same as for target_open. `fresh`: a regular file must not exist.
   Returns the descriptor, or -1. */
int target_descriptor(const struct target *t, const char *path, bool fresh, struct err *e);
/* Tell the guard that it allowed this file, and that the file, which `fd` has open, was written completely. */
void target_written(const struct target *t, int fd);
/* Fail with the message "cannot DOING: REASON". `why` is the errno value that gives the reason. Returns false. */
bool target_fail(const char *where, const char *doing, int why, struct err *e);

#endif
