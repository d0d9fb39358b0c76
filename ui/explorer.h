/* The explorer: panes on the full screen, a command line below them, and the output of its commands. */
#ifndef EXPLORER_H
#define EXPLORER_H

#include <stdbool.h>

struct canvas;
struct err;
struct session;

struct explorer {
    bool on; /* the explorer has the whole screen */
    const struct view *pane;
    int w, h;    /* size of the screen when it was last drawn */
    int pending; /* a key that interrupted running work and that the explorer handles next; 0: none */
    bool typing; /* a command is being typed */
    bool mouse_off;
    char *output;          /* output of the last command, drawn over the pane; owned; NULL: none */
    int output_first;      /* the first line of the output that is shown */
    char output_title[80]; /* the command */
    char status[240];      /* one line at the bottom; empty: none */
    bool status_bad;       /* the status is an error message */
    char *last_output;     /* printed after the full screen is closed; owned */
    int mouse_x, mouse_y;
    int cursor_y; /* line of the pane's cursor when it was last drawn; -1: none */
};

/* Show this pane with the current matrix. */
bool explore_enter(struct session *s, const struct view *v, struct err *e);
void explore_draw(struct canvas *c, struct session *s);
bool explore_key(struct session *s, int key);   /* handle a key; false: leave the explorer */
bool explore_takes(struct session *s, int key); /* does the explorer handle this key, not the pane? */
bool explore_drive(struct session *s);          /* continue the pane's work; false: there is none */
void explore_end(struct session *s);

#endif
