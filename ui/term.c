/* The terminal: signals, waiting for input, and the full screen, which is closed on every way out of the program. */
#include "term.h"
#include "base/err.h"
#include "cast.h"
#include "full_screen.h"
#include "session/session.h"
#include "stage.h"
#include "terminal_window.h"
#include "terminfo.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    bool open;             /* the full screen is on */
    bool quiet;            /* typed characters are not echoed */
    struct termios before; /* modes at start */
    bool has_modes;
    char leave[256]; /* the bytes that leave the full screen, ready for a signal handler */
    bool bytes;      /* keys are returned as bytes while a line is typed */
    int mouse_x, mouse_y;
} tty;

/* ---- signals ---- */

static volatile sig_atomic_t stopped, resized, continued; /* session/progress.c handles Ctrl-C */

static void on_flag(int sig)
{
    if (sig == SIGTSTP) stopped = 1;
    if (sig == SIGWINCH) resized = 1;
    if (sig == SIGCONT) continued = 1;
}

static bool in_foreground(void)
{
    return tty.has_modes && tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* For signal handlers, so only async-signal-safe functions are called. Nothing is written while another job has the
   terminal. */
static void give_back(void)
{
    if (tty.has_modes && tty.open) guard(false);
    if (!in_foreground()) return;
    if (tty.open && write(STDOUT_FILENO, tty.leave, strlen(tty.leave)) < 0) return;
    tcsetattr(STDIN_FILENO, TCSANOW, &tty.before);
}

/* Installed with SA_RESETHAND, so that raising the signal again causes the default action of the signal. */
static void on_death(int sig)
{
    int keep = errno;
    if (in_foreground()) window_leave();
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
    if (!in_foreground() || tcgetattr(STDIN_FILENO, &now)) return;
    now.c_lflag &= ~(tcflag_t)ECHO;
    if (on) now.c_lflag |= tty.before.c_lflag & ECHO;
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

/* Ctrl-Z while a command runs: restore the terminal for the shell, then stop. */
static void on_stop(int sig)
{
    int keep = errno;
    if (in_foreground()) window_leave();
    give_back();
    raise(SIGSTOP);
    if (in_foreground()) window_return();
    continued = 0;
    show_typing(false);
    errno = keep;
}

void term_catch_stop(bool on)
{
    handle(SIGTSTP, on ? on_flag : tty.quiet ? on_stop : SIG_DFL, on ? 0 : SA_RESTART);
}

static void name_modes(void)
{
    struct termios now;
    if (in_foreground() && !tcgetattr(STDIN_FILENO, &now)) guard_modes(&now);
}

bool term_quiet(bool on)
{
    bool was = tty.quiet;
    tty.quiet = on;
    show_typing(!on);
    name_modes();
    term_catch_stop(false);
    return was;
}

void term_signals(void)
{
    static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGHUP, SIGQUIT};
    static char stack[64 * 1024]; /* after a stack overflow, signal handlers need a stack of their own */
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    tty.has_modes = !tcgetattr(STDIN_FILENO, &tty.before);
    for (int i = 0; i < COUNT(deadly); i++) handle(deadly[i], on_death, SA_RESETHAND | SA_NODEFER | SA_ONSTACK);
    session_catch_interrupt(false);
    handle(SIGWINCH, on_flag, SA_RESTART);
    handle(SIGCONT, on_flag, SA_RESTART);
}

void term_stop(void)
{
    bool full = tty.open;
    stopped = 0;
    sigset_t stop, before;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTSTP);
    if (full) term_close();
    term_catch_stop(false);
    pthread_sigmask(SIG_UNBLOCK, &stop, &before); /* the screen thread has blocked this signal */
    if (in_foreground()) window_leave();
    raise(SIGTSTP);
    if (in_foreground()) window_return();
    continued = 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    term_catch_stop(true);
    if (full) term_open(NULL);
}

bool term_continued(void)
{
    bool was = continued;
    continued = 0;
    return was;
}

static enum happened flag_taken(void)
{
    if (stopped) return H_STOP; /* cleared by term_stop */
    if (session_take_interrupt()) return H_INTERRUPT;
    if (term_continued()) return H_CONTINUE;
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
    sigaddset(&ours, SIGCONT);
    sigaddset(&ours, SIGWINCH);
    /* Block the signals from the check of the flags until ppoll, so that no signal is missed in between. */
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
    cast_follow_size();
    bool known = !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row;
    *w = known ? size.ws_col : 80;
    *h = known ? size.ws_row : 24;
}

/* Set modes without line editing, echo and flow control (Ctrl-S and Ctrl-Q are keys). VMIN stays 1: if this process is
   killed, a shell that reads before the guardian has restored the modes must not see the end of its input. */
static struct termios key_modes(void)
{
    struct termios modes = tty.before;
    modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL);
    modes.c_iflag &= ~(tcflag_t)(IXON | ICRNL | INLCR | IGNCR);
    modes.c_oflag &= ~(tcflag_t)(ONLCR | XTABS);
    modes.c_cc[VMIN] = 1;
    modes.c_cc[VTIME] = 0;
    return modes;
}

void term_guard(void)
{
    struct termios modes = key_modes();
    if (!tty.has_modes) return;
    full_screen_learn(tty.leave, sizeof tty.leave, NULL);
    guard_start(tty.leave, &tty.before, &modes);
    name_modes();
}

static void give_up(void)
{
    guard(false);
    tcsetattr(STDIN_FILENO, TCSANOW, &tty.before);
    term_catch_stop(false);
}

bool term_can_open(struct err *e)
{
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) return full_screen_learn(tty.leave, sizeof tty.leave, e);
    return fail(e, E_UNSUPPORTED,
                "a full screen needs a terminal on input and output; without a terminal, leave out `view`");
}

bool term_open(struct err *e)
{
    if (stage_now()) return stage_now()->open = true;
    if (!term_can_open(e)) return false;
    if (!tty.has_modes) term_signals();
    struct termios modes = key_modes();
    fflush(stdout);
    guard_start(tty.leave, &tty.before, &modes);
    guard(true);
    term_catch_stop(true);
    if (!full_screen_open(&modes, e)) return give_up(), false;
    return tty.open = true;
}

void term_close(void)
{
    if (stage_now()) stage_now()->open = tty.bytes = false;
    if (!tty.open) return;
    fflush(stdout);
    if (in_foreground()) full_screen_close();
    give_back();
    if (tty.quiet) show_typing(false);
    tty.open = tty.bytes = false;
    term_catch_stop(false);
}

void term_draw_images(const struct canvas *c, const struct image *const *image, int n)
{
    if (!tty.open) return;
    fflush(stdout);
    full_screen_draw(c, image, n);
}

void term_draw(const struct canvas *c)
{
    term_draw_images(c, NULL, 0);
}

bool term_pixels(struct pixel_terminal *out)
{
    const struct stage *g = stage_now();
    if (g) *out = g->pixels;
    return g ? g->pixels.way != PIXELS_OFF : tty.open && full_screen_pixels(out);
}

enum colours term_colours(void)
{
    if (stage_now()) return stage_now()->colours;
    return tty.open ? terminfo_colours(colours_of_env(true)) : colours_of_env(true);
}

/* ---- keys ---- */

void term_mouse(bool on)
{
    full_screen_mouse(on);
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
    return full_screen_has_bytes();
}

int term_key_between(void)
{
    const struct stage *g = stage_now();
    if (g && !g->eager) return session_take_interrupt() ? UI_INTERRUPT : -1;
    return term_key(0);
}

static int next_key(void)
{
    struct press p;
    if (!tty.open || !full_screen_key(tty.bytes, &p)) return -1;
    if (p.key == UI_CLICK || p.key == UI_WHEEL_UP || p.key == UI_WHEEL_DOWN) tty.mouse_x = p.x, tty.mouse_y = p.y;
    return p.key;
}

bool term_resized(void)
{
    bool was = resized;
    resized = 0;
    return was;
}

bool term_stop_pressed(void)
{
    return stopped;
}

/* After kill -STOP, the shell has used the terminal: set the modes of the terminal and clear the screen before the next
   frame. */
static void enter_again(void)
{
    struct termios modes = key_modes();
    if (tty.open && in_foreground()) full_screen_open(&modes, NULL);
}

int term_key_now(void)
{
    int key = next_key();
    if (key >= 0) return key;
    if (term_continued()) return enter_again(), UI_RESIZE;
    if (!stopped && term_resized()) return full_screen_ask_again(), UI_RESIZE;
    if (!stopped) return -1;
    term_stop();
    return UI_RESIZE;
}

static bool has_hung_up(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR | POLLNVAL));
}

int term_key(int wait_ms)
{
    if (stage_now()) return stage_key(wait_ms, tty.bytes);
    int key = next_key();
    if (key >= 0) return key;
    switch (term_wait(wait_ms)) {
    case H_INPUT:
        key = next_key();
        return key < 0 && has_hung_up() ? 'q' : key;
    case H_INTERRUPT:
        return UI_INTERRUPT;
    case H_STOP:
        term_stop();
        return UI_RESIZE;
    case H_CONTINUE:
        enter_again();
        return UI_RESIZE;
    case H_RESIZE:
        full_screen_ask_again();
        return UI_RESIZE;
    default:
        return -1;
    }
}
