/* check: the report card of a matrix. */
#include "advice/advice.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/text.h"
#include "card/card.h"
#include "language/args.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CARD_SAYS = sizeof(struct card_text) + 20 }; /* "line: text" in JSON */
enum { LATE_WIDTH = 36 };                           /* terminal columns for the names of the lines that did not run */

static void out_key(struct out *o, const struct card_row *r, int k)
{
    const struct card_key *key = &r->line->keys[k];
    if (!r->known[k] || key->type == CARD_TEXT)
        out_str(o, key->name, NULL, r->known[k] ? r->value[k].text : NULL);
    else if (key->type == CARD_INT)
        out_int(o, key->name, NULL, (int64_t)r->value[k].num);
    else if (key->type == CARD_BOOL)
        out_bool(o, key->name, NULL, r->value[k].num != 0);
    else
        out_num(o, key->name, NULL, r->value[k].num, NULL);
}

static bool has_state(const struct card_row *r, unsigned states)
{
    return (states >> r->state & 1) != 0;
}

/* The names of the lines in one of the given states (bits 1 << state), and their number. */
static int lines_in(const struct card *c, unsigned states, const char **name)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (has_state(&c->row[i], states)) name[n++] = c->row[i].line->name;
    return n;
}

static bool has_verdict(const struct csr *A, const char *only)
{
    return !only && A->rows && A->cols;
}

/* The verdict on the card; the format is the one that `advise` predicts to be the fastest, if that is known. */
static void judge(const struct card *c, const struct first_choice *first, struct card_verdict *v)
{
    char us[32];
    card_judge(c, v);
    if (!first->known) return;
    v->format = first->format;
    *v->store = 0;
    text_append(v->store, sizeof v->store, "%s with kernel %s: %s, %s %s", first->stored, first->kernel,
                show_us(first->us, us, sizeof us), first->measured ? "measured on" : "predicted for", first->machine);
}

/* The keys are null if there is no verdict. */
static void out_verdict_keys(struct out *o, const struct card *c, const struct first_choice *first, bool judged)
{
    struct card_verdict v = {0};
    const char *problem[CARD_PROBLEMS];
    int n = 0;
    if (judged) judge(c, first, &v);
    out_str(o, "kind", NULL, judged ? v.kind : NULL);
    out_str(o, "solve_with", NULL, judged ? v.solve : NULL);
    out_str(o, "store_as", NULL, judged ? v.store : NULL);
    out_str(o, "store_format", NULL, judged ? v.format : NULL);
    out_str(o, "store_by", NULL, !judged ? NULL : !first->known ? "rule" : first->measured ? "measured" : "predicted");
    for (; n < v.problems && n < CARD_PROBLEMS; n++) problem[n] = v.problem[n];
    out_strs(o, "problems", n, problem);
}

static bool is_shown(const struct card_row *r, const char *only)
{
    bool says = r->state == CARD_FOUND || r->state == CARD_NO_VALUES;
    return (says && (!r->quiet || only)) || r->state == CARD_FAILED || r->state == CARD_STOPPED;
}

/* One record with all keys; the values of lines that did not run are null. */
static bool out_keys(struct session *s, const struct matrix *m, const struct card *c, const struct first_choice *first,
                     const char *only, struct err *e)
{
    struct out *o = s->out;
    char(*text)[CARD_SAYS] = mem_new(c->n, sizeof *text, "a report card", e);
    const char **name = text ? mem_new(c->n, sizeof *name, "a report card", e) : NULL;
    int n = 0;
    if (name) {
        out_record(o);
        out_str(o, "matrix", NULL, m->name);
        out_int(o, "rows", NULL, m->csr.rows);
        out_int(o, "cols", NULL, m->csr.cols);
        out_int(o, "nnz", NULL, m->csr.nnz);
        out_bool(o, "stopped", NULL, c->stopped);
        out_verdict_keys(o, c, first, has_verdict(&m->csr, only));
        for (int i = 0; i < c->n; i++) {
            const struct card_row *r = &c->row[i];
            for (int k = 0; r->line->keys[k].name; k++) out_key(o, r, k);
            if (is_shown(r, only)) snprintf(text[n++], sizeof *text, "%s: %s", r->line->name, card_text(r).text);
        }
        for (int i = 0; i < n; i++) name[i] = text[i];
        out_strs(o, "says", n, name);
        out_strs(o, "not_run", lines_in(c, 1u << CARD_LEFT | 1u << CARD_LATE, name), name);
        out_strs(o, "failed", lines_in(c, 1u << CARD_FAILED, name), name);
    }
    mem_free(text);
    mem_free(name);
    return name != NULL;
}

/* Write the names of the lines that did not run because of the time limit. If `seconds` is set, also write how many
   seconds each line needs, where that was estimated. Returns the length of the text. */
static size_t late_lines(const struct card *c, bool seconds, char *text, size_t size)
{
    size_t at = 0;
    for (int i = 0; i < c->n && at < size; i++) {
        const struct card_row *r = &c->row[i];
        if (r->state != CARD_LATE) continue;
        at += (size_t)snprintf(text + at, size - at, "%s%s", at ? ", " : "", r->line->name);
        if (seconds && r->needs_us > 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, " (%.1g s)", r->needs_us / 1e6);
    }
    return at;
}

static void out_late(struct out *o, const struct card *c)
{
    char names[256] = "";
    size_t n = late_lines(c, true, names, sizeof names);
    if (n > LATE_WIDTH) n = late_lines(c, false, names, sizeof names);
    if (n) out_text(o, "%-10s %s; `check all`", "too slow", names);
}

static void out_verdict(struct out *o, const struct card *c, const struct first_choice *first)
{
    struct card_verdict v;
    judge(c, first, &v);
    out_text(o, "%-10s %s", "kind", v.kind);
    out_text(o, "%-10s %s", "solvers", v.solve);
    out_text(o, "%-10s %s", "store as", v.store);
    for (int i = 0; i < v.problems && i < CARD_PROBLEMS; i++)
        out_text(o, "%-10s %s", i ? "" : "problems", v.problem[i]);
    if (!v.problems) out_text(o, "%-10s %s", "problems", "none found");
}

static void out_lines(struct session *s, const struct matrix *m, const struct card *c, const struct first_choice *first,
                      const char *only)
{
    struct out *o = s->out;
    const struct csr *A = &m->csr;
    out_text(o, "%s: %s x %s, %s, %s; rows counted from 0", m->name, card_count(A->rows).text, card_count(A->cols).text,
             how_many(A->nnz, "nonzero").text,
             A->imag      ? "complex"
             : c->pattern ? "no values"
                          : "real");
    if (has_verdict(A, only)) out_verdict(o, c, first);
    for (int i = 0; i < c->n; i++) {
        const struct card_row *r = &c->row[i];
        if (is_shown(r, only))
            out_text(o, "%-10s %s", r->line->name, card_text(r).text);
        else if (only && r->state == CARD_UNFIT && !strcmp(only, r->line->name))
            out_text(o, "%-10s %s", only, A->rows && A->cols ? "only for square matrices" : "no rows or no columns");
    }
    out_late(o, c);
}

static void out_about(struct out *o)
{
    for (int i = 0; card_lines[i]; i++) {
        out_row(o);
        out_str(o, "name", "line", card_lines[i]->name);
        out_bool(o, "costly", "costly", card_lines[i]->costly);
        out_bool(o, "square", NULL, card_lines[i]->square);
        out_str(o, "about", "about", card_lines[i]->about);
    }
}

static bool run_check(struct session *s, const struct args *a, struct err *e)
{
    if (arg_flag(a, "lines")) {
        out_about(s->out);
        return true;
    }
    struct matrix *m = session_matrix(s, arg(a, "matrix"), e);
    const char *only = arg(a, "only");
    struct card c = {0};
    struct first_choice first = {0};
    bool gave = screen_lock_give(), all = arg_flag(a, "all");
    bool ok = m && card_make(&c, &m->csr, &m->info, &m->facts, all, only, &s->watch, e);
    screen_lock_back(gave);
    bool stopped = c.stopped;
    if (ok && !stopped && has_verdict(&m->csr, only))
        stopped = !first_choice_of(s, m, all ? INFINITY : card_limit_us, &first, NULL);
    if (ok && out_mode(s->out) == OUT_TEXT)
        out_lines(s, m, &c, &first, only);
    else
        ok = ok && out_keys(s, m, &c, &first, only, e);
    if (ok && stopped) ok = fail(e, E_CANCELLED, "cancelled; the lines above are complete");
    card_free(&c);
    return ok;
}

const struct command command_check = {
    .name = "check",
    .aliases = "card",
    .grammar = "[MATRIX] [all|lines] [only LINE]",
    .about = "a report card: what a matrix is, and what that means for formats and solvers",
    .help =
        "The card begins with a verdict: the kind of matrix, a solver, a format and the problems that were found.\n"
        "The format is the one that `advise` predicts to be the fastest. If predicting takes more than 2 seconds,\n"
        "a rule of thumb names the format, and says so.\n"
        "On a matrix of more than 100,000 nonzeros, the expensive lines (rank, parts, strong, weak, fill,\n"
        "definite, condition) together get 2 seconds of processor time; the card names the lines that need more,\n"
        "and `check all` runs them without a limit. Ctrl-C keeps the finished lines. `only` runs one line; `lines`\n"
        "explains each line. Rows and columns are counted from 0; a stored zero is an entry. If a Matrix Market\n"
        "file holds NaN, inf, stored zeros or duplicates, it is read once more, and `file` gives their line\n"
        "numbers, counted from 1. The values of a pattern file are ones that nobody gave: lines that judge values\n"
        "do not run, unless it was loaded with `ones`. In JSON, every number has a key; its value is null if its\n"
        "line did not run.\n"
        "    check A\n"
        "    check A all\n"
        "    check A only fill\n"
        "    check lines",
    .run = run_check,
    .rows_only_in_json = true,
};
