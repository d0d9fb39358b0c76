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
    int w, h;    /* of the screen as drawn last */
    int pending; /* a key that interrupted running work, to be taken by the explorer; 0: none */
    bool typing; /* a command is typed */
    bool mouse_off;
    char *output;          /* of the last command, drawn over the pane; NULL: none */
    int output_first;      /* its first line shown */
    char output_title[80]; /* the command */
    char status[240];      /* one line at the bottom; empty: none */
    bool status_bad;       /* it is an error */
    char *last_output;     /* to be printed once the screen is given back */
    int mouse_x, mouse_y;
    int cursor_y; /* line of the pane's cursor as drawn last; -1: none */
};

/* Show this pane, on the current matrix. */
bool explore_enter(struct session *s, const struct view *v, struct err *e);
void explore_draw(struct canvas *c, struct session *s);
bool explore_key(struct session *s, int key);   /* false: leave */
bool explore_takes(struct session *s, int key); /* is it the explorer's, not the pane's? */
bool explore_drive(struct session *s);          /* continue the work of the pane; false: there is none */
void explore_end(struct session *s);

#endif
