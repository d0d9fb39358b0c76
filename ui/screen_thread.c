/* The screen thread: it handles keys and draws while the main thread runs a command. */
#include "screen_thread.h"
#include "base/detached.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "session/session.h"
#include "stage.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { LINES_MAX = 32, KEYS_MAX = 64, LOOK_MS = 20 };

/* Static, because a process has one terminal. */
static struct {
    bool started;
    int wake;          /* an eventfd, which is written when `serves` changes */
    atomic_int serves; /* enum served; written under the screen lock */
    struct session *session;
    sem_t posted;
    int key[KEYS_MAX], keys;
    char *line[LINES_MAX];
    int lines;
    struct screen_duty duty[SERVED_PROMPT + 1];
} screen_thread = {.wake = -1};

void screen_thread_set_duty(enum served what, const struct screen_duty *duty)
{
    screen_thread.duty[what] = *duty;
}

enum served screen_thread_serves(void)
{
    return (enum served)atomic_load(&screen_thread.serves);
}

static const struct screen_duty *duty_now(void)
{
    return &screen_thread.duty[screen_thread_serves()];
}

/* ---- lines and keys that wait for the main thread ---- */

bool typed_ahead_add(char *line)
{
    if (screen_thread.lines == LINES_MAX) return mem_free(line), false;
    screen_thread.line[screen_thread.lines++] = line;
    return true;
}

char *typed_ahead_next(void)
{
    if (!screen_thread.lines) return NULL;
    char *first = screen_thread.line[0];
    memmove(screen_thread.line, screen_thread.line + 1, (size_t)--screen_thread.lines * sizeof *screen_thread.line);
    return first;
}

int typed_ahead_count(void)
{
    return screen_thread.lines;
}

bool work_interrupted(void)
{
    SCREEN_EDIT;
    if (!session_take_interrupt()) return false;
    while (screen_thread.lines) mem_free(typed_ahead_next());
    if (duty_now()->drop) duty_now()->drop();
    return true;
}

void work_key_post(int key)
{
    if (screen_thread.keys == KEYS_MAX) return;
    screen_thread.key[screen_thread.keys++] = key;
    sem_post(&screen_thread.posted);
}

int work_key_next(void)
{
    if (!screen_thread.keys) return -1;
    int first = screen_thread.key[0];
    memmove(screen_thread.key, screen_thread.key + 1, (size_t)--screen_thread.keys * sizeof *screen_thread.key);
    return first;
}

void screen_thread_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    bool gave = screen_lock_give();
    sem_timedwait(&screen_thread.posted, &until);
    screen_lock_back(gave);
}

/* ---- the thread ---- */

/* Wait for input or for a change of `serves`, but for at most LOOK_MS: signals only set flags, which the screen thread
   must then check. If the view has more background work, do not wait. */
static void wait_for_input(enum served what, bool more)
{
    struct pollfd fds[] = {{.fd = screen_thread.wake, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    static const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000L};
    uint64_t count;
    if (poll(fds, what == SERVED_NOTHING ? 1 : 2, what == SERVED_NOTHING ? -1 : more ? 0 : LOOK_MS) < 1) return;
    if (fds[0].revents && read(screen_thread.wake, &count, sizeof count) < 0) return;
    if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)) nanosleep(&nap, NULL); /* SIGHUP ends the program */
}

static void *run_screen(void *unused)
{
    for (bool more = false;;) {
        wait_for_input((enum served)atomic_load(&screen_thread.serves), more);
        more = false;
        if (atomic_load(&screen_thread.serves) == SERVED_NOTHING) continue;
        screen_lock_take();
        int serves = atomic_load(&screen_thread.serves); /* `serves` may have changed while this thread waited */
        if (serves != SERVED_NOTHING) more = screen_thread.duty[serves].serve(screen_thread.session);
        screen_lock_give();
    }
    return NULL;
}

static bool start(void)
{
    if (screen_thread.started) return true;
    if (screen_thread.wake < 0 && (screen_thread.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) return false;
    sem_init(&screen_thread.posted, 0, 0);
    screen_thread.started = detached_start(run_screen, NULL);
    if (screen_thread.started) screen_lock_start();
    return screen_thread.started;
}

enum served screen_thread_serve(struct session *s, enum served what)
{
    enum served before = screen_thread_serves();
    uint64_t one = 1;
    SCREEN_EDIT;
    if (what == before) return before;
    if (what != SERVED_NOTHING && (stage_now() || !s->interactive || !start())) return before;
    if (duty_now()->end) duty_now()->end();
    screen_thread.session = s;
    if (screen_thread.duty[what].begin) screen_thread.duty[what].begin(s);
    atomic_store(&screen_thread.serves, what);
    while (write(screen_thread.wake, &one, sizeof one) < 0 && errno == EINTR) continue;
    return before;
}
