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

static void read_head(struct lesson_head *h, const char *line, char *last)
{
    if (*line == '%') {
        if (!*h->about) read_about(h, line);
        return;
    }
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

static void list_one(struct session *s, const struct entry *one, struct sheet *t)
{
    char done[40];
    bool begun = sheet_load(t, one->name) && !strcmp(t->text, one->head.text);
    if (!begun) *t = (struct sheet){0};
    say_done(one, t, done, sizeof done);
    out_row(s->out);
    out_str(s->out, "kind", NULL, "lesson");
    out_str(s->out, "lesson", "lesson", one->name);
    out_int(s->out, "place", NULL, one->head.place);
    out_int(s->out, "questions", NULL, one->head.questions);
    out_int(s->out, "answered", NULL, t->n);
    out_str(s->out, "done", "done", done);
    out_str(s->out, "about", "about", one->head.about);
}

bool lesson_list(struct session *s, struct err *e)
{
    struct list l = {.e = e};
    struct sheet *t = mem_zero(1, sizeof *t, "the list of lessons", e);
    if (!t) return false;
    library_each(LIBRARY_LESSONS, add_lesson, &l);
    if (l.n) qsort(l.entry, (size_t)l.n, sizeof *l.entry, by_place);
    for (int i = 0; i < l.n; i++) list_one(s, &l.entry[i], t);
    if (l.n) out_text(s->out, "`lesson NAME` begins a lesson, or continues where you left off.");
    bool ok = l.n || fail(e, E_INPUT, "no lessons are installed: run `make install`, or give the path of a lesson");
    mem_free(l.entry);
    mem_free(t);
    return ok && !(e && e->code);
}

/* ---- the keys of the rows ---- */

static const struct field lesson_fields[] = {
    {"kind", F_TEXT, "a lesson of the list", .words = "lesson"},
    {"lesson", F_TEXT, "name of the lesson"},
    {"place", F_COUNT, "position in the list of lessons; 0: no position is set"},
    {"questions", F_COUNT, "number of questions"},
    {"answered", F_COUNT, "questions that the user has answered"},
    {"done", F_TEXT, "the user's progress in the lesson"},
    {"about", F_TEXT, "subject of the lesson"},
    {0},
};
const struct row_kind row_lesson = {"lesson", "a lesson of the list", lesson_fields};
