/* What the front keeps of each view while the program runs. */
#ifndef VIEW_STATE_H
#define VIEW_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix/window.h"

struct err;
struct view;

/* The same for all views, and a part that only the view knows. */
struct view_state {
    const struct view *view;
    void *own;               /* view->state_size bytes, zero at first; NULL: the view has no state of its own */
    const struct matrix *of; /* the matrix this state belongs to, with so many rows and columns */
    int64_t rows, cols;
    struct window win;          /* the visible part of the matrix */
    int64_t row, col;           /* cursor */
    int64_t row_step, col_step; /* elements under one cell, as drawn last: how far an arrow moves */
    int64_t scroll, item;       /* lists: first shown, chosen */
    int64_t count;              /* digits typed before a key */
    int w, h;                   /* size of the text asked for; 0: the front's */
    bool full;                  /* on a whole screen, with keys; else text once */
    bool pane, listed;          /* of the explorer; the explorer lists its panes in the line above */
    bool help;                  /* the keys are shown */
    bool asks;                  /* a line is typed: the answer to `question`, or a row to go to if that is empty */
    int asks_for;               /* the key that asked the question */
    char question[96];
    char typed[24]; /* what was typed so far */
    char message[120];
};

/* The state of a view that was never shown. Whatever comes back, view_state_free follows. */
bool view_state_new(struct view_state *st, const struct view *v, struct err *e);
void view_state_free(struct view_state *st);
/* Fit the state to the session's current matrix. The state of another matrix is reset. */
void view_reset(struct view_state *st, const struct matrix *m);
/* Look at what `from` looks at, unless that is another matrix. */
void view_state_copy(struct view_state *to, const struct view_state *from);

#endif
