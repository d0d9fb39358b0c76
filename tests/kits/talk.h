/* A session whose output is kept, to be spoken to line by line in tests. */
#ifndef TALK_H
#define TALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "session/output.h"
#include "session/session.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct talk {
    struct session s;
    FILE *data, *messages;
    char *all_out, *all_err;
    size_t nout, nerr;
    size_t old_out, old_err; /* bytes that are forgotten */
    const char *out, *err;   /* what was said since */
};
void talk_open(struct talk *t, enum out_mode mode);
void talk_close(struct talk *t);
/* The same in text with the screen behind it, whose letters are UTF-8. */
void talk_open_screen(struct talk *t);
void talk_close_screen(struct talk *t);
/* Run a line; t->out and t->err hold what it said. */
bool talk_line(struct talk *t, const char *line);
/* The line succeeds and says that part; it is refused with that part. What was said before is forgotten. */
void talk_says(struct talk *t, const char *line, const char *part);
void talk_refuses(struct talk *t, const char *line, const char *part);
/* Forget what was said so far. */
void talk_forget(struct talk *t);
/* Bring t->out and t->err up to date. */
void talk_heard(struct talk *t);

#endif
