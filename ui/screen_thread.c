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
    atomic_int serves; /* enum beside; written under the screen lock */
    struct session *session;
    sem_t posted;
    int key[KEYS_MAX], keys;
    char *line[LINES_MAX];
    int lines;
    struct beside_duty duty[BESIDE_PROMPT + 1];
} beside = {.wake = -1};

void beside_duty_is(enum beside what, const struct beside_duty *duty)
{
    beside.duty[what] = *duty;
}

enum beside beside_served(void)
{
    return (enum beside)atomic_load(&beside.serves);
}

static const struct beside_duty *duty_now(void)
{
    return &beside.duty[beside_served()];
}

/* ---- lines and keys that wait for the main thread ---- */

bool beside_queue(char *line)
{
    if (beside.lines == LINES_MAX) return mem_free(line), false;
    beside.line[beside.lines++] = line;
    return true;
}

char *beside_next_line(void)
{
    if (!beside.lines) return NULL;
    char *first = beside.line[0];
    memmove(beside.line, beside.line + 1, (size_t)--beside.lines * sizeof *beside.line);
    return first;
}

int beside_lines(void)
{
    return beside.lines;
}

bool beside_interrupted(void)
{
    SCREEN_EDIT;
    if (!session_take_interrupt()) return false;
    while (beside.lines) mem_free(beside_next_line());
    if (duty_now()->drop) duty_now()->drop();
    return true;
}

void beside_post(int key)
{
    if (beside.keys == KEYS_MAX) return;
    beside.key[beside.keys++] = key;
    sem_post(&beside.posted);
}

int beside_next_key(void)
{
    if (!beside.keys) return -1;
    int first = beside.key[0];
    memmove(beside.key, beside.key + 1, (size_t)--beside.keys * sizeof *beside.key);
    return first;
}

void beside_wait(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    bool gave = screen_lock_give();
    sem_timedwait(&beside.posted, &until);
    screen_lock_back(gave);
}

/* ---- the thread ---- */

/* Wait for input or for a change of `serves`, but for at most LOOK_MS: signals only set flags, which the screen thread
   must then check. If the view has more background work, do not wait. */
static void wait_for_input(enum beside what, bool more)
{
    struct pollfd fds[] = {{.fd = beside.wake, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    static const struct timespec nap = {.tv_nsec = LOOK_MS * 1000000L};
    uint64_t count;
    if (poll(fds, what == BESIDE_NOTHING ? 1 : 2, what == BESIDE_NOTHING ? -1 : more ? 0 : LOOK_MS) < 1) return;
    if (fds[0].revents && read(beside.wake, &count, sizeof count) < 0) return;
    if (fds[1].revents & (POLLHUP | POLLERR | POLLNVAL)) nanosleep(&nap, NULL); /* SIGHUP ends the program */
}

static void *run_screen(void *unused)
{
    for (bool more = false;;) {
        wait_for_input((enum beside)atomic_load(&beside.serves), more);
        more = false;
        if (atomic_load(&beside.serves) == BESIDE_NOTHING) continue;
        screen_lock_take();
        int serves = atomic_load(&beside.serves); /* `serves` may have changed while this thread waited */
        if (serves != BESIDE_NOTHING) more = beside.duty[serves].serve(beside.session);
        screen_lock_give();
    }
    return NULL;
}

static bool start(void)
{
    if (beside.started) return true;
    if (beside.wake < 0 && (beside.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) return false;
    sem_init(&beside.posted, 0, 0);
    beside.started = detached_start(run_screen, NULL);
    if (beside.started) screen_lock_start();
    return beside.started;
}

enum beside beside_serve(struct session *s, enum beside what)
{
    enum beside before = beside_served();
    uint64_t one = 1;
    SCREEN_EDIT;
    if (what == before) return before;
    if (what != BESIDE_NOTHING && (stage_now() || !s->interactive || !start())) return before;
    if (duty_now()->end) duty_now()->end();
    beside.session = s;
    if (beside.duty[what].begin) beside.duty[what].begin(s);
    atomic_store(&beside.serves, what);
    while (write(beside.wake, &one, sizeof one) < 0 && errno == EINTR) continue;
    return before;
}
