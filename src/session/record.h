/* The recording of a session's commands in a file that `replay` can run. */
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
    int nested; /* only commands at this nesting level are recorded: recorded commands run the deeper commands again */
    int64_t commands, failed;
};

/* Open a new file, or an existing path that is not a regular file, such as a pipe. No regular file is overwritten. */
FILE *record_open(const char *name, struct err *e);
/* Begin to record to a new file; sets s->record. */
bool record_begin(struct session *s, const char *name, struct err *e);
/* Record a command that took `us`. `why` is the command's error, or NULL if the command succeeded; `text` is the
   command as typed. */
void record_command(struct session *s, const char *text, const struct err *why, double us);
void record_end(struct session *s);
/* Is the open file f the file of the recording? */
bool record_is(const struct session *s, FILE *f);

#endif
