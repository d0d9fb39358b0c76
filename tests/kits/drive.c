/* Run a program in a pseudo terminal: send keys, then time and count its output. */
#include "drive.h"
#include "base/clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(char *const argv[], int slave, const char *home)
{
    static const char *const folders[] = {"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"};
    setsid();
    ioctl(slave, TIOCSCTTY, 0);
    for (int i = 0; i < 3; i++) {
        dup2(slave, i);
        setenv(folders[i], home, 1);
    }
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("NO_COLOR");
    unsetenv("COLORTERM");
    execv(argv[0], argv);
    _exit(127);
}

bool drive_start(struct driven *d, char *const argv[], int w, int h, const char *home)
{
    struct winsize size = {.ws_row = (unsigned short)h, .ws_col = (unsigned short)w};
    d->pid = -1;
    d->bytes = 0;
    drive_forget(d);
    d->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (d->fd < 0) return false;
    int slave = grantpt(d->fd) || unlockpt(d->fd) ? -1 : open(ptsname(d->fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (slave >= 0 && !ioctl(slave, TIOCSWINSZ, &size)) d->pid = fork();
    if (d->pid == 0) become(argv, slave, home);
    if (slave >= 0) close(slave);
    if (d->pid < 0) close(d->fd);
    return d->pid > 0;
}

void drive_forget(struct driven *d)
{
    d->n = 0;
    d->seen[0] = 0;
}

void drive_key(struct driven *d, const char *keys)
{
    drive_forget(d);
    if (write(d->fd, keys, strlen(keys)) < 0) d->fd = d->fd; /* drive_until detects that the program has ended */
}

/* Read output for up to `ms`. Returns 0 if there was no output, or -1 if the program has ended. */
static int take(struct driven *d, int ms)
{
    struct pollfd in = {.fd = d->fd, .events = POLLIN};
    char chunk[1 << 14];
    if (poll(&in, 1, ms) <= 0) return 0;
    ssize_t got = read(d->fd, chunk, sizeof chunk);
    if (got <= 0) return -1;
    d->came_us = now_us();
    d->bytes += got;
    size_t keep = DRIVE_KEPT - d->n < (size_t)got ? DRIVE_KEPT - d->n : (size_t)got;
    memcpy(d->seen + d->n, chunk, keep);
    d->n += keep;
    d->seen[d->n] = 0;
    return 1;
}

bool drive_until(struct driven *d, const char *what, int ms)
{
    double end = now_us() + 1e3 * ms;
    while (!strstr(d->seen, what)) {
        int left = (int)((end - now_us()) / 1e3);
        if (left <= 0 || take(d, left) < 0) return false;
    }
    return true;
}

void drive_settle(struct driven *d, int ms)
{
    while (take(d, ms) > 0) continue;
}

double drive_cpu_us(const struct driven *d)
{
    char path[64], text[1024] = "";
    long long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)d->pid);
    FILE *f = fopen(path, "r");
    if (!f) return -1;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    const char *name_end = n ? strrchr(text, ')') : NULL; /* the program's name may contain any character */
    if (!name_end ||
        sscanf(name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld", &user, &system) != 2)
        return -1;
    return (double)(user + system) * 1e6 / (double)sysconf(_SC_CLK_TCK);
}

void drive_end(struct driven *d)
{
    kill(d->pid, SIGKILL);
    waitpid(d->pid, NULL, 0);
    close(d->fd);
}
