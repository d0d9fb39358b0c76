/* sweep: runs a command with several values of a word, and prints its numbers as a table. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "language/args.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/front.h"
#include "session/session.h"
#include "sweep.h"

#include <math.h>
#include <string.h>

/* ---- the table ---- */

static void out_cell(struct out *o, const struct sweep_measure *m, double x)
{
    char name[80];
    bool named = m->how == SWEEP_PREDICTED && !strstr(m->name, "predicted");
    const char *key = out_mode(o) == OUT_CSV ? m->key : NULL; /* JSON has the list `numbers` */
    bool plain = *m->unit && strcmp(m->unit, m->name) != 0 && strcmp(m->unit, "us") != 0 && strcmp(m->unit, "B") != 0;
    snprintf(name, sizeof name, "%s%s%s%s", named ? "predicted " : "", m->name, plain ? " " : "", plain ? m->unit : "");
    bool whole = x == floor(x) && fabs(x) < 1e15;
    if (!strcmp(m->unit, "us"))
        out_time(o, key, name, x);
    else if (!strcmp(m->unit, "B") && whole)
        out_bytes(o, key, name, (int64_t)x);
    else if (whole && !*m->unit)
        out_int(o, key, name, (int64_t)x);
    else
        out_num(o, key, name, x, "%.4g");
}

static void out_number(struct out *o, const struct sweep_measure *m, double x)
{
    out_str(o, "key", NULL, m->key);
    out_str(o, "unit", NULL, *m->unit ? m->unit : NULL);
    out_num(o, "number", NULL, x, NULL);
    out_str(o, "how", NULL, sweep_how_names[m->how]);
    out_str(o, "on", NULL, *m->on ? m->on : NULL);
}

static void out_value_row(struct out *o, const struct sweep *v, int i, int k)
{
    const struct sweep_value *x = &v->value[i];
    out_row(o);
    out_str(o, "parameter", NULL, v->parameter);
    out_rank(o, COLUMN_ANSWER);
    out_str(o, "value", v->parameter, x->text);
    out_num(o, "at", NULL, x->number, NULL);
    out_str(o, "series", *v->label ? v->label : NULL, *v->label && k >= 0 ? v->series[k] : NULL);
    for (int m = 0; m < v->nmeasures; m++) out_cell(o, &v->measure[m], k < 0 ? NAN : *sweep_cell(v, i, k, m));
    out_list(o, "numbers");
    for (int m = 0; k >= 0 && m < v->nmeasures && out_within(o, "numbers"); m++)
        out_number(o, &v->measure[m], *sweep_cell(v, i, k, m));
    out_without(o);
    out_str(o, "matrix", NULL, *v->matrix ? v->matrix : NULL);
    out_str(o, "of", NULL, v->line);
    out_str(o, "reason", NULL, *x->why ? x->why : NULL);
}

static bool has_series(const struct sweep *v, int i, int k)
{
    bool any = false;
    for (int m = 0; m < v->nmeasures; m++) any |= !isnan(*sweep_cell(v, i, k, m));
    return any;
}

/* "predicted for an NVIDIA H200", "measured on cpu" */
static void say_sources(struct out *o, const struct sweep *v)
{
    for (int m = 0; m < v->nmeasures; m++) {
        const struct sweep_measure *x = &v->measure[m];
        bool said = false;
        for (int k = 0; k < m; k++) said |= v->measure[k].how == x->how && !strcmp(v->measure[k].on, x->on);
        if (said || x->how == SWEEP_COMPUTED) continue;
        out_text(o, "Times are %s (%s).", sweep_how_names[x->how], x->on);
    }
}

void out_sweep(struct session *s, const struct sweep *v)
{
    struct out *o = s->out;
    out_text(o, "%s%s%s, with %s of %s", *v->matrix ? v->matrix : "", *v->matrix ? ": " : "", v->line,
             how_many(v->n, "value").text, v->parameter);
    for (int i = 0; i < v->n; i++) {
        bool any = false;
        for (int k = 0; k < v->nseries; k++)
            if (has_series(v, i, k)) out_value_row(o, v, i, k), any = true;
        if (!any) out_value_row(o, v, i, -1);
    }
    for (int i = 0; i < v->n; i++)
        if (*v->value[i].why) out_text(o, "%s = %s: %s", v->parameter, v->value[i].text, v->value[i].why);
    say_sources(o, v);
}

/* ---- the command ---- */

static struct sweep *read_sweep(const struct args *a, struct err *e)
{
    const char *line = arg(a, "run");
    struct sweep *v = mem_zero(1, sizeof *v, "the sweep", e);
    if (v) v->value = mem_new(SWEEP_VALUES, sizeof *v->value, "the sweep", e);
    bool ok = v && v->value;
    if (ok && strlen(line) >= sizeof v->line)
        ok = fail(e, E_LIMIT, "the command is too long: at most %zu bytes", sizeof v->line - 1);
    if (ok && strlen(arg(a, "word")) >= sizeof v->parameter)
        ok = fail(e, E_LIMIT, "the parameter is too long: at most %zu bytes", sizeof v->parameter - 1);
    ok = ok && sweep_read_values(v, arg(a, "span"), arg_real(a, "step", NAN), arg_real(a, "times", NAN), e);
    if (!ok) return sweep_free(v), NULL;
    snprintf(v->line, sizeof v->line, "%s", line);
    snprintf(v->parameter, sizeof v->parameter, "%s", arg(a, "word"));
    return v;
}

static bool run_sweep(struct session *s, const struct args *a, struct err *e)
{
    struct sweep *v = read_sweep(a, e);
    const struct sweep *before = s->sweep;
    if (!v) return false;
    bool view = arg_flag(a, "view"), ok = sweep_begin(s, v, arg(a, "show"), e);
    if (!ok && s->sweep == before) return false;
    out_begin(s->out, "sweep");
    if (!ok) {
        out_sweep(s, v);
        struct err why = *e;
        err_clear(e);
        return fail(e, why.code, "cancelled after %d of %s; `view sweep` shows them", v->n,
                    how_many(v->planned, "value").text);
    }
    if (view && s->front && s->front->show && s->interactive && !s->folder) return s->front->show(s, "sweep", true, e);
    out_sweep(s, v);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field number_fields[] = {
    {"key", F_TEXT, "key of the number in the rows of the command"},
    {"unit", F_TEXT | OR_NULL, "unit; null: none"},
    {"number", F_NUMBER | OR_INF | OR_NULL, "the number; null: the command prints none"},
    {"how", F_TEXT, "how the number was found", .names = sweep_how_names, .name_count = 3},
    {"on", F_TEXT | OR_NULL, "the device that measured it, or the GPU of the prediction; null: computed"},
    {0},
};
static const struct field sweep_fields[] = {
    {"parameter", F_TEXT, "the word that the values replace"},
    {"value", F_TEXT, "the value, as typed"},
    {"at", F_NUMBER | OR_NULL, "the value as a number; null: it is a word"},
    {"series", F_TEXT | OR_NULL, "the kernel, method, ... of the numbers; null: the command prints one row"},
    {"numbers", F_LIST, "the numbers of the command", .item = F_OBJECT, .of = number_fields},
    {"matrix", F_TEXT | OR_NULL, "the matrix of the first value; null: none"},
    {"of", F_TEXT, "the command"},
    {"reason", F_TEXT | OR_NULL, "why the command failed with this value; null: it did not"},
    {0},
};
const struct row_kind row_sweep = {"sweep", "a value of a sweep", sweep_fields};

const struct command command_sweep = {
    .name = "sweep",
    .grammar = "WORD [in] SPAN [step R] [times R] [show WORD] [view] of COMMAND_LINE",
    .about = "run a command with several values of a word, and print its numbers as a table",
    .help =
        "The values are a range, FROM..TO, by steps of 1 unless `step` or `times` says otherwise, or a list of\n"
        "numbers or words. Each value takes the place of the word wherever it stands in the command. If the word\n"
        "is a keyword or parameter of the command, or does not stand there, the value follows it: `sweep nrows\n"
        "32..512 times 2 of convert drm` runs `convert drm nrows 32` and so on. In quotes, several commands run in\n"
        "turn, and the last one gives the numbers.\n"
        "A column is a number of the command's JSON: by default its times, bytes, padding and the like. `show`\n"
        "names other keys of `help COMMAND keys`. A command with several rows, such as `bench`, makes a curve for\n"
        "each. The notes say which times are predicted.\n"
        "Afterwards the session is as before: matrices and formats that the command made are dropped. Commands\n"
        "that change the user's matrices, options or files are refused. A value with which the command fails has\n"
        "no numbers. Ctrl-C keeps the values so far. `view sweep` draws the curves, and `export sweep FILE` writes\n"
        "them as a picture, text or numbers.\n"
        "    sweep nrows 32..1024 times 2 of predict drm\n"
        "    sweep b in 8,16,32 of lu lu-paper\n"
        "    sweep n 32..256 times 2 of 'gen poisson2d n n; predict csr-vector'\n"
        "    sweep K in csr-vector,sell,drm show predicted_us of predict K",
    .rows = (const struct row_kind *const[]){&row_sweep, NULL},
    .run = run_sweep,
    .large = true,
};
