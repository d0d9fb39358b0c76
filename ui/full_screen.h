/* The full screen by ncurses: canvases are drawn on it and keys are read from it. term.c decides when it is open. */
#ifndef FULL_SCREEN_H
#define FULL_SCREEN_H

#include <termios.h>
#include <stdbool.h>
#include <stddef.h>

#include "canvas.h"

struct press;

/* Read the terminal's entry once. `leave` gets the bytes that leave the full screen, ready for a signal handler, and a
   final 0. */
bool full_screen_learn(char *leave, size_t size, struct err *e);
/* Enter the full screen, with these modes of the terminal. The handlers of signals must be installed before the first
   time, else ncurses installs its own. */
bool full_screen_open(const struct termios *modes, struct err *e);
/* Stop using the terminal; the caller sends what leaves the full screen and restores the modes. */
void full_screen_close(void);
/* Show the canvas; only changes are sent, and nothing if there are none. */
void full_screen_draw(const struct canvas *c);
enum colours full_screen_colours(enum colours wanted); /* what the terminal can show of them */
/* A key that has come, with the cell of a click or of the wheel; false: none has. bytes: the bytes of keys one by one,
   for readline. Escape alone is UI_ESC. */
bool full_screen_key(bool bytes, struct press *p);
bool full_screen_has_bytes(void); /* of a key of which others were taken */
void full_screen_mouse(bool on);

#endif
