/* The report card of a matrix: the table of its lines, the loop that runs the lines, and the helpers that the lines
   share. */
#include "card.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/registry.h"
#include "base/text.h"
#include "base/threads.h"
#include "base/watch.h"
#include "files/load_info.h"
#include "matrix/csr.h"
#include "matrix/row_slices.h"
#include "matrix/stats.h"

#include <math.h>
#include <omp.h>
#include <stdarg.h>
#include <string.h>

#define CARD_LINE(id) extern const struct card_line card_line_##id;
#define VALUES_LINE(id) CARD_LINE(id)
#include "card.def"
#undef CARD_LINE
#define CARD_LINE(id) &card_line_##id,
const struct card_line *const card_lines[] = {
#include "card.def"
    NULL};
#undef CARD_LINE
#undef VALUES_LINE
#define CARD_LINE(id) false,
#define VALUES_LINE(id) true,
static const bool needs_values[] = {
#include "card.def"
};
#undef CARD_LINE
#undef VALUES_LINE

const struct registry card_registry = {.entries = card_lines};

const struct card_line *card_find(const char *name)
{
    return registry_find(&card_registry, name);
}

const struct card_row *card_row(const struct card *c, const char *name)
{
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->row[i].line->name, name)) return &c->row[i];
    return NULL;
}

static int key_index(const struct card_line *l, const char *key)
{
    for (int i = 0; l->keys[i].name; i++)
        if (!strcmp(l->keys[i].name, key)) return i;
    return -1;
}

bool card_value(const struct card *c, const char *line, const char *key, double *value)
{
    const struct card_row *r = card_row(c, line);
    int k = r ? key_index(r->line, key) : -1;
    if (k < 0 || !r->known[k] || r->line->keys[k].type == CARD_TEXT) return false;
    *value = r->value[k].num;
    return true;
}

/* ---- the text of a line ---- */

void card_set(struct card_row *r, const char *key, double value)
{
    int k = key_index(r->line, key);
    if (k < 0) return;
    r->known[k] = isfinite(value);
    r->value[k].num = value;
}

void card_word(struct card_row *r, const char *key, const char *text)
{
    int k = key_index(r->line, key);
    if (k < 0) return;
    r->known[k] = true;
    r->value[k].text = text;
}

void card_say(struct card_row *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_append_list(r->finding, sizeof r->finding, fmt, ap);
    va_end(ap);
}

void card_advise(struct card_row *r, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    text_append_list(r->advice, sizeof r->advice, fmt, ap);
    va_end(ap);
}

void card_advise_unless(struct card_row *r, unsigned unless, const char *text)
{
    r->conditional.unless = unless;
    snprintf(r->conditional.text, sizeof r->conditional.text, "%s", text);
}

void card_add_advice(struct card_row *r, const char *text)
{
    size_t separator = *r->advice ? 0 : strlen(": ");
    if (strlen(card_text(r).text) + separator + strlen(text) <= CARD_WIDTH) card_advise(r, "%s", text);
}

struct card_text card_text(const struct card_row *r)
{
    struct card_text t;
    const char *further = r->conditional.text;
    snprintf(t.text, sizeof t.text, "%s%s%s%s%s", r->finding, *r->advice || *further ? ": " : "", r->advice,
             *r->advice && *further ? "; " : "", further);
    return t;
}

struct card_digits card_size(double number, const char *format)
{
    struct card_digits digits = {"beyond 1.8e308"};
    if (!isinf(number)) snprintf(digits.text, sizeof digits.text, format, number);
    return digits;
}

struct card_digits card_count(int64_t n)
{
    struct card_digits digits = {""};
    show_count(n, digits.text, sizeof digits.text);
    return digits;
}

/* ---- passes over the entries ---- */

static void scan_slice(const struct csr *A, int64_t from, int64_t to, size_t size, char *part, card_visit *visit)
{
    struct loop l = loop_of("rows", A->rows);
#pragma omp parallel if (A->rowptr[to] - A->rowptr[from] > THREADS_FROM)
    {
        char *thread_part = part + size * (size_t)omp_get_thread_num();
#pragma omp for schedule(static)
        for (int64_t r = from; r < to; r++)
            if (loop_goes(&l, r)) visit(A, r, thread_part);
    }
}

bool card_scan(struct card *c, const char *what, size_t size, void *sum, card_visit *visit, card_merge *merge,
               struct err *e)
{
    const struct csr *A = c->A;
    int threads = omp_get_max_threads();
    size_t stride = (size + 63) / 64 * 64;
    char *part = mem_new(threads, stride, what, e);
    bool ok = part != NULL;
    for (int t = 0; ok && t < threads; t++) memcpy(part + stride * (size_t)t, sum, size);
    for (int64_t from = 0, to; ok && from < A->rows; from = to) {
        to = slice_end(A, from, A->rows);
        scan_slice(A, from, to, stride, part, visit);
        ok = watch_tick(c->watch, what, A->rowptr[to], A->nnz, e) && loop_tick(what, A->rowptr[to], A->nnz, e);
    }
    for (int t = 0; ok && t < threads; t++) merge(sum, part + stride * (size_t)t);
    mem_free(part);
    return ok;
}

static void columns_of(const struct csr *A, int64_t from, int64_t to, struct card_columns *out)
{
    for (int64_t r = from; r < to; r++)
        for (int k = A->rowptr[r]; k < A->rowptr[r + 1]; k++) {
            int j = A->col[k];
            if (!out->length[j]++) out->first[j] = (int)r;
            out->sum[j] += csr_abs(A, k);
        }
}

const struct card_columns *card_columns(struct card *c, struct err *e)
{
    const struct csr *A = c->A;
    struct card_columns *out = &c->column;
    if (c->has_columns) return out;
    if (!out->length) out->length = mem_new(A->cols, sizeof *out->length, "columns", e);
    if (out->length && !out->first) out->first = mem_new(A->cols, sizeof *out->first, "columns", e);
    if (out->first && !out->sum) out->sum = mem_new(A->cols, sizeof *out->sum, "columns", e);
    if (!out->sum) return NULL;
    struct loop l = loop_of("columns", A->cols);
    for (int64_t j = 0; j < A->cols && loop_goes(&l, j); j++) {
        out->length[j] = 0;
        out->first[j] = -1;
        out->sum[j] = 0;
    }
    if (!loop_end(&l, e)) return NULL;
    for (int64_t from = 0, to; from < A->rows; from = to) {
        to = slice_end(A, from, A->rows);
        columns_of(A, from, to, out);
        if (!watch_tick(c->watch, "columns", A->rowptr[to], A->nnz, e)) return NULL;
    }
    c->has_columns = true;
    return out;
}

/* ---- the whole card ---- */

static bool is_small(const struct csr *A)
{
    return A->nnz <= CARD_SMALL && A->rows <= CARD_SMALL && A->cols <= CARD_SMALL;
}

static void drop_advice(struct card_row *r)
{
    *r->advice = *r->conditional.text = 0;
}

double card_value_bytes(const struct csr *A)
{
    return (double)type_size(type_of_numbers(T_F64, A->imag != NULL));
}

/* ---- the time that costly lines may take ---- */

double card_limit_us = 2e6;

double card_time_left(const struct card *c)
{
    return c->until_us - worked_us();
}

bool card_has_time(const struct card *c, double us)
{
    return card_time_left(c) >= us;
}

bool card_affords(struct card *c, double us, struct err *e)
{
    if (card_has_time(c, us)) return true;
    c->late = true;
    c->needs_us = us;
    return fail(e, E_LIMIT, "needs about %.2g s", us / 1e6);
}

/* A watch that also ends a costly line when its time is used up. */
struct time_limit {
    struct card *card;
    struct watch *outer;
};

static bool tick_in_time(struct watch *w, const char *what, int64_t done, int64_t total)
{
    struct time_limit *t = w->user;
    struct watch *outer = t->outer;
    if (outer && outer->tick && !outer->tick(outer, what, done, total)) return false;
    t->card->late = card_time_left(t->card) < 0;
    return !t->card->late;
}

static bool run_in_time(struct card *c, struct card_row *r, struct err *e)
{
    struct time_limit limit = {c, c->watch};
    struct watch watch = {tick_in_time, &limit};
    if (!r->line->costly || isinf(c->left_us)) return r->line->run(c, r, e);
    c->watch = &watch;
    c->until_us = worked_us() + c->left_us;
    bool ok = r->line->run(c, r, e);
    c->left_us = fmax(0, card_time_left(c));
    c->until_us = INFINITY;
    c->watch = limit.outer;
    return ok;
}

static enum card_state state_of(const struct card *c, bool ok, const struct err *e)
{
    if (ok) return CARD_FOUND;
    if (c->late) return CARD_LATE;
    return e->code == E_CANCELLED ? CARD_STOPPED : CARD_FAILED;
}

static void run_line_of(struct card *c, struct card_row *r)
{
    struct err e = {0};
    double from = now_us();
    c->late = false;
    c->needs_us = 0;
    const struct card_values *v = r->line->finite ? card_values(c, &e) : NULL;
    bool ok = !r->line->finite || v;
    r->quiet = v && v->bad; /* the verdict names NaN and inf */
    if (v && v->bad)
        card_say(r, "not known: the matrix has NaN or inf");
    else if (ok)
        ok = run_in_time(c, r, &e) && loop_tick(r->line->name, 0, 0, &e);
    r->us = now_us() - from;
    r->state = state_of(c, ok, &e);
    r->needs_us = c->needs_us;
    if (!ok) {
        memset(r->known, 0, sizeof r->known);
        snprintf(r->finding, sizeof r->finding, "%.*s", COUNT(r->finding) - 1, e.text);
    }
    if (!ok || (c->A->imag && r->line->real)) drop_advice(r);
    c->stopped = r->state == CARD_STOPPED;
}

static unsigned facts_against_advice(const struct card *c)
{
    const struct facts *f = c->facts;
    return (f->singular ? CARD_IF_SINGULAR : 0u) | (f->definite != DEFINITE_UNKNOWN ? CARD_IF_SIGN_KNOWN : 0u) |
           (is_definite(f->definite) ? CARD_IF_DEFINITE : 0u);
}

/* One line of the card says so; the others are shown only if they are requested. */
static void without_values(struct card_row *r)
{
    r->state = CARD_NO_VALUES;
    r->quiet = strcmp(r->line->name, "values") != 0;
    card_say(r, "the file has none");
    card_advise(r, "`load FILE ones` takes each as 1");
}

/* Is the line one of the requested lines: of those for solvers, the line `only`, or every line? */
static bool is_requested(const struct card_line *l, const char *only, bool for_solvers)
{
    return for_solvers ? l->for_solvers : !only || !strcmp(l->name, only);
}

static bool run_lines(struct card *c, const char *only, bool for_solvers, struct err *e)
{
    const struct csr *A = c->A;
    c->row = mem_zero(COUNT(card_lines), sizeof *c->row, "a report card", e);
    if (!c->row) return false;
    for (; card_lines[c->n]; c->n++) c->row[c->n].line = card_lines[c->n];
    for (int i = 0; i < c->n && !c->stopped; i++) {
        struct card_row *r = &c->row[i];
        bool nothing = !A->rows || !A->cols;
        if (nothing ? !r->line->empty : r->line->square && A->rows != A->cols)
            r->state = CARD_UNFIT;
        else if (is_requested(r->line, only, for_solvers) && c->pattern && needs_values[i])
            without_values(r);
        else if (is_requested(r->line, only, for_solvers))
            run_line_of(c, r);
    }
    unsigned against = facts_against_advice(c);
    for (int i = 0; i < c->n; i++)
        if (c->row[i].conditional.unless & against) *c->row[i].conditional.text = 0;
    return true;
}

bool card_make(struct card *c, const struct csr *A, const struct load_info *info, struct facts *facts, bool all,
               const char *only, struct watch *w, struct err *e)
{
    bool unlimited = all || only || is_small(A);
    facts->no_values = load_info_is_pattern(info);
    *c = (struct card){.A = A,
                       .info = info,
                       .facts = facts,
                       .pattern = facts->no_values,
                       .watch = w,
                       .left_us = unlimited ? INFINITY : card_limit_us,
                       .until_us = INFINITY};
    if (only && !card_find(only)) {
        char names[400] = "";
        size_t at = 0;
        for (int i = 0; card_lines[i] && at < sizeof names; i++)
            at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", i ? ", " : "", card_lines[i]->name);
        return fail(e, E_USAGE, "the card has no line `%.60s`; the lines are %s", only, names);
    }
    return run_lines(c, only, false, e);
}

bool card_for_solvers(struct card *c, const struct csr *A, struct facts *facts, double limit_us, struct watch *w,
                      struct err *e)
{
    *c = (struct card){.A = A, .facts = facts, .watch = w, .left_us = limit_us, .until_us = INFINITY};
    return run_lines(c, NULL, true, e);
}

void card_free(struct card *c)
{
    mem_free(c->column.length);
    mem_free(c->column.first);
    mem_free(c->column.sum);
    mem_free(c->row);
    *c = (struct card){0};
}
