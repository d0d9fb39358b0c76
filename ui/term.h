/* The terminal: keys come from it and canvases are shown on it. It is borrowed and always given back. */
#ifndef UI_TERM_H
#define UI_TERM_H

#include <termios.h>
#include <stdbool.h>

#include "canvas.h"

enum keys {
    UI_UP = 0x110000,
    UI_DOWN,
    UI_LEFT,
    UI_RIGHT,
    UI_HOME,
    UI_END,
    UI_PGUP,
    UI_PGDN,
    UI_RESIZE,
    UI_ENTER,
    UI_TAB,
    UI_ESC,
    UI_INTERRUPT,
    UI_BACKTAB,
    UI_CLICK,
    UI_WHEEL_UP,
    UI_WHEEL_DOWN,
    UI_WAIT
};

bool term_open(struct err *e); /* the alternate screen, keys one by one */
void term_close(void);         /* as it was; harmless when not open */
bool term_is_open(void);
void term_size(int *w, int *h);         /* of the terminal on stdout, else 80 x 24 */
void term_draw(const struct canvas *c); /* only what changed since the last time */
int term_key(int wait_ms);              /* a key, or -1 when none came; -1 waits without end */
void term_bytes(bool on);               /* term_key gives bytes one by one, for a line; Escape alone stays UI_ESC */
bool term_typed(void);                  /* more was read than taken as keys */
int term_key_between(void);             /* between pieces of work that a key may cut short: a key, or -1 */
enum colours term_colours(void);
void term_mouse(bool on);           /* clicks and the wheel are keys (at first they are), where a terminal has one */
void term_mouse_at(int *x, int *y); /* of the last of them */
/* Signals. Handlers set flags; those of crashes give the terminal back and let the crash go on. */
void term_signals(void);
void term_catch_stop(bool on); /* Ctrl-Z sets a flag (on), or stops the program at once */
bool term_quiet(bool on);      /* keys typed while a command works are kept, and not shown; was it on? */
void term_stop(void);          /* Ctrl-Z: give the terminal back, stop, take it again */
/* Wait for input on stdin or a signal. */
enum happened { H_NOTHING, H_INPUT, H_INTERRUPT, H_STOP, H_RESIZE };
enum happened term_wait(int ms);

/* ---- guard.c ---- */

/* A separate process restores the terminal if this one is killed while `on`: it writes `reset`, and sets the modes to
   `before` if they still are `raw`. */
void guard(bool on);
void guard_start(const char *reset, const struct termios *before, const struct termios *raw);

#endif
