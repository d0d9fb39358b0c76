/* print: prints the values in rows, columns, dense blocks and vectors, or a single entry. */
#include "base/err.h"
#include "base/loop.h"
#include "base/text.h"
#include "language/args.h"
#include "language/interval.h"
#include "matrix/column.h"
#include "report/fields.h"
#include "report/listing.h"
#include "session/command.h"
#include "session/matrix.h"
#include "session/session.h"
#include "session/vectors.h"

#include <string.h>

/* Limits on text output without `all`. */
enum {
    LINES_MAX = 12,  /* rows or columns of a range */
    LINES_EACH = 2,  /* lines of text per row or column */
    BLOCK_ROWS = 20, /* rows of a block */
    CORNER = 10,     /* number of rows and of columns that `print A` shows */
    ROOM = 200
};

/* What to print: the matrix, and the ranges as typed. `all`: do not limit the lines of text. */
struct request {
    struct session *s;
    struct matrix *m;
    const char *range, *range2;
    bool all;
};

/* ---- rows and columns ---- */

/* Print "... 95 more; `print row 42 all`". */
static void say_more(struct out *o, int64_t left, const char *what, const char *range)
{
    char count[40];
    if (left > 0)
        out_text(o, "   ... %s more; `print %s%s%s all`", show_count(left, count, sizeof count), what,
                 *range ? " " : "", range);
}

static bool print_line(const struct request *q, const struct numbers *v, int lines, struct err *e)
{
    char count[80], range[24];
    int64_t shown;
    snprintf(count, sizeof count, "%s", how_many(v->n, "entry").text);
    snprintf(range, sizeof range, "%lld", (long long)v->line);
    out_text(q->s->out, "%s %lld of %s: %s%s", v->column ? "column" : "row", (long long)v->line, v->matrix, count,
             !v->n       ? ""
             : v->column ? " (row: value)"
                         : " (column: value)");
    if (!listing_print(q->s->out, v, q->all ? 0 : lines, &shown, e)) return false;
    say_more(q->s->out, v->n - shown, v->what, range);
    return true;
}

static bool print_one_row(const struct request *q, int64_t i, int lines, struct err *e)
{
    const struct csr *A = &q->m->csr;
    int64_t from = csr_start(A, i);
    struct numbers v = {.matrix = q->m->name, .what = "row", .line = i, .n = csr_row_length(A, i), .at = A->col + from};
    v.re = A->val + from;
    v.im = A->imag ? A->imag + from : NULL;
    return print_line(q, &v, lines, e);
}

static bool print_one_column(const struct request *q, int64_t j, int lines, struct err *e)
{
    struct column c;
    bool ok = csr_column(&q->m->csr, j, &c, e);
    struct numbers v = {.matrix = q->m->name, .what = "col", .column = true, .line = j, .n = c.n, .at = c.row};
    v.re = c.val;
    v.im = c.imag;
    ok = ok && print_line(q, &v, lines, e);
    column_free(&c);
    return ok;
}

/* The entries of a range of rows or columns. `many` is the keyword that takes a range: rows or cols. */
static bool print_lines_of(const struct request *q, int64_t n, const char *noun, const char *many,
                           bool (*one)(const struct request *q, int64_t i, int lines, struct err *e), struct err *e)
{
    struct interval r;
    char rest[48];
    if (q->range2) return fail(e, E_USAGE, "`%s` takes one range; `print 3:5 7:9` prints a block", many);
    if (!interval_read(q->range, noun, n, &r, e)) return false;
    int64_t size = interval_size(r), shown = size;
    if (out_mode(q->s->out) == OUT_TEXT && !q->all && size > LINES_MAX) shown = LINES_MAX;
    for (int64_t i = r.first; i < r.first + shown; i++)
        if (!one(q, i, size == 1 ? LISTING_LINES : LINES_EACH, e)) return false;
    snprintf(rest, sizeof rest, "%lld:%lld", (long long)(r.first + shown), (long long)r.last);
    say_more(q->s->out, size - shown, many, rest);
    return true;
}

static bool print_rows(const struct request *q, struct err *e)
{
    return print_lines_of(q, q->m->csr.rows, "row", "rows", print_one_row, e);
}

static bool print_columns(const struct request *q, struct err *e)
{
    return print_lines_of(q, q->m->csr.cols, "column", "cols", print_one_column, e);
}

/* ---- one entry ---- */

static bool print_entry(const struct request *q, int64_t i, int64_t j)
{
    const struct csr *A = &q->m->csr;
    struct out *o = q->s->out;
    int64_t k = csr_find(A, i, j);
    double re = k < 0 ? 0 : A->val[k], im = k < 0 || !A->imag ? 0 : A->imag[k];
    char text[NUMBER_TEXT];
    listing_row(o, q->m->name, "entry", i, j, re, im, k >= 0);
    if (k < 0)
        out_text(o, "%s(%lld, %lld) is not stored, so it is 0", q->m->name, (long long)i, (long long)j);
    else
        out_text(o, "%s(%lld, %lld) = %s", q->m->name, (long long)i, (long long)j, number_digits(re, im, 17, text));
    return true;
}

/* ---- blocks ---- */

struct block {
    struct interval rows, cols;
};

/* Print the stored entries of a block, for JSON and CSV. */
static bool print_stored(const struct request *q, struct block b, struct err *e)
{
    const struct csr *A = &q->m->csr;
    for (int64_t i = b.rows.first; i <= b.rows.last; i++) {
        int64_t end = csr_start(A, i + 1), k = csr_lower(A, csr_start(A, i), end, b.cols.first);
        for (; k < end && A->col[k] <= b.cols.last; k++)
            listing_row(q->s->out, q->m->name, "block", i, A->col[k], A->val[k], A->imag ? A->imag[k] : 0, true);
        if (!loop_tick("printing", i - b.rows.first, interval_size(b.rows), e)) return false;
    }
    return true;
}

/* The text of an element of a block. An element that is not stored is shown as a dot. */
static char *cell_text(const struct csr *A, int64_t i, int64_t j, char out[NUMBER_TEXT])
{
    int64_t k = csr_find(A, i, j);
    if (k >= 0) return number_text(A->val[k], A->imag ? A->imag[k] : 0, out);
    snprintf(out, NUMBER_TEXT, ".");
    return out;
}

/* The width of column j of a block, including its heading and a gap. */
static int column_width(const struct csr *A, struct interval rows, int64_t j)
{
    char text[NUMBER_TEXT];
    int width = snprintf(text, sizeof text, "%lld", (long long)j);
    struct loop l = loop_of("printing", rows.last);
    for (int64_t i = rows.first; i <= rows.last && loop_goes(&l, i); i++) {
        int w = (int)strlen(cell_text(A, i, j, text));
        if (w > width) width = w;
    }
    return width + 2;
}

/* Print one line of a block whose columns have the given widths; row -1 prints the headings. */
static void print_block_line(const struct request *q, int64_t row, struct interval cols, const int *width, int label)
{
    char line[1200], text[NUMBER_TEXT];
    int at = row < 0 ? snprintf(line, sizeof line, "%*s", label, "")
                     : snprintf(line, sizeof line, "%*lld", label, (long long)row);
    for (int64_t j = cols.first; j <= cols.last; j++) {
        if (row < 0)
            snprintf(text, sizeof text, "%lld", (long long)j);
        else
            cell_text(&q->m->csr, row, j, text);
        at += snprintf(line + at, sizeof line - (size_t)at, "%*s", width[j - cols.first], text);
    }
    out_text(q->s->out, "%s", line);
}

enum { ACROSS = 200 };

/* Print as many columns of the block as fit in a line, beginning with column cols.first. *last receives the last
   printed column. */
static bool print_panel(const struct request *q, struct block b, int64_t *last, struct err *e)
{
    char digits[24];
    int width[ACROSS], label = 1 + snprintf(digits, sizeof digits, "%lld", (long long)b.rows.last), used = label;
    int64_t j = b.cols.first;
    for (; j <= b.cols.last && j - b.cols.first < ACROSS; j++) {
        int w = column_width(&q->m->csr, b.rows, j);
        if (used + w > listing_width(q->s->out) && j > b.cols.first) break;
        used += width[j - b.cols.first] = w;
    }
    *last = b.cols.last = j - 1;
    print_block_line(q, -1, b.cols, width, label);
    for (int64_t i = b.rows.first; i <= b.rows.last; i++) {
        print_block_line(q, i, b.cols, width, label);
        if (!loop_tick("printing", i, b.rows.last, e)) return false;
    }
    return true;
}

static void say_rest(struct out *o, struct block asked, struct block shown)
{
    char text[ROOM];
    int64_t rows = asked.rows.last - shown.rows.last, cols = asked.cols.last - shown.cols.last;
    if (!rows && !cols) return;
    snprintf(text, sizeof text, "%s%s%s", rows ? how_many(rows, "row").text : "", rows && cols ? " and " : "",
             cols ? how_many(cols, "column").text : "");
    out_text(o, "   ... %s more; `print %lld:%lld %lld:%lld all`", text, (long long)asked.rows.first,
             (long long)asked.rows.last, (long long)asked.cols.first, (long long)asked.cols.last);
}

static bool print_block(const struct request *q, struct block b, struct err *e)
{
    struct block shown = b;
    if (out_mode(q->s->out) != OUT_TEXT) return print_stored(q, b, e);
    if (!q->all && interval_size(b.rows) > BLOCK_ROWS) shown.rows.last = b.rows.first + BLOCK_ROWS - 1;
    out_text(q->s->out, "%s, rows %lld to %lld, columns %lld to %lld; . marks an entry that is not stored", q->m->name,
             (long long)b.rows.first, (long long)b.rows.last, (long long)b.cols.first, (long long)b.cols.last);
    int64_t last = b.cols.first - 1;
    do {
        shown.cols = (struct interval){last + 1, b.cols.last};
        if (!print_panel(q, shown, &last, e)) return false;
    } while (q->all && last < b.cols.last);
    shown.cols.last = last;
    say_rest(q->s->out, b, shown);
    return true;
}

/* Print one entry (`print 3 7`), a block (`print 3:5 7:9`), or the upper left corner of the matrix (`print A`). */
static bool print_part(const struct request *q, struct err *e)
{
    const struct csr *A = &q->m->csr;
    struct block b;
    if (!interval_read(q->range, "row", A->rows, &b.rows, e) ||
        !interval_read(q->range2, "column", A->cols, &b.cols, e))
        return false;
    if (!q->range && !q->all && interval_size(b.rows) > CORNER) b.rows.last = CORNER - 1;
    if (!q->range && !q->all && interval_size(b.cols) > CORNER) b.cols.last = CORNER - 1;
    if (q->range && !strchr(q->range, ':') && !strchr(q->range2, ':'))
        return print_entry(q, b.rows.first, b.cols.first);
    return print_block(q, b, e);
}

/* ---- vectors ---- */

/* `name` is what the user typed: "x", "vector 2". */
static bool print_numbers(const struct request *q, const struct vector *x, const char *name, struct err *e)
{
    struct interval r = {0, -1};
    int64_t shown = 0;
    bool ok = (x->n == 0 && !q->range) || interval_read(q->range, "element", x->n, &r, e);
    struct numbers v = {.matrix = x->matrix, .what = name, .line = -1, .n = interval_size(r), .first = r.first};
    if (x->value) v.re = x->value + r.first;
    if (x->imag) v.im = x->imag + r.first;
    if (ok) out_text(q->s->out, "%s of %s: %s, %s", name, x->matrix, how_many(x->n, "element").text, x->about);
    ok = ok && listing_print(q->s->out, &v, q->all ? 0 : LISTING_LINES, &shown, e);
    if (ok) {
        char rest[48] = "";
        if (q->range) snprintf(rest, sizeof rest, "%lld:%lld", (long long)r.first, (long long)r.last);
        say_more(q->s->out, v.n - shown, name, rest);
    }
    return ok;
}

static bool print_vector(const struct request *q, const char *name, int64_t pair, struct err *e)
{
    struct vector x;
    if (q->range2) return fail(e, E_USAGE, "`print %s` takes one range", name);
    if (!(pair ? vector_of_pair(q->s, pair, &x, e) : vector_of(q->s, name, &x, e))) return false;
    bool ok = print_numbers(q, &x, name, e);
    vector_free(&x);
    return ok;
}

/* ---- the command ---- */

/* `room` holds the name of an eigenvector. */
static const char *vector_asked(const struct args *a, char *room, size_t size)
{
    const char *name;
    snprintf(room, size, "vector %s", arg(a, "vector") ? arg(a, "vector") : "");
    if (arg(a, "vector")) return room;
    for (int i = 0; (name = vector_name(i)); i++)
        if (arg_flag(a, name)) return name;
    return NULL;
}

static bool run_print(struct session *s, const struct args *a, struct err *e)
{
    struct request q = {.s = s, .range = arg(a, "range"), .range2 = arg(a, "range2"), .all = arg_flag(a, "all")};
    char room[40];
    const char *vector = vector_asked(a, room, sizeof room);
    if (vector && arg(a, "matrix"))
        return fail(e, E_USAGE, "`print %s` takes no matrix: %s comes from the last solve, SpMV or `eigs`", vector,
                    vector);
    if (arg(a, "vector") && arg_int(a, "vector", 0) < 1)
        return fail(e, E_USAGE, "there is no vector %s: the vectors of `eigs` count from 1", arg(a, "vector"));
    if (vector) return print_vector(&q, vector, arg_int(a, "vector", 0), e);
    if (!(q.m = session_matrix(s, arg(a, "matrix"), e))) return false;
    bool rows = arg_flag(a, "row") || arg_flag(a, "rows"), cols = arg_flag(a, "col") || arg_flag(a, "cols");
    if ((rows || cols) && !q.range)
        return fail(e, E_USAGE, "print which %s? Give an index or a range, such as %s 3 or %s 3:7",
                    rows ? "row" : "column", rows ? "row" : "col", rows ? "rows" : "cols");
    if (rows || cols) return rows ? print_rows(&q, e) : print_columns(&q, e);
    if (q.range && !q.range2)
        return fail(e, E_USAGE, "`print %s` lacks a column; `print row %s` prints the whole row", q.range, q.range);
    if (!q.range && !arg(a, "matrix"))
        return fail(e, E_USAGE,
                    "print what? row 42, col 5, 3 7 (one entry), 3:5 7:9 (a block), x, b, y, r or a matrix");
    return print_part(&q, e);
}

/* ---- the keys of the rows ---- */

static const struct field print_fields[] = {
    {"matrix", F_TEXT, "name of the matrix"},
    {"what", F_TEXT,
     "what this line shows: an entry of a row, of a column or of a block, one entry, or an element of a vector",
     .pattern = "^(row|col|entry|block|x|b|y|r|vector [0-9]+)$"},
    {"row", F_COUNT, "row of the entry, or index in the vector, from 0"},
    {"col", F_COUNT | OR_NULL, "column of the entry, from 0; null in a vector"},
    {"value", F_NUMBER | OR_NAN, "value, or its real part; a word if NaN or inf"},
    {"imag", F_NUMBER | OR_NAN, "imaginary part; 0 of a real matrix"},
    {"stored", F_BOOLEAN, "whether the matrix stores the entry; if not, its value is 0"},
    {0},
};
static const struct row_kind row_print = {"print", "one number of a matrix or a vector on each line", print_fields};

const struct command command_print = {
    .name = "print",
    .aliases = "p",
    .grammar = "[row|rows|col|cols|x|b|y|r|vector N] [RANGE] [RANGE] [MATRIX] [all]",
    .about = "print the values of a row, a column, an entry, a block or a vector",
    .help = "Indices count from 0. A range N:M includes both ends; `N:` ends at the last index, and `:M` begins at\n"
            "0. `print 3 7` prints one entry, and `print 3:5 7:9` prints a block. x, b and r = b - A x are the\n"
            "vectors of the last solve. After `spmv`, y = A x is the result of the kernel, and x is the operand of\n"
            "the kernel if nothing has been solved. vector N is the eigenvector of pair N of the last `eigs`. Text\n"
            "is cut to the width of the terminal and to a few lines; `all` shows everything. JSON and CSV are never\n"
            "cut, but they list only stored entries.\n"
            "    print row 42; print 3 7; print col 5; print 3:5 7:9 A; print x 0:19\n"
            "    eigs 3; print vector 2",
    .rows = (const struct row_kind *const[]){&row_print, NULL},
    .run = run_print,
    .large = true,
    .several = true, /* y of an SpMV on several devices */
};
