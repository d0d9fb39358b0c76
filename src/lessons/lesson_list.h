/* The head of a lesson, and the list of lessons. */
#ifndef LESSON_LIST_H
#define LESSON_LIST_H

#include <stdbool.h>
#include <stdio.h>

struct err;
struct row_kind;
struct session;

struct lesson_head {
    int place;                   /* position in the list of lessons; 0: no position is set */
    int questions;               /* the number of questions */
    int words;                   /* of its prose, questions and explanations */
    char needs[120];             /* names of the lessons that come before it, separated by blanks; empty: none */
    char about[120], title[120]; /* the first comment, without the position; the first title */
    char text[20];               /* checksum of the file */
};
/* Read the whole file, and go back to its beginning. Returns false for a pipe, which cannot go back, and for a file
   that is not text. */
bool lesson_head(FILE *f, struct lesson_head *h);
/* Print the lessons that can be found by name, and the user's progress in each lesson. */
bool lesson_list(struct session *s, struct err *e);
/* Print them as a course: what comes first, how long each takes, and how far the user is. */
bool lesson_course(struct session *s, struct err *e);
/* Print the questions that the user has not answered right, of all lessons or of one; name NULL: all. */
bool lesson_review(struct session *s, const char *name, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_lesson, row_lesson_review;

#endif
