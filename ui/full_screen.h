/* The full screen, drawn by ncurses: it shows canvases and reads keys. term.c decides when it is open. */
#ifndef FULL_SCREEN_H
#define FULL_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "canvas.h"
#include "pixels.h"

struct press;

/* Read the terminfo entry once. `leave` receives the bytes that leave the full screen, ready for a signal handler, and
   a final 0. */
bool full_screen_learn(char *leave, size_t size, struct err *e);
/* Enter the full screen with these terminal modes. Install the signal handlers before the first call; otherwise ncurses
   installs its own handlers. */
bool full_screen_open(const struct termios *modes, struct err *e);
/* Stop using the terminal. The caller sends the bytes that leave the full screen and restores the modes. */
void full_screen_close(void);
/* Show the canvas and n images. Only changes are sent to the terminal. */
void full_screen_draw(const struct canvas *c, const struct image *const *image, int n);
/* The terminal's answers so far about pixels, or the user's choice (full_screen_choose_pixels). Returns false if the
   terminal shows text only. */
bool full_screen_pixels(struct pixel_terminal *out);
enum pixel_choice { PIXELS_AUTO, PIXELS_NEVER, PIXELS_AS_SIXEL, PIXELS_AS_KITTY };
void full_screen_choose_pixels(enum pixel_choice choice);
/* Ask for the size of a cell again, after the size of the window has changed. */
void full_screen_ask_again(void);
/* Read a key without waiting, with the cell of a click or of the wheel. Returns false if no key has come. If `bytes` is
   set, the bytes of each key are returned one by one, for readline. Escape alone is UI_ESC. */
bool full_screen_key(bool bytes, struct press *p);
bool full_screen_has_bytes(void); /* has a part of a key been read? */
void full_screen_mouse(bool on);

#endif
