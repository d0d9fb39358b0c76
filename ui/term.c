/* The terminal in full-screen use: terminfo, keys, signals; what was borrowed is given back on every exit. */
#include "ui.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

static struct {
    bool known, open;      /* terminfo is read; the alternate screen is on */
    bool quiet;            /* what is typed is not shown */
    struct termios before; /* modes at start */
    bool has_modes;
    char back[256]; /* what gives the screen back, ready for a signal handler */
    size_t nback;
    struct cell *shown; /* what the screen holds, w * h cells; NULL: unknown */
    int w, h;
    enum colours colours;
    char in[64]; /* bytes read and not yet taken as keys */
    int nin;
    bool bytes;  /* keys are bytes, for a line that is typed */
    bool modern; /* has a mouse, and takes a frame as one where it can */
    bool deaf;   /* the mouse is off */
    struct moves can;
    int mouse_x, mouse_y;
} tty;

/* Modes that terminals with a mouse know or ignore: clicks and the wheel, in decimal; a frame shown at once. */
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"

/* ---- signals ---- */

static volatile sig_atomic_t stopped, resized; /* Ctrl-C is the session's */

static void on_flag(int sig)
{
    if (sig == SIGTSTP) stopped = 1;
    if (sig == SIGWINCH) resized = 1;
}

/* Only async-signal-safe calls; nothing when another job has the terminal. */
static void give_back(void)
{
    if (tty.has_modes && tty.open) guard(false);
    if (!tty.has_modes || tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
    if (tty.open && write(STDOUT_FILENO, tty.back, tty.nback) < 0) return;
    tcsetattr(STDIN_FILENO, TCSANOW, &tty.before);
}

/* Installed with SA_RESETHAND: the second time the signal does what it does to any program. */
static void on_death(int sig)
{
    int keep = errno;
    give_back();
    errno = keep;
    raise(sig);
}

static void handle(int sig, void (*handler)(int), int flags)
{
    struct sigaction a = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&a.sa_mask);
    sigaction(sig, &a, NULL);
}

static void show_typing(bool on)
{
    struct termios now;
    if (!tty.has_modes || tcgetpgrp(STDIN_FILENO) != getpgrp() || tcgetattr(STDIN_FILENO, &now)) return;
    now.c_lflag &= ~(tcflag_t)ECHO;
    if (on) now.c_lflag |= tty.before.c_lflag & ECHO;
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

/* Ctrl-Z while a command works: the shell gets its terminal as it was. */
static void on_stop(int sig)
{
    int keep = errno;
    (void)sig;
    give_back();
    raise(SIGSTOP);
    show_typing(false);
    errno = keep;
}

void term_catch_stop(bool on)
{
    handle(SIGTSTP, on ? on_flag : tty.quiet ? on_stop : SIG_DFL, on ? 0 : SA_RESTART);
}

bool term_quiet(bool on)
{
    bool was = tty.quiet;
    tty.quiet = on;
    show_typing(!on);
    term_catch_stop(false);
    return was;
}

void term_signals(void)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGHUP, SIGQUIT};
    static char stack[64 * 1024]; /* a stack overflow leaves no other one */
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    tty.has_modes = !tcgetattr(STDIN_FILENO, &tty.before);
    for (int i = 0; i < COUNT(deadly); i++) handle(deadly[i], on_death, SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    session_catch_interrupt(false);
    handle(SIGWINCH, on_flag, SA_RESTART);
}

void term_stop(void)
{
    bool full = tty.open;
    stopped = 0;
    if (full) term_close();
    term_catch_stop(false);
    raise(SIGTSTP);
    term_catch_stop(true);
    if (full) term_open(NULL);
}

static enum happened flag_taken(void)
{
    if (stopped) return H_STOP; /* taken by term_stop */
    if (session_take_interrupt()) return H_INTERRUPT;
    if (resized) return resized = 0, H_RESIZE;
    return H_NOTHING;
}

enum happened term_wait(int ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    sigset_t ours, before;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTSTP);
    sigaddset(&ours, SIGWINCH);
    /* Blocked between the look at the flags and the wait, so that no signal falls in between. */
    sigprocmask(SIG_BLOCK, &ours, &before);
    enum happened what = flag_taken();
    if (what == H_NOTHING && ppoll(&in, 1, ms < 0 ? NULL : &limit, &before) > 0) what = H_INPUT;
    if (what == H_NOTHING) what = flag_taken();
    sigprocmask(SIG_SETMASK, &before, NULL);
    return what;
}

/* ---- the screen ---- */

bool term_is_open(void)
{
    return stage_now() ? stage_now()->open : tty.open;
}

void term_size(int *w, int *h)
{
    if (stage_now()) {
        *w = stage_now()->w;
        *h = stage_now()->h;
        return;
    }
    struct winsize size = {0};
    bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;
    *w = known ? size.ws_col : 80;
    *h = known ? size.ws_row : 24;
}

static int collect(int ch)
{
    if (tty.nback < sizeof tty.back) tty.back[tty.nback++] = (char)ch;
    return ch;
}

/* Is it this sequence, but for pauses that no terminal of today needs? */
static bool is(const char *capability, const char *sequence)
{
    size_t n = strlen(sequence);
    return capability && !strncmp(capability, sequence, n) && (!capability[n] || !strncmp(capability + n, "$<", 2));
}

/* Read terminfo once, and what it takes to leave. */
static bool learn(struct err *e)
{
    int status = 0;
    const char *name = getenv("TERM");
    if (tty.known) return true;
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return fail(e, E_UNSUPPORTED,
                    "a full screen needs a terminal on input and output; without one leave out `view`");
    if (setupterm(NULL, STDOUT_FILENO, &status) != OK || !is(cursor_address, "\033[%i%p1%d;%p2%dH") || !clear_screen)
        return fail(e, E_UNSUPPORTED, "the terminal `%.40s` cannot place its cursor; views are shown as text only",
                    name ? name : "");
    tty.modern = key_mouse != NULL;
    tty.can = (struct moves){.right = is(parm_right_cursor, "\033[%p1%dC"), .erase = is(clr_eol, "\033[K")};
    const char *leave[] = {tty.modern ? FRAME_END MOUSE_OFF : NULL, exit_attribute_mode, cursor_normal, keypad_local,
                           exit_ca_mode};
    for (int i = 0; i < COUNT(leave); i++)
        if (leave[i]) tputs(leave[i], 1, collect);
    return tty.known = true;
}

static void emit(const char *capability)
{
    if (capability) putp(capability);
}

bool term_open(struct err *e)
{
    if (stage_now()) return stage_now()->open = true;
    if (!learn(e)) return false;
    if (!tty.has_modes) term_signals();
    struct termios raw = tty.before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_iflag &= ~(tcflag_t)IXON;
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    fflush(stdout);
    guard_start(tty.back, &tty.before, &raw);
    guard(true);
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    emit(enter_ca_mode);
    emit(keypad_xmit);
    emit(cursor_invisible);
    if (tty.modern && !tty.deaf) emit(MOUSE_ON);
    emit(clear_screen);
    fflush(stdout);
    tty.colours = colours_of_env(true);
    tty.open = true;
    term_catch_stop(true);
    return true;
}

void term_close(void)
{
    if (stage_now()) stage_now()->open = tty.bytes = false;
    if (!tty.open) return;
    fflush(stdout);
    give_back();
    if (tty.quiet) show_typing(false);
    term_catch_stop(false);
    tty.open = false;
    mem_free(tty.shown);
    tty.shown = NULL;
    tty.nin = 0;
    tty.bytes = false;
}

void term_mouse(bool on)
{
    tty.deaf = !on;
    if (!tty.open || !tty.modern) return;
    emit(on ? MOUSE_ON : MOUSE_OFF);
    fflush(stdout);
}

void term_mouse_at(int *x, int *y)
{
    const struct stage *g = stage_now();
    *x = g ? g->mouse_x : tty.mouse_x;
    *y = g ? g->mouse_y : tty.mouse_y;
}

void term_bytes(bool on)
{
    tty.bytes = on;
}

bool term_typed(void)
{
    return tty.nin > 0;
}

/* Make the record of the screen fit a canvas of another size; without memory everything is drawn anew. */
static void fit(const struct canvas *c)
{
    if (tty.shown && tty.w == c->w && tty.h == c->h && tty.colours == c->colours) return;
    tty.colours = c->colours;
    mem_free(tty.shown);
    tty.w = c->w;
    tty.h = c->h;
    tty.shown = mem_new((int64_t)c->w * c->h, sizeof *tty.shown, "the screen's record", NULL);
    for (int i = 0; tty.shown && i < c->w * c->h; i++) tty.shown[i] = (struct cell){' ', ST_PLAIN};
    emit(clear_screen);
}

/* A line feed would send what stdout holds; a frame goes out as a whole where there is memory for it. */
static void send_frame(const struct canvas *c)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (f) frame_write(c, tty.shown, tty.can, f);
    if (f && !fclose(f))
        fwrite(text, 1, n, stdout);
    else
        frame_write(c, tty.shown, tty.can, stdout);
    free(text);
}

void term_draw(const struct canvas *c)
{
    if (!tty.open) return;
    fit(c);
    if (frame_changes(c, tty.shown)) {
        if (tty.modern) emit(FRAME_BEGIN);
        send_frame(c);
        if (tty.modern) emit(FRAME_END);
        if (tty.shown) memcpy(tty.shown, c->cell, (size_t)(c->w * c->h) * sizeof *c->cell);
    }
    fflush(stdout);
}

/* ---- keys ---- */

/* The sequence of a key: the terminal's own, and the two every emulator sends. */
static int match_key(const char *in, int n, int *used)
{
    const struct {
        int key;
        const char *sequence[3];
    } table[] = {
        {UI_UP, {key_up, "\033[A", "\033OA"}},        {UI_DOWN, {key_down, "\033[B", "\033OB"}},
        {UI_RIGHT, {key_right, "\033[C", "\033OC"}},  {UI_LEFT, {key_left, "\033[D", "\033OD"}},
        {UI_HOME, {key_home, "\033[H", "\033[1~"}},   {UI_END, {key_end, "\033[F", "\033[4~"}},
        {UI_PGUP, {key_ppage, "\033[5~", "\033[5~"}}, {UI_PGDN, {key_npage, "\033[6~", "\033[6~"}},
        {UI_BACKTAB, {key_btab, "\033[Z", "\033[Z"}},
    };
    for (int i = 0; i < COUNT(table) * 3; i++) {
        const char *s = table[i / 3].sequence[i % 3];
        int len = s ? (int)strlen(s) : 0;
        if (len && len <= n && !memcmp(s, in, (size_t)len)) return *used = len, table[i / 3].key;
    }
    return -1;
}

/* The length of an unknown escape sequence, so that it is skipped as a whole. */
static int sequence_length(const char *in, int n)
{
    int i = 2;
    if (n < 2 || (in[1] != '[' && in[1] != 'O')) return n < 2 ? n : 2;
    while (i < n && (in[i] < 0x40 || in[i] > 0x7e)) i++;
    return i < n ? i + 1 : n;
}

/* "ESC [ < BUTTON ; X ; Y M", or m when it is let go; cells are counted from 1. */
static int mouse_key(const char *in, int length)
{
    char text[40], end;
    int button, x, y;
    snprintf(text, sizeof text, "%.*s", length - 3, in + 3);
    if (sscanf(text, "%d;%d;%d%c", &button, &x, &y, &end) != 4 || end != 'M') return -1;
    tty.mouse_x = x - 1;
    tty.mouse_y = y - 1;
    return button == 0 ? UI_CLICK : button == 64 ? UI_WHEEL_UP : button == 65 ? UI_WHEEL_DOWN : -1;
}

static int key_of(const char *in, int n, int *used)
{
    *used = 1;
    if (in[0] == '\033' && n == 1) return UI_ESC;
    if (n > 3 && !memcmp(in, "\033[<", 3)) return *used = sequence_length(in, n), mouse_key(in, *used);
    if (tty.bytes) return (unsigned char)in[0];
    if (in[0] == '\033') {
        int key = match_key(in, n, used);
        if (key < 0) *used = sequence_length(in, n);
        return key;
    }
    if (in[0] == '\n' || in[0] == '\r') return UI_ENTER;
    return in[0] == '\t' ? UI_TAB : (unsigned char)in[0] < 0x80 ? in[0] : -1;
}

static bool read_more(void)
{
    ssize_t got = read(STDIN_FILENO, tty.in + tty.nin, sizeof tty.in - (size_t)tty.nin);
    if (got > 0) tty.nin += (int)got;
    return got > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Are the bytes that came the beginning of a sequence only? */
static bool cut_off(void)
{
    int n = tty.nin;
    if (n == 1) return true;
    if (n >= (int)sizeof tty.in || (tty.in[1] != '[' && tty.in[1] != 'O')) return false;
    unsigned char last = (unsigned char)tty.in[sequence_length(tty.in, n) - 1];
    return n == 2 || last < 0x40 || last > 0x7e;
}

static int next_key(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    int used, key;
    /* Escape alone, or the start of a sequence? A sequence's bytes come together. */
    while (tty.in[0] == '\033' && cut_off() && poll(&in, 1, 30) > 0 && read_more()) continue;
    key = key_of(tty.in, tty.nin, &used);
    tty.nin -= used;
    memmove(tty.in, tty.in + used, (size_t)tty.nin);
    return key;
}

enum colours term_colours(void)
{
    return stage_now() ? stage_now()->colours : colours_of_env(true);
}

int term_key_between(void)
{
    const struct stage *g = stage_now();
    if (g && !g->eager) return session_take_interrupt() ? UI_INTERRUPT : -1;
    return term_key(0);
}

int term_key(int wait_ms)
{
    if (stage_now()) return stage_key(wait_ms, tty.bytes);
    if (tty.nin) return next_key();
    switch (term_wait(wait_ms)) {
    case H_INPUT:
        if (!read_more()) return 'q'; /* the terminal is gone */
        return tty.nin ? next_key() : -1;
    case H_INTERRUPT:
        return UI_INTERRUPT;
    case H_STOP:
        term_stop();
        return UI_RESIZE;
    case H_RESIZE:
        return UI_RESIZE;
    default:
        return -1;
    }
}
