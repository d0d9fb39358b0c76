/* lesson: a text that is read aloud, its commands run as it goes, its questions asked, its tables of papers answered by
   our numbers. What it says of itself is checked, so that it is a test too.

   The first byte of a line tells what it is:
     %        a comment
     #        a title
     >        a command, which is shown and run
     @        a line that the command above must say, in this order: * is any text, blanks count once
     @!       the command above must be refused, with such an error
     ?        a question; lines of the form "?  a  this" are its choices
     =        its answer, as lesson_answer.c says; more of them are alternatives, and what is computed must agree with
              what is written. With "of it" it is a guess at what the commands say that follow at once. Without an
              answer it is a question to think about
     !        what is said once the question was answered
     |        a row of a paper's table (cmd_paper.c)
     blank    shown as it stands; an empty line parts paragraphs
   All else is prose, filled to the width of the screen. A question reaches as far as its lines follow one another:

     ? How many iterations will cg need?
     = iterations[solver=cg] +- 20% of it
     > race jacobi cg of grid
     @ * jacobi  converged *
     ! About as many as there are points along two sides.

   At a terminal questions are asked; elsewhere the answers are told. A line with @ that nothing is like, and a written
   answer that is no longer true, end the lesson as a failure. */
#include "cmd.h"
#include "lesson.h"

#include <errno.h>
#include <string.h>

enum { WIDTH_MOST = 100, WIDTH_USUAL = 80, WIDTH_LEAST = 20 };

struct lesson {
    struct session *session;
    struct papers papers;
    int width;
    char line[LINE_LIMIT + 2]; /* of prose, so far */
    struct question question;
    struct score score;
    struct heard heard;                           /* the commands that were run, while lines follow that may need it */
    enum { RAN, REFUSED, REFUSED_RIGHTLY } ended; /* how the last of them did; a line with @! makes it right */
    const struct mark *last;                      /* of the line before */
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

static bool settle(struct lesson *L, struct err *e)
{
    struct heard *it = L->heard.text_file ? &L->heard : NULL;
    if (!L->question.line) return true;
    return question_settle(L->session, &L->question, it, &L->score, e);
}

/* A command that fails has said so. What it changes may be what a table has measured; tables end before. */
static bool command(struct lesson *L, char *text, struct err *e)
{
    struct session *s = L->session;
    struct question *q = &L->question;
    if (q->line && !question_needs_it(q) && !settle(L, e)) return false;
    if (q->line && !q->asked) question_ask(s, q, &L->score);
    if (L->score.left) return true;
    out_text(s->out, "%s", text);
    L->ended = hear(s, text + 1, question_needs_it(q), &L->heard, e) ? RAN : REFUSED;
    out_begin(s->out, "lesson");
    return !e->code;
}

/* The text of tables is what is held against it. */
static bool expected(struct lesson *L, char *text, struct err *e)
{
    bool error = text[1] == '!';
    text += 1 + error;
    if (!L->heard.text_file) return fail(e, E_INPUT, "expected a command in the line above");
    if (!text[strspn(text, " \t")]) return fail(e, E_INPUT, "expected a part of what the command says, found nothing");
    if (error && L->ended == RAN) return fail(e, E_INPUT, "expected the command to be refused, found that it is not");
    if (error) L->ended = REFUSED_RIGHTLY;
    bool any = error || out_mode(L->session->out) == OUT_TEXT; /* else it says rows */
    return !any || heard_says(&L->heard, text, e);
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
    if (!L->question.line) return fail(e, E_INPUT, "expected a question before its answer");
    end_line(L);
    return question_answer(&L->question, text + 1, L->session->script_line, e);
}

static bool explanation(struct lesson *L, char *text, struct err *e)
{
    if (!L->question.line) return fail(e, E_INPUT, "expected a question before what is said of its answer");
    return settle(L, e) && (L->score.left || prose(L, text + 1, e));
}

/* ---- lines ---- */

/* Lines that belong to one question, or to the commands above. */
enum part { NOTHING = 0, QUESTION = 1, ANSWER = 2, COMMAND = 4, EXPECTED = 8, EXPLANATION = 16 };
static const struct mark {
    const char *first; /* bytes that such a line may begin with */
    bool (*read)(struct lesson *L, char *line, struct err *e);
    enum part part;
    int after;  /* it goes on with what the line before belongs to, if that was one of these */
    bool flows; /* with a line before of the same kind */
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

/* What the lines above belong to is over. */
static bool close_part(struct lesson *L, struct err *e)
{
    bool ok = L->ended != REFUSED && settle(L, e); /* what was refused has been said */
    question_free(&L->question);
    heard_free(&L->heard);
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

/* Of prose: the terminal's, or what the front says where there is none. */
static int width_of(const struct session *s)
{
    int columns = out_columns(s->out), width = columns ? columns : s->front ? s->front->width : WIDTH_USUAL;
    return width > WIDTH_MOST ? WIDTH_MOST : width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

/* Read f as the session's script, in the folder of `path`; an error without a place is given that of the line. */
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
    heard_free(&L->heard);
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
            "with, until the next lesson. Its questions are asked at the prompt of a terminal, and told with their\n"
            "answers elsewhere: Enter alone shows an answer, Ctrl-C leaves the lesson.\n"
            "A lesson is a text file, which names files from its own folder. The first byte of a line tells what it\n"
            "is:\n"
            "    %  a comment                     #  a title\n"
            "    >  a command                     |  a row of a table\n"
            "    @  a line it has to say, with * for what depends on the machine; @! if it has to be refused\n"
            "    ?  a question, or with two blanks and a letter a choice: ?  a  the longest row\n"
            "    =  its answer: = 12   = 5.2 +- 10%   = csr | compressed rows   = nnz / rows of stats A\n"
            "       computed from the JSON of a command, or of the one below: = iterations[solver=cg] of it\n"
            "    !  what is said once it was answered\n"
            "and all else is prose. What a command does not say, or an answer that is no longer true, is an error.\n"
            "    device cuda:0; lesson samples/lessons/drm.txt",
    .run = run_lesson,
};
