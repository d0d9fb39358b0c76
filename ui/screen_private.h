/* The struct behind screen.h, for the files that draw the screen and read keys. */
#ifndef SCREEN_PRIVATE_H
#define SCREEN_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>

#include "canvas.h"
#include "explorer.h"
#include "view.h"
#include "ui/views/view_state.h"
#include "machine/front_ops.h"
#include "session/session.h"

/* The session's front, and what it remembers. */
struct screen {
    struct front front;
    struct view_state state[VIEWS_MAX];
    struct canvas canvas; /* what was drawn last */
    const struct view *drawn_view;
    double drawn_us;                 /* when the line or screen of running work was drawn last */
    const struct view *running_view; /* its work has the full screen; NULL: none */
    /* The element that the views share as cursor. */
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
/* A key, or -1 when none came in time or there is something new to draw. */
int screen_key(struct session *s, int wait_ms);

/* ---- live.c: members of struct front ---- */

/* Show running work on the whole screen until calm. */
bool live_open(struct session *s, const struct view *v, struct err *e);
enum turn live_view(struct session *s, const char *name);
void live_calm(struct session *s);

#endif
