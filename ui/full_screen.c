/* The full screen: opening, closing, keys and the mouse, with terminfo and ncurses. full_screen_draw.c draws frames. */
#include "full_screen.h"
#include "full_screen_draw.h"
#include "stage.h"
#include "term.h"
#include "base/err.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

enum { ESCAPE = 27, ESCAPE_MS = 25, EVENTS = 8, WAITING = 64 };

/* Turns off every mouse protocol that ncurses may have turned on. */
#define MOUSE_OFF "\033[?1006l\033[?1000l"
/* All events that ncurses can report. All events are requested because, after an event that was not requested, ncurses
   would wait for the next event. */
static const mmask_t BUTTONS = BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON2_PRESSED | BUTTON2_RELEASED |
                               BUTTON3_PRESSED | BUTTON3_RELEASED | BUTTON4_PRESSED | BUTTON4_RELEASED |
                               BUTTON5_PRESSED | BUTTON5_RELEASED;

static struct {
    bool known;     /* the terminfo entry was read */
    bool has_mouse; /* the terminal has a mouse */
    bool mouse;     /* the user has turned the mouse on */
    bool active;    /* ncurses reports mouse events */
    bool open;
    char enter[64];     /* reopens the full screen; ncurses opens it the first time */
    SCREEN *screen;     /* NULL: not opened yet */
    TERMINAL *learned;  /* the entry that was read first; readline may use it, so it stays until the end */
    TERMINAL *terminal; /* terminal of the screen; readline uses another TERMINAL */
    WINDOW *keys;       /* a pad, because reading keys from a pad draws nothing */
} full = {.mouse = true};

/* ---- the terminfo entry ---- */

/* Static, because tputs passes no user argument to its callback. */
static char *collected;
static size_t collected_size;

static int collect(int byte)
{
    size_t n = strlen(collected);
    if (n + 1 < collected_size) collected[n] = (char)byte, collected[n + 1] = 0;
    return byte;
}

void collect_all(char *out, size_t size, int n, const char *const *parts)
{
    collected = out;
    collected_size = size;
    *out = 0;
    for (int i = 0; i < n; i++)
        if (parts[i]) tputs(parts[i], 1, collect);
}

bool full_screen_learn(char *leave, size_t size, struct err *e)
{
    int status = 0;
    const char *name = getenv("TERM");
    if (full.known) return true;
    if (!name || !*name) return fail(e, E_UNSUPPORTED, "TERM is not set; try TERM=xterm-256color");
    if (setupterm(NULL, STDOUT_FILENO, &status) != OK && status < 1)
        return fail(
            e, E_UNSUPPORTED,
            "this machine has no terminfo entry for TERM=%.40s; set TERM=xterm-256color, or install the package "
            "ncurses-term",
            name);
    full.learned = cur_term;
    if (!cursor_address || !clear_screen)
        return fail(e, E_UNSUPPORTED, "the terminal `%.40s` cannot position its cursor; views are shown as text only",
                    name);
    full.has_mouse = key_mouse != NULL;
    const char *in[] = {enter_ca_mode, cursor_invisible};
    const char *out[] = {full.has_mouse ? FRAME_END MOUSE_OFF : NULL, exit_attribute_mode, cursor_normal, keypad_local,
                         exit_ca_mode};
    collect_all(full.enter, sizeof full.enter, COUNT(in), in);
    collect_all(leave, size, COUNT(out), out);
    return full.known = true;
}

/* Does the terminfo entry accept colours as 0xrrggbb? */
static bool is_direct(void)
{
    const char *text = tigetstr("RGB");
    bool rgb = tigetflag("RGB") > 0 || tigetnum("RGB") > 0 || (text && text != (const char *)-1);
    return rgb && tigetnum("colors") >= 1 << 24;
}

/* Find the terminfo entry of the same terminal with direct colours, such as xterm-direct for xterm-256color. Returns
   false if there is no such entry. */
static bool find_direct(char *name, size_t size)
{
    const char *term = getenv("TERM"), *tail = strstr(term, "-256color");
    TERMINAL *before = cur_term;
    int status;
    if (is_direct()) return false;
    snprintf(name, size, "%.*s-direct", tail ? (int)(tail - term) : (int)strlen(term), term);
    bool found = setupterm(name, STDOUT_FILENO, &status) == OK && is_direct();
    TERMINAL *tried = set_curterm(before);
    if (tried != before) del_curterm(tried);
    return found;
}

enum colours full_screen_colours(enum colours wanted)
{
    if (!full.screen || wanted == COLOURS_NONE) return wanted;
    if (is_direct()) return wanted == COLOURS_8 ? COLOURS_8 : COLOURS_24BIT;
    int n = tigetnum("colors");
    enum colours most = n >= 256 ? COLOURS_256 : n >= 16 ? COLOURS_16 : n >= 8 ? COLOURS_8 : COLOURS_NONE;
    return wanted < most ? wanted : most;
}

/* ---- keys ---- */

/* Keys that were read but not yet returned: the bytes of one key, or mouse events. */
static struct {
    struct press press[WAITING];
    int n, next;
} waiting;

static const struct {
    int code, key;
    const char *also[5]; /* sequences that terminal emulators send even if their terminfo entry differs */
} keys[] = {
    {KEY_UP, UI_UP, {"\033[A", "\033OA"}},
    {KEY_DOWN, UI_DOWN, {"\033[B", "\033OB"}},
    {KEY_RIGHT, UI_RIGHT, {"\033[C", "\033OC"}},
    {KEY_LEFT, UI_LEFT, {"\033[D", "\033OD"}},
    {KEY_HOME, UI_HOME, {"\033[H", "\033OH", "\033[1~", "\033[7~"}},
    {KEY_END, UI_END, {"\033[F", "\033OF", "\033[4~", "\033[8~"}},
    {KEY_PPAGE, UI_PGUP, {"\033[5~"}},
    {KEY_NPAGE, UI_PGDN, {"\033[6~"}},
    {KEY_BTAB, UI_BACKTAB, {"\033[Z"}},
    {KEY_DC, -1, {"\033[3~"}},
    {KEY_ENTER, UI_ENTER, {0}},
    {KEY_BACKSPACE, 0x7f, {0}},
};

static void define_keys(void)
{
    for (int i = 0; i < COUNT(keys); i++)
        for (const char *const *s = keys[i].also; *s; s++)
            if (key_defined(*s) == 0) define_key(*s, keys[i].code);
}

static void add(int key, int x, int y)
{
    if (key >= 0 && waiting.n < WAITING) waiting.press[waiting.n++] = (struct press){key, x, y};
}

/* getmouse returns the newest event first; add the events oldest first. */
static void add_mouse(void)
{
    MEVENT event[EVENTS];
    int n = 0;
    while (n < EVENTS && getmouse(&event[n]) == OK) n++;
    while (n-- > 0) {
        mmask_t pressed = event[n].bstate;
        int key = pressed & BUTTON1_PRESSED   ? UI_CLICK
                  : pressed & BUTTON4_PRESSED ? UI_WHEEL_UP
                  : pressed & BUTTON5_PRESSED ? UI_WHEEL_DOWN
                                              : -1;
        add(key, event[n].x, event[n].y);
    }
}

static void add_bytes(const char *bytes)
{
    for (; *bytes; bytes++) add((unsigned char)*bytes, 0, 0);
}

/* Add a key code of ncurses that is not a character. */
static void add_code(int code, bool bytes)
{
    char *sequence = bytes && code != KEY_BACKSPACE ? keybound(code, 0) : NULL;
    if (sequence) add_bytes(sequence);
    for (int i = 0; !sequence && i < COUNT(keys); i++)
        if (keys[i].code == code) add(keys[i].key, 0, 0);
    free(sequence);
}

static void add_plain(int byte)
{
    bool enter = byte == '\r' || byte == '\n';
    add(enter ? UI_ENTER : byte == '\t' ? UI_TAB : byte < 0x80 ? byte : -1, 0, 0);
}

static void take(int code, bool bytes);

/* Called after Escape. If the rest of a sequence that ncurses does not recognise follows immediately, skip all of
   it. */
static void take_escape(bool bytes)
{
    int next = wgetch(full.keys);
    if (next == ERR || next == ESCAPE) add(UI_ESC, 0, 0);
    if (next == ERR) return;
    if (bytes && next < KEY_MIN && next != ESCAPE) add(ESCAPE, 0, 0);
    if (bytes || next == ESCAPE || next >= KEY_MIN) {
        take(next, bytes);
        return;
    }
    if (next != '[' && next != 'O') return;
    do {
        next = wgetch(full.keys);
    } while (next != ERR && (next < 0x40 || next > 0x7e));
}

static void take(int code, bool bytes)
{
    if (code == KEY_MOUSE)
        add_mouse();
    else if (code == ESCAPE)
        take_escape(bytes);
    else if (code >= KEY_MIN)
        add_code(code, bytes);
    else if (bytes)
        add(code, 0, 0);
    else
        add_plain(code);
}

bool full_screen_key(bool bytes, struct press *p)
{
    while (waiting.next == waiting.n) {
        int code = full.open ? wgetch(full.keys) : ERR;
        waiting.next = waiting.n = 0;
        if (code == ERR) return false;
        take(code, bytes);
    }
    *p = waiting.press[waiting.next++];
    return true;
}

bool full_screen_has_bytes(void)
{
    return waiting.next < waiting.n;
}

/* mouseinterval(0) reports a press immediately, without waiting for a release that would make it a click. Events that
   arrive after the mouse was turned off are skipped like unknown keys. */
static void switch_mouse(bool on)
{
    if (on == full.active || !full.has_mouse) return;
    mouseinterval(0);
    mousemask(on ? BUTTONS : 0, NULL);
    keyok(KEY_MOUSE, on);
    full.active = on;
}

void full_screen_mouse(bool on)
{
    full.mouse = on;
    if (full.open) switch_mouse(on);
}

/* ---- opening and closing ---- */

/* Called once. endwin is never called, because full_screen_close leaves the screen in an order of its own. */
static bool start(const struct termios *modes, struct err *e)
{
    char direct[80];
    use_env(FALSE);
    use_tioctl(TRUE);
    bool better = colours_of_env(true) == COLOURS_24BIT && find_direct(direct, sizeof direct);
    if (!(full.screen = newterm(better ? direct : NULL, stdout, stdin)))
        return fail(e, E_UNSUPPORTED, "the terminal `%.40s` cannot show a full screen", getenv("TERM"));
    full.terminal = cur_term;
    if (!getenv("ESCDELAY")) set_escdelay(ESCAPE_MS);
    cbreak();
    noecho();
    nonl();
    tcsetattr(STDIN_FILENO, TCSANOW, modes);
    def_prog_mode();
    doupdate(); /* enters the alternate screen */
    curs_set(0);
    if (!(full.keys = newpad(1, 1))) return fail(e, E_MEMORY, "not enough memory for the screen");
    keypad(full.keys, TRUE);
    nodelay(full.keys, TRUE);
    define_keys();
    return true;
}

static void enter_again(void)
{
    reset_prog_mode();
    full_screen_send(full.enter);
    keypad(full.keys, TRUE);
}

bool full_screen_open(const struct termios *modes, struct err *e)
{
    if (full.terminal) set_curterm(full.terminal);
    if (full.keys)
        enter_again();
    else if (!start(modes, e))
        return false;
    frames_begin(full.has_mouse);
    switch_mouse(full.mouse);
    return full.open = true;
}

void full_screen_close(void)
{
    frames_end();
    waiting.n = waiting.next = 0;
    switch_mouse(false);
    keypad(full.keys, FALSE);
    full.open = false;
}
