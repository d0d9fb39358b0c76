/* Find the file that a path names, ask the guard about it, and open it in its folder. */
#include "target.h"
#include "err.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct target_guard *guard;

void target_guard_by(const struct target_guard *g)
{
    guard = g;
}

void target_written(const struct target *t, int fd)
{
    struct stat st;
    if (t->guarded && guard && !fstat(fd, &st)) guard->wrote(guard->user, &st);
}

bool target_fail(const char *where, const char *doing, int why, struct err *e)
{
    return fail_at(e, E_IO, where, "cannot %s: %s", doing, why == ENOENT ? "no such directory" : strerror(why));
}

/* ---- following the path ---- */

/* The path without links of the folder that is open, which is therefore the folder that is written to. */
static bool folder_path(const struct target *t, const char *typed, char out[PATH_MAX])
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", t->folder);
    ssize_t n = readlink(self, out, PATH_MAX - 1);
    if (n > 0) out[n] = 0;
    return n > 0 || realpath(typed, out);
}

/* Open the folder of `path`, and find its path and the file's name. A path that ends in a slash or a dot names a
   folder. */
static bool open_folder(struct target *t, const char *path)
{
    char typed[PATH_MAX], folder[PATH_MAX];
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool is_folder = !*name || !strcmp(name, ".") || !strcmp(name, "..");
    size_t n = is_folder ? strlen(path) : slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (!*path) return errno = ENOENT, false;
    if (n >= sizeof typed || strlen(name) > NAME_MAX) return errno = ENAMETOOLONG, false;
    snprintf(typed, sizeof typed, "%.*s", n ? (int)n : 1, n ? path : ".");
    snprintf(t->name, sizeof t->name, "%s", is_folder ? "." : name);
    target_close(t);
    t->folder = open(typed, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (t->folder < 0 || !folder_path(t, typed, folder)) return false;
    int length = snprintf(t->path, sizeof t->path, "%s/%s", strcmp(folder, "/") ? folder : "", t->name);
    return length < (int)sizeof t->path || (errno = ENAMETOOLONG, false);
}

/* If the name is a symbolic link, write its target into next[PATH_MAX]. */
static bool is_link(const struct target *t, char *next)
{
    char held[PATH_MAX];
    ssize_t n = readlinkat(t->folder, t->name, held, sizeof held - 1);
    if (n <= 0) return false;
    held[n] = 0;
    int folder = *held == '/' ? 0 : (int)(strrchr(t->path, '/') - t->path) + 1;
    if (snprintf(next, PATH_MAX, "%.*s%s", folder, t->path, held) >= PATH_MAX) *next = 0;
    return true;
}

static bool find(struct target *t, const char *path)
{
    enum { LINKS_MAX = 40 };
    char next[PATH_MAX];
    if (!open_folder(t, path)) return false;
    for (int i = 0; is_link(t, next); i++) {
        if (i == LINKS_MAX) return errno = ELOOP, false;
        if (!*next) return errno = ENAMETOOLONG, false;
        if (!open_folder(t, next)) return false;
    }
    t->there = !fstatat(t->folder, t->name, &t->st, AT_SYMLINK_NOFOLLOW);
    return true;
}

bool target_open(struct target *t, const char *path, enum target_by by, struct err *e)
{
    *t = (struct target){.folder = -1};
    print_safe(path, strlen(path), 200, t->where, sizeof t->where);
    if (!find(t, path)) return target_fail(t->where, "write the file", errno, e);
    t->guarded = by == BY_LINE && guard;
    return !t->guarded || guard->may(guard->user, t, e);
}

void target_close(struct target *t)
{
    if (t->folder >= 0) close(t->folder);
    t->folder = -1;
}

/* ---- opening the file itself ---- */

/* Links of /proc, such as that of /dev/stdout, lead to open files that have no path. */
static bool is_open_file(const struct target *t, const char *path)
{
    struct stat st;
    return !stat(path, &st) && !S_ISREG(st.st_mode) &&
           !(t->there && t->st.st_dev == st.st_dev && t->st.st_ino == st.st_ino);
}

/* A file that does not exist is created if it must be fresh, or if the guard allowed a new file. */
static int open_itself(const struct target *t, const char *path, bool fresh)
{
    int flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
    if (!t->guarded && is_open_file(t, path)) return open(path, flags, 0666);
    bool is_new = fresh ? !t->there || S_ISREG(t->st.st_mode) : t->guarded && !t->there;
    return openat(t->folder, t->name, flags | O_NOFOLLOW | (is_new ? O_EXCL : 0), 0666);
}

/* Is the file that was opened the file that the guard allowed? */
static bool is_allowed(const struct target *t, int fd)
{
    struct stat st;
    if (!t->guarded || !t->there) return true;
    bool same = !fstat(fd, &st) && st.st_dev == t->st.st_dev && st.st_ino == t->st.st_ino;
    return same || (errno = EAGAIN, false);
}

int target_descriptor(const struct target *t, const char *path, bool fresh, struct err *e)
{
    int fd = open_itself(t, path, fresh), why = errno;
    if (fd >= 0 && is_allowed(t, fd)) return fd;
    if (fd >= 0) why = errno, close(fd);
    if (fresh && why == EEXIST)
        fail_at(e, E_IO, t->where, "the file exists already; give another name or remove the file");
    else
        target_fail(t->where, "write the file", why, e);
    return -1;
}
