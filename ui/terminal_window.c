/* The terminal's window: title, clipboard, links, and notifications. */
#include "terminal_window.h"
#include "base/base64.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/table_links.h"
#include "base/text.h"
#include "full_screen_draw.h"
#include "language/options.h"
#include "osc.h"
#include "session/matrix.h"
#include "session/session.h"
#include "stage.h"
#include "term.h"
#include "terminfo.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char focus_on[] = "\033[?1004h", title_kept[] = "\033[22;2t";
static const double LONG_US = 10e6; /* work that is worth a notification */

enum notify { NOTIFY_AUTO, NOTIFY_OSC9, NOTIFY_OSC777, NOTIFY_BELL, NOTIFY_OFF };
enum clipboard { CLIPBOARD_AUTO, CLIPBOARD_ON, CLIPBOARD_OFF };
static const char *const notify_names[] = {"auto", "osc9", "osc777", "bell", "off"};
static const char *const clipboard_names[] = {"auto", "on", "off"};

static struct {
    bool usable;
    bool title, links; /* the options */
    enum notify notify;
    enum clipboard clipboard;
    char sent[300];                       /* the sequence of the title that was sent last */
    volatile sig_atomic_t kept, watching; /* the terminal keeps the old title; it reports the focus */
} window;

static int index_of(const char *value, const char *const *names, int n)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], value)) return i;
    return 0;
}

static void send(const char *bytes)
{
    fflush(stdout);
    full_screen_send(bytes);
}

/* ---- the title ---- */

static void give_title_back(void)
{
    if (!window.kept) return;
    send(WINDOW_TITLE_BACK);
    window.kept = 0;
    window.sent[0] = 0;
    guard_title(false);
}

void window_title(const struct session *s)
{
    char name[80], title[sizeof window.sent];
    const struct matrix *m = s->current;
    if (!window.usable || !window.title || stage_now()) return;
    print_safe(m ? m->name : "", m ? strlen(m->name) : 0, 40, name, sizeof name);
    snprintf(title, sizeof title, "\033]2;warpspy%s%s\033\\", m ? " - " : "", name);
    if (!strcmp(title, window.sent)) return;
    if (!window.kept) send(title_kept), window.kept = 1, guard_title(true);
    memcpy(window.sent, title, sizeof title);
    send(title);
}

/* ---- the focus ---- */

void window_watch(bool on)
{
    if (on && (!window.usable || window.notify == NOTIFY_OFF || stage_now())) return;
    if (on) osc_take_focus(true);
    if (on == (bool)window.watching) return;
    if (on) guard_focus();
    send(on ? focus_on : WINDOW_FOCUS_OFF);
    window.watching = on;
}

/* The terminals that read OSC 777; the others read OSC 9 or ignore it. */
static enum notify way(void)
{
    const char *term = getenv("TERM");
    bool other = !strncmp(term, "rxvt", 4) || !strncmp(term, "foot", 4) || getenv("VTE_VERSION");
    return window.notify != NOTIFY_AUTO ? window.notify : other ? NOTIFY_OSC777 : NOTIFY_OSC9;
}

void window_work_ended(const char *what, double us)
{
    char name[80], time[40], text[300];
    if (us < LONG_US || !osc_is_away() || !window.usable || window.notify == NOTIFY_OFF || stage_now()) return;
    static const char *const formats[] = {[NOTIFY_OSC9] = "\033]9;warpspy: %s has ended after %s\033\\\a",
                                          [NOTIFY_OSC777] = "\033]777;notify;warpspy;%s has ended after %s\033\\\a",
                                          [NOTIFY_BELL] = "\a%.0s%.0s"};
    print_safe(what, strlen(what), 40, name, sizeof name);
    for (char *c = name; *c; c++)
        if (*c == ';') *c = ','; /* ends a field of OSC 777 */
    snprintf(text, sizeof text, formats[way()], name, show_us(us, time, sizeof time));
    send(text);
}

/* ---- the clipboard ---- */

static bool may_copy(struct err *e)
{
    if (!window.usable) return fail(e, E_UNSUPPORTED, "copying needs a terminal that has a clipboard");
    if (window.clipboard == CLIPBOARD_OFF)
        return fail(e, E_UNSUPPORTED, "the option clipboard is off; `set clipboard auto` allows copying");
    if (window.clipboard == CLIPBOARD_ON || terminfo_copies() || osc_has_clipboard()) return true;
    return fail(e, E_UNSUPPORTED, "the terminal does not say that it can copy; `set clipboard on` if it can");
}

bool window_copy(const char *text, size_t n, struct err *e)
{
    if (!may_copy(e)) return false;
    if (n > COPY_MAX)
        return fail(e, E_LIMIT, "the text is too long for the clipboard of a terminal: at most %d bytes", COPY_MAX);
    char *coded = mem_new((int64_t)(n + 2) / 3 * 4 + 1, 1, "the text to copy", e);
    if (!coded) return false;
    base64((const unsigned char *)text, n, coded);
    send("\033]52;c;");
    send(coded);
    send("\033\\");
    mem_free(coded);
    return true;
}

/* ---- links ---- */

/* Terminals that show OSC 8 as a link, by what they put into the environment. Others may print an address. */
static bool shows_links(void)
{
    static const char *const set[] = {"VTE_VERSION", "KONSOLE_VERSION", "WT_SESSION", "KITTY_WINDOW_ID",
                                      "WEZTERM_PANE"};
    static const char *const programs[] = {"iTerm.app", "WezTerm", "vscode", "ghostty", "Tabby"};
    static const char *const terms[] = {"xterm-kitty", "foot", "alacritty", "wezterm", "xterm-ghostty"};
    const char *program = getenv("TERM_PROGRAM"), *term = getenv("TERM"), *vte = getenv("VTE_VERSION");
    if (!term || getenv("TMUX") || (vte && atoi(vte) < 5000)) return false;
    for (int i = 0; i < COUNT(set); i++)
        if (getenv(set[i])) return true;
    for (int i = 0; program && i < COUNT(programs); i++)
        if (!strcmp(program, programs[i])) return true;
    for (int i = 0; i < COUNT(terms); i++)
        if (!strncmp(term, terms[i], strlen(terms[i]))) return true;
    return false;
}

/* Write the address of the file, file://HOST/PATH, with all but plain bytes as %XX. */
static bool link_begin(FILE *f, const char *path)
{
    char full[PATH_MAX], host[256] = "";
    if (!window.links || !realpath(path, full) || gethostname(host, sizeof host - 1)) return false;
    fprintf(f, "\033]8;;file://%s", host);
    for (const char *c = full; *c; c++)
        fprintf(f, isalnum((unsigned char)*c) || strchr("/-._~+", *c) ? "%c" : "%%%02X", (unsigned char)*c);
    fputs("\033\\", f);
    return true;
}

static void link_end(FILE *f)
{
    fputs("\033]8;;\033\\", f);
}

const struct table_links window_links = {link_begin, link_end};

/* ---- the options ---- */

void window_restyle(const struct session *s)
{
    window.usable = !s->plain && osc_is_understood();
    window.title = strcmp(option_value(s, OPTION_TITLE), "off") != 0;
    window.notify = (enum notify)index_of(option_value(s, OPTION_NOTIFY), notify_names, COUNT(notify_names));
    window.clipboard =
        (enum clipboard)index_of(option_value(s, OPTION_CLIPBOARD), clipboard_names, COUNT(clipboard_names));
    const char *links = option_value(s, OPTION_LINKS);
    window.links = window.usable && (!strcmp(links, "on") || (!strcmp(links, "auto") && shows_links()));
    if (!window.title) give_title_back();
}

/* ---- leaving ---- */

/* Called in signal handlers, so that a failed write is ignored. */
static void write_now(const char *bytes)
{
    if (write(STDOUT_FILENO, bytes, strlen(bytes)) < 0) return;
}

void window_leave(void)
{
    if (window.watching) write_now(WINDOW_FOCUS_OFF);
    if (window.kept) write_now(WINDOW_TITLE_BACK);
}

void window_return(void)
{
    if (window.kept) write_now(title_kept), write_now(window.sent);
    if (window.watching) write_now(focus_on);
}

void window_end(void)
{
    window_watch(false);
    give_title_back();
}
