/* The list of lessons, which `lesson` prints if no lesson is named. */
#include "lesson_list.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/words.h"
#include "language/run_lines.h"
#include "lesson_sheet.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/lesson_files.h"
#include "session/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- one lesson ---- */

/* "1 What a sparse matrix looks like": the first comment, which may begin with the position of the lesson in the
   list. */
static void read_about(struct lesson_head *h, const char *line)
{
    char *end;
    line += strspn(line, "% ");
    long place = isdigit((unsigned char)*line) ? strtol(line, &end, 10) : 0;
    if (place > 0 && *end == ' ') h->place = (int)place, line = end + 1;
    snprintf(h->about, sizeof h->about, "%s", line);
}

static const char needs_mark[] = "% needs ";

static int words_of(const char *line)
{
    int n = 0;
    for (line += strspn(line, " \t"); *line; line += strspn(line, " \t")) n++, line += strcspn(line, " \t");
    return n;
}

static void read_head(struct lesson_head *h, const char *line, char *last)
{
    if (*line == '%') {
        if (!strncmp(line, needs_mark, strlen(needs_mark)))
            snprintf(h->needs, sizeof h->needs, "%.119s", line + strlen(needs_mark));
        else if (!*h->about)
            read_about(h, line);
        return;
    }
    if (!strchr(">|@=~:", *line)) h->words += words_of(line);
    if (*line == '#' && !*h->title) snprintf(h->title, sizeof h->title, "%s", line + strspn(line, "# "));
    h->questions += *line == '?' && *last != '?';
    *last = *line;
}

bool lesson_head(FILE *f, struct lesson_head *h)
{
    char line[LINE_LIMIT + 2], last = 0;
    enum got got;
    struct err e = {0};
    *h = (struct lesson_head){0};
    if (fseek(f, 0, SEEK_SET)) return false;
    while ((got = line_next(f, line, &e)) == GOT_LINE) read_head(h, line, &last);
    bool ok = got == GOT_END && !fseek(f, 0, SEEK_SET);
    if (ok) sheet_checksum(f, h->text);
    return !fseek(f, 0, SEEK_SET) && ok;
}

/* ---- the list ---- */

enum { LESSONS_MAX = 500 };
struct entry {
    char name[64];
    struct lesson_head head;
};
struct list {
    struct entry *entry;
    int n;
    struct err *e;
};

static void add_lesson(void *user, const char *name, const char *path)
{
    struct list *l = user;
    FILE *f = l->n < LESSONS_MAX ? fopen(path, "r") : NULL;
    struct entry *more = f ? mem_resize(l->entry, l->n + 1, sizeof *more, "the list of lessons", l->e) : NULL;
    if (more) {
        l->entry = more;
        struct entry *one = &more[l->n];
        snprintf(one->name, sizeof one->name, "%s", name);
        l->n += lesson_head(f, &one->head);
    }
    if (f) fclose(f);
}

/* Sort lessons by position; lessons without a position follow in alphabetical order. */
static int by_place(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int p = x->head.place ? x->head.place : LESSONS_MAX, q = y->head.place ? y->head.place : LESSONS_MAX;
    return p != q ? (p > q) - (p < q) : strcmp(x->name, y->name);
}

/* The user's progress in the lesson: "12 right of 14", "at question 4 of 14". A sheet for a different version of the
   lesson's file does not count. */
static void say_done(const struct entry *one, const struct sheet *t, char *out, size_t size)
{
    int right = 0, judged = 0;
    for (int i = 0; i < t->n; i++) {
        right += t->reply[i].outcome == RIGHT;
        judged += t->reply[i].outcome <= SKIPPED;
    }
    if (!one->head.questions)
        snprintf(out, size, "no questions");
    else if (*t->ended)
        snprintf(out, size, "%d right of %d", right, judged);
    else if (t->n)
        snprintf(out, size, "%d of %d done", t->n, one->head.questions);
    else
        snprintf(out, size, "%d questions", one->head.questions);
}

/* Words that a reader reads in a minute, slowly, and the minutes that a question takes. */
enum { WORDS_A_MINUTE = 150, QUESTION_MINUTES = 1 };

static int minutes_of(const struct lesson_head *h)
{
    return (h->words + WORDS_A_MINUTE - 1) / WORDS_A_MINUTE + QUESTION_MINUTES * h->questions;
}

/* Forget the answers to another version of the lesson, which do not count as progress. */
static void drop_old(const struct entry *one, struct sheet *t)
{
    if (strcmp(t->text, one->head.text)) *t = (struct sheet){0};
}

static void list_one(struct session *s, const struct entry *one, const struct sheet *t, bool course)
{
    char done[40];
    say_done(one, t, done, sizeof done);
    out_row(s->out);
    out_str(s->out, "kind", NULL, "lesson");
    out_str(s->out, "lesson", "lesson", one->name);
    out_int(s->out, "place", NULL, one->head.place);
    out_int(s->out, "minutes", course ? "minutes" : NULL, minutes_of(&one->head));
    out_str(s->out, "needs", course ? "after" : NULL, *one->head.needs ? one->head.needs : NULL);
    out_int(s->out, "questions", NULL, one->head.questions);
    out_int(s->out, "answered", NULL, t->n);
    out_str(s->out, "done", "done", done);
    out_str(s->out, "about", course ? NULL : "about", one->head.about);
}

/* Call `show` for each lesson that can be found by name, in their order, with the user's sheet. */
static bool each_lesson(struct session *s,
                        void (*show)(struct session *s, const struct entry *one, struct sheet *t, void *user),
                        void *user, struct err *e)
{
    struct list l = {.e = e};
    struct sheet *t = mem_zero(1, sizeof *t, "the list of lessons", e);
    if (!t) return false;
    library_each(LIBRARY_LESSONS, add_lesson, &l);
    if (l.n) qsort(l.entry, (size_t)l.n, sizeof *l.entry, by_place);
    for (int i = 0; i < l.n; i++) {
        if (!sheet_load(t, l.entry[i].name)) *t = (struct sheet){0};
        show(s, &l.entry[i], t, user);
    }
    bool ok = l.n || fail(e, E_INPUT, "no lessons are installed: run `make install`, or give the path of a lesson");
    mem_free(l.entry);
    mem_free(t);
    return ok && !(e && e->code);
}

static void show_listed(struct session *s, const struct entry *one, struct sheet *t, void *user)
{
    drop_old(one, t);
    list_one(s, one, t, false);
}

bool lesson_list(struct session *s, struct err *e)
{
    if (!each_lesson(s, show_listed, NULL, e)) return false;
    out_text(s->out, "`lesson NAME` begins a lesson, or continues where you left off; `lesson course` shows an order.");
    return true;
}

/* ---- the course ---- */

struct course {
    int minutes;   /* of all lessons */
    char next[64]; /* the first one that is not finished */
};

static void show_course(struct session *s, const struct entry *one, struct sheet *t, void *user)
{
    struct course *c = user;
    drop_old(one, t);
    list_one(s, one, t, true);
    c->minutes += minutes_of(&one->head);
    if (!*c->next && one->head.questions && !*t->ended) snprintf(c->next, sizeof c->next, "%s", one->name);
}

bool lesson_course(struct session *s, struct err *e)
{
    struct course c = {0};
    if (!each_lesson(s, show_course, &c, e)) return false;
    out_text(s->out, "About %.0f hours: %d words a minute, and a minute for each question.", c.minutes / 60.0,
             WORDS_A_MINUTE);
    if (*c.next)
        out_text(s->out, "Next: `lesson %s`.", c.next);
    else
        out_text(s->out, "All lessons are finished; `lesson review` shows what was not answered right.");
    return true;
}

/* ---- what was wrong ---- */

struct review {
    const char *name; /* NULL: all lessons */
    int n;
};

/* The last answer that was typed; Enter alone is none. */
static const char *last_said(const struct reply *r)
{
    for (int i = r->tries; i-- > 0;)
        if (*r->said[i]) return r->said[i];
    return "";
}

static void show_wrong(struct session *s, const struct entry *one, struct sheet *t, void *user)
{
    struct review *v = user;
    if (v->name && strcmp(v->name, one->name)) return;
    for (int i = 0; i < t->n; i++) {
        const struct reply *r = &t->reply[i];
        if (r->outcome != WRONG && r->outcome != SKIPPED) continue;
        v->n++;
        out_row(s->out);
        out_str(s->out, "kind", NULL, "review");
        out_str(s->out, "lesson", "lesson", one->name);
        out_int(s->out, "question", "question", i + 1);
        out_str(s->out, "verdict", "verdict", outcome_name(r->outcome));
        out_str(s->out, "last", "you said", last_said(r));
        out_str(s->out, "answer", "right answer", r->answer);
        out_str(s->out, "asked", "asked", r->asked);
    }
}

bool lesson_review(struct session *s, const char *name, struct err *e)
{
    struct review v = {.name = name};
    if (!each_lesson(s, show_wrong, &v, e)) return false;
    if (!v.n)
        out_text(s->out, "No answer was wrong or skipped%s%s.", name ? " in lesson " : "", name ? name : "");
    else
        out_text(s->out, "`lesson NAME restart` begins a lesson again.");
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field lesson_fields[] = {
    {"kind", F_TEXT, "a lesson of the list", .words = "lesson"},
    {"lesson", F_TEXT, "name of the lesson"},
    {"place", F_COUNT, "position in the list of lessons; 0: no position is set"},
    {"minutes", F_COUNT, "time that the lesson takes: its words at 150 a minute, and a minute for each question"},
    {"needs", F_TEXT | OR_NULL, "the lessons that come before it; null: none"},
    {"questions", F_COUNT, "number of questions"},
    {"answered", F_COUNT, "questions that the user has answered"},
    {"done", F_TEXT, "the user's progress in the lesson"},
    {"about", F_TEXT, "subject of the lesson"},
    {0},
};
const struct row_kind row_lesson = {"lesson", "a lesson of the list", lesson_fields};

static const struct field lesson_review_fields[] = {
    {"kind", F_TEXT, "a question that was not answered right", .words = "review"},
    {"lesson", F_TEXT, "name of the lesson"},
    {"question", F_COUNT, "number of the question", .min = 1},
    {"verdict", F_TEXT, "how the answer was judged", .words = "wrong, skipped"},
    {"last", F_TEXT, "the last answer that was typed; empty: none"},
    {"answer", F_TEXT, "the right answer"},
    {"asked", F_TEXT, "the question"},
    {0},
};
const struct row_kind row_lesson_review = {"review", "a question to look at again", lesson_review_fields};
