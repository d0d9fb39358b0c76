/* What the terminal (ui/) provides to commands. ui_attach fills in the table. */
#ifndef FRONT_H
#define FRONT_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct registry;
struct row_kind;
struct session;

/* What a solve or race does after the screen was updated: end (TURN_STOP); continue (TURN_ON); stay paused and return
   to the prompt (TURN_LEAVE); or return to the explorer, which shows the solve and continues it (TURN_YIELD). */
enum turn { TURN_STOP, TURN_ON, TURN_LEAVE, TURN_YIELD };

/* What commands show of a view. The entries of `views` begin with these members. */
struct view_entry {
    const char *name, *about, *keys;
    const struct row_kind *const *rows; /* the kinds of rows of its numbers (report/fields.h), terminated by NULL */
};

/* A recording of the screen. */
struct casting {
    const char *file;
    int64_t events;
    int failed; /* errno of the first write that failed; 0: none */
};

/* Functions of the terminal that commands call; NULL members are skipped. */
struct front {
    /* Draw view `name` as text to out_file (full == false), or show it full screen. */
    bool (*show)(struct session *s, const char *name, bool full, struct err *e);
    /* Called between steps of long work that the view `name` shows: reads keys, and draws the view on the whole screen
       once the work has taken a while. A solve is drawn when it is paused or when show(s, "solve", true) was called
       while it runs; otherwise it has a progress line. Other work prints its own progress. */
    enum turn (*live)(struct session *s, const char *name);
    /* Turn the terminal's echo of typed characters on or off, for a shell command. */
    void (*echo)(struct session *s, bool on);
    /* Called before a command's output or error is printed: removes the progress line or live screen. */
    void (*calm)(struct session *s);
    /* Called after a command has printed all of its output. */
    void (*shown)(struct session *s);
    /* Print the prompt and read a line from the terminal. Returns the line, which the caller releases with mem_free, or
       NULL after Ctrl-C or at the end of input. */
    char *(*ask)(struct session *s, const char *prompt);
    /* Show `text` on the last line of the terminal until a key is pressed, then erase it. Returns false if the key was
       q, Ctrl-C or Ctrl-D. */
    bool (*pause)(struct session *s, const char *text);
    /* Called after one of the options colours, ascii, mouse or pixels was set. */
    void (*restyle)(struct session *s);
    /* Record the screen in a new file. cast_now returns false if nothing is recorded. */
    bool (*cast_begin)(struct session *s, const char *file, struct err *e);
    bool (*cast_now)(struct casting *now);
    void (*cast_end)(void);
    int width;                    /* width of text output in characters; 80 if the output is not a terminal */
    int height;                   /* height of text output in lines; 24 if the output is not a terminal */
    bool ascii;                   /* do not use braille or box characters */
    bool covered;                 /* a full screen is open: draw no progress line */
    const struct registry *views; /* struct view_entry; may be NULL */
};

#endif
