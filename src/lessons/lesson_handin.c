/* Hand-in files: written at the end of a lesson, and checked by `lesson --check`. */
#include "lesson_handin.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/text.h"
#include "lesson_list.h"
#include "lesson_sheet.h"
#include "report/fields.h"
#include "session/front.h"
#include "session/lesson_files.h"
#include "session/session.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- writing ---- */

static void login_name(char *out, size_t size)
{
    const struct passwd *p = getpwuid(getuid());
    const char *name = p && *p->pw_name ? p->pw_name : getenv("USER");
    snprintf(out, size, "%s", name ? name : "nobody");
}

/* Read a line without the blanks at its ends; an empty line means `otherwise`. Returns false if the reader declined. */
static bool ask_line(struct session *s, const char *prompt, const char *otherwise, char *out, size_t size)
{
    char text[400];
    snprintf(text, sizeof text, "%s (Enter: %s)> ", prompt, otherwise);
    char *line = s->front->ask(s, text);
    if (!line) return false;
    const char *begin = line + strspn(line, " \t");
    size_t n = strlen(begin);
    while (n && strchr(" \t", begin[n - 1])) n--;
    if (n)
        snprintf(out, size, "%.*s", (int)n, begin);
    else
        snprintf(out, size, "%s", otherwise);
    mem_free(line);
    return true;
}

/* "looks-ada-lovelace.txt" or, if that file exists, "looks-ada-lovelace-2.txt". */
static void propose_file(const struct sheet *t, char *out, size_t size)
{
    char who[sizeof t->who];
    size_t n = 0;
    for (const char *p = t->who; *p; p++) {
        bool plain = isalnum((unsigned char)*p) || (unsigned char)*p >= 0x80;
        if (plain) who[n++] = (char)((unsigned char)*p < 0x80 ? tolower((unsigned char)*p) : *p);
        if (!plain && n && who[n - 1] != '-') who[n++] = '-';
    }
    while (n && who[n - 1] == '-') n--;
    who[n] = 0;
    snprintf(out, size, "%s%s%s.txt", t->lesson, n ? "-" : "", who);
    for (int i = 2; i < 100 && !access(out, F_OK); i++)
        snprintf(out, size, "%s%s%s-%d.txt", t->lesson, n ? "-" : "", who, i);
}

static void say_written(struct session *s, const struct sheet *t, const char *path)
{
    char score[160];
    sheet_score(t, score, sizeof score);
    out_text(s->out, "Written to %s: %s.", path, score);
    out_text(s->out, "A teacher checks the file with `lesson --check %s`.", path);
}

void handin_ask(struct session *s, struct sheet *t)
{
    char name[64], proposed[200], path[PATH_MAX];
    login_name(name, sizeof name);
    if (*t->who) snprintf(name, sizeof name, "%.63s", t->who);
    out_text(s->out, "%s", "");
    out_text(s->out, "A hand-in file keeps your answers for a teacher. Ctrl-C: no file.");
    if (!ask_line(s, "Your name", name, t->who, sizeof t->who)) return;
    for (;;) {
        struct err e = {0};
        propose_file(t, proposed, sizeof proposed);
        if (!ask_line(s, "File", proposed, path, sizeof path)) return;
        if (access(path, F_OK) && sheet_write(t, path, BY_USER, false, &e)) break;
        if (!e.code) fail_at(&e, E_IO, path, "the file exists; give another name");
        out_text(s->out, "%s%s%s", e.where, *e.where ? ": " : "", e.text);
    }
    say_written(s, t, path);
}

bool handin_write(struct session *s, const char *lesson, const char *path, bool force, struct err *e)
{
    struct sheet *t = mem_zero(1, sizeof *t, "the sheet of a lesson", e);
    if (!t) return false;
    bool ok = sheet_load(t, lesson) ||
              fail(e, E_INPUT, "no answers to lesson `%.60s` are stored: do the lesson first", lesson);
    if (ok && !*t->who) login_name(t->who, sizeof t->who);
    ok = ok && sheet_write(t, path, BY_LINE, force, e);
    if (ok && !*t->ended)
        out_note(s->out, "the lesson is not finished: %d of %d questions are answered", t->n, t->questions);
    if (ok) say_written(s, t, path);
    mem_free(t);
    return ok;
}

/* ---- checking ---- */

/* Compare the text of the lesson that the sheet was made for with the text of the installed lesson. */
static const char *text_here(const struct sheet *t)
{
    char path[PATH_MAX];
    struct lesson_head h;
    FILE *f = library_find(LIBRARY_LESSONS, t->lesson, path, sizeof path) ? fopen(path, "r") : NULL;
    bool known = f && lesson_head(f, &h);
    if (f) fclose(f);
    return !known ? "not found here" : strcmp(h.text, t->text) ? "differs from the text here" : "same as here";
}

static void say_sheet(struct session *s, const struct sheet *t, const char *path)
{
    struct out *o = s->out;
    char score[160], done[40];
    sheet_score(t, score, sizeof score);
    snprintf(done, sizeof done, "%d of %d", t->n, t->questions);
    out_record(o);
    out_str(o, "kind", NULL, "hand-in");
    out_str(o, "file", "file", path);
    out_str(o, "checksum", "checksum", "correct");
    out_str(o, "who", "who", t->who);
    out_str(o, "lesson", "lesson", t->lesson);
    out_str(o, "title", "title", t->title);
    out_str(o, "text", "text of the lesson", text_here(t));
    out_str(o, "begun", "begun", t->begun);
    out_str(o, "ended", "ended", *t->ended ? t->ended : "not finished");
    out_str(o, "program", "program", t->program);
    out_str(o, "device", "device", t->device);
    out_str(o, "answered", "answered", done);
    out_str(o, "score", "score", score);
}

static void say_reply(struct session *s, int number, const struct reply *r)
{
    struct out *o = s->out;
    out_row(o);
    out_str(o, "kind", NULL, "answer");
    out_int(o, "question", "question", number);
    out_str(o, "verdict", "verdict", outcome_name(r->outcome));
    out_int(o, "tries", "tries", r->tries);
    out_str(o, "first", "first answer", r->tries > 0 ? r->said[0] : "");
    out_str(o, "second", "second", r->tries > 1 ? r->said[1] : "");
    out_str(o, "answer", "right answer", r->answer);
    out_str(o, "asked", NULL, r->asked);
}

static bool check_file(struct session *s, const char *path, struct err *e)
{
    struct sheet *t = mem_zero(1, sizeof *t, "the sheet of a lesson", e);
    bool ok = t && sheet_read(t, path, e);
    if (ok) say_sheet(s, t, path);
    if (ok) out_text(s->out, "%s", "");
    for (int i = 0; ok && i < t->n; i++) say_reply(s, i + 1, &t->reply[i]);
    mem_free(t);
    return ok;
}

/* ---- a class: all files of a folder ---- */

static int count_of(const struct sheet *t, enum outcome v)
{
    int n = 0;
    for (int i = 0; i < t->n; i++) n += t->reply[i].outcome == v;
    return n;
}

/* A hint is shown after the first wrong answer. */
static int tries_of(const struct sheet *t, int *hints)
{
    int n = *hints = 0;
    for (int i = 0; i < t->n; i++) n += t->reply[i].tries, *hints += t->reply[i].tries > 1;
    return n;
}

/* A file that cannot be read has its error in the column `checksum`, and no numbers. */
static void say_pupil(struct session *s, const char *file, const struct sheet *t, const struct err *why)
{
    struct out *o = s->out;
    bool read = !why->code;
    int hints, tries = tries_of(t, &hints);
    out_row(o);
    out_str(o, "kind", NULL, "pupil");
    out_str(o, "file", "file", file);
    out_str(o, "who", "who", read ? t->who : NULL);
    out_str(o, "lesson", "lesson", read ? t->lesson : NULL);
    out_int_if(o, "questions", "questions", read, t->questions);
    out_int_if(o, "right", "right", read, count_of(t, RIGHT));
    out_int_if(o, "wrong", "wrong", read, count_of(t, WRONG));
    out_int_if(o, "skipped", "skipped", read, count_of(t, SKIPPED));
    out_int_if(o, "tries", "tries", read, tries);
    out_int_if(o, "hints", "hints", read, hints);
    out_str(o, "ended", "ended", !read ? NULL : *t->ended ? t->ended : "not finished");
    out_str(o, "text", NULL, read ? text_here(t) : NULL);
    out_str(o, "checksum", "checksum", read ? "correct" : why->text);
}

static int is_handin(const struct dirent *d)
{
    const char *end = strrchr(d->d_name, '.');
    return *d->d_name != '.' && end && !strcmp(end, ".txt");
}

static bool check_folder(struct session *s, const char *path, struct err *e)
{
    struct dirent **file;
    int n = scandir(path, &file, is_handin, alphasort), read = 0;
    if (n < 0) return fail_at(e, E_IO, path, "cannot read the folder: %s", strerror(errno));
    struct sheet *t = mem_zero(1, sizeof *t, "the sheet of a lesson", e);
    for (int i = 0; i < n && t; i++) {
        char one[PATH_MAX];
        struct err why = {0};
        snprintf(one, sizeof one, "%s/%s", path, file[i]->d_name);
        read += sheet_read(t, one, &why);
        say_pupil(s, file[i]->d_name, t, &why);
    }
    if (t) out_text(s->out, "%d of %d files are hand-in files that nobody has changed by hand.", read, n);
    for (int i = 0; i < n; i++) free(file[i]);
    free(file);
    mem_free(t);
    return t && (n || fail_at(e, E_INPUT, path, "the folder has no hand-in files: their names end in .txt"));
}

bool handin_check(struct session *s, const char *path, struct err *e)
{
    struct stat info;
    bool folder = !stat(path, &info) && S_ISDIR(info.st_mode);
    return (folder ? check_folder : check_file)(s, path, e);
}

/* ---- the keys of the rows ---- */

static const struct field lesson_handin_fields[] = {
    {"kind", F_TEXT, "the hand-in file of a lesson", .words = "hand-in"},
    {"file", F_TEXT, "the file"},
    {"checksum", F_TEXT, "a file with another checksum is refused", .words = "correct"},
    {"who", F_TEXT, "name of the reader"},
    {"lesson", F_TEXT, "name of the lesson"},
    {"title", F_TEXT, "title of the lesson"},
    {"text", F_TEXT, "whether the text of the lesson was the same as the text here"},
    {"begun", F_TEXT, "when the reader began the lesson"},
    {"ended", F_TEXT, "when the reader ended the lesson; or: not finished"},
    {"program", F_TEXT, "program with its version"},
    {"device", F_TEXT, "device in use"},
    {"answered", F_TEXT, "number of answered questions, of all questions"},
    {"score", F_TEXT, "number of right, wrong and skipped answers"},
    {0},
};
const struct row_kind row_lesson_handin = {"handin", "a hand-in file, judged", lesson_handin_fields};

static const struct field lesson_answer_fields[] = {
    {"kind", F_TEXT, "an answer in a hand-in file", .words = "answer"},
    {"question", F_COUNT, "number of the question", .min = 1},
    {"verdict", F_TEXT, "how the answer was judged", .words = "right, wrong, skipped, shown, unknown, thought"},
    {"tries", F_COUNT, "answers that the reader typed", .max = 2},
    {"first", F_TEXT, "the first answer"},
    {"second", F_TEXT, "the second answer"},
    {"answer", F_TEXT, "the right answer"},
    {"asked", F_TEXT, "the question"},
    {0},
};
const struct row_kind row_lesson_answer = {"answer", "an answer in a hand-in file", lesson_answer_fields};

static const struct field lesson_pupil_fields[] = {
    {"kind", F_TEXT, "a hand-in file of a folder", .words = "pupil"},
    {"file", F_TEXT, "name of the file"},
    {"who", F_TEXT | OR_NULL, "name of the reader; null, like the keys below: the file cannot be read"},
    {"lesson", F_TEXT | OR_NULL, "name of the lesson"},
    {"questions", F_COUNT | OR_NULL, "questions of the lesson"},
    {"right", F_COUNT | OR_NULL, "answers that were right"},
    {"wrong", F_COUNT | OR_NULL, "answers that were wrong"},
    {"skipped", F_COUNT | OR_NULL, "questions whose answer the reader asked for"},
    {"tries", F_COUNT | OR_NULL, "answers that the reader typed"},
    {"hints", F_COUNT | OR_NULL, "questions with a second try, before which a hint is shown"},
    {"ended", F_TEXT | OR_NULL, "when the reader ended the lesson; or: not finished"},
    {"text", F_TEXT | OR_NULL, "whether the text of the lesson was the same as the text here"},
    {"checksum", F_TEXT, "correct, or why the file cannot be read: it was changed, or is no hand-in file"},
    {0},
};
const struct row_kind row_lesson_pupil = {"pupil", "a hand-in file of a folder", lesson_pupil_fields};
