/* Runs a sweep: the line with each value, and the numbers of the rows that it prints. */
#include "sweep.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/memfile.h"
#include "base/screen_lock.h"
#include "base/suggest.h"
#include "base/text.h"
#include "base/words.h"
#include "language/args.h"
#include "language/grammar.h"
#include "language/option_words.h"
#include "language/quiet_line.h"
#include "language/run_lines.h"
#include "session/aside.h"
#include "session/command.h"
#include "session/front.h"
#include "session/holding.h"
#include "session/matrix.h"
#include "session/session.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

const char *const sweep_how_names[] = {"computed", "measured", "predicted"};

double *sweep_cell(const struct sweep *v, int i, int k, int measure)
{
    return &v->cell[((int64_t)i * SWEEP_SERIES + k) * SWEEP_MEASURES + measure];
}

/* ---- the line ---- */

static bool refuse(const struct words *w, struct err *e)
{
    char safe[80];
    fail(e, E_USAGE, "a sweep cannot run `%s`", print_safe(w->w[0].text, strlen(w->w[0].text), 30, safe, sizeof safe));
    err_advise(e, "it runs commands that leave the session as it is, such as gen, convert, predict, spmv or lu");
    return false;
}

/* May the sweep run all commands of the line? */
static bool check_line(const char *line, struct err *e)
{
    struct words w;
    int n = 0;
    while (*line) {
        line += strspn(line, " \t");
        if (*line == '!') return fail(e, E_USAGE, "a sweep cannot run a shell command");
        if (!command_split(&w, &line, e)) return false;
        const struct command *c = w.n ? command_typed(w.w[0].text) : NULL;
        if (w.n && !(c && c->sweeps)) return refuse(&w, e);
        for (int i = 0; i < w.n; i++)
            if (w.w[i].arrow || w.pipe)
                return fail(e, E_USAGE, "the commands of a sweep cannot be redirected; redirect the sweep");
        n += w.n > 0;
    }
    return n > 0 || fail(e, E_USAGE, "the command after `of` is empty");
}

/* Does the line, one command, match the grammar of its command? */
static bool fits(struct session *s, const char *line)
{
    struct words w;
    struct args a;
    if (!command_split(&w, &line, NULL) || !w.n || w.more) return false;
    const struct command *c = command_typed(w.w[0].text);
    return c && args_match(&a, s, c, &w, NULL);
}

/* Is the parameter a keyword of the command, such as `b` of lu? */
static bool is_keyword(const struct sweep *v)
{
    char name[32];
    size_t n;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(v->line, " \t;"), v->line);
    const struct command *c = command_typed(name);
    return c && option_word_in(c, v->parameter, &n);
}

static enum sweep_place place_of(struct session *s, const struct sweep *v)
{
    char bare[SWEEP_LINE], after[SWEEP_LINE];
    const char *value = v->value[0].text;
    if (!sweep_put(v, PLACE_WORD, value, bare, NULL) || !strcmp(bare, v->line)) return PLACE_END;
    if (!sweep_put(v, PLACE_KEYWORD, value, after, NULL) || !fits(s, after)) return PLACE_WORD;
    return is_keyword(v) || !fits(s, bare) ? PLACE_KEYWORD : PLACE_WORD;
}

/* ---- rows ---- */

/* The rows of the last command, an array that the caller releases. */
static cJSON *last_rows(const char *text, struct err *e)
{
    cJSON *all = cJSON_CreateArray();
    char last[64] = "";
    for (const char *end; all && (end = strchr(text, '\n')); text = end + 1) {
        cJSON *row = cJSON_ParseWithLength(text, (size_t)(end - text));
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(row, "command"));
        if (name && strcmp(name, last) != 0) {
            snprintf(last, sizeof last, "%s", name);
            while (cJSON_GetArraySize(all)) cJSON_DeleteItemFromArray(all, 0);
        }
        if (row && cJSON_AddItemToArray(all, row)) continue;
        cJSON_Delete(row);
        cJSON_Delete(all);
        all = NULL;
    }
    if (!all) fail(e, E_MEMORY, "out of memory for the rows of a command");
    return all;
}

static const char *text_of(const cJSON *row, const char *key)
{
    return cJSON_GetStringValue(cJSON_GetObjectItem(row, key));
}

/* NaN: the row does not have the number. */
static double number_of(const cJSON *row, const char *key)
{
    const cJSON *x = cJSON_GetObjectItem(row, key);
    if (cJSON_IsNumber(x)) return x->valuedouble;
    const char *word = cJSON_GetStringValue(x);
    return !word ? NAN : !strcmp(word, "inf") ? INFINITY : !strcmp(word, "-inf") ? -INFINITY : NAN;
}

/* ---- measures ---- */

/* The main numbers of the commands, in the order of the columns. */
static const char *const main_keys[] = {
    "predicted_us", "time_us",      "chain_us",       "spmv_us", "spmv_gain",       "cg_gain",       "iterations",
    "speedup",      "stored_bytes", "bytes",          "padding", "padding_percent", "gflops",        "backward_error",
    "variance",     "sectors",      "useful_percent", "added",   "prep_us",         "residual_true", "time_ms",
    "rows",         "nnz",          "halo_most",
};
enum { MAIN_MAX = 5 };

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static const struct ending {
    const char *end, *unit;
    bool timed; /* a time, or what is computed from times */
    bool cut;   /* the name is the key without the ending */
} endings[] = {{"_us", "us", true, true},         {"_ms", "ms", true, true},      {"gflops", "GFLOP/s", true, false},
               {"_gain", "x", true, false},       {"gbs", "GB/s", true, false},   {"speedup", "x", true, false},
               {"bytes", "B", false, false},      {"_percent", "%", false, true}, {"times", "x", true, false},
               {"_per_second", "1/s", true, true}};

static const struct ending *ending_of(const char *key)
{
    static const struct ending none = {"", "", false, false};
    for (int i = 0; i < COUNT(endings); i++)
        if (ends_in(key, endings[i].end) || !strcmp(key, endings[i].end)) return &endings[i];
    return &none;
}

static enum sweep_how how_of(const cJSON *row, const char *key)
{
    if (!ending_of(key)->timed) return SWEEP_COMPUTED;
    return text_of(row, "machine") && strncmp(key, "measured", strlen("measured")) != 0 ? SWEEP_PREDICTED
                                                                                        : SWEEP_MEASURED;
}

static void add_measure(struct sweep *v, const cJSON *row, const char *key)
{
    struct sweep_measure *m = &v->measure[v->nmeasures++];
    const struct ending *end = ending_of(key);
    const char *on = text_of(row, "machine") ? text_of(row, "machine") : text_of(row, "device");
    *m = (struct sweep_measure){.unit = end->unit, .how = how_of(row, key)};
    snprintf(m->key, sizeof m->key, "%s", key);
    snprintf(m->name, sizeof m->name, "%.*s", (int)(strlen(key) - (end->cut ? strlen(end->end) : 0)), key);
    for (char *p = m->name; *p; p++)
        if (*p == '_') *p = ' ';
    if (end->timed && !strcmp(key, end->end) && strcmp(end->unit, "x") != 0)
        snprintf(m->name, sizeof m->name, "%s", end->unit); /* gflops */
    if (m->how != SWEEP_COMPUTED) snprintf(m->on, sizeof m->on, "%s", on ? on : "the host");
}

/* The first row that has the number; NULL: none. */
static const cJSON *row_with(const cJSON *rows, const char *key)
{
    const cJSON *row;
    cJSON_ArrayForEach(row, rows) if (!isnan(number_of(row, key))) return row;
    return NULL;
}

/* convert has a row for each array: of the bytes, only their sum is shown. The size of a matrix is shown only if the
   command made it. */
static bool is_left_out(const cJSON *rows, const char *key)
{
    if (!strcmp(key, "bytes")) return row_with(rows, "stored_bytes");
    bool size = !strcmp(key, "rows") || !strcmp(key, "nnz");
    return size && !text_of(cJSON_GetArrayItem(rows, 0), "generator");
}

static void choose_main(struct sweep *v, const cJSON *rows)
{
    for (int i = 0; i < COUNT(main_keys) && v->nmeasures < MAIN_MAX; i++)
        if (row_with(rows, main_keys[i]) && !is_left_out(rows, main_keys[i]))
            add_measure(v, row_with(rows, main_keys[i]), main_keys[i]);
}

static bool no_number(const cJSON *rows, const char *key, struct err *e)
{
    struct message t = {.most = 12};
    char safe[80];
    const cJSON *x;
    cJSON_ArrayForEach(x, cJSON_GetArrayItem(rows, 0)) if (cJSON_IsNumber(x)) t.of++;
    cJSON_ArrayForEach(x, cJSON_GetArrayItem(rows, 0)) if (cJSON_IsNumber(x)) message_choice(&t, x->string);
    return fail(e, E_USAGE, "the command prints no number `%s`; its numbers are %s",
                print_safe(key, strlen(key), 40, safe, sizeof safe), t.text);
}

static bool choose_shown(struct sweep *v, const cJSON *rows, const char *show, struct err *e)
{
    char key[40];
    for (const char *at = show; *at; at += strspn(at, ",")) {
        size_t n = strcspn(at, ",");
        snprintf(key, sizeof key, "%.*s", (int)n, at);
        if (!row_with(rows, key)) return no_number(rows, key, e);
        if (v->nmeasures == SWEEP_MEASURES)
            return fail(e, E_LIMIT, "a sweep shows at most %d numbers", +SWEEP_MEASURES);
        add_measure(v, row_with(rows, key), key);
        at += n;
    }
    return true;
}

/* ---- series ---- */

/* The first key by which the rows differ that can name a series. */
static void choose_label(struct sweep *v, const cJSON *rows)
{
    static const char *const keys[] = {"kernel", "method", "solver", "format", "device", "name"};
    for (int i = 0; i < COUNT(keys) && !*v->label; i++) {
        const char *first = text_of(cJSON_GetArrayItem(rows, 0), keys[i]);
        const cJSON *row;
        cJSON_ArrayForEach(row, rows)
        {
            const char *name = text_of(row, keys[i]);
            if (first && name && strcmp(first, name) != 0) snprintf(v->label, sizeof v->label, "%s", keys[i]);
        }
    }
}

/* -1: there are too many series, or the row has no name. */
static int series_of(struct sweep *v, const cJSON *row)
{
    const char *name = *v->label ? text_of(row, v->label) : "";
    if (!name) return -1;
    for (int k = 0; k < v->nseries; k++)
        if (!strncmp(v->series[k], name, sizeof v->series[k] - 1)) return k;
    if (v->nseries == SWEEP_SERIES) return -1;
    snprintf(v->series[v->nseries], sizeof v->series[0], "%s", name);
    return v->nseries++;
}

/* Of several rows of a series, the first counts. */
static void take_row(struct sweep *v, int i, const cJSON *row)
{
    int k = series_of(v, row);
    for (int m = 0; k >= 0 && m < v->nmeasures; m++) {
        double *cell = sweep_cell(v, i, k, m);
        if (isnan(*cell)) *cell = number_of(row, v->measure[m].key);
    }
}

static bool take_rows(struct sweep *v, int i, const char *text, const char *show, struct err *e)
{
    cJSON *rows = last_rows(text, e), *row;
    bool ok = rows != NULL;
    if (ok && !v->nmeasures) {
        ok = show ? choose_shown(v, rows, show, e) : (choose_main(v, rows), true);
        choose_label(v, rows);
        const char *matrix = text_of(cJSON_GetArrayItem(rows, 0), "matrix");
        snprintf(v->matrix, sizeof v->matrix, "%s", matrix ? matrix : "");
    }
    if (ok && !v->nmeasures)
        ok = fail(e, E_USAGE, "the command prints none of the main numbers; name some of its keys with `show`");
    for (row = ok ? rows->child : NULL; row; row = row->next) take_row(v, i, row);
    cJSON_Delete(rows);
    return ok;
}

/* ---- running ---- */

static void say_progress(struct session *s, const struct sweep *v)
{
    char text[160];
    if (!s->terminal || (s->front && s->front->covered)) return;
    snprintf(text, sizeof text, "%s = %s (%d of %d)", v->parameter, v->value[v->n].text, v->n + 1, v->planned);
    out_progress(s->out, text);
}

/* Did the command fail in a way that other values may not? A wrong word at the first value is wrong at all. */
static bool may_go_on(const struct sweep *v, const struct err *why)
{
    if (why->code == E_CANCELLED || why->code == E_MEMORY || why->code == E_INTERNAL || why->code == E_DEVICE)
        return false;
    return v->nmeasures || (why->code != E_USAGE && why->code != E_INPUT);
}

static bool run_value(struct session *s, struct sweep *v, enum sweep_place place, const char *show, struct err *e)
{
    char line[SWEEP_LINE];
    struct memfile rows = {0}, notes = {0};
    struct err why = {0};
    say_progress(s, v);
    bool ok = sweep_put(v, place, v->value[v->n].text, line, e) && memfile_open(&rows, e) && memfile_open(&notes, e);
    bool ran = ok && run_quietly(s, line, rows.file, notes.file, &why);
    if (ok) aside_clear(s);
    if (ok && !ran && may_go_on(v, &why))
        snprintf(v->value[v->n].why, sizeof v->value[0].why, "%.199s", why.text);
    else if (ok && !ran)
        ok = fail_at(e, why.code, "", "%s", why.text);
    ok = memfile_close(&rows, ok, e) && memfile_close(&notes, ok, e);
    ok = ok && (!ran || take_rows(v, v->n, rows.text, show, e));
    memfile_free(&rows);
    memfile_free(&notes);
    v->n += ok;
    return ok;
}

static bool run_all(struct session *s, struct sweep *v, const char *show, struct err *e)
{
    struct aside a;
    enum sweep_place place = place_of(s, v);
    if (!aside_begin(s, &a, e)) return false;
    bool ok = true;
    while (ok && v->n < v->planned) ok = run_value(s, v, place, show, e);
    aside_end(s);
    if (!ok) return false;
    return v->nmeasures || fail(e, E_UNSUPPORTED, "%s", v->value[0].why);
}

static bool make_cells(struct sweep *v, struct err *e)
{
    int64_t n = (int64_t)v->planned * SWEEP_SERIES * SWEEP_MEASURES;
    v->cell = mem_new(n, sizeof *v->cell, "the sweep", e);
    for (int64_t i = 0; v->cell && i < n; i++) v->cell[i] = NAN;
    return v->cell != NULL;
}

static void put(struct session *s, struct sweep *v)
{
    SCREEN_EDIT;
    sweep_free(s->sweep);
    s->sweep = v;
}

bool sweep_begin(struct session *s, struct sweep *v, const char *show, struct err *e)
{
    if (!check_line(v->line, e) || !make_cells(v, e)) return sweep_free(v), false;
    bool ok = run_all(s, v, show, e), some = v->n && v->nmeasures;
    if (ok || (e->code == E_CANCELLED && some))
        put(s, v);
    else
        sweep_free(v);
    return ok;
}

void sweep_free(struct sweep *v)
{
    if (!v) return;
    mem_free(v->value);
    mem_free(v->cell);
    mem_free(v);
}

static void drop(struct session *s)
{
    put(s, NULL);
}

const struct holding holding_sweep = {.drop = drop, .apart = true};
