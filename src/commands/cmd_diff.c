/* diff: compares the entries of two matrices, and makes their difference a new matrix on request. */
#include "base/clock.h"
#include "base/number.h"
#include "language/args.h"
#include "matrix/norms.h"
#include "report/fields.h"
#include "session/command.h"
#include "session/derived.h"
#include "session/matrix.h"
#include "session/session.h"

#include <limits.h>
#include <math.h>

enum { SLICE = 1 << 14 }; /* number of rows between two checks for cancellation */

/* ---- walking over the entries of both matrices ---- */

struct pair {
    const struct csr *A, *B;
};
/* Called for each position that is stored in A (as its entry a), in B (as its entry b), or in both; a or b is -1 if the
   matrix does not store the position. */
typedef void visit_both(void *to, const struct pair *t, int64_t row, int col, int64_t a, int64_t b);

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void walk_row(const struct pair *t, int64_t row, visit_both *visit, void *to)
{
    const struct csr *A = t->A, *B = t->B;
    int64_t a = 0, a_end = 0, b = 0, b_end = 0;
    if (row < A->rows) a = A->rowptr[row], a_end = A->rowptr[row + 1];
    if (row < B->rows) b = B->rowptr[row], b_end = B->rowptr[row + 1];
    while (a < a_end || b < b_end) {
        int ca = a < a_end ? A->col[a] : INT_MAX, cb = b < b_end ? B->col[b] : INT_MAX;
        visit(to, t, row, ca < cb ? ca : cb, ca <= cb ? a : -1, cb <= ca ? b : -1);
        a += ca <= cb;
        b += cb <= ca;
    }
}

/* `visit` may count entries in *n. ends[i] receives the value of *n after row i; `ends` may be NULL. */
static bool walk(const struct pair *t, visit_both *visit, void *to, const int64_t *n, int *ends, struct watch *w,
                 struct err *e)
{
    int64_t rows = larger(t->A->rows, t->B->rows);
    for (int64_t i = 0; i < rows; i++) {
        walk_row(t, i, visit, to);
        if (ends) ends[i] = (int)*n;
        if (i % SLICE == 0 && !watch_tick(w, "diff", i, rows, e)) return false;
    }
    return true;
}

/* ---- values; elements that are not stored are 0 ---- */

struct value {
    double re, im;
};

static struct value value_at(const struct csr *A, int64_t k)
{
    return (struct value){k < 0 ? 0 : A->val[k], k < 0 || !A->imag ? 0 : A->imag[k]};
}

/* Two NaNs count as equal. */
static bool same(double x, double y)
{
    return x == y || (isnan(x) && isnan(y));
}

static long double gap(double x, double y)
{
    return same(x, y) ? 0 : (long double)x - y;
}

static bool equal(struct value x, struct value y)
{
    return same(x.re, y.re) && same(x.im, y.im);
}

/* ---- comparison ---- */

struct found {
    int64_t only_a, only_b, equal, different;
    long double largest, difference2, norm2; /* long double, because squares of doubles could overflow */
    int64_t row, col;                        /* position of the (first) largest difference; -1: none */
    struct value in_a, in_b;
};

static void count(void *to, const struct pair *t, int64_t row, int col, int64_t a, int64_t b)
{
    struct found *f = to;
    struct value x = value_at(t->A, a), y = value_at(t->B, b);
    bool eq = equal(x, y);
    f->only_a += b < 0;
    f->only_b += a < 0;
    f->equal += a >= 0 && b >= 0 && eq;
    f->different += a >= 0 && b >= 0 && !eq;
    f->norm2 += (long double)x.re * x.re + (long double)x.im * x.im;
    if (eq) return;
    long double re = gap(x.re, y.re), im = gap(x.im, y.im);
    long double d2 = re * re + im * im, d = sqrtl(d2);
    f->difference2 += d2;
    if (f->row >= 0 && !(d > f->largest || (isnan(d) && !isnan(f->largest)))) return;
    f->largest = d;
    f->row = row;
    f->col = col;
    f->in_a = x;
    f->in_b = y;
}

static double relative(const struct found *f)
{
    return f->difference2 == 0 ? 0 : (double)sqrtl(f->difference2 / f->norm2);
}

/* ---- A - B without the entries that are equal ---- */

struct filling {
    struct csr *to;
    int64_t n;
};

static void fill(void *to, const struct pair *t, int64_t row, int col, int64_t a, int64_t b)
{
    struct filling *f = to;
    struct value x = value_at(t->A, a), y = value_at(t->B, b);
    if (a >= 0 && b >= 0 && equal(x, y)) return;
    f->to->col[f->n] = col;
    f->to->val[f->n] = (double)gap(x.re, y.re);
    if (f->to->imag) f->to->imag[f->n] = (double)gap(x.im, y.im);
    f->n++;
}

static bool keep(struct session *s, const struct args *a, const struct matrix *A, const struct pair *t,
                 const struct found *f, struct err *e)
{
    struct csr D;
    struct filling to = {.to = &D};
    double begin = now_us();
    if (!csr_new(&D, larger(t->A->rows, t->B->rows), larger(t->A->cols, t->B->cols),
                 f->only_a + f->only_b + f->different, t->A->imag || t->B->imag, e))
        return false;
    bool ok = walk(t, fill, &to, &to.n, D.rowptr + 1, &s->watch, e);
    ok = ok && session_add_derived(s, arg(a, "as"), A, "diff", &D, NULL, now_us() - begin, e);
    csr_free(&D);
    return ok;
}

/* ---- the command ---- */

/* A value as the shortest text that reads back, with its imaginary part if it has one. */
static void out_parts(struct out *o, const char *key, const char *heading, const char *imag, struct value v, bool any)
{
    char text[2 * NUMBER_ROOM + 2];
    size_t n = number_print(v.re, text);
    if (v.im != 0) {
        if (!signbit(v.im)) text[n++] = '+';
        n += number_print(v.im, text + n);
        text[n++] = 'i';
    }
    text[n] = 0;
    if (heading && out_mode(o) == OUT_TEXT) out_str(o, NULL, heading, text);
    (any ? out_value : out_num)(o, key, NULL, any ? v.re : NAN, NULL);
    (any ? out_value : out_num)(o, imag, NULL, any ? v.im : NAN, NULL);
}

static void report_shape(struct out *o, const struct matrix *A, const struct matrix *B)
{
    char text[64];
    const struct matrix *m[] = {A, B};
    static const char *const keys[][4] = {{"a", "a_rows", "a_cols", "a_nnz"}, {"b", "b_rows", "b_cols", "b_nnz"}};
    for (int i = 0; i < COUNT(m); i++) {
        out_str(o, keys[i][0], i ? "B" : "A", m[i]->name);
        out_int(o, keys[i][1], NULL, m[i]->csr.rows);
        out_int(o, keys[i][2], NULL, m[i]->csr.cols);
        snprintf(text, sizeof text, "%lld x %lld", (long long)m[i]->csr.rows, (long long)m[i]->csr.cols);
        if (out_mode(o) == OUT_TEXT) out_str(o, NULL, "shape", text);
        out_int(o, keys[i][3], "nonzeros", m[i]->csr.nnz);
    }
    out_bool(o, "same_shape", NULL, A->csr.rows == B->csr.rows && A->csr.cols == B->csr.cols);
}

static const char *verdict(const struct found *f, bool shape)
{
    if (f->only_a || f->only_b) return f->different || f->difference2 != 0 ? "pattern and values" : "only the pattern";
    if (f->different) return "only values";
    return shape ? "nothing" : "only the shape";
}

static void report(struct out *o, const struct matrix *A, const struct matrix *B, const struct found *f)
{
    bool any = f->row >= 0, shape = A->csr.rows == B->csr.rows && A->csr.cols == B->csr.cols;
    out_record(o);
    report_shape(o, A, B);
    out_str(o, "differs", "what differs", verdict(f, shape));
    out_int(o, "only_a", "entries only in A", f->only_a);
    out_int(o, "only_b", "only in B", f->only_b);
    out_int(o, "equal", "in both, equal", f->equal);
    out_int(o, "different", "in both, not equal", f->different);
    out_value(o, "largest", "largest |a - b|", (double)f->largest, "%.6g");
    out_num(o, "row", any ? "in row" : NULL, any ? (double)f->row : NAN, "%.0f");
    out_num(o, "col", any ? "column" : NULL, any ? (double)f->col : NAN, "%.0f");
    out_parts(o, "a_value", any ? "where A has" : NULL, "a_imag", f->in_a, any);
    out_parts(o, "b_value", any ? "and B has" : NULL, "b_imag", f->in_b, any);
    out_value(o, "relative", "||A - B||_F / ||A||_F", relative(f), "%.6g");
}

static bool run_diff(struct session *s, const struct args *a, struct err *e)
{
    struct matrix *A = session_matrix(s, arg(a, "matrix"), e), *B = session_matrix(s, arg(a, "matrix2"), e);
    struct found f = {.row = -1, .col = -1};
    if (!A || !B) return false;
    struct pair t = {&A->csr, &B->csr};
    if (!walk(&t, count, &f, NULL, NULL, &s->watch, e)) return false;
    if (arg(a, "as") && !keep(s, a, A, &t, &f, e)) return false;
    report(s->out, A, B, &f);
    return true;
}

/* ---- the keys of the rows ---- */

static const struct field diff_fields[] = {
    {"a", F_TEXT, "name of the first matrix"},
    {"a_rows", F_COUNT, "its rows"},
    {"a_cols", F_COUNT, "its columns"},
    {"a_nnz", F_COUNT, "its stored entries"},
    {"b", F_TEXT, "name of the second matrix"},
    {"b_rows", F_COUNT, "its rows"},
    {"b_cols", F_COUNT, "its columns"},
    {"b_nnz", F_COUNT, "its stored entries"},
    {"same_shape", F_BOOLEAN, "whether both matrices have the same numbers of rows and columns"},
    {"differs", F_TEXT, "what differs",
     .words = "nothing, the shape alone, the pattern alone, values alone, pattern and values"},
    {"only_a", F_COUNT, "entries that only the first has"},
    {"only_b", F_COUNT, "entries that only the second has"},
    {"equal", F_COUNT, "entries of both with equal values"},
    {"different", F_COUNT, "entries of both with different values"},
    {"largest", F_AMOUNT | OR_NAN, "largest |a - b|; null where it is not a number"},
    {"row", F_COUNT | OR_NULL, "row of the largest difference, counted from 0; null where there is none"},
    {"col", F_COUNT | OR_NULL, "its column, counted from 0; null where there is none"},
    {"a_value", F_NUMBER | OR_NAN | OR_NULL,
     "value of the first matrix at this position, 0 if it has no entry there; a word if NaN or inf; null: no "
     "difference"},
    {"a_imag", F_NUMBER | OR_NAN | OR_NULL, "imaginary part of that value; a word if NaN or inf; null: no difference"},
    {"b_value", F_NUMBER | OR_NAN | OR_NULL,
     "value of the second matrix at this position, 0 if it has no entry there; a word if NaN or inf; null: no "
     "difference"},
    {"b_imag", F_NUMBER | OR_NAN | OR_NULL, "imaginary part of that value; a word if NaN or inf; null: no difference"},
    {"relative", F_AMOUNT | OR_NAN, "||A - B||_F / ||A||_F; null where it is not a number"},
    {0},
};
static const struct row_kind row_diff = {"diff", "two matrices compared", diff_fields};

const struct command command_diff = {
    .name = "diff",
    .grammar = "MATRIX MATRIX [as NAME]",
    .about = "compare two matrices, entry by entry",
    .help = "Counts entries that only one matrix has, and entries that both have with equal or different values (two\n"
            "NaNs are equal, and so are 0 and -0). Shows the largest difference, its row and column, counted from 0,\n"
            "and both values there, and the Frobenius norm of the difference. Elements that are not stored count as\n"
            "0, including those in rows and columns that the smaller matrix lacks. With `as`, the difference A - B,\n"
            "without the entries that are equal, becomes the current matrix: `spy` then draws where A and B differ.\n"
            "    diff A B; diff A B as D; spy",
    .rows = (const struct row_kind *const[]){&row_diff, NULL},
    .run = run_diff,
    .sweeps = true,
};
