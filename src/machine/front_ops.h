/* What the terminal side provides to commands. */
#ifndef FRONT_OPS_H
#define FRONT_OPS_H

#include <stdbool.h>

struct err;
struct registry;
struct session;

/* What becomes of a solve or race after its turn at the screen: it stops, goes on, or stays paused for the prompt. */
enum turn { TURN_STOP, TURN_ON, TURN_LEAVE };

/* What the terminal side gives to commands; set by main, NULL members are skipped. */
struct front {
    /* Draw view `name` as text to out_file (full == false) or run it full screen. */
    bool (*show)(struct session *s, const char *name, bool full, struct err *e);
    /* Called between steps of long work that the view `name` shows: read keys, and draw the view on the whole screen
       once the work has taken a while. A solve is drawn when it is paused or show(s, "solve", true) was called while it
       runs, and has a line of progress otherwise; other work prints its own. */
    enum turn (*live)(struct session *s, const char *name);
    /* Show what is typed, for a command of the shell, or not. */
    void (*echo)(struct session *s, bool on);
    /* Called by dispatch before a command's output or error: take the progress line or live screen away. */
    void (*calm)(struct session *s);
    /* Ask at the terminal: the line that was typed, to be released with mem_free; NULL: Ctrl-C or the end of input. */
    char *(*ask)(struct session *s, const char *prompt);
    /* The options colours or ascii were set; NULL members are skipped. */
    void (*restyle)(struct session *s);
    int width, height;            /* of text output; 80 x 24 when not a terminal */
    bool ascii;                   /* no braille, no boxes */
    bool covered;                 /* a full screen is open: no line of progress */
    const struct registry *views; /* may be NULL */
    /* What one of them shows, and its keys. */
    void (*about_view)(const char *name, const char **about, const char **keys);
};

#endif
