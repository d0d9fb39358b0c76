/* lesson: reads a text, runs its commands, asks its questions, and adds our own measurements to its tables of papers. A
   lesson is also a test: its expected lines and written answers are checked.

   The first byte of a line gives its kind:
     %        a comment
     #        a title
     >        a command, which is shown and run
     @        a line that the command above must print, in this order; * matches any text, repeated blanks count as one
     @!       the command above must fail, and its error must match the line in the same way
     ?        a question; lines of the form "?  a  this" are its choices
     =        its answer, see lesson_answer.c; several answers are alternatives, and a computed answer must agree with a
              written one. With "of it", the reader guesses the output of the commands directly below the
              question. A question without an answer is only for the reader to think about
     !        text shown after the answer
     |        a row of a paper's table (paper.c)
     blank    shown unchanged; an empty line separates paragraphs
   All other lines are prose, filled to the width of the screen. A question ends at the first line of another kind:

     ? How many iterations will cg need?
     = iterations[solver=cg] +- 20% of it
     > race jacobi cg of grid
     @ * jacobi  converged *
     ! About as many as there are points along two sides.

   At a terminal, questions are asked; otherwise they are printed with their answers. The lesson fails if a line with @
   matches nothing or a written answer is no longer true. */
#include "session/args.h"
#include "session/command.h"
#include "base/err.h"
#include "session/front.h"
#include "lesson.h"
#include "lesson_list.h"
#include "session/library.h"
#include "session/matrix.h"
#include "base/mem.h"
#include "paper.h"
#include "session/session.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/words.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_MOST = 100, WIDTH_DEFAULT = 80, WIDTH_LEAST = 20 };

struct lesson {
    struct session *session;
    struct papers papers;
    int width;
    char line[LINE_LIMIT + 2]; /* the line of prose that words are added to */
    struct question question;
    struct score score;
    struct capture capture; /* output of the last commands; freed when no later line can refer to it */
    enum { RAN, REFUSED, REFUSED_RIGHTLY } ended; /* how the last command ended; a line with @! expects a failure */
    const struct mark *last;                      /* kind of the previous line */
};

/* ---- prose ---- */

static void end_line(struct lesson *L)
{
    if (*L->line) out_text(L->session->out, "%s", L->line);
    *L->line = 0;
}

/* Append the words of text to the line, and begin a new line when it is full. */
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

static bool settle(struct lesson *L, struct err *e)
{
    struct capture *it = L->capture.text.file ? &L->capture : NULL;
    if (!L->question.line) return true;
    return question_settle(L->session, &L->question, it, &L->score, e);
}

/* A failed command has reported its error. A command may change what a table has measured, so tables end before it. */
static bool command(struct lesson *L, char *text, struct err *e)
{
    struct session *s = L->session;
    struct question *q = &L->question;
    if (q->line && !question_needs_it(q) && !settle(L, e)) return false;
    if (q->line && !q->asked) question_ask(s, q, &L->score);
    if (L->score.left) return true;
    out_text(s->out, "%s", text);
    L->ended = capture_line(s, text + 1, question_needs_it(q), &L->capture, e) ? RAN : REFUSED;
    out_begin(s->out, "lesson");
    return !e->code;
}

/* Compare an expected line with the text of the command's tables. */
static bool expected(struct lesson *L, char *text, struct err *e)
{
    bool error = text[1] == '!';
    text += 1 + error;
    if (!L->capture.text.file) return fail(e, E_INPUT, "an expected line needs a command above it");
    if (!text[strspn(text, " \t")]) return fail(e, E_INPUT, "the expected line is empty: give a part of the output");
    if (error && L->ended == RAN) return fail(e, E_INPUT, "the command succeeded, but it should have been refused");
    if (error) L->ended = REFUSED_RIGHTLY;
    /* in JSON and CSV, a command prints rows instead of tables */
    bool any = error || out_mode(L->session->out) == OUT_TEXT;
    return !any || capture_expect(&L->capture, text, e);
}

static bool row(struct lesson *L, char *text, struct err *e)
{
    return paper_line(L->session, &L->papers, text, e);
}

/* ---- questions ---- */

static bool question(struct lesson *L, char *text, struct err *e)
{
    struct question *q = &L->question;
    char label[40];
    bool first = !q->line;
    if (first) q->line = L->session->script_line;
    if (!question_add(q, text + 1, e)) return false;
    snprintf(label, sizeof label, "Question %d:", L->score.questions + 1);
    if (first) prose(L, label, e);
    if (text[1] != ' ' || text[2] != ' ') return prose(L, text + 1, e);
    end_line(L);
    return as_it_stands(L, text + 1, e);
}

static bool answer(struct lesson *L, char *text, struct err *e)
{
    if (!L->question.line) return fail(e, E_INPUT, "an answer needs a question above it");
    end_line(L);
    return question_answer(&L->question, text + 1, L->session->script_line, e);
}

static bool explanation(struct lesson *L, char *text, struct err *e)
{
    if (!L->question.line) return fail(e, E_INPUT, "an explanation needs a question above it");
    return settle(L, e) && (L->score.left || prose(L, text + 1, e));
}

/* ---- lines ---- */

/* The part of a lesson that a line belongs to. A question with its answers forms one part, and so do commands with
   their expected lines. */
enum part { NOTHING = 0, QUESTION = 1, ANSWER = 2, COMMAND = 4, EXPECTED = 8, EXPLANATION = 16 };
static const struct mark {
    const char *first; /* the first bytes of such a line */
    bool (*read)(struct lesson *L, char *line, struct err *e);
    enum part part;
    int after;  /* set of parts: after a line of any part in the set, this line continues that part */
    bool flows; /* consecutive lines of this kind are filled as one paragraph */
} marks[] = {
    {"%", comment, NOTHING, 0, false},
    {"#", title, NOTHING, 0, false},
    {"?", question, QUESTION, QUESTION, true},
    {"=", answer, ANSWER, QUESTION | ANSWER, false},
    {">", command, COMMAND, QUESTION | ANSWER | COMMAND | EXPECTED, false},
    {"@", expected, EXPECTED, COMMAND | EXPECTED, false},
    {"!", explanation, EXPLANATION, QUESTION | ANSWER | COMMAND | EXPECTED | EXPLANATION, true},
    {"|", row, NOTHING, 0, false},
    {" \t", as_it_stands, NOTHING, 0, false},
    {"", prose, NOTHING, 0, true},
};

static const struct mark *mark_of(const char *line)
{
    const struct mark *m = marks;
    while (*m->first && !(*line && strchr(m->first, *line))) m++;
    return m;
}

/* Finish the part that the lines above belong to. */
static bool close_part(struct lesson *L, struct err *e)
{
    bool ok = L->ended != REFUSED && settle(L, e); /* a failure that was not expected has already been reported */
    question_free(&L->question);
    capture_free(&L->capture);
    L->ended = RAN;
    return ok;
}

static bool read_line(struct lesson *L, char *line, struct err *e)
{
    const struct mark *m = mark_of(line), *last = L->last ? L->last : marks;
    if (*line != '|' && !paper_end(L->session, &L->papers, e)) return false;
    if (m->read == comment) return true;
    L->last = m;
    if (L->ended == REFUSED && strncmp(line, "@!", 2)) return false;
    if (!*line || !m->flows || m != last) end_line(L);
    if (!(m->after & last->part) && !close_part(L, e)) return false;
    if (L->score.left) return true;
    if (!*line) out_text(L->session->out, "%s", "");
    return m->read(L, line, e);
}

/* ---- a whole lesson ---- */

static bool read_all(struct lesson *L, FILE *f, struct err *e)
{
    char line[LINE_LIMIT + 2];
    struct session *s = L->session;
    enum got got = GOT_END;
    for (s->script_line = 1; !s->quit && !L->score.left && (got = line_next(f, line, e)) == GOT_LINE; s->script_line++)
        if (!read_line(L, line, e)) return false;
    if (got == GOT_BAD) return false;
    if (ferror(f)) return fail(e, E_IO, "cannot read: %s", strerror(errno));
    end_line(L);
    return paper_end(s, &L->papers, e) && (s->quit || L->score.left || close_part(L, e));
}

/* The width of prose: the width of the terminal, or, without a terminal, the width that the front end states. */
static int width_of(const struct session *s)
{
    int columns = out_columns(s->out), width = columns ? columns : s->front ? s->front->width : WIDTH_DEFAULT;
    return width > WIDTH_MOST ? WIDTH_MOST : width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

/* Read f as a script of the session, with file names relative to the folder of `path`. An error without a location gets
   the file and line. */
static bool teach(struct session *s, FILE *f, const char *path, int reps, struct err *e)
{
    char folder[4096];
    const char *slash = strrchr(path, '/'), *outer = s->script;
    int64_t outer_line = s->script_line;
    struct lesson *L = mem_zero(1, sizeof *L, "a lesson", e);
    if (!L) return false;
    *L = (struct lesson){.session = s, .papers = {.reps = reps}, .width = width_of(s)};
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    s->folder = folder;
    s->script = path;
    bool ok = read_all(L, f, e);
    score_say(s, &L->score);
    if (!ok && e->code && !*e->where)
        snprintf(e->where, sizeof e->where, "%.200s:%lld", path, (long long)s->script_line);
    s->folder = NULL;
    s->script = outer;
    s->script_line = outer_line;
    papers_free(&L->papers);
    question_free(&L->question);
    capture_free(&L->capture);
    mem_free(L);
    return ok;
}

/* Drop the matrices of an earlier lesson, so that the same names can be used again. */
static void drop_earlier(struct session *s)
{
    for (struct matrix *m = s->matrices, *next; m; m = next) {
        next = m->next;
        if (m->lesson) session_drop(s, m);
    }
}

/* A name is looked up in the library. A word that has a slash, or that is not the name of a lesson, is the name of a
   file. */
static bool find_lesson(const char *typed, char *path, size_t size, struct err *e)
{
    struct suggest near = suggest_for(typed);
    if (library_find(typed, path, size)) return true;
    if (snprintf(path, size, "%s", typed) >= (int)size)
        return fail(e, E_LIMIT, "the path is too long: at most %zu bytes", size - 1);
    if (!access(path, F_OK) || strpbrk(typed, "/.")) return true; /* opening the file gives the reason of a failure */
    library_list(suggest_offer, &near);
    struct message t = {0};
    message_add(&t, "there is no lesson ");
    message_quote(&t, typed);
    message_near(&t, &near);
    return fail(e, E_USAGE, "%s; `lesson` lists them, and a path names a file", t.text);
}

static bool run_lesson(struct session *s, const struct args *a, struct err *e)
{
    char path[4096];
    int64_t reps = arg_int(a, "reps", 0);
    if (s->folder) return fail(e, E_USAGE, "a lesson cannot contain another lesson");
    if (reps < 0 || reps > 1000000) return fail(e, E_USAGE, "`reps %lld` is outside 0 .. 1000000", (long long)reps);
    if (!arg(a, "lesson")) return lesson_list(s, e);
    if (!find_lesson(arg(a, "lesson"), path, sizeof path, e)) return false;
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, path, "cannot open: %s", strerror(errno));
    struct lines outer;
    bool ok = lines_begin(s, "a lesson", a, &outer, e);
    if (ok) {
        drop_earlier(s);
        ok = teach(s, f, path, (int)reps, e);
        lines_end(s, &outer);
    }
    fclose(f);
    return ok;
}

const struct command command_lesson = {
    .name = "lesson",
    .grammar = "[LESSON] [reps N] [allow PERMISSION]",
    .about = "read a lesson: prose, commands, questions, and tables that compare papers with our own measurements",
    .help = "`lesson` alone lists the lessons and your progress in each lesson. A lesson runs its commands and\n"
            "measures the rows of its tables on the device in use. The matrices of a lesson are kept until the next\n"
            "lesson. Questions are interactive at a terminal: an empty line shows the answer, and Ctrl-C leaves the\n"
            "lesson. If there is no terminal, questions are printed with their answers. Shell commands (!COMMAND) of\n"
            "a lesson are refused without `allow shell` (see `help allow`). A lesson is a text file; file names in it\n"
            "are relative to its own folder. The first byte of a line gives its kind:\n"
            "    %  a comment                     #  a title\n"
            "    >  a command                     |  a row of a table\n"
            "    @  a line that it must print, * matches any text; @! an error that it must report\n"
            "    ?  a question, or with two blanks and a letter a choice: ?  a  the longest row\n"
            "    =  its answer: = 12   = 5.2 +- 10%   = csr | compressed rows   = nnz / rows of stats A\n"
            "       computed from the JSON of a command, or of the command below: = iterations[solver=cg] of it\n"
            "    !  text shown after the answer\n"
            "and all other lines are prose. A missing line, or an answer that is no longer true, is an error.\n"
            "    device cuda:0; lesson drm",
    .run = run_lesson,
};
