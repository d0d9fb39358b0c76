/* Recordings of the screen in the format of asciinema (asciicast v2): a header, then one JSON line per event. On a
   terminal, a recording contains all output with its times. Without a terminal, it contains the screens of `keys`, with
   the times of a steady typist, so that the same script gives the same file. */
#ifndef CAST_H
#define CAST_H

#include <stdbool.h>

struct canvas;
struct casting;
struct err;
struct session;

/* Members of struct front (session/front.h). */
bool cast_begin(struct session *s, const char *file, struct err *e);
bool cast_now(struct casting *now);
void cast_end(void);

/* A screen was drawn for `keys`, and a key of `keys` is about to be handled. The screen that is recorded is the last
   one before the key: screens in between depend on how fast the machine is. */
void cast_drawn(const struct canvas *c);
void cast_key(int key);
/* The keys have ended. */
void cast_rest(void);

/* The terminal on descriptor 1 is that of the recording: give it the size of the real terminal. Does nothing if nothing
   is recorded. */
void cast_follow_size(void);

#endif
