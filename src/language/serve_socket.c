/* The Unix socket of `warpspy --serve=unix:PATH`. */
#include "serve_socket.h"
#include "base/base.h"
#include "base/err.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address; /* an empty path: there is no socket to remove */

static bool refuse(const char *path, struct err *e, const char *why)
{
    char safe[200];
    return fail_at(e, E_IO, print_safe(path, strlen(path), 120, safe, sizeof safe), "%s", why);
}

static bool is_own_folder(const char *path)
{
    char folder[sizeof address.sun_path];
    struct stat st;
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    if (slash == path) strcpy(folder, "/");
    return !stat(folder, &st) && st.st_uid == geteuid() && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

/* Does a program accept clients at the address? */
static bool is_in_use(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool used = fd >= 0 && (!connect(fd, (const struct sockaddr *)at, sizeof *at) || errno == EAGAIN);
    if (fd >= 0) close(fd);
    return used;
}

/* Remove the socket that a program left behind. */
static bool make_room(const struct sockaddr_un *at, struct err *e)
{
    struct stat st;
    if (lstat(at->sun_path, &st)) return errno == ENOENT || refuse(at->sun_path, e, strerror(errno));
    if (!S_ISSOCK(st.st_mode)) return refuse(at->sun_path, e, "this file exists and is no socket; choose another path");
    if (is_in_use(at)) return refuse(at->sun_path, e, "another program answers at this socket; choose another path");
    return !unlink(at->sun_path) || refuse(at->sun_path, e, strerror(errno));
}

static void on_death(int sig)
{
    unlink(address.sun_path);
    raise(sig);
}

static void remove_at_signals(void)
{
    static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction a = {.sa_handler = on_death, .sa_flags = SA_RESETHAND | SA_NODEFER};
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < COUNT(deadly); i++) sigaction(deadly[i], &a, NULL);
}

static bool bind_own(int fd, const struct sockaddr_un *at)
{
    mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
    bool ok = !bind(fd, (const struct sockaddr *)at, sizeof *at);
    umask(before);
    return ok;
}

bool serve_socket_open(const char *path, int *listener, struct err *e)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (!*path || strlen(path) >= sizeof at.sun_path)
        return fail(e, E_USAGE, "the path of a socket has 1 to %d bytes: --serve=unix:PATH",
                    (int)sizeof at.sun_path - 1);
    strcpy(at.sun_path, path);
    if (!is_own_folder(path))
        return refuse(path, e, "the folder of the socket must exist, be yours, and be writable by you alone");
    if (!make_room(&at, e)) return false;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || !bind_own(fd, &at)) {
        int why = errno;
        if (fd >= 0) close(fd);
        return refuse(path, e, strerror(why));
    }
    address = at;
    remove_at_signals();
    if (listen(fd, 1)) return refuse(path, e, strerror(errno)), serve_socket_close(fd), false;
    *listener = fd;
    return true;
}

int serve_socket_accept(int listener)
{
    int fd;
    do {
        fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED));
    return fd;
}

void serve_socket_close(int listener)
{
    if (*address.sun_path) unlink(address.sun_path);
    address.sun_path[0] = 0;
    close(listener);
}
