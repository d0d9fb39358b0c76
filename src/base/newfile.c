/* Write a temporary file and rename it when it is complete, so that nobody reads a partial file. */
#include "newfile.h"
#include "err.h"
#include "text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool newfile_fail(const struct newfile *f, const char *doing, int why, struct err *e)
{
    return fail_at(e, E_IO, f->where, "cannot %s: %s", doing, why == ENOENT ? "no such directory" : strerror(why));
}

bool newfile_open(struct newfile *f, const char *path, struct err *e)
{
    struct stat st;
    f->fd = -1;
    f->temp[0] = 0;
    print_safe(path, strlen(path), 200, f->where, sizeof f->where);
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return fail_at(e, E_IO, f->where, "cannot write this file: it is %s",
                       S_ISDIR(st.st_mode) ? "a directory" : "not a regular file");
    if (!realpath(path, f->target) && snprintf(f->target, sizeof f->target, "%s", path) >= (int)sizeof f->target)
        return newfile_fail(f, "create the file", ENAMETOOLONG, e);
    if (snprintf(f->temp, sizeof f->temp, "%s.XXXXXX", f->target) >= (int)sizeof f->temp) {
        f->temp[0] = 0;
        return newfile_fail(f, "create the file", ENAMETOOLONG, e);
    }
    f->fd = mkstemp(f->temp);
    if (f->fd < 0) {
        f->temp[0] = 0;
        return newfile_fail(f, "create the file", errno, e);
    }
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(f->fd, 0666 & ~mask) == 0 || newfile_fail(f, "set the file's permissions", errno, e);
}

bool newfile_write(struct newfile *f, const void *data, int64_t n, struct err *e)
{
    const char *from = data;
    for (int64_t at = 0; at < n;) {
        ssize_t r = write(f->fd, from + at, (size_t)(n - at));
        if (r < 0 && errno == EINTR) continue;
        if (r < 0) return newfile_fail(f, "write the file", errno, e);
        at += r;
    }
    return true;
}

bool newfile_close(struct newfile *f, bool ok, struct err *e)
{
    if (f->fd >= 0 && close(f->fd) && ok) ok = newfile_fail(f, "write the file", errno, e);
    f->fd = -1;
    if (ok && rename(f->temp, f->target)) ok = newfile_fail(f, "rename the temporary file", errno, e);
    if (!ok && f->temp[0]) unlink(f->temp);
    return ok;
}

bool newfile_possible(const char *path, struct err *e)
{
    struct newfile f;
    bool ok = newfile_open(&f, path, e);
    newfile_close(&f, false, NULL);
    return ok;
}
