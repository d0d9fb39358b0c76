/* Hand-in files: the sheet of a lesson for a teacher. */
#ifndef LESSON_HANDIN_H
#define LESSON_HANDIN_H

#include <stdbool.h>

struct err;
struct row_kind;
struct session;
struct sheet;

/* Ask for the reader's name and for a file, and write the sheet to that file. The reader may decline. */
void handin_ask(struct session *s, struct sheet *t);
/* Write the stored answers to this lesson to a hand-in file. */
bool handin_write(struct session *s, const char *lesson, const char *path, bool force, struct err *e);
/* Check a hand-in file and print what it holds; of a folder, a row for each of its files. */
bool handin_check(struct session *s, const char *path, struct err *e);

/* The keys of rows (report/fields.h). */
extern const struct row_kind row_lesson_handin, row_lesson_answer, row_lesson_pupil;

#endif
