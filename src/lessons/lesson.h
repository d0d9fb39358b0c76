/* Declarations shared by the files of `lesson`: captured output of commands, answers, questions. */
#ifndef LESSON_H
#define LESSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct session;

#include "base/memfile.h"
#include "lesson_sheet.h"

#include <cjson/cJSON.h>

/* ---- lesson_capture.c: the output of commands ---- */

/* The rows and text that one command or several consecutive commands printed. */
struct capture {
    struct memfile rows, text; /* rows: JSON lines. text: the output as on the screen. capture_free closes both */
    size_t from;               /* offset in text, after the last expected line that was found */
};
/* Run the line and capture its output. If `rows` is set, the rows are needed, so a command that prints rows only in
   JSON mode runs a second time in that mode. Returns false if the command failed; it has then reported its error. Also
   returns false, with e set, if the output could not be captured. */
bool capture_line(struct session *s, const char *line, bool rows, struct capture *h, struct err *e);
/* Like capture_line, but prints nothing. A failure of the command is reported in e. */
bool capture_quietly(struct session *s, const char *line, struct capture *h, struct err *e);
/* The rows so far, an array of objects; release with cJSON_Delete. */
cJSON *capture_rows(struct capture *h, struct err *e);
/* Search the text for a line that matches `pattern`, and fail if there is none. The search begins after the line that
   the previous call found. * matches any text, and repeated blanks count as one. */
bool capture_expect(struct capture *h, const char *pattern, struct err *e);
void capture_free(struct capture *h);

/* ---- lesson_answer.c: an answer, and what is accepted as right ---- */

struct answer {
    char text[256];   /* as written in the lesson */
    char *expression; /* part of text: the expression of a computed answer; NULL: the answer is not computed */
    char *of;         /* part of text: the command whose output the expression uses; `it`: the command below */
    int64_t line;
    bool number;  /* false: words */
    bool unknown; /* computed from a value that is null on this device */
    double value;
    double slack; /* accepted error; if `relative`, a fraction of the value. NaN: not stated */
    bool relative;
    char words[256]; /* alternatives, separated by | */
};
bool answer_read(struct answer *a, const char *text, struct err *e);
/* Compute the answer from the rows that its command printed. */
bool answer_compute(struct answer *a, const cJSON *rows, struct err *e);
bool answer_takes(const struct answer *a, const char *given);
/* Does the answer written in the lesson agree with the computed answer? */
bool answer_agrees(const struct answer *written, const struct answer *computed);
char *answer_show(const struct answer *a, char *out, size_t size);
/* Does the condition hold for these rows? See lesson_answer.c. Sets *unknown if a number of the condition is null; the
   condition then does not hold. Fails if no row has a value that the condition names. */
bool condition_holds(const char *text, const cJSON *rows, bool *holds, bool *unknown, struct err *e);
/* "1,216 B" is 1216. */
bool answer_number(const char *given, double *value);

/* ---- lesson_question.c ---- */

enum { ANSWERS_MAX = 8, QUESTION_MAX = 2048, CHOICES_MAX = 16, HINT_MAX = 512 };

struct question {
    int64_t line; /* line number in the lesson; 0: there is no question */
    size_t n;     /* bytes of text */
    char text[QUESTION_MAX];
    int nchoices; /* texts such as " a the longest row" */
    char choice[CHOICES_MAX][120];
    int nanswers;
    struct answer answer[ANSWERS_MAX];
    char hint[HINT_MAX]; /* shown after a wrong answer; empty: none */
    bool settled;        /* the answer was judged and printed */
    enum outcome outcome;
    int tries;              /* answers that the reader typed */
    char *given[TRIES_MAX]; /* these answers, owned */
};
struct score {
    int questions, of[OUTCOMES];
    int second;  /* number of right answers that were given on the second try */
    bool hinted; /* the hint about Enter and Ctrl-C was shown */
    bool left;   /* the reader left, by Ctrl-C or the end of input */
};
/* Append a line, without its mark, to the question or to the hint. */
bool question_add(struct question *q, const char *text, struct err *e);
bool question_hint(struct question *q, const char *text, struct err *e);
bool question_answer(struct question *q, const char *text, int64_t line, struct err *e);
/* Is the question's answer computed from the output of the commands or the table below the question? */
bool question_needs_it(const struct question *q);
/* Does an answer need a command that the lesson does not show? */
bool question_runs_commands(const struct question *q);
/* Compute the answer. `it` is the output of the commands or the table below the question, or NULL. */
bool question_find(struct session *s, struct question *q, struct capture *it, struct err *e);
/* Can questions be asked? If questions cannot be asked, they are printed with their answers. */
bool question_can_ask(const struct session *s);
/* Ask the question; after a wrong answer, give a hint and ask again. Returns the number of lines printed. */
int question_ask(struct session *s, struct question *q, struct score *n);
/* Judge what was typed, and print the result. */
void question_say(struct session *s, struct question *q, struct score *n);
/* Fill in *r, the record of the question in the sheet. */
void question_reply(const struct question *q, struct reply *r);
void question_free(struct question *q);
void score_add(struct score *n, enum outcome v, int tries);
void score_say(struct session *s, const struct score *n);

#endif
