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
    int nested;     /* commands nested deeper are part of a recorded command */
    int64_t commands, failed;
};

/* Begin to record to a new file; sets s->record. */
bool record_begin(struct session *s, const char *name, struct err *e);
/* Record a command that took `us`. why: its error, NULL if it succeeded. `text`: as typed. */
void record_command(struct session *s, const char *text, const struct err *why, double us);
void record_end(struct session *s);
/* Is the open file f the one being recorded to? */
bool record_is(const struct session *s, FILE *f);

#endif
