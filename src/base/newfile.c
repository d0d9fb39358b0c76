/* Write a temporary file and rename it when it is complete, so that nobody reads a partial file. */
#include "newfile.h"
#include "base.h"
#include "detached.h"
#include "err.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- no temporary file is left when a signal ends the program ---- */

enum { PENDING_MOST = 8, LATER_FROM = 1 << 20 };
static const int deadly[] = {SIGHUP, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};
static struct sigaction before[COUNT(deadly)];
static struct {
    atomic_bool named; /* `path` is complete */
    char path[PATH_MAX];
} pending[PENDING_MOST];
static int npending;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

/* Async-signal-safe. The signal that this handler raises is delivered when the handler returns. By then, the signal's
   previous action has been restored. */
static void on_death(int sig)
{
    int keep = errno;
    for (int i = 0; i < PENDING_MOST; i++)
        if (pending[i].named) unlink(pending[i].path);
    for (int i = 0; i < COUNT(deadly); i++)
        if (deadly[i] == sig) sigaction(sig, &before[i], NULL);
    errno = keep;
    raise(sig);
}

static void on_too_large(int sig)
{
    (void)sig; /* the write fails with EFBIG */
}

/* Unlike SIG_IGN, a handler is not inherited by programs that this program starts. */
static void survive_large_files(void)
{
    struct sigaction now, survive = {.sa_handler = on_too_large, .sa_flags = SA_RESTART};
    sigemptyset(&survive.sa_mask);
    if (!sigaction(SIGXFSZ, NULL, &now) && now.sa_handler == SIG_DFL) sigaction(SIGXFSZ, &survive, NULL);
}

static void catch_signals(void)
{
    struct sigaction act = {.sa_handler = on_death, .sa_flags = SA_RESTART};
    sigemptyset(&act.sa_mask);
    for (int i = 0; i < COUNT(deadly); i++) {
        sigaction(deadly[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) sigaction(deadly[i], &act, NULL);
    }
    survive_large_files();
}

static void pending_add(const char *path)
{
    pthread_mutex_lock(&pending_lock);
    if (npending++ == 0) catch_signals();
    int i = 0;
    while (i < PENDING_MOST && pending[i].named) i++;
    if (i < PENDING_MOST) {
        snprintf(pending[i].path, sizeof pending[i].path, "%s", path);
        pending[i].named = true;
    }
    pthread_mutex_unlock(&pending_lock);
}

static void pending_remove(const char *path)
{
    pthread_mutex_lock(&pending_lock);
    for (int i = 0; i < PENDING_MOST; i++)
        if (pending[i].named && !strcmp(pending[i].path, path)) pending[i].named = false;
    if (--npending == 0)
        for (int i = 0; i < COUNT(deadly); i++) sigaction(deadly[i], &before[i], NULL);
    pthread_mutex_unlock(&pending_lock);
}

/* ---- the file ---- */

bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e)
{
    return fail_at(e, E_IO, f->where, "cannot %s: %s", doing, why == ENOENT ? "no such directory" : strerror(why));
}

/* Replace the path of a symbolic link with the path that the link points to. */
static bool follow(char path[PATH_MAX])
{
    char held[PATH_MAX], next[2 * PATH_MAX];
    ssize_t n = readlink(path, held, sizeof held - 1);
    const char *slash = strrchr(path, '/');
    if (n <= 0) return false;
    held[n] = 0;
    int directory = held[0] != '/' && slash ? (int)(slash - path) + 1 : 0;
    if (snprintf(next, sizeof next, "%.*s%s", directory, path, held) >= PATH_MAX) return false;
    strcpy(path, next);
    return true;
}

/* Find the file that will be written. Links are followed, even to a file that does not exist yet. */
static bool find_target(struct newfile *f, const char *path)
{
    enum { LINKS_MOST = 40 };
    if (realpath(path, f->target)) return true;
    if (snprintf(f->target, sizeof f->target, "%s", path) >= (int)sizeof f->target) return false;
    for (int i = 0; i < LINKS_MOST && follow(f->target); i++) continue;
    return true;
}

/* Give the temporary file the permissions and, if allowed, the owner of the file that it will replace. */
static bool set_mode(const struct newfile *f, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    if (!old) return fchmod(f->fd, 0666 & ~mask) == 0;
    struct stat now;
    bool ours = !fstat(f->fd, &now) && now.st_uid == old->st_uid && now.st_gid == old->st_gid;
    if (!ours) ours = !fchown(f->fd, old->st_uid, old->st_gid);
    return fchmod(f->fd, old->st_mode & (ours ? 07777 : 0777)) == 0;
}

bool newfile_open(struct newfile *f, const char *path, struct err *e)
{
    struct stat st;
    f->fd = -1;
    f->temp[0] = 0;
    print_safe(path, strlen(path), 200, f->where, sizeof f->where);
    bool there = stat(path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return fail_at(e, E_IO, f->where, "cannot write this file: it is %s",
                       S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
    f->shared = there && st.st_nlink > 1;
    if (!find_target(f, path) || snprintf(f->temp, sizeof f->temp, "%s.XXXXXX", f->target) >= (int)sizeof f->temp) {
        f->temp[0] = 0;
        return newfile_fail(f, "create the file", ENAMETOOLONG, e);
    }
    f->fd = mkstemp(f->temp);
    if (f->fd < 0) {
        f->temp[0] = 0;
        return newfile_fail(f, "create the file", errno, e);
    }
    pending_add(f->temp);
    return set_mode(f, there ? &st : NULL) || newfile_fail(f, "set the file's permissions", errno, e);
}

static bool write_all(int fd, const char *from, int64_t n)
{
    for (int64_t at = 0; at < n;) {
        ssize_t r = write(fd, from + at, (size_t)(n - at));
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return false;
        at += r;
    }
    return true;
}

bool newfile_write(struct newfile *f, const void *data, int64_t n, struct err *e)
{
    return write_all(f->fd, data, n) || newfile_fail(f, "write the file", errno, e);
}

/* Copy the temporary file to `to`. The space for `to` is reserved first, so that `to` stays unchanged if the disk is
   full. */
static bool pour(const struct newfile *f, int to)
{
    struct stat st;
    char piece[1 << 16];
    ssize_t n = 0;
    if (fstat(f->fd, &st)) return false;
    if (st.st_size && fallocate(to, FALLOC_FL_KEEP_SIZE, 0, st.st_size) && errno != EOPNOTSUPP) return false;
    for (off_t at = 0; at < st.st_size; at += n) {
        n = pread(f->fd, piece, sizeof piece, at);
        if (n <= 0 || !write_all(to, piece, n)) return false;
    }
    return ftruncate(to, st.st_size) == 0;
}

static bool replace_content(const struct newfile *f, struct err *e)
{
    int to = open(f->target, O_WRONLY | O_CLOEXEC);
    bool ok = to >= 0 && pour(f, to);
    int why = errno;
    if (to >= 0 && close(to) && ok) ok = false, why = errno;
    return ok || newfile_fail(f, "write the file", why, e);
}

static void *close_file(void *fd)
{
    close((int)(intptr_t)fd);
    return NULL;
}

/* Closing a removed file frees its pages, which takes 100 ms for 1 GB. Therefore, another thread closes the temporary
   file if it is large. Returns false if the caller must close the file. */
static bool give_up(struct newfile *f)
{
    struct stat st;
    if (f->fd < 0 || !f->temp[0] || fstat(f->fd, &st) || st.st_size < LATER_FROM) return false;
    unlink(f->temp);
    pending_remove(f->temp);
    f->temp[0] = 0;
    if (!detached_start(close_file, (void *)(intptr_t)f->fd)) close(f->fd);
    f->fd = -1;
    return true;
}

bool newfile_close(struct newfile *f, bool ok, struct err *e)
{
    if (ok && f->shared) ok = replace_content(f, e);
    if (!ok && give_up(f)) return false;
    if (f->fd >= 0 && close(f->fd) && ok) ok = newfile_fail(f, "write the file", errno, e);
    f->fd = -1;
    if (ok && !f->shared && rename(f->temp, f->target)) ok = newfile_fail(f, "rename the temporary file", errno, e);
    if (!f->temp[0]) return ok;
    if (!ok || f->shared) unlink(f->temp);
    pending_remove(f->temp);
    f->temp[0] = 0;
    return ok;
}

bool newfile_possible(const char *path, struct err *e)
{
    struct newfile f;
    bool ok = newfile_open(&f, path, e);
    newfile_close(&f, false, NULL);
    return ok;
}

bool newfile_allowed(const char *path, bool force, struct err *e)
{
    struct stat st;
    char safe[256];
    if (force || stat(path, &st) || !S_ISREG(st.st_mode)) return newfile_possible(path, e);
    return fail_at(e, E_IO, print_safe(path, strlen(path), 200, safe, sizeof safe),
                   "file exists; add `force` to the command to overwrite it");
}
