/* The tables of papers in a lesson: each row states a number from a paper, and our own number is measured and printed
   beside it. */
#include "paper.h"
#include "base/err.h"
#include "paper_tables.h"
#include "paper_value.h"
#include "report/fields.h"
#include "report/output.h"
#include "session/matrix.h"
#include "session/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 4 };

/* Split "| a | b |" into its cells, without blanks around them. */
static bool split(char *line, char *cell[CELLS], struct err *e)
{
    int n = 0;
    char *at = line + 1;
    for (char *bar; (bar = strchr(at, '|')); at = bar + 1) {
        char *end = bar;
        at += strspn(at, " \t");
        while (end > at && (end[-1] == ' ' || end[-1] == '\t')) end--;
        *end = 0;
        if (n < CELLS) cell[n] = at;
        n++;
    }
    if (n == CELLS && !at[strspn(at, " \t\r")]) return true;
    return fail(e, E_INPUT, "the row has %d cells: write %d cells between bars, as in | matrix | of | what | GPU |", n,
                CELLS);
}

static bool head(struct papers *p, char *cell[CELLS], struct session *s, struct err *e)
{
    static const char *const names[] = {"matrix", "of", "what"};
    for (int i = 0; i < COUNT(names); i++)
        if (strcmp(cell[i], names[i]))
            return fail(e, E_INPUT,
                        "the first row of the table has `%s` instead of `%s`: begin with | matrix | of | what | GPU |",
                        cell[i], names[i]);
    p->dev = session_device(s, NULL, e);
    snprintf(p->gpu, sizeof p->gpu, "%s", cell[3]);
    p->open = true;
    return p->dev && paper_tables_open(s, p->title, p->gpu, e);
}

/* Read the quantity in the third cell; "us f32" means single precision. */
static const struct quantity *read_quantity(struct papers *p, char *what, struct err *e)
{
    size_t n = strlen(what);
    bool single = n > 4 && !strcmp(what + n - 4, " f32");
    p->real = single ? P_F32 : P_F64;
    if (single) what[n - 4] = 0;
    const struct quantity *q = quantity_find(what, e);
    if (single) what[n - 4] = ' ';
    return q;
}

static bool number(const char *text, double *value, struct err *e)
{
    char *end;
    *value = !strcmp(text, "-") ? NAN : strtod(text, &end);
    if (isnan(*value) || (end != text && !*end)) return true;
    return fail(e, E_INPUT, "`%s` is not a number: give the number from the paper, or - if the paper has no number",
                text);
}

static void out_spread(struct out *o, const struct paper_value *v)
{
    char text[24] = "-";
    bool known = isfinite(v->spread) && isfinite(v->value);
    bool measured = strstr(v->how, "measured") != NULL;
    if (known) snprintf(text, sizeof text, measured ? "%.2g%%" : "exact", 100 * v->spread);
    out_num(o, "spread", NULL, known ? v->spread : NAN, NULL);
    out_str(o, NULL, "+-", text);
}

/* "measured cpu", "predicted", "counted" */
static void out_how(struct out *o, const struct paper_value *v)
{
    char text[sizeof v->how + sizeof v->device];
    bool any = isfinite(v->value);
    bool measured = !strcmp(v->how, "measured");
    snprintf(text, sizeof text, "%s%s%s", v->how, measured ? " " : "", measured ? v->device : "");
    out_str(o, "how", NULL, any ? v->how : NULL);
    out_str(o, NULL, "how", any ? text : NULL);
    out_str(o, "device", NULL, any && *v->device ? v->device : NULL);
    out_str(o, "kernel", NULL, any && *v->kernel ? v->kernel : NULL);
}

/* The number of the paper, with as many decimals as in the lesson. */
static void out_paper(struct out *o, const struct papers *p, const char *text, double paper)
{
    char fmt[32] = "%.10g";
    const char *point = strchr(text, '.');
    if (point && strspn(point + 1, "0123456789") == strlen(point + 1))
        snprintf(fmt, sizeof fmt, "%%.%zuf", strlen(point + 1));
    out_num(o, "paper", NULL, paper, NULL);
    out_num(o, NULL, strcmp(p->gpu, "-") ? p->gpu : NULL, paper, fmt); /* "-": the table has no column for a paper */
    out_str(o, "paper_device", NULL, p->gpu);
}

static void out_answer(struct out *o, const struct papers *p, char *cell[CELLS], const struct quantity *q, double paper,
                       const struct paper_value *v, const char *reason)
{
    bool divided = strstr(cell[1], " / ") != NULL;
    const char *ratio = strcmp(p->gpu, "by hand") ? "ours/paper" : "ours/by hand";
    out_row(o);
    out_str(o, "matrix", "matrix", cell[0]);
    out_str(o, "of", "of", cell[1]);
    out_str(o, "what", "what", cell[2]);
    out_paper(o, p, cell[3], paper);
    out_rank(o, COLUMN_ANSWER);
    out_num(o, "ours", "ours", v->value, divided ? "%.2f" : quantity_format(q));
    out_rank(o, COLUMN_NORMAL);
    out_spread(o, v);
    out_how(o, v);
    out_rank(o, COLUMN_DETAIL);
    out_num(o, "ratio", isnan(paper) ? NULL : ratio, v->value / paper, "%.3g");
    out_str(o, "reason", NULL, reason);
}

/* Keep the row for the view `tables`. */
static bool keep_row(struct session *s, char *cell[CELLS], double paper, const struct paper_value *v, struct err *e)
{
    struct paper_row row = {.paper = paper, .ours = v->value};
    snprintf(row.matrix, sizeof row.matrix, "%s", cell[0]);
    snprintf(row.of, sizeof row.of, "%s", cell[1]);
    snprintf(row.what, sizeof row.what, "%s", cell[2]);
    if (isfinite(v->value)) snprintf(row.how, sizeof row.how, "%s", v->how);
    if (isfinite(v->value)) snprintf(row.device, sizeof row.device, "%s", v->device);
    for (const struct matrix *m = s->matrices; m; m = m->next)
        if (!strcmp(m->name, row.matrix)) row.rows = m->csr.rows;
    return paper_tables_add(s, &row, e);
}

static void keep_reason(struct papers *p, const char *text)
{
    for (int i = 0; i < p->nreasons; i++)
        if (!strcmp(p->reason[i], text)) return;
    if (p->nreasons < REASONS_MAX) snprintf(p->reason[p->nreasons++], sizeof p->reason[0], "%s", text);
}

bool paper_line(struct session *s, struct papers *p, char *line, struct err *e)
{
    char *cell[CELLS];
    double paper;
    struct paper_value ours;
    struct err why = {0};
    if (!split(line, cell, e)) return false;
    if (!p->open) return head(p, cell, s, e);
    const struct quantity *q = read_quantity(p, cell[2], e);
    if (!q || !number(cell[3], &paper, e)) return false;
    bool ok = paper_find(s, p, cell[0], cell[1], q, &ours, &why);
    if (!ok && why.code != E_LIMIT && why.code != E_UNSUPPORTED && why.code != E_MEMORY)
        return fail_at(e, why.code, why.where, "%s", why.text);
    if (!ok) ours.value = NAN;
    if (!ok) keep_reason(p, why.text);
    p->spreads |= ok && strstr(ours.how, "measured");
    out_answer(s->out, p, cell, q, paper, &ours, ok ? NULL : why.text);
    out_str(s->out, "file", NULL, s->script);
    out_int(s->out, "line", NULL, s->script_line);
    return keep_row(s, cell, paper, &ours, e);
}

static void explain_spread(struct out *o, struct papers *p)
{
    if (!p->spreads || p->explained) return;
    out_text(o, "+- is half the interquartile range of several times, as a share of their median; -: not known.");
    p->explained = true;
}

static void remarks(struct session *s, struct papers *p)
{
    paper_sources(s, p);
    explain_spread(s->out, p);
    for (int i = 0; i < p->nreasons; i++) out_text(s->out, "Without a number (-): %s", p->reason[i]);
}

void papers_free(struct papers *p)
{
    paper_forget(p);
    struct papers fresh = {.reps = p->reps, .explained = p->explained};
    memcpy(fresh.title, p->title, sizeof fresh.title);
    *p = fresh;
}

bool paper_end(struct session *s, struct papers *p, struct err *e)
{
    if (!p->open) return true;
    remarks(s, p);
    bool ok = out_end(s->out, e); /* end the table before p->gpu changes, because this is the heading of a column */
    p->open = p->spreads = false;
    p->nreasons = 0;
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field lesson_number_fields[] = {
    {"matrix", F_TEXT, "a matrix of the lesson, or the mean, highest or lowest value over all its matrices"},
    {"of", F_TEXT, "a format, kernel, solver or method, or a ratio of two of these"},
    {"what", F_TEXT, "quantity, with its unit"},
    {"paper", F_NUMBER | OR_NULL, "the number in the paper; null: the paper states none"},
    {"paper_device", F_TEXT, "device of the paper"},
    {"ours", F_NUMBER | OR_NULL, "the number measured now; null: none"},
    {"spread", F_AMOUNT | OR_NULL, "half the interquartile range, as a share of `ours`; 0: exact; null: not known"},
    {"how", F_TEXT | OR_NULL, "counted, measured, predicted, or two of these joined by /; null: there is no number"},
    {"device", F_TEXT | OR_NULL, "device of the measurement, or the GPU of the prediction; null: no device is needed"},
    {"kernel", F_TEXT | OR_NULL, "the kernel or the two kernels that were timed; null: none"},
    {"ratio", F_NUMBER | OR_NULL, "ours / paper; null: one of the two is missing"},
    {"reason", F_TEXT | OR_NULL, "why there is no number of ours; null: there is a number"},
    {"file", F_TEXT, "file of the lesson"},
    {"line", F_COUNT, "line of the file, from 1"},
    {0},
};
const struct row_kind row_lesson_number = {"number", "a row of a paper's table, with our own number",
                                           lesson_number_fields};
