/* lesson: reads a text, runs its commands, asks its questions, and adds our own measurements to its tables from papers.
   A lesson is also a test: its expected lines and written answers are checked.

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
     ~        a hint, shown after a wrong answer, before the second try
     !        text shown after the answer
     |        a row of a paper's table (paper.c); with "of it", a question directly above asks about the rows
     :        a condition on the rows of the table above, see lesson_answer.c. The text below is shown only if the
              condition holds and no condition above it in the same paragraph does; `: otherwise` holds if the numbers
              of the conditions above it are known
     blank    shown unchanged; an empty line separates paragraphs
   All other lines are prose, filled to the width of the screen. A question ends at the first line of a different kind:

     ? How many iterations will cg need?
     = iterations[solver=cg] +- 20% of it
     > race jacobi cg of grid
     @ * jacobi  converged *
     ! About as many as there are points along two sides.

   At a terminal, questions are asked, the text waits at the end of each page, and a sheet (lesson_sheet.h) keeps what
   was answered, so that a lesson continues where its reader left off. Without a terminal, questions are printed with
   their answers, and the text does not wait. The lesson fails if a line with @ matches nothing or a written answer is
   wrong. */
#include "base/err.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/words.h"
#include "language/args.h"
#include "language/options.h"
#include "language/run_lines.h"
#include "lesson.h"
#include "lesson_handin.h"
#include "lesson_list.h"
#include "lesson_pages.h"
#include "lesson_sheet.h"
#include "machine/device.h"
#include "paper.h"
#include "paper_tables.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/lesson_files.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/spmv.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { WIDTH_MAX = 100, WIDTH_DEFAULT = 80, WIDTH_MIN = 20 };

struct lesson {
    struct session *session;
    struct papers papers;
    int width;
    char line[LINE_LIMIT + 2]; /* the line of prose that words are added to */
    struct question question;
    struct score score;
    struct capture capture; /* output of the last commands; freed when no later line can refer to it */
    struct capture table;   /* rows of the last table */
    bool listening;         /* the output is copied to `table` */
    bool asked;             /* the question above asks about the rows of the last table */
    struct chain {
        bool any;     /* the paragraph has a condition */
        bool held;    /* one of its conditions held */
        bool hidden;  /* the text below is not shown */
        bool unknown; /* a number of a condition is not known */
    } chain;
    enum { RAN, REFUSED, REFUSED_RIGHTLY } ended; /* how the last command ended; a line with @! expects a failure */
    const struct mark *last;                      /* kind of the previous line */
    struct lesson_head head;
    /* the following are used only if questions are asked */
    struct pages pages;
    struct sheet *sheet;           /* owned; NULL: no answers are kept */
    bool held;                     /* the output of commands is shown when the question above them is answered */
    bool unsaved;                  /* the sheet could not be saved, and the reader has been told so */
    char footer[80], heading[200]; /* last line of a page; first line of a page while a question is open */
    struct quiet {
        int questions; /* number of questions answered earlier; the lesson prints nothing until the last of these
                          questions has ended */
        struct out *out, *loud;
        FILE *nowhere;
        bool terminal, interactive;
    } quiet;
};

/* ---- continuing where the reader left off ---- */

/* The name of the lesson in file `path`: its last part without the extension, with _ in place of characters that are
   unsafe in a file name. */
static void name_of(const char *path, char *out, size_t size)
{
    const char *slash = strrchr(path, '/');
    snprintf(out, size, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(out, '.');
    if (dot && dot > out) *dot = 0;
    for (char *p = out; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("-_.+", *p)) *p = '_';
}

static void fill_sheet(struct lesson *L, const char *path)
{
    struct session *s = L->session;
    struct sheet *t = L->sheet;
    struct device *d = session_device(s, NULL, NULL);
    *t = (struct sheet){.questions = L->head.questions};
    name_of(path, t->lesson, sizeof t->lesson);
    snprintf(t->title, sizeof t->title, "%s", *L->head.title ? L->head.title : L->head.about);
    snprintf(t->text, sizeof t->text, "%s", L->head.text);
    snprintf(t->program, sizeof t->program, "warpspy %s", WARPSPY_VERSION);
    snprintf(t->device, sizeof t->device, "%s", d ? d->name : "");
    sheet_now(t->begun);
}

/* Say that the lesson begins again; the first answer will replace the sheet. */
static void say_finished(struct session *s, const struct sheet *t)
{
    char score[160];
    sheet_score(t, score, sizeof score);
    out_text(s->out, "You finished this lesson on %s: %s. New answers replace the old answers.", t->ended, score);
}

/* Begin a new sheet, or continue the sheet of a reader who left the lesson before its end. A sheet that was made for a
   different version of the lesson's text is not used. */
static bool begin_sheet(struct lesson *L, const char *path, bool restart, struct err *e)
{
    struct sheet *t = L->sheet = mem_zero(1, sizeof *t, "the sheet of a lesson", e);
    char name[sizeof t->lesson];
    if (!t) return false;
    name_of(path, name, sizeof name);
    bool kept = sheet_load(t, name) && t->n && !strcmp(t->text, L->head.text), begun = kept && !*t->ended && !restart;
    if (kept && *t->ended) say_finished(L->session, t);
    if (begun)
        L->quiet.questions = t->n;
    else
        fill_sheet(L, path);
    return true;
}

/* Complete the sheet after all questions have been answered. */
static void end_sheet(struct lesson *L)
{
    if (!L->sheet || !L->sheet->n) return;
    sheet_now(L->sheet->ended);
    if (!L->unsaved) sheet_save(L->sheet, NULL);
    pages_end(&L->pages);
    handin_ask(L->session, L->sheet);
    if (!L->unsaved) sheet_save(L->sheet, NULL); /* with the name */
}

/* Run the commands up to the first unanswered question again, without printing anything. */
static bool be_quiet(struct lesson *L, struct err *e)
{
    struct quiet *v = &L->quiet;
    struct session *s = L->session;
    out_text(s->out, "You left this lesson after question %d of %d; it continues from there.", v->questions,
             L->head.questions);
    out_text(s->out, "`lesson %s restart` begins the lesson again.", L->sheet->lesson);
    pages_show(&L->pages);
    v->nowhere = fopen("/dev/null", "we");
    if (!v->nowhere) return fail_at(e, E_IO, "/dev/null", "cannot open: %s", strerror(errno));
    v->out = out_new(v->nowhere, v->nowhere, OUT_TEXT, e);
    if (!v->out) return fclose(v->nowhere), false;
    v->loud = s->out;
    v->terminal = s->terminal;
    v->interactive = s->interactive;
    s->out = v->out;
    s->terminal = s->interactive = false;
    return true;
}

/* Begin to print again; the score counts the questions that were answered earlier. */
static void speak(struct lesson *L)
{
    struct quiet *v = &L->quiet;
    struct session *s = L->session;
    s->out = v->loud;
    s->terminal = v->terminal;
    s->interactive = v->interactive;
    out_free(v->out);
    fclose(v->nowhere);
    v->out = NULL;
    *L->line = 0;
    L->score = (struct score){.hinted = true, .left = L->score.left};
    for (int i = 0; i < L->sheet->n; i++) score_add(&L->score, L->sheet->reply[i].outcome, L->sheet->reply[i].tries);
    out_begin(s->out, "lesson");
}

/* ---- prose ---- */

static void end_line(struct lesson *L)
{
    if (*L->line) out_text(L->session->out, "%s", L->line);
    *L->line = 0;
}

/* Append the words of text to the line, and begin a new line when it is full. */
static bool prose(struct lesson *L, char *text, struct err *e)
{
    for (char *word = strtok(text, " \t\r"); word; word = strtok(NULL, " \t\r")) {
        if (*L->line && text_width(L->line) + 1 + text_width(word) > L->width) end_line(L);
        size_t n = strlen(L->line);
        snprintf(L->line + n, sizeof L->line - n, "%s%s", n ? " " : "", word);
    }
    return true;
}

static bool as_it_stands(struct lesson *L, char *text, struct err *e)
{
    out_text(L->session->out, "%s", text);
    return true;
}

/* ---- the other kinds of lines ---- */

static bool comment(struct lesson *L, char *text, struct err *e)
{
    return true;
}

static bool title(struct lesson *L, char *text, struct err *e)
{
    char rule[WIDTH_MAX + 1];
    text += 1 + strspn(text + 1, " ");
    snprintf(L->papers.title, sizeof L->papers.title, "%s", text);
    int n = text_width(text) < WIDTH_MAX ? text_width(text) : WIDTH_MAX;
    memset(rule, '=', (size_t)n);
    rule[n] = 0;
    out_text(L->session->out, "%s", text);
    out_text(L->session->out, "%s", rule);
    return true;
}

/* ---- asking ---- */

/* Show the collected output, unless it must wait until a question is answered. */
static void show(struct lesson *L)
{
    if (!L->held && !L->quiet.out && !pages_show(&L->pages)) L->score.left = true;
}

static void keep_reply(struct lesson *L)
{
    struct sheet *t = L->sheet;
    struct err e = {0};
    if (!t || t->n == REPLIES_MAX) return;
    question_reply(&L->question, &t->reply[t->n++]);
    if (L->unsaved || sheet_save(t, &e)) return;
    L->unsaved = true;
    out_note(L->session->out, "the answers are not saved: %s%s%s", e.where, *e.where ? ": " : "", e.text);
}

/* "Question 3 of 15" at a terminal, or "Question 3" without a terminal. */
static void question_label(struct lesson *L, char *out, size_t size)
{
    int n = L->score.questions + 1;
    if (L->pages.s && L->head.questions)
        snprintf(out, size, "Question %d of %d", n, L->head.questions);
    else
        snprintf(out, size, "Question %d", n);
}

/* Ask the question that is on the screen. Returns false if the reader left. */
static bool ask(struct lesson *L)
{
    struct session *s = L->session;
    if (!L->held) show(L);
    if (L->score.left) return false;
    memcpy(L->pages.heading, L->heading, sizeof L->heading);
    question_label(L, L->footer, sizeof L->footer);
    pages_direct(&L->pages);
    int lines = question_ask(s, &L->question, &L->score);
    pages_collect(&L->pages);
    pages_keep(&L->pages, lines);
    if (L->score.left) pages_drop(&L->pages);
    L->held = false;
    show(L);
    return !L->score.left;
}

/* The output that the question above asks about; NULL: there is none below it. */
static struct capture *output_of(struct lesson *L)
{
    return L->asked ? &L->table : L->capture.text.file ? &L->capture : NULL;
}

/* Find the answer, ask the question, and print the result. */
static bool settle(struct lesson *L, struct err *e)
{
    struct session *s = L->session;
    struct question *q = &L->question;
    if (!q->line || q->settled) return true;
    q->settled = true;
    if (question_runs_commands(q)) papers_free(&L->papers);
    if (!question_find(s, q, output_of(L), e)) return false;
    if (L->pages.s && !L->quiet.out && !ask(L)) return true;
    question_say(s, q, &L->score);
    if (!L->quiet.out) keep_reply(L);
    if (L->head.questions)
        snprintf(L->footer, sizeof L->footer, "%d of %d done", L->score.questions, L->head.questions);
    return out_end(s->out, e);
}

/* Run a command and print its output. An open table has been closed before this call, because a command may change the
   matrices that the table measures. If the question above asks for a guess of the output, the output is shown after the
   guess. A command that fails reports its own error. */
static bool command(struct lesson *L, char *text, struct err *e)
{
    struct session *s = L->session;
    struct question *q = &L->question;
    bool guess = q->line && !q->settled && question_needs_it(q);
    if (!guess && !settle(L, e)) return false;
    if (!L->score.left) show(L);
    if (L->score.left) return true;
    L->held = guess && L->pages.s && !L->quiet.out;
    papers_free(&L->papers);
    out_text(s->out, "%s", text);
    L->ended = capture_line(s, text + 1, question_needs_it(q), &L->capture, e) ? RAN : REFUSED;
    out_begin(s->out, "lesson");
    show(L);
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

/* ---- tables and conditions ---- */

/* Begin a table. If the question above asks for a guess of its rows, the table is shown after the guess. */
static bool begin_table(struct lesson *L, struct err *e)
{
    struct question *q = &L->question;
    bool guess = q->line && !q->settled && question_needs_it(q);
    if (!guess && !settle(L, e)) return false;
    if (!L->score.left) show(L);
    L->asked = guess;
    L->held = guess && L->pages.s && !L->quiet.out;
    capture_free(&L->table);
    if (!memfile_open(&L->table.rows, e)) return false;
    out_listen(L->session->out, L->table.rows.file, NULL);
    return L->listening = true;
}

static void stop_listening(struct lesson *L)
{
    if (L->listening) out_listen(L->session->out, NULL, NULL);
    L->listening = false;
}

static bool end_table(struct lesson *L, struct err *e)
{
    if (!L->papers.open) return true;
    bool ok = paper_end(L->session, &L->papers, e);
    stop_listening(L);
    return ok;
}

static bool row(struct lesson *L, char *text, struct err *e)
{
    if (!L->papers.open && !begin_table(L, e)) return false;
    return L->score.left || paper_line(L->session, &L->papers, text, e);
}

static bool condition(struct lesson *L, char *text, struct err *e)
{
    struct chain *c = &L->chain;
    bool holds = !c->unknown;
    text += 1 + strspn(text + 1, " \t");
    if (!L->table.rows.file) return fail(e, E_INPUT, "a condition needs a table above it");
    end_line(L);
    cJSON *rows = strcmp(text, "otherwise") ? capture_rows(&L->table, e) : NULL;
    bool ok = !e->code && (!rows || condition_holds(text, rows, &holds, &c->unknown, e));
    cJSON_Delete(rows);
    c->any = true;
    c->hidden = c->held || !holds;
    c->held |= holds;
    return ok;
}

/* ---- questions ---- */

static bool question(struct lesson *L, char *text, struct err *e)
{
    struct question *q = &L->question;
    char label[60];
    bool first = !q->line;
    if (first) q->line = L->session->script_line;
    if (!question_add(q, text + 1, e)) return false;
    question_label(L, label, sizeof label);
    snprintf(L->heading, sizeof L->heading, "%.60s: %.130s", label, q->text);
    snprintf(label + strlen(label), sizeof label - strlen(label), ":");
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

static bool hint(struct lesson *L, char *text, struct err *e)
{
    if (!L->question.line) return fail(e, E_INPUT, "a hint needs a question above it");
    end_line(L);
    return question_hint(&L->question, text + 1, e);
}

static bool explanation(struct lesson *L, char *text, struct err *e)
{
    if (!L->question.line) return fail(e, E_INPUT, "an explanation needs a question above it");
    return settle(L, e) && (L->score.left || prose(L, text + 1, e));
}

/* ---- lines ---- */

/* The part of a lesson that contains a line. A question with its answers forms one part, and so do commands with their
   expected lines. */
enum part { NOTHING = 0, QUESTION = 1, ANSWER = 2, COMMAND = 4, EXPECTED = 8, EXPLANATION = 16, TABLE = 32 };
static const struct mark {
    const char *first; /* the bytes with which a line of this kind can begin */
    bool (*read)(struct lesson *L, char *line, struct err *e);
    enum part part;
    int after;  /* set of parts: after a line of any part in the set, this line continues that part */
    bool flows; /* consecutive lines of this kind are filled as one paragraph */
} marks[] = {
    {"%", comment, NOTHING, 0, false},
    {"#", title, NOTHING, 0, false},
    {"?", question, QUESTION, QUESTION, true},
    {"=", answer, ANSWER, QUESTION | ANSWER, false},
    {"~", hint, ANSWER, QUESTION | ANSWER, false},
    {">", command, COMMAND, QUESTION | ANSWER | COMMAND | EXPECTED, false},
    {"@", expected, EXPECTED, COMMAND | EXPECTED, false},
    {"!", explanation, EXPLANATION, QUESTION | ANSWER | COMMAND | EXPECTED | EXPLANATION | TABLE, true},
    {"|", row, TABLE, QUESTION | ANSWER | TABLE, false},
    {":", condition, NOTHING, 0, false},
    {" \t", as_it_stands, NOTHING, 0, false},
    {"", prose, NOTHING, 0, true},
};

static const struct mark *mark_of(const char *line)
{
    const struct mark *m = marks;
    while (*m->first && !(*line && strchr(m->first, *line))) m++;
    return m;
}

/* Finish the part that the preceding lines form. */
static bool close_part(struct lesson *L, struct err *e)
{
    bool ok = L->ended != REFUSED && settle(L, e); /* a failure that was not expected has already been reported */
    question_free(&L->question);
    capture_free(&L->capture);
    L->asked = false;
    L->ended = RAN;
    *L->pages.heading = 0;
    if (ok && L->quiet.out && L->score.questions >= L->quiet.questions) speak(L);
    return ok;
}

/* Does a condition hide this line? An empty line ends the paragraph; it is not shown if nothing of the paragraph was.
 */
static bool hides(struct lesson *L, const char *line, const struct mark *m)
{
    struct chain *c = &L->chain;
    bool text = m->read == prose || m->read == explanation || m->read == as_it_stands;
    bool hidden = *line && text ? c->hidden : !*line && c->any && !c->held;
    if (!*line || !text) *c = (struct chain){0};
    return hidden;
}

static bool read_line(struct lesson *L, char *line, struct err *e)
{
    const struct mark *m = mark_of(line), *last = L->last ? L->last : marks;
    if (*line != '|' && !end_table(L, e)) return false;
    if (m->read == comment) return true;
    if (m->read == condition) return condition(L, line, e);
    if (hides(L, line, m)) return true;
    L->last = m;
    if (L->ended == REFUSED && strncmp(line, "@!", 2)) return false;
    if (!*line || !m->flows || m != last) end_line(L);
    if (!(m->after & last->part) && !close_part(L, e)) return false;
    if (L->score.left) return true;
    if (!*line) out_text(L->session->out, "%s", "");
    if (!*line && last->read != title) show(L);
    return L->score.left || m->read(L, line, e);
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
    return end_table(L, e) && (s->quit || L->score.left || close_part(L, e));
}

/* The width of prose: the width of the terminal, or, if there is no terminal, the width that the front end states. */
static int width_of(const struct session *s)
{
    int columns = out_columns(s->out), width = columns ? columns : s->front ? s->front->width : WIDTH_DEFAULT;
    return width > WIDTH_MAX ? WIDTH_MAX : width < WIDTH_MIN ? WIDTH_MIN : width;
}

/* Read f as a script of the session, with file names relative to the folder of `path`. */
static bool read_script(struct lesson *L, FILE *f, const char *path, struct err *e)
{
    struct session *s = L->session;
    char folder[4096];
    const char *slash = strrchr(path, '/'), *outer = s->script;
    int64_t outer_line = s->script_line;
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    s->folder = folder;
    s->script = path;
    bool ok = read_all(L, f, e);
    bool lost = L->quiet.out && !L->score.left;
    if (L->quiet.out) speak(L);
    if (ok || L->score.left) show(L);
    if (!ok && lost && !e->code)
        fail(e, E_INPUT, "a command before question %d failed or was cancelled; `restart` begins the lesson again",
             L->quiet.questions + 1);
    score_say(s, &L->score);
    if (ok && !L->score.left && !s->quit) end_sheet(L);
    if (!ok && e->code && !*e->where)
        snprintf(e->where, sizeof e->where, "%.200s:%lld", path, (long long)s->script_line);
    s->folder = NULL;
    s->script = outer;
    s->script_line = outer_line;
    return ok;
}

/* A lesson that is only printed gets a width, too, so that its tables fit on a page. Returns the target before. */
static struct out_target narrow(struct session *s, bool asks)
{
    struct out_target before = out_target(s->out), here = before;
    if (!asks && out_mode(s->out) == OUT_TEXT && !out_columns(s->out)) here.columns = WIDTH_MAX;
    return out_redirect(s->out, here);
}

static void widen(struct session *s, const struct out_target *before)
{
    struct out_target here = out_target(s->out);
    here.columns = before->columns;
    out_redirect(s->out, here);
}

/* An error without a location gets the file and line. */
static bool teach(struct session *s, FILE *f, const char *path, const struct args *a, struct err *e)
{
    struct lesson *L = mem_zero(1, sizeof *L, "a lesson", e);
    if (!L) return false;
    L->session = s;
    L->papers.reps = (int)arg_int(a, "reps", 0);
    L->width = width_of(s);
    bool known = lesson_head(f, &L->head), asks = question_can_ask(s);
    struct out_target before = narrow(s, asks);
    bool ok = !asks || !known || begin_sheet(L, path, arg_flag(a, "restart"), e);
    if (ok && asks) ok = pages_begin(&L->pages, s, e);
    name_of(path, L->footer, sizeof L->footer);
    L->pages.footer = L->footer;
    if (ok && L->quiet.questions) ok = be_quiet(L, e);
    ok = ok && read_script(L, f, path, e);
    stop_listening(L); /* the lesson may have ended in a table */
    pages_end(&L->pages);
    widen(s, &before);
    mem_free(L->sheet);
    papers_free(&L->papers);
    question_free(&L->question);
    capture_free(&L->capture);
    capture_free(&L->table);
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

/* The lessons whose names begin with what was typed. */
struct begun {
    const char *typed;
    int n;
    char name[64];
};

static void keep_begun(void *user, const char *name)
{
    struct begun *b = user;
    if (strncmp(name, b->typed, strlen(b->typed))) return;
    b->n++;
    snprintf(b->name, sizeof b->name, "%s", name);
}

/* Look up a name, or the beginning of exactly one name, in the library. If the word has a slash, or if no lesson has
   this name, the word is the path of a file. */
static bool find_lesson(const char *typed, char *path, size_t size, struct err *e)
{
    struct suggest near = suggest_for(typed);
    if (library_find(LIBRARY_LESSONS, typed, path, size)) return true;
    struct begun begun = {.typed = typed};
    library_list(LIBRARY_LESSONS, keep_begun, &begun);
    if (begun.n == 1 && access(typed, F_OK)) return library_find(LIBRARY_LESSONS, begun.name, path, size);
    if (snprintf(path, size, "%s", typed) >= (int)size)
        return fail(e, E_LIMIT, "the path is too long: at most %zu bytes", size - 1);
    if (!access(path, F_OK) || strpbrk(typed, "/.")) return true; /* opening the file reports any error */
    library_list(LIBRARY_LESSONS, suggest_offer, &near);
    struct message t = {0};
    message_add(&t, "there is no lesson ");
    message_quote(&t, typed);
    message_near(&t, &near);
    return fail(e, E_USAGE, "%s; `lesson` lists the lessons; for any other file, give its path", t.text);
}

static bool run_lesson(struct session *s, const struct args *a, struct err *e)
{
    char path[4096];
    int64_t reps;
    if (s->folder) return fail(e, E_USAGE, "a lesson cannot contain another lesson");
    if (!arg_within(a, "reps", 0, 0, SPMV_REPS_MAX, &reps, e)) return false;
    const char *check = arg(a, "--check") ? arg(a, "--check") : arg(a, "check"), *handin = arg(a, "handin");
    if (check) return handin_check(s, check, e);
    if (arg_flag(a, "course")) return lesson_course(s, e);
    if (arg_flag(a, "review")) return lesson_review(s, arg(a, "lesson"), e);
    if (handin && !arg(a, "lesson")) return fail(e, E_USAGE, "the name of the lesson is missing before `handin`");
    if (!arg(a, "lesson")) return lesson_list(s, e);
    if (!find_lesson(arg(a, "lesson"), path, sizeof path, e)) return false;
    char name[sizeof((struct sheet *)0)->lesson];
    name_of(path, name, sizeof name);
    if (handin) return handin_write(s, name, handin, arg_flag(a, "force"), e);
    FILE *f = fopen(path, "r");
    if (!f) return fail_at(e, E_IO, path, "cannot open: %s", strerror(errno));
    struct lines outer;
    struct kept_options kept;
    options_remember(s, &kept);
    bool ok = lines_begin(s, "a lesson", arg(a, "allow"), &outer, e);
    if (ok) {
        drop_earlier(s);
        ok = paper_tables_begin(s, name, e) && teach(s, f, path, a, e);
        lines_end(s, &outer);
        options_restore(s, &kept);
    }
    fclose(f);
    return ok;
}

const struct command command_lesson = {
    .name = "lesson",
    .grammar = "[LESSON] [course|review|restart] [handin FILE] [check FILE] [--check FILE] [force] [reps N] [allow "
               "PERMISSION]",
    .about = "read a lesson: prose, commands, questions, and tables that compare papers with our own measurements",
    .help =
        "`lesson` alone lists the lessons and your progress in each lesson. `lesson looks` begins a lesson, or\n"
        "continues where you left off; `restart` begins the lesson again. At a terminal, questions are asked:\n"
        "`show` shows the answer, you have a second try after a wrong answer, and Ctrl-C leaves the lesson.\n"
        "`lesson course` shows the order, the minutes that each lesson takes and which lessons come before it;\n"
        "`lesson review` lists what you have not answered right, of all lessons or of the one that is named.\n"
        "Text waits at the end of each page, unless you `set pager off`. In a pipe or script, questions are\n"
        "printed with their answers, and nothing waits.\n"
        "At the end, you can write a hand-in file with your answers and tries; `handin FILE` writes it later.\n"
        "`lesson --check FILE` shows a teacher who answered what and when, and refuses a file that was changed.\n"
        "With a folder, it prints a row for each hand-in file (with --csv for a spreadsheet).\n"
        "The checksum detects damage and changes by hand; it uses no secret key, so a programmer can forge it.\n"
        "A lesson runs its commands and measures the rows of its tables on the device in use. The matrices of a\n"
        "lesson are kept until the next lesson, but what it sets by `set` ends with it. Shell commands (!COMMAND)\n"
        "of a lesson are refused without `allow shell`, and it may write new files in the working folder only,\n"
        "without `allow files` (see `help allow`). A lesson is a text file, found by its name in the folders of the\n"
        "program and in warpspy/lessons of $XDG_DATA_HOME, or by its path; file names in it are relative to its\n"
        "own folder. The first byte of a line gives its kind:\n"
        "    %  a comment, or % needs LESSON  #  a title\n"
        "    >  a command                     |  a row of a table\n"
        "    @  a line that it must print, * matches any text; @! an error that it must report\n"
        "    ?  a question, or with two blanks and a letter a choice: ?  a  the longest row\n"
        "    =  its answer: = 12   = 5.2 +- 10%   = csr | compressed rows   = nnz / rows of stats A\n"
        "       computed from the JSON of a command, or of the command below: = iterations[solver=cg] of it\n"
        "    ~  a hint, shown after a wrong answer\n"
        "    !  text shown after the answer\n"
        "    :  a condition on the table above, for the text below: ratio[matrix=A,of=csr-vector] > 2\n"
        "and all other lines are prose. A missing line, or an answer that is no longer true, is an error.\n"
        "    lesson looks\n"
        "    lesson --check looks-ada.txt; lesson --check handed-in\n"
        "    device cuda:0; lesson drm",
    .rows = (const struct row_kind *const[]){&row_lesson_number, &row_lesson, &row_lesson_handin, &row_lesson_answer,
                                             &row_lesson_pupil, &row_lesson_review, &row_done, NULL},
    .run = run_lesson,
};
