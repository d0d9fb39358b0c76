/* Lock a folder with flock, which the kernel releases when the process ends, however it ends. */
#include "folder_lock.h"
#include "err.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { TRIES = 500, WAIT_US = 10000 };

static int open_folder(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) + 1 : 1;
    if (snprintf(folder, sizeof folder, "%.*s", n, slash ? path : ".") >= (int)sizeof folder) return -1;
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool folder_lock(const char *path, int *lock, struct err *e)
{
    char safe[256];
    int fd = *lock = open_folder(path);
    if (fd < 0) return true; /* writing into the folder then fails and says why */
    for (int i = 0; i < TRIES; i++) {
        if (!flock(fd, LOCK_EX | LOCK_NB)) return true;
        if (errno != EWOULDBLOCK && errno != EINTR) break;
        usleep(WAIT_US);
    }
    bool is_held = errno == EWOULDBLOCK;
    close(fd);
    *lock = -1;
    return !is_held || fail_at(e, E_IO, print_safe(path, strlen(path), 200, safe, sizeof safe),
                               "another session is writing this file; try again");
}

void folder_unlock(int lock)
{
    if (lock >= 0) close(lock);
}
