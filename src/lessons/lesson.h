/* What the files of `lesson` share: what commands say, and is expected of them; answers; questions. */
#ifndef LESSON_H
#define LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct session;

#include <cjson/cJSON.h>

/* ---- lesson_hear.c: what commands say ---- */

/* The rows and text of one command, or of those that follow one another. */
struct heard {
    FILE *rows_file, *text_file; /* open while more may come */
    char *rows, *text;
    size_t nrows, ntext;
    size_t from; /* in text: behind the last line that was expected and found */
};
/* Run the line and hear it; its rows also where it shows something else, if they are wanted. false: it failed, and has
   said so; or, with e set, it could not be heard. */
bool hear(struct session *s, const char *line, bool rows, struct heard *h, struct err *e);
/* The same, saying nothing. A failure is in e. */
bool hear_silently(struct session *s, const char *line, struct heard *h, struct err *e);
/* The rows so far, an array of objects; release with cJSON_Delete. */
cJSON *heard_rows(struct heard *h, struct err *e);
/* A line of the text, behind those that were found before, is like `pattern`: * is any text, blanks count once. */
bool heard_says(struct heard *h, const char *pattern, struct err *e);
void heard_free(struct heard *h);

/* ---- lesson_answer.c: an answer, and what is taken for it ---- */

struct answer {
    char text[256];        /* as in the lesson */
    char *expression, *of; /* in text: it is computed from what that command says, `it` the one below; NULL: written */
    int64_t line;
    bool number;  /* else words */
    bool unknown; /* computed, and nobody knows here */
    double value;
    double slack; /* NaN: none is given; of the value where relative */
    bool relative;
    char words[256]; /* alternatives with | between */
};
bool answer_read(struct answer *a, const char *text, struct err *e);
/* From rows that its command said. */
bool answer_compute(struct answer *a, const cJSON *rows, struct err *e);
bool answer_takes(const struct answer *a, const char *given);
/* What is written in the lesson, and what was computed, are the same. */
bool answer_agrees(const struct answer *written, const struct answer *computed);
char *answer_show(const struct answer *a, char *out, size_t size);
/* "1,216 B" is 1216. */
bool answer_number(const char *given, double *value);

/* ---- lesson_question.c ---- */

enum { ANSWERS_MOST = 8, QUESTION_MOST = 2048, CHOICES_MOST = 16 };

struct question {
    int64_t line; /* where it begins; 0: there is none */
    size_t n;     /* bytes of text */
    char text[QUESTION_MOST];
    int nchoices; /* lines of the form "a  this", with blanks before */
    char choice[CHOICES_MOST][120];
    int nanswers;
    struct answer answer[ANSWERS_MOST];
    bool asked, settled;
    char *given; /* NULL: nothing was typed */
};
enum outcome { RIGHT, WRONG, SKIPPED, SHOWN, UNKNOWN, THOUGHT };
struct score {
    int questions, of[THOUGHT + 1];
    bool hinted; /* the reader was told about Enter and Ctrl-C */
    bool left;   /* by Ctrl-C or the end of input */
};
/* It goes on with this line, without its mark; what is to be shown as prose, or NULL: stands as it is. */
bool question_add(struct question *q, const char *text, struct err *e);
bool question_answer(struct question *q, const char *text, int64_t line, struct err *e);
/* Is its answer what the next command says? */
bool question_needs_it(const struct question *q);
/* Ask, where somebody can answer. */
void question_ask(struct session *s, struct question *q, struct score *n);
/* Find the answer (it: what was said since it was asked, or NULL), judge what was typed, and say so. */
bool question_settle(struct session *s, struct question *q, struct heard *it, struct score *n, struct err *e);
void question_free(struct question *q);
void score_say(struct session *s, const struct score *n);

#endif
