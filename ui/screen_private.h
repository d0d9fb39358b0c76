/* The struct of the screen, for the files that draw the screen and read keys; screen.h has the public functions. */
#ifndef SCREEN_PRIVATE_H
#define SCREEN_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "explorer.h"
#include "screen_thread.h"
#include "session/front.h"
#include "session/session.h"
#include "ui/views/view_state.h"
#include "view.h"

/* s->front points to the first member of this struct. */
struct screen {
    struct front front;
    struct view_state state[VIEWS_MAX];
    struct canvas canvas; /* the last canvas drawn */
    const struct view *drawn_view;
    /* The last output that was longer than the screen; owned; NULL: none. */
    char *long_output;
    size_t long_output_bytes;
    bool output_is_newer;            /* it came after the last canvas */
    double drawn_us;                 /* time of the last line or frame of running work, us */
    const struct view *running_view; /* shows running work on the full screen; NULL: none */
    enum served served_before;       /* the value of screen_thread_serves before running_view was opened */
    /* The shared cursor of the views. */
    const struct matrix *cursor_of; /* NULL: none yet */
    int64_t cursor_row, cursor_col; /* column -1: only the row is known */
    struct explorer explorer;
};

static inline struct screen *screen_of(struct session *s)
{
    return (struct screen *)s->front;
}

/* ---- frame.c ---- */

/* Draw the explorer or the view on the terminal. */
bool screen_draw(struct session *s, const struct view *v, struct err *e);
/* Draw the last frame again, on the canvas only, without pictures of pixels. */
void screen_draw_as_text(struct session *s);
/* Read a key; returns -1 if no key came within wait_ms (-1: no limit), or if the view must be redrawn. */
int screen_key(struct session *s, int wait_ms);
/* For the screen thread: a key that has arrived, or -1 if no key has arrived. */
int screen_key_now(struct session *s);

/* ---- live.c: members of struct front ---- */

/* Show running work on the full screen until live_calm is called. */
bool live_open(struct session *s, const struct view *v, struct err *e);
enum turn live_view(struct session *s, const char *name);
void live_calm(struct session *s);

#endif
