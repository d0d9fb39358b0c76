/* Shared by export and report: write a view to a stream, and create files. */
#ifndef EXPORT_H
#define EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct command;
struct err;
struct out;
struct session;
struct view_state;

enum export_kind { EXPORT_TXT, EXPORT_SVG, EXPORT_PNG, EXPORT_JSON, EXPORT_CSV };
enum { EXPORT_WIDTH_MIN = 40, EXPORT_HEIGHT_MIN = 10, EXPORT_MAX = 400 };
struct export
{
    const struct view *view;
    const char *views; /* several views, such as "spy,trace" or "all"; NULL: one view */
    enum export_kind kind;
    int w, h;  /* in characters */
    int table; /* of a lesson, from 1; 0: that on the screen */
    bool light;
    bool place; /* keep the zoom and scroll position of the screen; otherwise, begin at the start */
};
/* Read a size such as "120x40" and check its limits; NULL leaves w and h unchanged. */
bool size_read(const char *text, int w_least, int h_least, int most, int *w, int *h, struct err *e);
/* Write the view of the session's current matrix. */
bool export_view(struct session *s, const struct export *x, FILE *f, struct err *e);
/* The state of a view that an export draws. Call view_state_free even if this fails. */
bool export_state(struct session *s, const struct export *x, struct view_state *st, struct err *e);
/* Run a command with these words after its name, and write its rows to o. */
bool export_command(struct session *s, struct out *o, const struct command *c, int n, const char *const *word,
                    struct err *e);
/* Write the whole file, or leave the existing file unchanged. */
bool export_write(const char *path, bool force, const char *data, size_t n, struct err *e);

/* ---- export_views.c ---- */

/* Write several views, side by side and one above the other. */
bool export_views(struct session *s, const struct export *x, FILE *f, struct err *e);

#endif
