/* lesson: a text that is read aloud, its commands run as it goes, its tables of papers answered by our numbers.

   The first byte of a line tells what it is:
     %        a comment
     #        a title
     >        a command, which is shown and run
     |        a row of a paper's table (cmd_paper.c)
     blank    shown as it stands; an empty line parts paragraphs
   ? = @ and ! are kept for what lessons will have later; all else is prose, filled to the width of the screen. */
#include "cmd.h"
#include "grammar.h"

#include <errno.h>
#include <string.h>

enum { WIDTH_MOST = 100, WIDTH_USUAL = 80 };

struct lesson {
    struct session *session;
    struct papers papers;
    int width;
    char line[LINE_LIMIT + 2]; /* of prose, so far */
};

/* ---- prose ---- */

static void end_line(struct lesson *L)
{
    if (*L->line) out_text(L->session->out, "%s", L->line);
    *L->line = 0;
}

/* Put the words of text behind those of the line, and begin a new one where it is full. */
static bool prose(struct lesson *L, char *text, struct err *e)
{
    (void)e;
    for (char *word = strtok(text, " \t\r"); word; word = strtok(NULL, " \t\r")) {
        if (*L->line && text_width(L->line) + 1 + text_width(word) > L->width) end_line(L);
        size_t n = strlen(L->line);
        snprintf(L->line + n, sizeof L->line - n, "%s%s", n ? " " : "", word);
    }
    return true;
}

static bool as_it_stands(struct lesson *L, char *text, struct err *e)
{
    (void)e;
    out_text(L->session->out, "%s", text);
    return true;
}

/* ---- the other kinds of lines ---- */

static bool comment(struct lesson *L, char *text, struct err *e)
{
    (void)L, (void)text, (void)e;
    return true;
}

static bool title(struct lesson *L, char *text, struct err *e)
{
    char rule[WIDTH_MOST + 1];
    (void)e;
    text += 1 + strspn(text + 1, " ");
    int n = text_width(text) < WIDTH_MOST ? text_width(text) : WIDTH_MOST;
    memset(rule, '=', (size_t)n);
    rule[n] = 0;
    out_text(L->session->out, "%s", text);
    out_text(L->session->out, "%s", rule);
    return true;
}

/* A command that fails has said so. What it changes may be what a table has measured; tables end before. */
static bool command(struct lesson *L, char *text, struct err *e)
{
    struct session *s = L->session;
    (void)e;
    out_text(s->out, "%s", text);
    bool ok = run_line(s, text + 1);
    out_begin(s->out, "lesson");
    return ok;
}

static bool row(struct lesson *L, char *text, struct err *e)
{
    return paper_line(L->session, &L->papers, text, e);
}

static bool later(struct lesson *L, char *text, struct err *e)
{
    (void)L;
    return fail(e, E_INPUT, "a line that begins with %c means nothing yet; for prose, begin it with another word",
                *text);
}

static const struct mark {
    const char *first; /* bytes that such a line may begin with */
    bool (*read)(struct lesson *L, char *line, struct err *e);
} marks[] = {{"%", comment}, {"#", title}, {">", command}, {"|", row}, {"?=@!", later}, {" \t", as_it_stands}};

static bool read_line(struct lesson *L, char *line, struct err *e)
{
    const struct mark *m = marks;
    while (m < marks + COUNT(marks) && !(*line && strchr(m->first, *line))) m++;
    bool found = m < marks + COUNT(marks);
    if (*line != '|' && !paper_end(L->session, &L->papers, e)) return false;
    if (found || !*line) end_line(L);
    if (!*line) out_text(L->session->out, "%s", "");
    return found ? m->read(L, line, e) : prose(L, line, e);
}

/* ---- a whole lesson ---- */

static bool read_all(struct lesson *L, FILE *f, struct err *e)
{
    char line[LINE_LIMIT + 2];
    struct session *s = L->session;
    enum got got = GOT_END;
    for (s->script_line = 1; !s->quit && (got = line_next(f, line, e)) == GOT_LINE; s->script_line++)
        if (!read_line(L, line, e)) return false;
    if (got == GOT_BAD) return false;
    if (ferror(f)) return fail(e, E_IO, "cannot read: %s", strerror(errno));
    if (!paper_end(s, &L->papers, e)) return false;
    end_line(L);
    return true;
}

/* Read f as the session's script, in the folder of `path`; an error without a place is given that of the line. */
static bool teach(struct session *s, FILE *f, const char *path, int reps, struct err *e)
{
    char folder[4096];
    const char *slash = strrchr(path, '/'), *outer = s->script;
    int64_t outer_line = s->script_line;
    struct lesson *L = mem_zero(1, sizeof *L, "a lesson", e);
    if (!L) return false;
    *L = (struct lesson){.session = s, .papers = {.reps = reps}, .width = s->front ? s->front->width : WIDTH_USUAL};
    if (L->width > WIDTH_MOST) L->width = WIDTH_MOST;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    s->folder = folder;
    s->script = path;
    bool ok = read_all(L, f, e);
    if (!ok && e->code && !*e->where)
        snprintf(e->where, sizeof e->where, "%.200s:%lld", path, (long long)s->script_line);
    s->folder = NULL;
    s->script = outer;
    s->script_line = outer_line;
    papers_free(&L->papers);
    mem_free(L);
    return ok;
}

/* What an earlier lesson left behind, so that one can be read again. */
static void drop_earlier(struct session *s)
{
    for (struct matrix *m = s->matrices, *next; m; m = next) {
        next = m->next;
        if (m->lesson) session_drop(s, m);
    }
}

static bool run_lesson(struct session *s, const struct args *a, struct err *e)
{
    const char *path = arg(a, "file");
    int64_t reps = arg_int(a, "reps", 0);
    if (s->folder) return fail(e, E_USAGE, "a lesson is being read; it cannot hold another");
    if (reps < 0 || reps > 1000000)
        return fail(e, E_USAGE, "expected 0 to 1000000 after `reps`, found %lld", (long long)reps);
    if (strlen(path) >= 4096) return fail(e, E_LIMIT, "expected a path of at most 4095 bytes");
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, path, "cannot open: %s", strerror(errno));
    drop_earlier(s);
    bool ok = teach(s, f, path, (int)reps, e);
    fclose(f);
    return ok;
}

const struct command command_lesson = {
    .name = "lesson",
    .grammar = "FILE [reps N]",
    .about = "read a lesson: prose, commands, and the tables of papers beside our own numbers",
    .help = "Its commands are run, its rows of papers measured on the device in use. Its matrices are kept to go on\n"
            "with, until the next lesson. A lesson is a text file: lines that begin with > are commands, with |\n"
            "rows of a table, with # titles, with % comments; files are named from its own folder.\n"
            "    device cuda:0; lesson samples/lessons/drm.txt",
    .run = run_lesson,
};
