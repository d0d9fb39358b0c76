/* The terminal: it shows canvases and delivers keys. The modes of the terminal are always restored at the end. */
#ifndef UI_TERM_H
#define UI_TERM_H

#include <stdbool.h>
#include <termios.h>

#include "canvas.h"
#include "pixels.h"

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
    UI_F1,
    UI_WAIT
};

bool term_can_open(struct err *e); /* does the terminal have the capabilities that a full screen needs? */
bool term_open(struct err *e);     /* enters the full screen; keys come one by one */
void term_close(void);             /* restores the terminal; does nothing if the full screen is not open */
bool term_is_open(void);
void term_size(int *w, int *h);         /* size of the terminal on stdout; 80 x 24 without a terminal */
void term_draw(const struct canvas *c); /* sends only the cells that changed since the last call */
void term_draw_images(const struct canvas *c, const struct image *const *image, int n); /* the same with n images */
bool term_pixels(struct pixel_terminal *out); /* can the terminal show images? */
int term_key(int wait_ms);                    /* a key, or -1 if no key came in time; wait_ms -1: no limit */
void term_bytes(bool on); /* on: term_key returns single bytes, for readline; Escape alone is still UI_ESC */
bool term_typed(void);    /* are there keys that were read but not returned? */
/* A key that has arrived, UI_RESIZE, or -1 if there is no key. The thread that runs the command handles Ctrl-C. */
int term_key_now(void);
int term_key_between(void); /* a key that interrupts background work, or -1 */
enum colours term_colours(void);
void term_mouse(bool on);           /* report clicks and the wheel as keys; initially on */
void term_mouse_at(int *x, int *y); /* the cell of the last click or wheel event */
/* Install the signal handlers. The handlers set flags; after a crash, they restore the
   terminal and let the crash continue. */
void term_signals(void);
void term_catch_stop(bool on); /* Ctrl-Z sets a flag (on) or stops the program immediately (off) */
bool term_quiet(bool on);      /* on: keys typed while a command runs are kept but not echoed; returns the old value */
void term_stop(void); /* after Ctrl-Z: restore the terminal, stop the program, and later open the screen again */
/* Wait for input on stdin or a signal. */
enum happened { H_NOTHING, H_INPUT, H_INTERRUPT, H_STOP, H_CONTINUE, H_RESIZE };
enum happened term_wait(int ms);
bool term_resized(void);      /* was the window resized? Clears the flag */
bool term_continued(void);    /* was the process continued after kill -STOP? Clears the flag */
void term_guard(void);        /* start the guardian, and send the terminal's current modes to it */
bool term_stop_pressed(void); /* was Ctrl-Z pressed? term_stop clears the flag */

/* ---- guard.c ---- */

/* A separate process restores the terminal if this process is killed. It sets the modes back to `before` if the
   terminal still has modes that guard_modes has sent. While the full screen is on (`guard`), `raw` is one of these
   modes, and the separate process also writes `reset`. */
void guard(bool on);
void guard_modes(const struct termios *now);
/* The window has this program's title (terminal_window.c), or may report the focus: the separate process undoes that,
 * too. */
void guard_title(bool on);
void guard_focus(void);
#define WINDOW_TITLE_BACK "\033[23;2t"
#define WINDOW_FOCUS_OFF "\033[?1004l"
void guard_end(void); /* the terminal is restored: end the separate process */
void guard_start(const char *reset, const struct termios *before, const struct termios *raw);

#endif
