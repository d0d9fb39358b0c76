/* Write a temporary file and rename it when it is complete, so that nobody reads a partial file. */
#include "newfile.h"
#include "base.h"
#include "detached.h"
#include "err.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- no temporary file is left when a signal ends the program ---- */

enum { PENDING_MAX = 8, LATER_FROM = 1 << 20 };
static const int deadly[] = {SIGHUP, SIGQUIT, SIGTERM, SIGPIPE, SIGXCPU};
static struct sigaction before[COUNT(deadly)];
static struct {
    atomic_bool named; /* `path` is complete */
    char path[PATH_MAX];
} pending[PENDING_MAX];
static int npending;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

/* Async-signal-safe. The signal that this handler raises is delivered when the handler returns. By then, the signal's
   previous action has been restored. */
static void on_death(int sig)
{
    int keep = errno;
    for (int i = 0; i < PENDING_MAX; i++)
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
    while (i < PENDING_MAX && pending[i].named) i++;
    if (i < PENDING_MAX) {
        snprintf(pending[i].path, sizeof pending[i].path, "%s", path);
        pending[i].named = true;
    }
    pthread_mutex_unlock(&pending_lock);
}

static void pending_remove(const char *path)
{
    pthread_mutex_lock(&pending_lock);
    for (int i = 0; i < PENDING_MAX; i++)
        if (pending[i].named && !strcmp(pending[i].path, path)) pending[i].named = false;
    if (--npending == 0)
        for (int i = 0; i < COUNT(deadly); i++) sigaction(deadly[i], &before[i], NULL);
    pthread_mutex_unlock(&pending_lock);
}

/* ---- the temporary file ---- */

/* A session locks its temporary file as long as it is open. A temporary file that can be locked was therefore left by a
   session that was killed. NAME_PART: bytes that the end of the name may add. SLOTS_SWEPT: more sessions are seldom
   killed while they write one file. */
enum { SLOTS = 100, SLOTS_SWEPT = 10, NAME_PART = 20 };

static void slot_name(const struct newfile *f, int slot, char out[NAME_MAX + 1])
{
    snprintf(out, NAME_MAX + 1, "%.*s.warpspy-%d", NAME_MAX - NAME_PART, f->target.name, slot);
}

static bool is_same(int fd, int folder, const char *name)
{
    struct stat a, b;
    return !fstat(fd, &a) && !fstatat(folder, name, &b, AT_SYMLINK_NOFOLLOW) && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* Remove the temporary file of this slot if a session that no longer runs left it. */
static bool sweep(const struct newfile *f, int slot)
{
    char name[NAME_MAX + 1];
    struct stat st;
    slot_name(f, slot, name);
    int fd = openat(f->target.folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    bool left = !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !flock(fd, LOCK_EX | LOCK_NB) &&
                is_same(fd, f->target.folder, name) && !unlinkat(f->target.folder, name, 0);
    close(fd);
    return left;
}

/* Create the file of this slot. Returns false if it exists. */
static bool create(struct newfile *f, int slot)
{
    slot_name(f, slot, f->name);
    do {
        if (f->fd >= 0) close(f->fd); /* another session took the file for one that was left, before it was locked */
        f->fd = openat(f->target.folder, f->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    } while (f->fd >= 0 && !flock(f->fd, LOCK_EX) && !is_same(f->fd, f->target.folder, f->name));
    return f->fd >= 0;
}

/* Create the temporary file in the first slot that is free, and remove the files that killed sessions left. */
static bool open_temporary(struct newfile *f, struct err *e)
{
    int slot = 1, folder = (int)(strrchr(f->target.path, '/') - f->target.path) + 1;
    while (slot <= SLOTS && !create(f, slot) && errno == EEXIST)
        if (!sweep(f, slot)) slot++;
    if (f->fd < 0) return target_fail(f->where, "create the file", errno, e);
    for (int i = slot + 1; i <= SLOTS_SWEPT; i++) sweep(f, i);
    if (snprintf(f->temp, sizeof f->temp, "%.*s%s", folder, f->target.path, f->name) >= (int)sizeof f->temp) {
        unlinkat(f->target.folder, f->name, 0);
        f->temp[0] = 0;
        return target_fail(f->where, "create the file", ENAMETOOLONG, e);
    }
    pending_add(f->temp);
    return true;
}

/* ---- the file ---- */

bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e)
{
    return target_fail(f->where, doing, why, e);
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

static bool exists(const struct newfile *f, struct err *e)
{
    return fail_at(e, E_IO, f->where, "file exists; add `force` to the command to overwrite it");
}

/* Find the target, and check that it may be written. */
static bool find_target(struct newfile *f, const char *path, bool force, enum target_by by, struct err *e)
{
    *f = (struct newfile){.fd = -1, .fresh = !force};
    bool found = target_open(&f->target, path, by, e);
    memcpy(f->where, f->target.where, sizeof f->where);
    if (!found) return false;
    const struct stat *st = &f->target.st;
    if (f->target.there && !S_ISREG(st->st_mode))
        return fail_at(e, E_IO, f->where, "cannot write this file: it is %s",
                       S_ISDIR(st->st_mode) ? "a directory" : "not a regular file");
    f->shared = f->target.there && st->st_nlink > 1;
    return force || !f->target.there || exists(f, e);
}

static bool open_by(struct newfile *f, const char *path, bool force, enum target_by by, struct err *e)
{
    bool ok = find_target(f, path, force, by, e) && open_temporary(f, e);
    if (ok && !set_mode(f, f->target.there ? &f->target.st : NULL))
        ok = newfile_fail(f, "set the file's permissions", errno, e);
    return ok || newfile_close(f, false, NULL);
}

bool newfile_open(struct newfile *f, const char *path, bool force, struct err *e)
{
    return open_by(f, path, force, BY_LINE, e);
}

bool newfile_open_own(struct newfile *f, const char *path, bool force, struct err *e)
{
    return open_by(f, path, force, BY_USER, e);
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
    int to = openat(f->target.folder, f->target.name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
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
    unlinkat(f->target.folder, f->name, 0);
    pending_remove(f->temp);
    f->temp[0] = 0;
    if (!detached_start(close_file, (void *)(intptr_t)f->fd)) close(f->fd);
    f->fd = -1;
    return true;
}

/* Give the complete file its name, without replacing a file that another program made meanwhile. A file system that
   cannot rename so gives the file a second name first; the last way is for file systems without hard links. */
static bool rename_fresh(const struct newfile *f)
{
    int in = f->target.folder;
    const char *to = f->target.name;
    if (!renameat2(in, f->name, in, to, RENAME_NOREPLACE)) return true;
    if (errno == EEXIST) return false;
    if (!linkat(in, f->name, in, to, 0)) return !unlinkat(in, f->name, 0);
    if (errno == EEXIST) return false;
    if (!faccessat(in, to, F_OK, AT_SYMLINK_NOFOLLOW)) return errno = EEXIST, false;
    return !renameat(in, f->name, in, to);
}

static bool rename_over(const struct newfile *f)
{
    return !renameat(f->target.folder, f->name, f->target.folder, f->target.name);
}

/* Put the complete file in its place. */
static bool finish(const struct newfile *f, struct err *e)
{
    if (f->shared) return true;
    if (f->fresh ? rename_fresh(f) : rename_over(f)) return true;
    return f->fresh && errno == EEXIST ? exists(f, e) : newfile_fail(f, "rename the temporary file", errno, e);
}

/* The temporary file stays locked until it has its name, by a second descriptor. */
static bool close_temporary(struct newfile *f, bool ok, struct err *e)
{
    if (ok && f->shared) ok = replace_content(f, e);
    if (!ok && give_up(f)) return false;
    int lock = ok ? fcntl(f->fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (f->fd >= 0 && close(f->fd) && ok) ok = newfile_fail(f, "write the file", errno, e);
    f->fd = -1;
    ok = ok && finish(f, e);
    if (f->temp[0] && (!ok || f->shared)) unlinkat(f->target.folder, f->name, 0);
    if (ok && !f->shared) target_written(&f->target, lock);
    if (lock >= 0) close(lock);
    if (f->temp[0]) pending_remove(f->temp);
    f->temp[0] = 0;
    return ok;
}

bool newfile_close(struct newfile *f, bool ok, struct err *e)
{
    ok = close_temporary(f, ok, e);
    target_close(&f->target);
    return ok;
}

bool newfile_allowed(const char *path, bool force, struct err *e)
{
    struct newfile f;
    bool ok = newfile_open(&f, path, force, e);
    newfile_close(&f, false, NULL);
    return ok;
}
