/* The sheet of a lesson: what its reader has answered. The progress of a lesson and a hand-in
   file are both stored as sheets. */
#ifndef LESSON_SHEET_H
#define LESSON_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/target.h"

struct err;

enum outcome { RIGHT, WRONG, SKIPPED, SHOWN, UNKNOWN, THOUGHT };
enum { OUTCOMES = THOUGHT + 1, REPLIES_MAX = 256, TRIES_MAX = 2 };

struct reply {
    enum outcome outcome;
    int tries; /* answers that the reader typed */
    char asked[240], said[TRIES_MAX][120], answer[120];
};
struct sheet {
    char lesson[64], title[120]; /* the name and the heading of the lesson */
    char text[20];               /* checksum of the lesson's file */
    char program[40], device[120], who[80];
    char begun[24], ended[24]; /* UTC; `ended` is empty while questions are left */
    int questions;             /* number of questions in the whole lesson */
    int n;                     /* replies */
    struct reply reply[REPLIES_MAX];
};

const char *outcome_name(enum outcome v);
/* Append "11 right of 14, 2 of them on the second try, 2 wrong, 1 skipped". */
void sheet_score(const struct sheet *t, char *out, size_t size);
void sheet_now(char out[24]); /* the time, in UTC */
/* The checksum of the rest of f; line ends and blanks at the ends of lines do not count. */
void sheet_checksum(FILE *f, char out[20]);

/* Write the sheet as lines of text, with a checksum at the end. `force`: replace a file that exists. */
bool sheet_write(const struct sheet *t, const char *path, enum target_by by, bool force, struct err *e);
/* Read a sheet. Refuses a file whose checksum does not match. */
bool sheet_read(struct sheet *t, const char *path, struct err *e);
/* The progress of a lesson is kept in the user's state folder. sheet_load returns false if there is no progress. */
bool sheet_save(const struct sheet *t, struct err *e);
bool sheet_load(struct sheet *t, const char *lesson);

#endif
