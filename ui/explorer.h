/* The explorer: panes on the full screen, a command line below them, and the output of its commands. */
#ifndef EXPLORER_H
#define EXPLORER_H

#include <stdbool.h>

#include "pager.h"

struct canvas;
struct err;
struct session;

struct explorer {
    bool on; /* the explorer has the whole screen */
    const struct view *pane;
    int w, h;    /* size of the screen when it was last drawn */
    int pending; /* a key that interrupted running work and that the explorer must still handle; 0: none */
    bool typing; /* a command is being typed */
    bool mouse_off;
    char *output;          /* output of the last command, drawn over the pane; owned; NULL: none */
    struct pager pager;    /* shows the output */
    char output_title[80]; /* the command */
    char status[240];      /* a message for the bottom line; empty: no message */
    bool status_bad;       /* the status is an error message */
    char *last_output;     /* printed after the full screen is closed; owned */
    int mouse_x, mouse_y;
    int cursor_y;              /* line of the pane's cursor when it was last drawn; -1: none */
    char running[64];          /* the command or the view whose work runs now, while keys are handled */
    const struct view *wanted; /* a pane that the user requested, to be prepared when the work has ended */
};

/* Show this pane with the current matrix. */
bool explore_enter(struct session *s, const struct view *v, struct err *e);
void explore_draw(struct canvas *c, struct session *s);
bool explore_key(struct session *s, int key); /* handle a key; returns false if the key leaves the explorer */
/* Run the lines that were typed while a command ran, and show the pane that the user requested meanwhile. Returns false
   if there was nothing to do. */
bool explore_catch_up(struct session *s);
/* Reset a view that draws work which has just begun. */
void explore_revalidate(struct session *s, const struct view *v);
/* Are the results that the pane computed still valid, now that a command has run for a while? */
bool explorer_pane_is_valid(struct session *s);
bool explore_takes(struct session *s, int key); /* is this key handled by the explorer, not by the pane? */
bool explore_drive(struct session *s);          /* continue the pane's work; false: there is none */
void explore_leave(struct session *s, int key); /* called before the explorer ends: paused work reports its state */
void explore_end(struct session *s);

#endif
