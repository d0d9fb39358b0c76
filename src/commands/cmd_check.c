/* check: the report card of a matrix. */
#include "session/args.h"
#include "base/screen_lock.h"
#include "card/card.h"
#include "session/command.h"
#include "base/err.h"
#include "session/matrix.h"
#include "base/mem.h"
#include "session/session.h"
#include "base/text.h"

#include <string.h>

enum { CARD_SAYS = sizeof(struct card_text) + 20 }; /* "line: text" in JSON */

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

/* The names of the lines in a given state, and their number. */
static int lines_in(const struct card *c, enum card_state state, const char **name)
{
    int n = 0;
    for (int i = 0; i < c->n; i++)
        if (c->row[i].state == state) name[n++] = c->row[i].line->name;
    return n;
}

static bool is_shown(const struct card_row *r, const char *only)
{
    return (r->state == CARD_FOUND && (!r->quiet || only)) || r->state == CARD_FAILED || r->state == CARD_STOPPED;
}

/* One record with all keys; the values of lines that did not run are null. */
static bool out_keys(struct out *o, const struct matrix *m, const struct card *c, const char *only, struct err *e)
{
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
        for (int i = 0; i < c->n; i++) {
            const struct card_row *r = &c->row[i];
            for (int k = 0; r->line->keys[k].name; k++) out_key(o, r, k);
            if (is_shown(r, only)) snprintf(text[n++], sizeof *text, "%s: %s", r->line->name, card_text(r).text);
        }
        for (int i = 0; i < n; i++) name[i] = text[i];
        out_strs(o, "says", n, name);
        out_strs(o, "not_run", lines_in(c, CARD_LEFT, name), name);
        out_strs(o, "failed", lines_in(c, CARD_FAILED, name), name);
    }
    mem_free(text);
    mem_free(name);
    return name != NULL;
}

static void out_left(struct out *o, const struct card *c)
{
    char names[256] = "";
    size_t at = 0;
    for (int i = 0; i < c->n && at < sizeof names; i++)
        if (c->row[i].state == CARD_LEFT)
            at += (size_t)snprintf(names + at, sizeof names - at, " %s", c->row[i].line->name);
    if (at) out_text(o, "not run:%s; `check all` runs %s", names, strchr(names + 1, ' ') ? "them" : "it");
}

static void out_lines(struct out *o, const struct matrix *m, const struct card *c, const char *only)
{
    const struct csr *A = &m->csr;
    out_text(o, "%s: %s x %s, %s, %s; rows counted from 0", m->name, card_count(A->rows).text, card_count(A->cols).text,
             how_many(A->nnz, "nonzero").text, A->imag ? "complex" : "real");
    for (int i = 0; i < c->n; i++) {
        const struct card_row *r = &c->row[i];
        if (is_shown(r, only))
            out_text(o, "%-10s %s", r->line->name, card_text(r).text);
        else if (only && r->state == CARD_UNFIT && !strcmp(only, r->line->name))
            out_text(o, "%-10s %s", only, A->rows && A->cols ? "only for square matrices" : "no rows or no columns");
    }
    if (!only) out_left(o, c);
    if (only || !A->imag) return;
    out_text(o, "Complex: you can reorder, scale, cut, compare and save it, but not multiply.");
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
    bool gave = screen_lock_give();
    bool ok = m && card_make(&c, &m->csr, &m->info, arg_flag(a, "all"), only, &s->watch, e);
    screen_lock_back(gave);
    if (ok && out_mode(s->out) == OUT_TEXT)
        out_lines(s->out, m, &c, only);
    else
        ok = ok && out_keys(s->out, m, &c, only, e);
    if (ok && c.stopped) ok = fail(e, E_CANCELLED, "cancelled; the lines above are complete");
    card_free(&c);
    return ok;
}

const struct command command_check = {
    .name = "check",
    .aliases = "card",
    .grammar = "[MATRIX] [all|lines] [only LINE]",
    .about = "a report card: what a matrix is, and what that means for formats and solvers",
    .help = "Lines that are expensive on a large matrix (rank, parts, strong, weak, fill, definite, condition) run\n"
            "only if it has at most 100,000 nonzeros; `check all` always runs them. Ctrl-C keeps the finished lines.\n"
            "`only` runs one line; `lines` explains each line. Rows and columns are counted from 0; a stored zero is\n"
            "an entry. If a Matrix Market file holds NaN, inf, stored zeros or duplicates, it is read once more, and\n"
            "`file` gives their line numbers, counted from 1. In JSON, every number has a key; its value is null if\n"
            "its line did not run.\n"
            "    check A\n"
            "    check A all\n"
            "    check A only fill\n"
            "    check lines",
    .run = run_check,
    .rows_only_in_json = true,
};
