/* The state of a view on the screen, kept while the program runs. */
#ifndef VIEW_STATE_H
#define VIEW_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "matrix/window.h"

struct err;
struct view;

/* The state has a part common to all views, and the view's own part. */
struct view_state {
    const struct view *view;
    void *own;               /* view->state_size bytes, zero at first; NULL: the view has no state of its own */
    const struct matrix *of; /* the matrix of this state */
    int64_t stale_seen;      /* the value of stale_count() when the pane was prepared; -1: the pane is not prepared */
    int64_t number;          /* serial number of that matrix, because the next matrix may have the same address */
    int64_t rows, cols;      /* size of that matrix */
    struct window win;       /* the visible part of the matrix */
    int64_t row, col;        /* cursor */
    int64_t row_step, col_step; /* elements per cell when last drawn; an arrow key moves by this number */
    int64_t scroll, item;       /* in lists: the first visible item, and the chosen item */
    int64_t count;              /* digits typed before a key */
    int w, h;                   /* size of printed text, in characters; 0: the size in struct front */
    bool full;                  /* the view is shown full screen and handles keys; otherwise it is printed as text */
    bool pane, listed;          /* the view is a pane of the explorer, and the line above it lists the panes */
    bool help;                  /* the help on the keys is shown */
    bool typing;      /* the user types a line: the answer to `question` or, if `question` is empty, the row to go to */
    int question_key; /* the key that asked the question */
    char question[96];
    char typed[24]; /* the text typed so far */
    char message[120];
};

/* Create the state of a view that was never shown. Call view_state_free even if this fails. */
bool view_state_new(struct view_state *st, const struct view *v, struct err *e);
void view_state_free(struct view_state *st);
/* Prepare the state for showing matrix m, or no matrix if m is NULL. Reset the state if it was made for a
   different matrix, or if the size of the matrix has changed. */
void view_reset(struct view_state *st, const struct matrix *m);
/* Copy the visible part and the cursor of `from`, unless `from` was made for a different matrix. */
void view_state_copy(struct view_state *to, const struct view_state *from);
/* Ask a question on the bottom line, for key k. Returns true. */
bool view_ask(struct view_state *st, int k, const char *question);

#endif
