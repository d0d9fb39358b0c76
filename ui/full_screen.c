/* The full screen: opening, closing, keys and the mouse, with terminfo and ncurses. full_screen_draw.c draws frames. */
#include "full_screen.h"
#include "background.h"
#include "base/clock.h"
#include "base/err.h"
#include "full_screen_draw.h"
#include "osc.h"
#include "stage.h"
#include "term.h"
#include "terminfo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

enum { ESCAPE = 27, ESCAPE_MS = 25, EVENTS = 8, WAITING = 80 };
/* The cell of a VT340, which had the first sixels; used if the user requests pixels from a terminal whose cells are
   unknown. */
enum { DEFAULT_CELL_WIDTH = 10, DEFAULT_CELL_HEIGHT = 20, CELL_MAX = 200 };

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
                         exit_ca_mode ? exit_ca_mode : "\r\n"}; /* without a screen of its own, below the drawing */
    terminfo_bytes(full.enter, sizeof full.enter, COUNT(in), in);
    terminfo_bytes(leave, size, COUNT(out), out);
    return full.known = true;
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
    {KEY_F(1), UI_F1, {"\033OP", "\033[11~", "\033[[A"}},
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

static bool take_focus(const char *text);

/* Some terminfo entries list the reports of the focus as keys. */
static bool focus_code(int code)
{
    char *sequence = keybound(code, 0);
    bool focus = sequence && *sequence == ESCAPE && take_focus(sequence + 1);
    free(sequence);
    return focus;
}

/* Add a key code of ncurses that is not a character. */
static void add_code(int code, bool bytes)
{
    char *sequence = bytes && code != KEY_BACKSPACE ? keybound(code, 0) : NULL;
    if (code > KEY_MAX && focus_code(code)) return;
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

/* ---- replies of the terminal ---- */

enum { REPLY_MAX = 60, BELL = 7 };
/* A reply ends within this time, and a terminal that answers at all does so within ANSWER_US. If the full screen is
   left before, the prompt skips the answer (prompt.c). */
static const double PAUSE_US = 50e3, ANSWER_US = 2e6;
enum { VT200 = 62, SIXEL_ATTRIBUTE = 4, CLIPBOARD_ATTRIBUTE = 52 };

/* The terminal is asked for its attributes (CSI c), which all terminals answer. Terminals of level VT200 and above are
   then asked for kitty graphics, too, because older ones would print this question. The answer to a last CSI c shows
   that there are no more answers. */
static struct {
    enum pixel_choice choice;
    enum { NOT_ASKED, ASKED_ATTRIBUTES, ASKED_ALL, ANSWERED } phase;
    double asked_us;
    bool sixel, kitty;
    int cw, ch; /* 0: unknown */
} pixels;

/* The part of a reply that was read so far: [, _ or ] and the bytes after it. */
static struct {
    char text[REPLY_MAX];
    int n; /* 0: no reply is being read */
    bool bytes;
    double at_us; /* time of the last byte */
} reply;

static bool awaits_answer(void)
{
    bool asked = pixels.phase == ASKED_ATTRIBUTES || pixels.phase == ASKED_ALL;
    return asked && now_us() - pixels.asked_us < ANSWER_US;
}

static void ask(void)
{
    if (pixels.choice == PIXELS_NEVER || pixels.phase != NOT_ASKED) return;
    pixels.phase = ASKED_ATTRIBUTES;
    pixels.asked_us = now_us();
    full_screen_send("\033[c");
}

static void ask_more(int level)
{
    pixels.phase = ASKED_ALL;
    if (level >= VT200) full_screen_send("\033_Gi=1,s=1,v=1,a=q,t=d,f=24;AAAA\033\\");
    full_screen_send("\033[16t\033[c");
}

void full_screen_ask_again(void)
{
    if (full.open && pixels.phase == ANSWERED && (pixels.sixel || pixels.kitty)) full_screen_send("\033[16t");
}

void full_screen_choose_pixels(enum pixel_choice choice)
{
    pixels.choice = choice;
    if (full.open) ask();
}

bool full_screen_pixels(struct pixel_terminal *out)
{
    enum pixel_choice c = pixels.choice;
    bool known = pixels.phase == ANSWERED;
    *out = (struct pixel_terminal){PIXELS_OFF, pixels.cw, pixels.ch};
    if (c == PIXELS_AS_KITTY || (c == PIXELS_AUTO && known && pixels.kitty)) out->way = PIXELS_KITTY;
    if (c == PIXELS_AS_SIXEL || (c == PIXELS_AUTO && known && pixels.sixel && !pixels.kitty)) out->way = PIXELS_SIXEL;
    if (!out->cw && c != PIXELS_AUTO) out->cw = DEFAULT_CELL_WIDTH, out->ch = DEFAULT_CELL_HEIGHT;
    return out->way != PIXELS_OFF && out->cw;
}

/* If a terminal does not answer CSI 16 t, its driver may know the size of the window in pixels. */
static void measure_cell(void)
{
    struct winsize size = {0};
    if (pixels.cw || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col || !size.ws_row) return;
    pixels.cw = size.ws_xpixel / size.ws_col;
    pixels.ch = size.ws_ypixel / size.ws_row;
}

static void take_attributes(const char *text)
{
    int level = 0, value, n;
    bool sixel = false;
    for (const char *t = text; sscanf(t, "%d%n", &value, &n) == 1; t += n + (t[n] == ';')) {
        if (t == text) level = value;
        sixel |= t > text && value == SIXEL_ATTRIBUTE;
        if (t > text && value == CLIPBOARD_ATTRIBUTE) osc_take_clipboard();
    }
    if (pixels.phase == ASKED_ATTRIBUTES) {
        ask_more(level);
    } else if (pixels.phase == ASKED_ALL) {
        pixels.phase = ANSWERED;
        pixels.sixel = sixel;
        measure_cell();
        add(UI_RESIZE, 0, 0); /* draw again, now with pixels */
    }
}

static void take_cell_size(int w, int h)
{
    if (w < 1 || h < 1 || w > CELL_MAX || h > CELL_MAX || (w == pixels.cw && h == pixels.ch)) return;
    pixels.cw = w;
    pixels.ch = h;
    if (pixels.phase == ANSWERED) add(UI_RESIZE, 0, 0);
}

/* [I and [O: the window got or lost the focus. */
static bool take_focus(const char *text)
{
    bool here = !strcmp(text, "[I");
    if (!here && strcmp(text, "[O") != 0) return false;
    osc_take_focus(here);
    return true;
}

/* Use a whole sequence if it is a reply. Returns false if it is another sequence. */
static bool take_reply(const char *text)
{
    int w, h;
    char end;
    const char *ok = strstr(text, ";OK");
    if (take_focus(text)) return true;
    if (!strncmp(text, "[?", 2) && text[strlen(text) - 1] == 'c') return take_attributes(text + 2), true;
    if (sscanf(text, "[6;%d;%d%c", &h, &w, &end) == 3 && end == 't') return take_cell_size(w, h), true;
    if (!strncmp(text, "_Gi=", 4) && ok && !ok[3]) pixels.kitty |= pixels.phase == ASKED_ALL;
    if (*text == ']' && background_answer(text + 1)) add(UI_RESIZE, 0, 0); /* draw again, in other colours */
    return *text == '_' || *text == ']';
}

/* End the sequence that is being read. If it is no reply, readline receives it; other sequences have no effect. */
static void end_reply(bool complete)
{
    reply.text[reply.n] = 0;
    bool passes = !(complete && take_reply(reply.text)) && reply.bytes && *reply.text == '[';
    reply.n = 0;
    if (!passes) return;
    add(ESCAPE, 0, 0);
    add_bytes(reply.text);
}

static void begin_reply(int first, bool bytes)
{
    reply.text[0] = (char)first;
    reply.n = 1;
    reply.bytes = bytes;
    reply.at_us = now_us();
}

/* Add a byte to the sequence that is being read. Returns false if the byte does not belong to it. */
static bool grow_reply(int code)
{
    bool csi = *reply.text == '[', ends = csi && code >= 0x40 && code <= 0x7e;
    if (*reply.text == ']' && code == BELL) return end_reply(true), true;
    if (code >= KEY_MIN || (code < ' ' && code != ESCAPE) || code > 0x7e || (csi && code == ESCAPE) ||
        reply.n + 1 >= REPLY_MAX)
        return end_reply(false), false;
    bool string_end = !csi && code == '\\' && reply.text[reply.n - 1] == ESCAPE;
    if (!csi && !string_end && reply.text[reply.n - 1] == ESCAPE) return end_reply(false), false;
    reply.at_us = now_us();
    if (string_end) reply.n--;
    if (!string_end) reply.text[reply.n++] = (char)code;
    if (ends || string_end) end_reply(true);
    return true;
}

/* Called after Escape. If the rest of a sequence that ncurses does not recognise follows immediately, skip all of
   it. */
static void take_escape(bool bytes)
{
    int next = wgetch(full.keys);
    if (next == ERR || next == ESCAPE) add(UI_ESC, 0, 0);
    if (next == ERR) return;
    bool colour = next == ']' && (!bytes || background_is_awaited());
    if ((next == '[' && (!bytes || awaits_answer())) || (next == '_' && awaits_answer()) || colour) {
        begin_reply(next, bytes);
        return;
    }
    if (bytes && next < KEY_MIN && next != ESCAPE) add(ESCAPE, 0, 0);
    if (bytes || next == ESCAPE || next >= KEY_MIN) {
        take(next, bytes);
        return;
    }
    if (next != 'O') return;
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
        if (reply.n && now_us() - reply.at_us > PAUSE_US) end_reply(false); /* the rest never came */
        if (code == ERR && waiting.next == waiting.n) return false;
        if (code != ERR && (!reply.n || !grow_reply(code))) take(code, bytes);
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
    bool better = colours_of_env(true) == COLOURS_24BIT && terminfo_direct(direct, sizeof direct);
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
    full.open = true;
    background_ask();
    ask();
    return true;
}

void full_screen_close(void)
{
    frames_end();
    waiting.n = waiting.next = reply.n = 0;
    switch_mouse(false);
    keypad(full.keys, FALSE);
    full.open = false;
}
