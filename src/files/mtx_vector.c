/* Read vectors from a file of plain numbers, or as the columns of a matrix from a file of any kind, such as Matrix
   Market or an auxiliary file of Rutherford-Boeing. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/stream.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "matrix_market.h"
#include "mtx.h"

#include <string.h>

enum { VECTOR_BLOCK = 1 << 16 };

/* Load an array whose columns are vectors of n elements. `most` is the largest number of columns; 0: any. */
static bool load_columns_of_matrix(const char *path, int64_t n, int parts, int64_t most, struct csr *A, struct err *e)
{
    char where[PATH_LINE];
    struct load_info info;
    if (!file_load(path, NULL, NULL, A, &info, e)) return false;
    print_safe(path, strlen(path), 200, where, sizeof where);
    if (!load_info_holds_sides(&info))
        fail_at(e, E_INPUT, where, "this is no right side or solution of A x = b, but the file says: %s",
                info.nwarnings ? info.warning[0] : info.object);
    else if (A->imag && parts == 1)
        fail_at(e, E_UNSUPPORTED, where, "the vector is complex, but must be real");
    else if (A->rows != n || A->cols < 1 || (most && A->cols > most))
        fail_at(e, E_INPUT, where, "the vector is %lld x %lld, but the system needs %lld x 1%s", (long long)A->rows,
                (long long)A->cols, (long long)n, most ? "" : ", or one column for each right side");
    else
        return true;
    csr_free(A);
    return false;
}

/* Store the columns of A one after another in x. parts: 1 for real numbers, 2 for pairs of a real and an imaginary
   part. */
static void fill_columns(const struct csr *A, int parts, double *x)
{
    memset(x, 0, (size_t)(A->rows * A->cols * parts) * sizeof *x);
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) {
            int64_t at = parts * (A->col[k] * A->rows + i);
            x[at] = A->val[k];
            if (parts == 2) x[at + 1] = A->imag ? A->imag[k] : 0;
        }
}

static bool vector_of_matrix(const char *path, int64_t n, int parts, double *x, struct err *e)
{
    struct csr A;
    if (!load_columns_of_matrix(path, n, parts, 1, &A, e)) return false;
    fill_columns(&A, parts, x);
    csr_free(&A);
    return true;
}

static bool columns_of_matrix(const char *path, int64_t n, int parts, double **x, int64_t *columns, struct err *e)
{
    struct csr A;
    int64_t numbers;
    if (!load_columns_of_matrix(path, n, parts, 0, &A, e)) return false;
    bool fits = !__builtin_mul_overflow(n * parts, A.cols, &numbers);
    *columns = A.cols;
    *x = mem_new(fits ? numbers : INT64_MAX / (int64_t)sizeof **x, sizeof **x, "the right sides", e);
    if (*x) fill_columns(&A, parts, *x);
    csr_free(&A);
    return *x != NULL;
}

static const char *skip_remark(const char *p, const char *end)
{
    p = skip_blanks(p);
    return *p == '%' || *p == '#' ? line_end(p, end) : p;
}

struct numbers {
    const char *path;
    int64_t n, found, line;
    double *x;
};

/* Read all numbers on one line. */
static bool take_numbers(struct numbers *v, const char *p, const char *eol, struct err *e)
{
    char where[PATH_LINE], quote[QUOTE];
    unsigned how;
    double value;
    path_line(v->path, v->line, where);
    for (p = skip_remark(p, eol); p < eol; p = skip_remark(p, eol)) {
        const char *after = number_parse(p, eol, &value, &how);
        if (!after || !(ends_token(*after) || *after == '#'))
            return fail_at(e, E_INPUT, where, "this is neither a number nor a Matrix Market banner: \"%s\"%s",
                           quoted(p, skip_token(p), quote), comment_advice(p, skip_token(p)));
        if (v->found == v->n)
            return fail_at(e, E_INPUT, where, "the file holds more than %lld numbers", (long long)v->n);
        v->x[v->found++] = value;
        p = after;
    }
    return true;
}

static bool take_block(struct numbers *v, const struct text *t, struct err *e)
{
    const char *p = t->s, *end = t->s + t->n;
    while (p < end) {
        const char *eol = line_end(p, end);
        v->line++;
        if (!take_numbers(v, p, eol, e)) return false;
        p = next_line(eol, end);
    }
    return true;
}

/* Does the text begin like a Matrix Market file, valid or not? */
static bool has_banner(const struct text *t)
{
    const char *p = t->s;
    if (t->n >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) return true;
    while (p < t->s + t->n && (is_blank(*p) || is_eol(*p))) p++;
    return p == t->s + t->n || *p == '%' || foreign_kind(p, t->s + t->n - p);
}

static bool vector_of_numbers(struct lines *l, struct numbers *v, bool *banner, struct err *e)
{
    char where[PATH_LINE];
    struct text t = {0};
    bool ok = lines_next(l, &t, e);
    *banner = ok && (has_banner(&t) || file_is_recognised(t.s, t.n < FILE_BEGIN ? t.n : FILE_BEGIN));
    while (ok && !*banner && t.n)
        ok = take_block(v, &t, e) && (l->streamed_at_entry = l->streamed, lines_next(l, &t, e));
    text_free(&t);
    return ok && (*banner || v->found == v->n ||
                  fail_at(e, E_INPUT, path_line(v->path, v->line ? v->line : 1, where),
                          "the file ends after %lld of %lld numbers", (long long)v->found, (long long)v->n));
}

/* Read n * parts plain numbers. *banner: the file contains a matrix instead. */
static bool load_numbers(const char *path, int64_t n, int parts, double *x, bool *banner, struct err *e)
{
    struct lines lines = {.stream = stream_open(path, e), .block = VECTOR_BLOCK};
    struct numbers v = {.path = path, .n = parts * n, .x = x};
    *banner = false;
    bool ok = lines.stream && vector_of_numbers(&lines, &v, banner, e);
    stream_close(lines.stream);
    lines_free(&lines);
    return ok;
}

/* ---- vectors in files of other kinds ---- */

static bool array_fits(const char *path, const struct dense_array *d, int64_t n, int parts, int64_t most, struct err *e)
{
    char where[PATH_LINE];
    print_safe(path, strlen(path), 200, where, sizeof where);
    if (d->imag && parts == 1) return fail_at(e, E_UNSUPPORTED, where, "the vector is complex, but must be real");
    return (d->rows == n && d->cols > 0 && (!most || d->cols <= most)) ||
           fail_at(e, E_INPUT, where, "the vector is %lld x %lld, but the system needs %lld x 1%s", (long long)d->rows,
                   (long long)d->cols, (long long)n, most ? "" : ", or one column for each right side");
}

static bool copy_array(const struct dense_array *d, int parts, double *x, struct err *e)
{
    struct loop l = loop_of("copying the vectors", d->rows * d->cols);
    for (int64_t i = 0; i < d->rows * d->cols && loop_goes(&l, i); i++) {
        x[parts * i] = d->val[i];
        if (parts == 2) x[2 * i + 1] = d->imag ? d->imag[i] : 0;
    }
    return loop_end(&l, e);
}

/* The vectors of a file whose kind has vectors. *found: the file is of such a kind. *x is NULL: allocate it. */
static bool load_other(const char *path, int64_t n, int parts, int64_t most, bool *found, double **x, int64_t *columns,
                       struct err *e)
{
    struct dense_array d;
    *found = false;
    if (!file_load_array(path, &d, e)) return false;
    if (!d.val) return true;
    *found = true;
    bool ok = array_fits(path, &d, n, parts, most, e);
    double *made = ok && !*x ? mem_new(n * d.cols * parts, sizeof **x, "the right sides", e) : NULL;
    if (made) *x = made;
    ok = ok && *x && copy_array(&d, parts, *x, e);
    if (!ok && made) {
        mem_free(made);
        *x = NULL;
    }
    *columns = d.cols;
    dense_array_free(&d);
    return ok;
}

static bool load_vector(const char *path, int64_t n, int parts, double *x, struct err *e)
{
    bool banner, found;
    int64_t columns;
    bool ok = load_other(path, n, parts, 1, &found, &x, &columns, e);
    if (!ok || found) return ok;
    return load_numbers(path, n, parts, x, &banner, e) && (!banner || vector_of_matrix(path, n, parts, x, e));
}

bool mtx_load_columns(const char *path, int64_t n, bool pairs, double **x, int64_t *columns, struct err *e)
{
    bool banner, found;
    int parts = pairs ? 2 : 1;
    *x = NULL;
    if (!load_other(path, n, parts, 0, &found, x, columns, e) || found) return *x;
    *columns = 1;
    if (!(*x = mem_new(parts * n, sizeof **x, "the right side", e))) return false;
    bool ok = load_numbers(path, n, parts, *x, &banner, e);
    if (ok && !banner) return true;
    mem_free(*x);
    *x = NULL;
    return ok && columns_of_matrix(path, n, parts, x, columns, e);
}

bool columns_load(const char *path, double **x, int64_t *rows, int64_t *columns, struct err *e)
{
    struct csr A;
    struct dense_array d;
    if (!file_load_array(path, &d, e)) return false;
    if (d.val) {
        *rows = d.rows;
        *columns = d.cols;
        *x = d.imag ? NULL : d.val;
        if (*x) return true;
        dense_array_free(&d);
        return fail(e, E_UNSUPPORTED, "%s: the numbers are complex, but must be real", path);
    }
    if (!mtx_load(path, NULL, &A, NULL, e)) return false;
    *rows = A.rows;
    *columns = A.cols;
    *x = A.imag ? NULL : mem_new(A.rows * A.cols, sizeof **x, "the array of a file", e);
    if (A.imag) fail(e, E_UNSUPPORTED, "%s: the numbers are complex, but must be real", path);
    if (*x) fill_columns(&A, 1, *x);
    csr_free(&A);
    return *x != NULL;
}

bool mtx_load_vector(const char *path, int64_t n, double *x, struct err *e)
{
    return load_vector(path, n, 1, x, e);
}

bool mtx_load_complex_vector(const char *path, int64_t n, double *x, struct err *e)
{
    return load_vector(path, n, 2, x, e);
}
