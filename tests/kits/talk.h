/* A session whose output is kept, so that tests can run it line by line. */
#ifndef TALK_H
#define TALK_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "report/output.h"
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
    size_t old_out, old_err; /* number of bytes of earlier output to skip */
    const char *out, *err;   /* the output after the skipped bytes */
};
void talk_open(struct talk *t, enum out_mode mode);
void talk_close(struct talk *t);
/* Like talk_open and talk_close, but with text output and a UTF-8 screen. */
void talk_open_screen(struct talk *t);
void talk_close_screen(struct talk *t);
/* Run a line; t->out and t->err then hold its output. */
bool talk_line(struct talk *t, const char *line);
/* talk_says checks that the line succeeds and prints `part`. talk_refuses checks that the line is refused with `part`
   in its message. Both forget earlier output. */
void talk_says(struct talk *t, const char *line, const char *part);
void talk_refuses(struct talk *t, const char *line, const char *part);
/* Forget the output so far. */
void talk_forget(struct talk *t);
/* Bring t->out and t->err up to date. */
void talk_refresh(struct talk *t);

#endif
