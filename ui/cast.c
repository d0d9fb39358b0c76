/* Records the screen for asciinema. On a terminal, descriptors 1 and 2 become a pseudo terminal, whose output a second
   process passes on to the real terminal and writes to the file; if this process is killed, the second process still
   passes on the output. The modes of the keyboard are those of descriptor 0, which stays the real terminal. */
#include "cast.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "canvas.h"
#include "session/front.h"
#include "session/record.h"
#include "session/session.h"
#include "stage.h"
#include "term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* DRAIN_MS: the time after the end in which the last output may arrive. */
enum { CHUNK = 1 << 14, DRAIN_MS = 50 };
/* The times of `keys`: after a letter, after another key, and after the last key. */
enum { LETTER_US = 80000, KEY_US = 500000, REST_US = 1500000 };

/* The memory that both processes share. */
struct counts {
    int64_t events;
    int failed; /* errno of the first write that failed; 0: none */
};

static struct {
    FILE *file; /* NULL: nothing is recorded */
    char name[512];
    struct counts *counts;
    /* a recording of `keys` */
    int64_t at;          /* the time of the next event, in us */
    struct canvas drawn; /* the screen that was drawn last */
    struct canvas shown; /* the screen that the recording shows */
    bool waits;          /* `drawn` is not recorded yet */
    /* a recording of a terminal */
    bool live;
    pid_t pid;
    int output, messages; /* the real descriptors 1 and 2 */
    int alive;            /* closing this pipe ends the second process */
} cast;

/* ---- events ---- */

/* Events are written without stdio, because the second process may call only the functions that a signal handler
   may. */
static char pending[CHUNK];
static size_t npending;

static void send_pending(void)
{
    int fd = fileno(cast.file);
    for (size_t at = 0; at < npending && !cast.counts->failed;) {
        ssize_t n = write(fd, pending + at, npending - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            cast.counts->failed = errno;
    }
    npending = 0;
}

static void put(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (npending == sizeof pending) send_pending();
        pending[npending++] = text[i];
    }
}

/* Put text inside a JSON string. Here, cJSON is not used, because it formats with sprintf. */
static void put_escaped(const char *text, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    uint32_t point;
    for (size_t i = 0; i < n;) {
        unsigned char c = (unsigned char)text[i];
        int length = utf8_decode(text + i, n - i, &point);
        char code[] = {'\\', 'u', '0', '0', digits[c >> 4], digits[c & 15]};
        if (c < 0x20 || c == 0x7f)
            put(code, sizeof code);
        else if (c == '"' || c == '\\')
            put("\\", 1), put(text + i, 1);
        else if (length)
            put(text + i, (size_t)length);
        else
            put("?", 1);
        i += length ? (size_t)length : 1;
    }
}

/* Microseconds as seconds, such as 12.000345. */
static void put_time(int64_t us)
{
    char text[32];
    size_t n = sizeof text;
    for (int digit = 0; digit < 7 || us; digit++) {
        if (digit == 6) text[--n] = '.';
        text[--n] = (char)('0' + us % 10);
        us /= 10;
    }
    put(text + n, sizeof text - n);
}

/* kind is o for output, r for a new size. */
static void put_event(int64_t us, const char *kind, const char *text, size_t n)
{
    put("[", 1);
    put_time(us);
    put(", \"", 3);
    put(kind, 1);
    put("\", \"", 4);
    put_escaped(text, n);
    put("\"]\n", 3);
    cast.counts->events++;
    send_pending();
}

static void put_header(int w, int h, bool dated)
{
    char text[256], date[64] = "";
    if (dated) snprintf(date, sizeof date, ", \"timestamp\": %lld", (long long)time(NULL));
    int n = snprintf(text, sizeof text,
                     "{\"version\": 2, \"width\": %d, \"height\": %d%s, \"title\": \"warpspy\", "
                     "\"env\": {\"TERM\": \"xterm-256color\"}}\n",
                     w, h, date);
    put(text, (size_t)n);
    send_pending();
}

/* ---- the screens of keys ---- */

static bool copy_canvas(struct canvas *to, const struct canvas *c)
{
    if (to->w != c->w || to->h != c->h) {
        canvas_free(to);
        if (!canvas_new(to, c->w, c->h, c->ascii, NULL)) return false;
    }
    memcpy(to->cell, c->cell, (size_t)c->w * (size_t)c->h * sizeof *c->cell);
    to->colours = c->colours;
    return true;
}

static bool same_line(const struct canvas *a, const struct canvas *b, int y)
{
    for (int x = 0; x < a->w; x++) {
        struct cell k = a->cell[y * a->w + x], was = b->cell[y * b->w + x];
        if (k.glyph != was.glyph || k.style != was.style) return false;
    }
    return true;
}

/* Write the lines of `drawn` that differ from `shown`, or all lines. */
static void write_lines(FILE *f, bool all)
{
    if (all) fputs("\033[?25l\033[m\033[2J", f);
    for (int y = 0; y < cast.drawn.h; y++) {
        if (!all && same_line(&cast.drawn, &cast.shown, y)) continue;
        fprintf(f, "\033[%d;1H\033[K", y + 1);
        canvas_print_line(&cast.drawn, y, f, cast.drawn.colours);
    }
}

static void record_size(const struct canvas *c)
{
    char size[32];
    int n = snprintf(size, sizeof size, "%dx%d", c->w, c->h);
    if (!cast.shown.cell && !cast.counts->events)
        put_header(c->w, c->h, false);
    else
        put_event(cast.at, "r", size, (size_t)n);
}

/* Record the screen that was drawn last. */
static void record_drawn(void)
{
    struct memfile text = {0};
    bool all = cast.shown.w != cast.drawn.w || cast.shown.h != cast.drawn.h;
    if (!cast.waits) return;
    cast.waits = false;
    if (all) record_size(&cast.drawn);
    if (memfile_open(&text, NULL)) {
        write_lines(text.file, all);
        if (memfile_close(&text, true, NULL) && text.n) put_event(cast.at, "o", text.text, text.n);
    }
    memfile_free(&text);
    copy_canvas(&cast.shown, &cast.drawn);
}

void cast_drawn(const struct canvas *c)
{
    if (cast.file && !cast.live) cast.waits = copy_canvas(&cast.drawn, c);
}

void cast_key(int key)
{
    if (!cast.file || cast.live) return;
    record_drawn();
    cast.at += key > ' ' && key < 0x7f ? LETTER_US : KEY_US;
}

void cast_rest(void)
{
    if (!cast.file || cast.live) return;
    record_drawn();
    cast.at += REST_US;
}

/* ---- a terminal ---- */

static int64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void pass_on(const char *text, size_t n)
{
    for (size_t at = 0; at < n;) {
        ssize_t some = write(cast.output, text + at, n - at);
        if (some < 0 && errno != EINTR && errno != EAGAIN) return;
        if (some > 0) at += (size_t)some;
    }
}

/* The bytes at the end that begin a character whose other bytes have not arrived yet. */
static size_t unfinished(const char *text, size_t n)
{
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        unsigned char c = (unsigned char)text[n - back];
        if (c < 0x80) return 0;
        if (c >= 0xc0) return back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u) ? back : 0;
    }
    return 0;
}

/* Record a change of the size of the terminal, which the first process has passed on to the pseudo terminal. */
static void record_resize(int master, struct winsize *was, int64_t us)
{
    struct winsize now;
    char size[32];
    if (ioctl(master, TIOCGWINSZ, &now) || (now.ws_col == was->ws_col && now.ws_row == was->ws_row)) return;
    put_event(us, "r", size, (size_t)snprintf(size, sizeof size, "%dx%d", now.ws_col, now.ws_row));
    *was = now;
}

/* The second process: until the first one ends the recording or dies, pass on and record its output. */
static void relay(int master, int alive, struct winsize size)
{
    static char text[4096];
    size_t held = 0;
    bool ends = false;
    int64_t began = clock_us();
    for (;;) {
        struct pollfd fd[2] = {{master, POLLIN, 0}, {ends ? -1 : alive, POLLIN, 0}};
        int n = poll(fd, 2, ends ? DRAIN_MS : -1);
        if (n == 0 && ends) break;
        if (n < 0 && errno != EINTR) break;
        if (n > 0 && fd[1].revents) ends = true;
        if (n <= 0 || !fd[0].revents) continue;
        ssize_t got = read(master, text + held, sizeof text - held);
        if (got <= 0) break;
        pass_on(text + held, (size_t)got);
        record_resize(master, &size, clock_us() - began);
        size_t all = held + (size_t)got;
        held = unfinished(text, all);
        put_event(clock_us() - began, "o", text, all - held);
        memmove(text, text + all - held, held);
    }
    if (held) put_event(clock_us() - began, "o", text, held);
}

/* Neither keys nor the end of the first process may end the second one before everything is passed on. */
static void start_relay(int master, int alive, struct winsize size)
{
    static const int ignored[] = {SIGINT, SIGQUIT, SIGTSTP, SIGTTOU, SIGTERM, SIGPIPE, SIGWINCH};
    for (int i = 0; i < COUNT(ignored); i++) signal(ignored[i], SIG_IGN);
    close(cast.alive);
    relay(master, alive, size);
    _exit(0);
}

/* A pseudo terminal with the modes and the size of the real one. */
static bool open_pair(int *master, int *slave, struct winsize *size)
{
    char name[128];
    struct termios modes;
    *slave = -1;
    *master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*master < 0 || grantpt(*master) || unlockpt(*master) || ptsname_r(*master, name, sizeof name)) return false;
    *slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (*slave < 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, size) || ioctl(*slave, TIOCSWINSZ, size)) return false;
    if (tcgetattr(STDOUT_FILENO, &modes)) return false;
    modes.c_oflag |= OPOST | ONLCR;
    modes.c_lflag &= ~(tcflag_t)ECHO;
    return !tcsetattr(*slave, TCSANOW, &modes);
}

static int keep(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

static bool start_live(int master, int slave, struct winsize size, struct err *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return fail(e, E_IO, "cannot record the terminal: %s", strerror(errno));
    fflush(stdout);
    cast.output = keep(STDOUT_FILENO);
    cast.messages = keep(STDERR_FILENO);
    cast.alive = ends[1];
    put_header(size.ws_col, size.ws_row, true);
    cast.pid = fork();
    if (cast.pid == 0) {
        close(slave);
        start_relay(master, ends[0], size);
    }
    close(ends[0]);
    if (cast.pid < 0) return close(ends[1]), fail(e, E_IO, "cannot record the terminal: %s", strerror(errno));
    dup2(slave, STDOUT_FILENO);
    if (isatty(STDERR_FILENO)) dup2(slave, STDERR_FILENO);
    return cast.live = true;
}

static bool begin_live(struct err *e)
{
    int master, slave;
    struct winsize size;
    bool ok = open_pair(&master, &slave, &size);
    ok = ok ? start_live(master, slave, size, e) : fail(e, E_IO, "cannot record the terminal: %s", strerror(errno));
    if (master >= 0) close(master);
    if (slave >= 0) close(slave);
    return ok;
}

static void end_live(void)
{
    if (!cast.live) return;
    fflush(stdout);
    fflush(stderr);
    dup2(cast.output, STDOUT_FILENO);
    dup2(cast.messages, STDERR_FILENO);
    close(cast.output);
    close(cast.messages);
    close(cast.alive);
    while (waitpid(cast.pid, NULL, 0) < 0 && errno == EINTR) continue;
}

void cast_follow_size(void)
{
    struct winsize now, was;
    if (!cast.live || ioctl(cast.output, TIOCGWINSZ, &now) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &was)) return;
    if (now.ws_col != was.ws_col || now.ws_row != was.ws_row) ioctl(STDOUT_FILENO, TIOCSWINSZ, &now);
}

/* ---- beginning and end ---- */

bool cast_begin(struct session *s, const char *file, struct err *e)
{
    SCREEN_EDIT;
    bool live = s->interactive && !stage_now(); /* `keys` is not shown on the terminal */
    if (live && s->front->covered)
        return fail(e, E_USAGE, "a recording of the terminal begins at the prompt; leave the full screen first");
    cast.counts = mmap(NULL, sizeof *cast.counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (cast.counts == MAP_FAILED) return cast.counts = NULL, fail(e, E_MEMORY, "out of memory for a recording");
    cast.file = record_open(file, e);
    if (cast.file) print_safe(file, strlen(file), 120, cast.name, sizeof cast.name);
    if (cast.file && (!live || begin_live(e))) return true;
    cast_end();
    return false;
}

bool cast_now(struct casting *now)
{
    if (!cast.file) return false;
    *now = (struct casting){cast.name, cast.counts->events, cast.counts->failed};
    return true;
}

void cast_end(void)
{
    SCREEN_EDIT;
    end_live();
    if (cast.file && !cast.live) {
        record_drawn();
        if (!cast.counts->events) put_header(80, 24, false);
    }
    if (cast.file) fclose(cast.file);
    if (cast.counts) munmap(cast.counts, sizeof *cast.counts);
    canvas_free(&cast.drawn);
    canvas_free(&cast.shown);
    memset(&cast, 0, sizeof cast);
}
