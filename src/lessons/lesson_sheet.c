/* The sheet of a lesson as a text file: a keyword and a value per line, and a checksum of all lines above it. The
   checksum shows that a file was damaged or edited by hand. The checksum uses no secret key, so a programmer can
   compute a valid checksum for a changed file. */
#include "lesson_sheet.h"
#include "base/base.h"
#include "base/err.h"
#include "base/memfile.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/words.h"
#include "base/xdg.h"
#include "language/run_lines.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char first_line[] = "warpspy lesson sheet 1";
enum { KEY_WIDTH = 10 };

/* ---- names, times, checksums ---- */

static const char *const outcomes[OUTCOMES] = {"right", "wrong", "skipped", "shown", "unknown", "thought"};

const char *outcome_name(enum outcome v)
{
    return outcomes[v];
}

void sheet_now(char out[24])
{
    time_t now = time(NULL);
    struct tm tm;
    if (!gmtime_r(&now, &tm) || !strftime(out, 24, "%Y-%m-%d %H:%M UTC", &tm)) *out = 0;
}

void sheet_score(const struct sheet *t, char *out, size_t size)
{
    int of[OUTCOMES] = {0}, second = 0;
    char late[48] = "";
    for (int i = 0; i < t->n; i++) {
        of[t->reply[i].outcome]++;
        second += t->reply[i].outcome == RIGHT && t->reply[i].tries > 1;
    }
    if (second) snprintf(late, sizeof late, ", %d of them on the second try", second);
    snprintf(out, size, "%d right of %d%s, %d wrong, %d skipped", of[RIGHT], of[RIGHT] + of[WRONG] + of[SKIPPED], late,
             of[WRONG], of[SKIPPED]);
}

/* Add a line, without the blanks at its end, to an FNV-1a hash. */
static uint64_t add_line(uint64_t sum, const char *line)
{
    size_t n = strlen(line);
    while (n && strchr(" \t\r", line[n - 1])) n--;
    for (size_t i = 0; i <= n; i++) sum = (sum ^ (unsigned char)(i < n ? line[i] : '\n')) * 0x100000001b3u;
    return sum;
}

static const uint64_t no_lines = 0xcbf29ce484222325u;

static void show_sum(uint64_t sum, char out[20])
{
    snprintf(out, 20, "%016llx", (unsigned long long)sum);
}

void sheet_checksum(FILE *f, char out[20])
{
    char line[LINE_LIMIT + 2];
    uint64_t sum = no_lines;
    struct err e = {0};
    while (line_next(f, line, &e) == GOT_LINE) sum = add_line(sum, line);
    show_sum(sum, out);
}

/* ---- the lines ---- */

static const struct field {
    const char *key;
    size_t at, size;
} fields[] = {
    {"lesson", offsetof(struct sheet, lesson), sizeof((struct sheet *)0)->lesson},
    {"title", offsetof(struct sheet, title), sizeof((struct sheet *)0)->title},
    {"text", offsetof(struct sheet, text), sizeof((struct sheet *)0)->text},
    {"program", offsetof(struct sheet, program), sizeof((struct sheet *)0)->program},
    {"device", offsetof(struct sheet, device), sizeof((struct sheet *)0)->device},
    {"who", offsetof(struct sheet, who), sizeof((struct sheet *)0)->who},
    {"begun", offsetof(struct sheet, begun), sizeof((struct sheet *)0)->begun},
    {"ended", offsetof(struct sheet, ended), sizeof((struct sheet *)0)->ended},
};

static void put(FILE *f, const char *key, const char *value)
{
    char safe[1024];
    print_safe(value, strlen(value), 250, safe, sizeof safe);
    fprintf(f, "%-*s %s\n", KEY_WIDTH, key, safe);
}

static void put_reply(FILE *f, const struct reply *r)
{
    put(f, "question", outcomes[r->outcome]);
    put(f, "asked", r->asked);
    for (int i = 0; i < r->tries; i++) put(f, "said", r->said[i]);
    put(f, "answer", r->answer);
}

static void put_all(FILE *f, const struct sheet *t)
{
    char text[120];
    fprintf(f, "%s\n", first_line);
    for (int i = 0; i < COUNT(fields); i++) put(f, fields[i].key, (const char *)t + fields[i].at);
    snprintf(text, sizeof text, "%d", t->questions);
    put(f, "questions", text);
    for (int i = 0; i < t->n; i++) put_reply(f, &t->reply[i]);
    sheet_score(t, text, sizeof text);
    put(f, "score", text);
}

static bool write_text(const char *path, enum target_by by, bool force, const char *text, size_t n, struct err *e)
{
    struct newfile f;
    bool opened = by == BY_LINE ? newfile_open(&f, path, force, e) : newfile_open_own(&f, path, force, e);
    bool ok = opened && newfile_write(&f, text, (int64_t)n, e);
    return newfile_close(&f, ok, e);
}

bool sheet_write(const struct sheet *t, const char *path, enum target_by by, bool force, struct err *e)
{
    struct memfile m = {0};
    char sum[20];
    bool ok = memfile_open(&m, e);
    if (ok) put_all(m.file, t);
    ok = ok && memfile_sync(&m, e);
    if (ok) {
        FILE *again = fmemopen(m.text, m.n, "r");
        if (!again) return memfile_free(&m), fail(e, E_MEMORY, "out of memory for the sheet of a lesson");
        sheet_checksum(again, sum);
        fclose(again);
        put(m.file, "checksum", sum);
    }
    ok = memfile_close(&m, ok, e) && write_text(path, by, force, m.text, m.n, e);
    memfile_free(&m);
    return ok;
}

/* ---- reading ---- */

static bool set_outcome(struct reply *r, const char *name)
{
    for (int i = 0; i < OUTCOMES; i++) {
        if (strcmp(outcomes[i], name)) continue;
        r->outcome = (enum outcome)i;
        return true;
    }
    return false;
}

/* Read one line about a question. Returns false if the line does not belong in a sheet. */
static bool take_reply(struct sheet *t, const char *key, const char *value)
{
    if (!strcmp(key, "question"))
        return t->n < REPLIES_MAX && (t->reply[t->n] = (struct reply){0}, set_outcome(&t->reply[t->n++], value));
    if (!t->n) return false;
    struct reply *r = &t->reply[t->n - 1];
    if (!strcmp(key, "asked")) return snprintf(r->asked, sizeof r->asked, "%s", value), true;
    if (!strcmp(key, "answer")) return snprintf(r->answer, sizeof r->answer, "%s", value), true;
    if (strcmp(key, "said") || r->tries == TRIES_MAX) return false;
    return snprintf(r->said[r->tries++], sizeof r->said[0], "%s", value), true;
}

static bool take_line(struct sheet *t, const char *line)
{
    char key[32];
    size_t n = strcspn(line, " ");
    snprintf(key, sizeof key, "%.*s", (int)n, line);
    const char *value = line + n + strspn(line + n, " ");
    for (int i = 0; i < COUNT(fields); i++) {
        if (strcmp(fields[i].key, key)) continue;
        snprintf((char *)t + fields[i].at, fields[i].size, "%s", value);
        return true;
    }
    if (!strcmp(key, "questions")) return (t->questions = atoi(value)) >= 0;
    return !strcmp(key, "score") ||
           take_reply(t, key, value); /* the score in the file is ignored, because it is computed from the replies */
}

static bool is_sum(const char *line)
{
    return !strncmp(line, "checksum ", 9);
}

static bool read_lines(struct sheet *t, FILE *f, struct err *e)
{
    char line[LINE_LIMIT + 2], sum[20];
    uint64_t all = no_lines;
    enum got got = line_next(f, line, e);
    if (got == GOT_BAD || strncmp(line, first_line, strlen(first_line)))
        return err_clear(e),
               fail(e, E_INPUT, "this is not a hand-in file of a lesson: its first line is not `%s`", first_line);
    bool known = true;
    do {
        all = add_line(all, line);
        got = line_next(f, line, e);
        if (got == GOT_LINE && !is_sum(line)) known &= take_line(t, line);
    } while (got == GOT_LINE && !is_sum(line));
    if (got == GOT_BAD) return false;
    if (got == GOT_END)
        return fail(e, E_INPUT, "the end of the file, with its checksum, is missing: ask for the file again");
    show_sum(all, sum);
    bool same = !strncmp(strrchr(line, ' ') + 1, sum, strlen(sum)) && line_next(f, line, e) == GOT_END;
    if (!same || !known)
        return fail(e, E_INPUT,
                    "the file was changed after it was written: its checksum does not match; ask for the "
                    "original file");
    return true;
}

bool sheet_read(struct sheet *t, const char *path, struct err *e)
{
    *t = (struct sheet){0};
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, path, "cannot open: %s", strerror(errno));
    bool ok = read_lines(t, f, e);
    fclose(f);
    if (!ok && e && !*e->where) snprintf(e->where, sizeof e->where, "%.200s", path);
    return ok;
}

/* ---- the user's progress ---- */

static bool progress_path(const char *lesson, char *path, size_t size)
{
    char file[128];
    snprintf(file, sizeof file, "warpspy/lessons/%s", lesson);
    return !strchr(lesson, '/') && xdg_path("XDG_STATE_HOME", ".local/state", file, path, size);
}

bool sheet_save(const struct sheet *t, struct err *e)
{
    char path[PATH_MAX];
    if (!progress_path(t->lesson, path, sizeof path))
        return fail(e, E_IO, "the folder for the user's progress is not known: set HOME");
    if (!xdg_make_folders(path)) return fail_at(e, E_IO, path, "cannot create the folder: %s", strerror(errno));
    return sheet_write(t, path, BY_USER, true, e);
}

bool sheet_load(struct sheet *t, const char *lesson)
{
    char path[PATH_MAX];
    struct err e = {0};
    return progress_path(lesson, path, sizeof path) && sheet_read(t, path, &e);
}
