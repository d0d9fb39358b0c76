/* The explorer: panes on the full screen, a command line below them, and the output of its commands. */
#ifndef EXPLORER_H
#define EXPLORER_H

#include <stdbool.h>

#include <stdint.h>

#include "canvas.h"
#include "command_palette.h"
#include "figure.h"
#include "pager.h"
#include "pixels.h"
#include "split.h"
#include "view.h"

struct err;
struct session;

/* A pane as it was last drawn. The last line is the list of keys; it is shown for the pane with the focus only. */
struct pane_picture {
    struct canvas c;      /* owned */
    struct figure figure; /* lines and dots that the terminal shows as pixels; owned */
    struct image image;   /* the figure as pixels, in cells of the canvas; owned */
    bool fresh;           /* the pane has not changed since then */
    int cursor_y;         /* line of the cursor; -1: none */
};
/* The step and lane that views marked when they were last drawn. */
struct trace_mark_at {
    const void *of;
    int64_t step, block, warp, launch, lane;
};

struct explorer {
    bool on;                 /* the explorer has the whole screen */
    const struct view *pane; /* the view of the pane with the focus */
    struct split split;      /* all panes */
    struct pane_picture picture[VIEWS_MAX];
    struct trace_mark_at marked;
    struct pixel_terminal pixels;   /* the terminal for which the panes were drawn; way PIXELS_OFF: text only */
    bool as_text;                   /* draw without pixels, for a dump of the screen */
    bool no_pixels;                 /* a picture failed, and the user was told why */
    struct image placed[PANES_MAX]; /* the images of the visible panes, in cells of the screen; not owned */
    const struct image *image[PANES_MAX];
    int images;
    int64_t panes_drawn; /* number of times that a pane was drawn, for tests */
    int w, h;            /* size of the screen when it was last drawn */
    int pending;         /* a key that interrupted running work and that the explorer must still handle; 0: none */
    bool typing;         /* a command is being typed */
    bool mouse_off;
    const struct view *menu; /* the view at the menu's cursor; NULL: the menu is closed */
    struct palette palette;  /* open over the panes, or closed */
    int menu_digits;         /* the number typed so far in the menu */
    char *output;            /* output of the last command, drawn over the pane; owned; NULL: none */
    struct pager pager;      /* shows the output */
    char output_title[80];   /* the command */
    char status[240];        /* a message for the bottom line; empty: no message */
    bool status_bad;         /* the status is an error message */
    char *offered;           /* a text for the next command line; owned; NULL: none */
    char *last_output;       /* printed after the full screen is closed; owned */
    int mouse_x, mouse_y;
    int cursor_y;                 /* line of the pane's cursor when it was last drawn; -1: none */
    char running[64];             /* the command or the view whose work runs now, while keys are handled */
    const struct view *preparing; /* the main thread prepares this pane without the screen lock; NULL: none */
    const struct view *wanted;    /* a pane that the user requested, to be prepared when the work has ended */
};

/* ---- explore_state.c, explore_panes.c ---- */

/* Give the focus to the pane that shows v, or show v in the pane with the focus. */
void explorer_show(struct explorer *x, const struct view *v);
/* The views that the screen shows now; returns their number. */
int explorer_visible(const struct session *s, const struct view *shown[PANES_MAX]);
/* The picture of v has changed; NULL: all pictures. */
void explorer_stale(struct session *s, const struct view *v);
/* Do about a millisecond of background work of a visible view. */
enum work explorer_work(struct session *s);
/* The cells that panes share on a screen of w x h cells. */
struct rect explorer_area(int w, int h);
/* Arrange the named views ("spy,trace"), or as many of the most useful views as fit ("all"), in the area. */
bool explorer_arrange(struct session *s, const char *names, struct rect area, struct split *made, struct err *e);
/* "[1 spy]" and a line after it above the pane with the focus, " 2 rows " above the others; lines between panes. */
void explorer_draw_name(struct canvas *c, struct rect at, const struct view *v, int number, bool focus);
void explorer_draw_borders(struct canvas *c, const struct split *t);

/* Copy the output that is shown, or the text of the pane, to the clipboard; *n receives the number of bytes. */
bool explore_copy(struct session *s, size_t *n, struct err *e);

/* ---- explore.c ---- */

/* Show this pane with the current matrix. */
bool explore_enter(struct session *s, const struct view *v, struct err *e);
/* Prepare the panes after the arrangement has changed. */
void explore_arranged(struct session *s);
/* Show a message on the bottom line until a key is pressed. */
void explorer_tell(struct explorer *x, const char *text);
void explore_draw(struct canvas *c, struct session *s);
bool explore_key(struct session *s, int key); /* handle a key; returns false if the key leaves the explorer */
/* Run the lines that were typed while a command ran, and show the pane that the user requested meanwhile. Returns false
   if there was nothing to do. */
bool explore_catch_up(struct session *s);
/* Reset a view that draws work which has just begun. */
void explore_revalidate(struct session *s, const struct view *v);
bool explore_takes(struct session *s, int key); /* is this key handled by the explorer, not by the pane? */
bool explore_drive(struct session *s);          /* continue the pane's work; false: there is none */
void explore_leave(struct session *s, int key); /* called before the explorer ends: paused work reports its state */
/* When the running command has ended, open the command line with this text. */
void explore_offer(struct session *s, const char *text);
void explore_end(struct session *s);
void explorer_free(struct explorer *x);
/* After an option has changed: try pictures again. */
void explorer_try_pixels(struct explorer *x);

#endif
