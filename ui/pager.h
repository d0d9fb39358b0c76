/* The pager: shows a long text page by page on a canvas, and searches it. paged.c decides when it opens. */
#ifndef PAGER_H
#define PAGER_H

#include <stdbool.h>
#include <stddef.h>

struct canvas;
struct err;

struct pager {
    const char *text; /* not owned; escape sequences of styles need no space and are not shown */
    size_t n;
    bool words;       /* divide long lines at blanks; set before pager_fit */
    int margin;       /* columns left and right of the text */
    const char *keys; /* shown on the last line if the text is longer than the screen */
    size_t *row;      /* offset at which each row begins, then n; owned */
    int rows;         /* rows of the text in the width w */
    int w, h;         /* the width of the text, and the height of the canvas */
    int first;        /* the first row that is shown */
    int found;        /* the row that the search found last; -1: none */
    size_t shown;     /* where the text ends that has already been on the screen */
    bool typing;      /* the user types `search` */
    char search[80];
    char message[120]; /* shown instead of the keys */
};

/* The number of bytes in the first row of a text of n > 0 bytes on a terminal of w columns, with its line end. */
size_t pager_row(const char *text, size_t n, int w);
bool pager_open(struct pager *p, const char *text, size_t n, int w, int h, struct err *e);
void pager_close(struct pager *p);
/* Divide the text into rows of w columns, for a canvas of h lines. The first row stays on the screen. */
void pager_fit(struct pager *p, int w, int h);
bool pager_scrolls(const struct pager *p); /* is the text longer than the screen? */
/* Draw the rows and, on the last line, the keys. */
void pager_draw(struct pager *p, struct canvas *c);
bool pager_takes(const struct pager *p, int key); /* does the key move the text, or is it part of a search? */
/* Handle a key; returns false if the key leaves the pager. */
bool pager_key(struct pager *p, int key);
/* Remove the escape sequences of a text of n bytes. Returns the number of bytes that are left. */
size_t pager_strip(char *text, size_t n);

#endif
