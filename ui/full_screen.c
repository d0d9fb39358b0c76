/* The full screen, drawn by ncurses, which compares cells, sends only changes, and decodes keys and the mouse. */
#include "full_screen.h"
#include "stage.h"
#include "term.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

enum { ESCAPE = 27, ESCAPE_MS = 25, RUN = 256, GAP = 8, EVENTS = 8, WAITING = 64 };

/* Terminals show the output between these two sequences as one frame, without flicker. Terminals with a mouse support
   these sequences or ignore them. */
#define FRAME_BEGIN "\033[?2026h"
#define FRAME_END "\033[?2026l"
/* Turns off every mouse protocol that ncurses may have turned on. */
#define MOUSE_OFF "\033[?1006l\033[?1000l"
/* All events that ncurses can report. All events are requested because, after an event that was not requested, ncurses
   would wait for the next event. */
static const mmask_t BUTTONS = BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON2_PRESSED | BUTTON2_RELEASED |
                               BUTTON3_PRESSED | BUTTON3_RELEASED | BUTTON4_PRESSED | BUTTON4_RELEASED |
                               BUTTON5_PRESSED | BUTTON5_RELEASED;

static struct {
    bool known;     /* the terminfo entry was read */
    bool has_mouse; /* the terminal has a mouse, and supports or ignores FRAME_BEGIN */
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

static void collect_all(char *out, size_t size, int n, const char *const *parts)
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

/* ---- drawing ---- */

static struct {
    /* What the screen shows: w * h cells with canonical styles, then one spare line; owned. NULL: unknown. */
    struct cell *cell;
    int w, h;
    enum colours colours;
    cchar_t look[ST_COUNT];      /* a blank cell of each style */
    uint8_t canonical[ST_COUNT]; /* the first style that looks the same */
} shown;

static void forget(void)
{
    mem_free(shown.cell);
    shown.cell = NULL;
}

static void use_colours(void)
{
    static bool on;
    if (on) return;
    start_color();
    use_default_colors();
    on = true;
}

static void make_look(enum style st, enum colours colours)
{
    int colour = style_colour(st, colours), pair = colour < 0 ? 0 : alloc_pair(colour, -1);
    attr_t attributes = (style_bold(st) ? A_BOLD : 0) | (style_reverse(st) ? A_REVERSE : 0);
    if (pair < 0) pair = 0;
    setcchar(&shown.look[st], L" ", attributes, 0, &pair);
}

static void make_looks(enum colours wanted)
{
    enum colours colours = full_screen_colours(wanted);
    if (colours != COLOURS_NONE) use_colours();
    for (int st = 0; st < ST_COUNT; st++) {
        int first = 0;
        make_look((enum style)st, colours);
        while (memcmp(&shown.look[first], &shown.look[st], sizeof *shown.look)) first++;
        shown.canonical[st] = (uint8_t)first;
    }
}

/* Give the screen the size of the canvas. Returns false if there is not enough memory. */
static bool fit(const struct canvas *c)
{
    bool resized = shown.w != c->w || shown.h != c->h;
    if (shown.cell && !resized && shown.colours == c->colours) return true;
    if (resized && resize_term(c->h, c->w) != OK) return false;
    if (resized) werase(stdscr), clearok(curscr, TRUE);
    make_looks(c->colours);
    forget();
    shown.cell = mem_zero((int64_t)c->w * (c->h + 1), sizeof *shown.cell, "the screen's record", NULL);
    shown.w = c->w;
    shown.h = c->h;
    shown.colours = c->colours;
    return shown.cell;
}

static bool is_wide(uint32_t glyph)
{
    bool drawing = (glyph & ~0xffu) == 0x2500 || (glyph & ~0xffu) == 0x2800; /* boxes, blocks; braille */
    return glyph >= 0x1100 && !drawing && wcwidth((wchar_t)glyph) > 1;
}

/* The cell as it is sent: half of a wide glyph becomes a blank, and a blank has no style. */
static struct cell to_show(const struct canvas *c, int x, int y)
{
    const struct cell *k = &c->cell[y * c->w + x];
    bool right_follows = x + 1 < c->w && !k[1].glyph;
    bool alone = k->glyph ? is_wide(k->glyph) && !right_follows : x == 0 || !is_wide(k[-1].glyph);
    if (alone || cell_blank(*k)) return (struct cell){' ', ST_PLAIN};
    return (struct cell){k->glyph, shown.canonical[k->style]};
}

/* Fill `line` with the cells of line y. Up to GAP blanks between two glyphs keep the style of the first glyph, because
   turning the style off takes more bytes. */
static void make_line(const struct canvas *c, int y, struct cell *line)
{
    enum style on = ST_PLAIN;
    int blanks = 0;
    for (int x = 0; x < c->w; x++) {
        line[x] = to_show(c, x, y);
        if (cell_blank(line[x])) {
            blanks++;
            continue;
        }
        for (int i = 1; i <= blanks && blanks <= GAP && !style_reverse(on); i++) line[x - i].style = (uint8_t)on;
        blanks = 0;
        on = line[x].style;
    }
}

static bool same_line(const struct cell *a, const struct cell *b, int n)
{
    for (int x = 0; x < n; x++)
        if (a[x].glyph != b[x].glyph || a[x].style != b[x].style) return false;
    return true;
}

static void put_line(const struct cell *line, int w, int y)
{
    cchar_t run[RUN];
    int n = 0, from = 0;
    for (int x = 0; x < w; x++) {
        if (!line[x].glyph) continue;
        if (n == RUN) mvwadd_wchnstr(stdscr, y, from, run, n), n = 0, from = x;
        run[n] = shown.look[line[x].style];
        run[n++].chars[0] = (wchar_t)line[x].glyph;
    }
    mvwadd_wchnstr(stdscr, y, from, run, n);
}

/* Write directly, not through the buffer of ncurses, which is empty before and after doupdate. If this write fails, all
   other writes fail too, so the error is ignored. */
static void send(const char *bytes)
{
    if (write(STDOUT_FILENO, bytes, strlen(bytes)) < 0) return;
}

void full_screen_draw(const struct canvas *c)
{
    bool changes = false;
    if (!fit(c)) return;
    struct cell *line = shown.cell + (ptrdiff_t)c->w * c->h;
    for (int y = 0; y < c->h; y++) {
        struct cell *was = shown.cell + (ptrdiff_t)c->w * y;
        make_line(c, y, line);
        if (same_line(line, was, c->w)) continue;
        put_line(line, c->w, y);
        memcpy(was, line, (size_t)c->w * sizeof *line);
        changes = true;
    }
    if (!changes) return;
    if (full.has_mouse) send(FRAME_BEGIN);
    wnoutrefresh(stdscr);
    doupdate();
    if (full.has_mouse) send(FRAME_END);
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

/* Until the screen has been left and entered once, ncurses 6.4 writes each movement of the cursor by a system call of
   its own: a frame took more than 100 of them, and each wakes the terminal. */
static void write_frames_at_once(void)
{
    endwin();
    doupdate();
}

/* Called once. endwin is never called after colours are used, because ncurses would then reset the user's terminal
   colours. */
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
    typeahead(-1); /* complete every frame, even if keys are waiting */
    leaveok(stdscr, TRUE);
    idcok(stdscr, FALSE);
    write_frames_at_once();
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
    send(full.enter);
    keypad(full.keys, TRUE);
}

bool full_screen_open(const struct termios *modes, struct err *e)
{
    if (full.terminal) set_curterm(full.terminal);
    if (full.keys)
        enter_again();
    else if (!start(modes, e))
        return false;
    forget();
    werase(stdscr); /* clear this buffer, or ncurses would send the old content again */
    clearok(curscr, TRUE);
    wnoutrefresh(stdscr);
    doupdate();
    switch_mouse(full.mouse);
    return full.open = true;
}

void full_screen_close(void)
{
    forget();
    waiting.n = waiting.next = 0;
    switch_mouse(false);
    keypad(full.keys, FALSE);
    full.open = false;
}
