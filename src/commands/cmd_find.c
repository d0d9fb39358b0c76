/* find: finds the rows whose length, sum, diagonal or largest |a| meets conditions, and the entries whose |a| meets
   conditions. */
#include "base/err.h"
#include "base/loop.h"
#include "base/numeral.h"
#include "base/search.h"
#include "base/suggest.h"
#include "base/text.h"
#include "language/args.h"
#include "matrix/find.h"
#include "report/fields.h"
#include "report/listing.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* TEXT_ROWS: number of matches that text output shows if there is no `limit`. */
enum { TEXT_ROWS = 20, TEXT_MAX = 1000, WORD_MAX = 40 };

/* What to search for; the first word of the condition selects it. */
struct kind_of_search {
    const char *word, *noun;
    bool (*find)(const struct csr *A, const struct search *s, struct found *out, struct err *e);
    void (*print)(struct out *o, const struct matrix *m, const struct found *f, int64_t k);
    bool measures; /* its conditions name a measure (length, sum, ...) */
};

/* A measure of a complex matrix: its absolute value, which searches compare, and its parts. */
static void out_complex(struct out *o, const struct matrix *m, const struct row_measure *r, int64_t row)
{
    char text[NUMBER_TEXT];
    struct parts p = r->parts(&m->csr, row);
    snprintf(text, sizeof text, "%s_real", r->name);
    out_value(o, text, NULL, p.re, NULL);
    snprintf(text, sizeof text, "%s_imag", r->name);
    out_value(o, text, NULL, p.im, NULL);
    if (out_mode(o) == OUT_TEXT) out_str(o, NULL, r->heading, number_text(p.re, p.im, text));
    snprintf(text, sizeof text, "|%s|", r->heading);
    out_value(o, r->name, text, r->of(&m->csr, row), r->fmt);
}

static void print_row(struct out *o, const struct matrix *m, const struct found *f, int64_t k)
{
    int64_t row = f->item[k].at;
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "what", NULL, "row");
    out_num(o, "row", "row", (double)row, "%.0f");
    for (const struct row_measure *r = row_measures; r->name; r++)
        if (m->csr.imag && r->parts)
            out_complex(o, m, r, row);
        else
            out_value(o, r->name, r->heading, r->of(&m->csr, row), r->fmt);
    out_int(o, "matches", NULL, f->matches);
}

static void print_entry(struct out *o, const struct matrix *m, const struct found *f, int64_t k)
{
    const struct csr *A = &m->csr;
    int64_t at = f->item[k].at;
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "what", NULL, "entry");
    out_num(o, "row", "row", (double)csr_row_of(A, at), "%.0f");
    out_num(o, "col", "column", A->col[at], "%.0f");
    out_value(o, "value", "value", A->val[at], "%.6g");
    out_value(o, "imag", A->imag ? "imaginary" : NULL, A->imag ? A->imag[at] : 0, "%.6g");
    out_value(o, "size", "|a|", csr_abs(A, at), "%.6g");
    out_int(o, "matches", NULL, f->matches);
}

static const struct kind_of_search searches[] = {
    {"rows", "row", rows_find, print_row, true},
    {"entries", "entry", entries_find, print_entry, false},
};

/* ---- conditions ---- */

static bool join(const struct args *a, char *out, size_t size, struct err *e)
{
    size_t n = 0;
    for (int i = 0; i < arg_count(a, "condition"); i++) {
        n += (size_t)snprintf(out + n, size - n, "%s%s", i ? " " : "", arg_at(a, "condition", i));
        if (n >= size) return fail(e, E_LIMIT, "the condition is longer than %d bytes", TEXT_MAX);
    }
    return true;
}

/* Read the letters at the start of the text as a word; the word is empty if the text does not start with a letter. */
static void take_word(const char **text, char word[WORD_MAX])
{
    int n = 0;
    *text += strspn(*text, " ");
    while (isalpha((unsigned char)(*text)[n])) n++;
    snprintf(word, WORD_MAX, "%.*s", n, *text);
    *text += n;
}

/* Report that the word at the start of `text` is wrong: "`x` in the condition is not ...". */
static bool is_not(const char *text, const char *what, struct err *e)
{
    struct message t = {0};
    char word[WORD_MAX];
    text += strspn(text, " ");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(text, " "), text);
    if (!*word) return fail(e, E_USAGE, "%s is missing at the end of the condition", what);
    message_quote(&t, word);
    message_add(&t, " in the condition is not %s", what);
    return fail(e, E_USAGE, "%s", t.text);
}

/* The measure with this name, or the only measure whose name begins with the word. */
static const struct row_measure *measure_of(const char *word)
{
    struct abbreviation x = {.typed = word};
    const struct row_measure *r = registry_find(&row_measure_registry, word);
    if (!r) registry_list(&row_measure_registry, abbreviation_offer, &x);
    return x.n == 1 ? registry_find(&row_measure_registry, x.word) : r;
}

/* Take the name of a measure. If the text has no name here, the measure is the length. */
static bool take_measure(const char **text, struct condition *c, struct err *e)
{
    char word[WORD_MAX];
    const char *at = *text;
    take_word(text, word);
    c->measure = *word ? measure_of(word) : row_measures;
    return c->measure || is_not(at, "a measure of rows: length, sum, diagonal or max", e);
}

static bool take_comparison(const char **text, struct condition *c, struct err *e)
{
    *text += strspn(*text, " ");
    c->comparison = comparisons;
    while (c->comparison->name && strncmp(*text, c->comparison->name, strlen(c->comparison->name))) c->comparison++;
    if (!c->comparison->name) return is_not(*text, "a comparison: < <= > >= = !=", e);
    *text += strlen(c->comparison->name);
    return true;
}

/* inf and nan are values of matrices; nan equals NaN. */
static bool is_special(const char *text, double *value)
{
    bool negative = *text == '-', inf = !strcmp(text + negative, "inf");
    if (!inf && strcmp(text, "nan") != 0) return false;
    *value = !inf ? NAN : negative ? -INFINITY : INFINITY;
    return true;
}

static bool take_number(const char **text, struct condition *c, struct err *e)
{
    char number[WORD_MAX];
    *text += strspn(*text, " ");
    size_t n = strcspn(*text, " ");
    snprintf(number, sizeof number, "%.*s", (int)n, *text);
    if (n < sizeof number && (is_real(number, &c->value) || is_special(number, &c->value))) return *text += n, true;
    is_not(*text, "a number", e);
    if (*number && !strcmp(c->comparison->name, ">")) err_advise(e, "`> ./FILE` writes the output to a file");
    return false;
}

/* Read `rows`, then conditions joined by `and`. */
static bool read_search(const char *text, const struct kind_of_search **kind, struct search *s, struct err *e)
{
    char word[WORD_MAX];
    const char *at = text;
    take_word(&text, word);
    *kind = NULL;
    for (int i = 0; i < COUNT(searches); i++)
        if (!strcmp(searches[i].word, word)) *kind = &searches[i];
    if (!*kind) return is_not(at, "something to find: rows or entries, such as `rows > 100`", e);
    for (bool more = text[strspn(text, " ")] != 0; more;) {
        struct condition *c = &s->condition[s->n];
        if (s->n++ == CONDITIONS_MAX) return fail(e, E_LIMIT, "at most %d conditions are possible", CONDITIONS_MAX);
        *c = (struct condition){0};
        if (((*kind)->measures && !take_measure(&text, c, e)) || !take_comparison(&text, c, e) ||
            !take_number(&text, c, e))
            return false;
        at = text;
        take_word(&text, word);
        more = !strcmp(word, "and");
        if (!more && at[strspn(at, " ")]) return is_not(at, "`and`", e);
    }
    return true;
}

/* ---- the command ---- */

static bool read_options(struct session *s, const struct args *a, struct search *q, struct err *e)
{
    bool text = out_mode(s->out) == OUT_TEXT;
    q->limit = arg_int(a, "limit", text ? TEXT_ROWS : INT64_MAX);
    q->ascending = arg_flag(a, "ascending");
    if (arg(a, "sort")) q->sort = registry_find(&row_measure_registry, arg(a, "sort"));
    if (q->limit < 0) return fail(e, E_USAGE, "`limit %lld` is negative; give 0 or more", (long long)q->limit);
    if (q->ascending && !q->sort) return fail(e, E_USAGE, "`ascending` needs an order, such as `sort length`");
    return true;
}

/* Entries have only one measure, |a|. */
static bool sort_entries(struct search *q, struct err *e)
{
    q->sorted = q->sort != NULL;
    if (q->sort && !q->sort->single) return fail(e, E_USAGE, "entries are sorted by |a|: `sort max`");
    q->sort = NULL;
    return true;
}

/* JSON and CSV state the number of matches even if no match is printed. */
static void print_none(struct out *o, const struct matrix *m, const struct kind_of_search *kind, const struct found *f)
{
    out_row(o);
    out_str(o, "matrix", NULL, m->name);
    out_str(o, "what", NULL, kind->noun);
    out_int(o, "matches", NULL, f->matches);
}

static bool print_found(struct session *s, const struct matrix *m, const struct kind_of_search *kind,
                        const struct found *f, int64_t all, struct err *e)
{
    char matches[40], shown[40];
    for (int64_t k = 0; k < f->n; k++) {
        kind->print(s->out, m, f, k);
        if (!loop_tick("printing", k, f->n, e)) return false;
    }
    if (!f->n && out_mode(s->out) != OUT_TEXT) print_none(s->out, m, kind, f);
    show_count(f->matches, matches, sizeof matches);
    show_count(f->n, shown, sizeof shown);
    bool cut = f->n < f->matches;
    out_text(s->out, "%s of %s match%s%s%s", matches, how_many(all, kind->noun).text,
             f->matches == 1 || all == 1 ? "es" : "", cut ? "; `limit N` shows more than " : "", cut ? shown : "");
    return true;
}

static bool run_find(struct session *s, const struct args *a, struct err *e)
{
    char text[TEXT_MAX + 1];
    const struct kind_of_search *kind;
    struct search q = {0};
    struct found f;
    struct matrix *m = session_matrix(s, arg(a, "of"), e);
    if (!m || !join(a, text, sizeof text, e) || !read_search(text, &kind, &q, e) || !read_options(s, a, &q, e))
        return false;
    if (!kind->measures && !sort_entries(&q, e)) return false;
    bool ok = kind->find(&m->csr, &q, &f, e);
    ok = ok && print_found(s, m, kind, &f, kind->measures ? m->csr.rows : m->csr.nnz, e);
    found_free(&f);
    return ok;
}

/* ---- the keys of the rows ---- */

static const struct field find_row_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"what", F_TEXT, "what was found", .words = "row"},
    {"row", F_COUNT, "row, from 0"},
    {"length", F_COUNT, "stored entries of the row"},
    {"sum", F_NUMBER | OR_NAN, "sum of its entries; the modulus of a complex sum; a word if NaN or inf"},
    {"diagonal", F_NUMBER | OR_NAN,
     "diagonal entry, or its modulus if complex; 0 if it is not stored; a word if NaN or inf"},
    {"max", F_AMOUNT | OR_NAN, "largest |a|; a word if NaN or inf"},
    {"matches", F_COUNT, "rows that match, those beyond the limit included"},
    {0},
};
static const struct row_kind row_find_row = {"row", "a row", find_row_fields};

static const struct field find_nothing_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"what", F_TEXT, "what was searched for", .words = "row, entry"},
    {"matches", F_COUNT, "rows or entries that match"},
    {0},
};
static const struct row_kind row_find_nothing = {
    "nothing", "no row or entry is printed: none matches, or the limit is 0", find_nothing_fields};

static const struct field find_entry_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"what", F_TEXT, "what was found", .words = "entry"},
    {"row", F_COUNT, "row, from 0"},
    {"col", F_COUNT, "column, from 0"},
    {"value", F_NUMBER | OR_NAN, "value, or its real part; a word if NaN or inf"},
    {"imag", F_NUMBER | OR_NAN, "imaginary part; 0 of a real matrix"},
    {"size", F_AMOUNT | OR_NAN, "|a|; a word if NaN or inf"},
    {"matches", F_COUNT, "entries that match, those beyond the limit included"},
    {0},
};
static const struct row_kind row_find_entry = {"entry", "an entry", find_entry_fields};

static const struct field find_complex_row_fields[] = {
    {.include = &row_find_row},
    {"sum_real", F_NUMBER | OR_NAN, "real part of the sum"},
    {"sum_imag", F_NUMBER | OR_NAN, "imaginary part of the sum"},
    {"diagonal_real", F_NUMBER | OR_NAN, "real part of the diagonal entry"},
    {"diagonal_imag", F_NUMBER | OR_NAN, "imaginary part of the diagonal entry"},
    {0},
};
static const struct row_kind row_find_complex_row = {"complex_row", "a row of a complex matrix",
                                                     find_complex_row_fields};

const struct command command_find_rows = {
    .name = "find",
    .grammar = "CONDITION... [sort MEASURE] [ascending] [limit N] [of MATRIX]",
    .about = "find rows by length, sum, diagonal or largest |a|, or entries by |a|",
    .help = "`find rows` takes conditions joined by `and`. A condition is a measure (length, sum, diagonal, or max,\n"
            "which is the largest |a|), then < <= > >= = or !=, then a number. The measure length may be left out.\n"
            "A diagonal entry that is not stored counts as 0. The sum and the diagonal of a complex matrix are\n"
            "compared by absolute value. `find entries > 1e6` finds the entries with |a| > 1e6. `sort` puts the\n"
            "largest first, or the smallest with `ascending`. Text shows 20 matches, or N with `limit N`; without\n"
            "`limit`, JSON and CSV show all matches. Rows and columns count from 0. A path after `>` is a file for\n"
            "the output: `find rows > ./list`.\n"
            "    find rows > 100; find rows diagonal = 0 and length > 1; find rows sort sum limit 5 of A",
    .rows = (const struct row_kind *const[]){&row_find_row, &row_find_complex_row, &row_find_entry, &row_find_nothing,
                                             NULL},
    .run = run_find,
    .large = true,
    .compares = true,
};
