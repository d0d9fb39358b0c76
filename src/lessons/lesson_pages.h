/* Pages: the text of a lesson waits at the end of each page of the terminal. */
#ifndef LESSON_PAGES_H
#define LESSON_PAGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/memfile.h"
#include "report/output.h"

struct err;
struct session;

/* All output of the session is collected, and shown in blocks. A block that fits on a page is not divided. Without a
   terminal, blocks are shown as they are. */
struct pages {
    struct session *s; /* NULL: the output is not collected */
    struct memfile text;
    size_t shown; /* number of bytes of `text` already shown */
    struct out_target before;
    int block;          /* lines of the block that was shown last */
    int used;           /* lines of the screen filled since the reader last pressed a key */
    bool fresh;         /* nothing has been shown since the reader last pressed a key or typed an answer */
    char heading[200];  /* first line of each new page, such as the question that is open; empty: none */
    const char *footer; /* shown while a page waits, such as "question 3 of 15" */
};
bool pages_begin(struct pages *p, struct session *s, struct err *e);
/* Show the output that was collected since the last call. Returns false if the reader left. */
bool pages_show(struct pages *p);
/* Let the session print directly until pages_collect is called, for example to ask a question. */
void pages_direct(struct pages *p);
void pages_collect(struct pages *p);
/* The reader has typed an answer, so `lines` more lines follow the last block on the screen. Count the block and these
   lines as the start of a new page. */
void pages_keep(struct pages *p, int lines);
void pages_drop(struct pages *p); /* discard the collected output */
/* Show the rest without waiting, and let the session print as before. */
void pages_end(struct pages *p);

#endif
