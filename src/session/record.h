/* The recording of a session's commands in a file, to be replayed. */
#ifndef RECORD_H
#define RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct session;
struct record {
    FILE *file;
    char name[512]; /* safe to print */
    int nested;     /* commands deeper than this are part of one that is recorded */
    int64_t commands, failed;
};

/* Begin to record in a new file: s->record. */
bool record_begin(struct session *s, const char *name, struct err *e);
/* A command was run, which took so many us; why: NULL where it succeeded. `text` as it would be typed. */
void record_command(struct session *s, const char *text, const struct err *why, double us);
void record_end(struct session *s);
/* Is the open file f the one that is written? */
bool record_is(const struct session *s, FILE *f);

#endif
