/* Right sides and solutions from files: do they fit their matrix? */
#include "sides.h"
#include "base/mem.h"
#include "file.h"
#include "matrix/csr.h"

void sides_free(struct sides *t)
{
    mem_free(t->b);
    mem_free(t->x);
    mem_free(t->guess);
    *t = (struct sides){0};
}

const double *sides_b(const struct sides *t, int64_t i)
{
    return t->b && i < t->n ? t->b + i * t->b_each : NULL;
}

const double *sides_x(const struct sides *t, int64_t i)
{
    return t->x && i < t->n ? t->x + i * t->x_each : NULL;
}

const double *sides_guess(const struct sides *t, int64_t i)
{
    return t->guess && i < t->n ? t->guess + i * t->x_each : NULL;
}

int64_t sides_memory(const struct sides *t)
{
    return t->n * (int64_t)sizeof *t->b * (t->b_each + t->x_each * ((t->x != NULL) + (t->guess != NULL)));
}

struct sides sides_of_columns(const struct csr *A, int64_t n, double *b)
{
    int64_t parts = A->imag ? 2 : 1;
    return (struct sides){.n = n, .b_each = A->rows * parts, .x_each = A->cols * parts, .b = b};
}

/* ---- dense arrays ---- */

bool dense_array_new(struct dense_array *d, int64_t rows, int64_t cols, bool complex_values, struct err *e)
{
    int64_t n;
    *d = (struct dense_array){.rows = rows, .cols = cols};
    if (__builtin_mul_overflow(rows, cols, &n)) n = INT64_MAX / (int64_t)sizeof *d->val; /* more than any memory */
    d->val = mem_new(n, sizeof *d->val, "the right sides of the file", e);
    if (d->val && complex_values) d->imag = mem_new(n, sizeof *d->imag, "the right sides of the file", e);
    if (d->val && (d->imag || !complex_values)) return true;
    dense_array_free(d);
    return false;
}

void dense_array_free(struct dense_array *d)
{
    mem_free(d->val);
    mem_free(d->imag);
    *d = (struct dense_array){0};
}

/* A row vector stands for a column: its numbers are the same. */
static int64_t rows_of(const struct dense_array *d, int64_t needed)
{
    return d->rows == 1 && d->cols == needed ? needed : d->rows;
}

static int64_t cols_of(const struct dense_array *d, int64_t needed)
{
    return rows_of(d, needed) == d->rows ? d->cols : 1;
}

static bool has_imaginary(const struct dense_array *d)
{
    for (int64_t i = 0; d->imag && i < d->rows * d->cols; i++)
        if (!(d->imag[i] == 0)) return true;
    return false;
}

static void note_not_finite(const char *name, const struct dense_array *d, struct load_info *info)
{
    int64_t n = d->rows * d->cols, at = first_not_finite(n, d->val);
    int64_t im = d->imag ? first_not_finite(n, d->imag) : n;
    if (im < at) at = im;
    if (at < n)
        file_note(info, "the first inf or nan of %s is in row %lld, column %lld (counted from 0)", name,
                  (long long)(at % d->rows), (long long)(at / d->rows));
}

/* Does the array have `rows` rows and, unless cols is 0, `cols` columns of numbers that A can have? */
static bool fits(const char *name, const struct dense_array *d, const struct csr *A, int64_t rows, int64_t cols,
                 struct load_info *info)
{
    if (!d->val) return false;
    int64_t has = cols_of(d, rows);
    if (rows_of(d, rows) != rows || has < 1 || (cols && has != cols)) {
        file_note(info, "%s is %lld x %lld, but a %s of this matrix has %lld rows%s: %s was left out", name,
                  (long long)d->rows, (long long)d->cols, cols ? "solution" : "right side", (long long)rows,
                  cols && has != cols ? " and as many columns as b" : "", name);
        return false;
    }
    if (!A->imag && has_imaginary(d)) {
        file_note(info, "%s is complex, but the matrix is real: %s was left out", name, name);
        return false;
    }
    note_not_finite(name, d, info);
    return true;
}

static double *numbers_of(const struct dense_array *d, bool pairs, struct err *e)
{
    int64_t n = d->rows * d->cols;
    double *to = mem_new(n * (pairs ? 2 : 1), sizeof *to, "the right sides of the file", e);
    for (int64_t i = 0; to && i < n; i++) {
        to[pairs ? 2 * i : i] = d->val[i];
        if (pairs) to[2 * i + 1] = d->imag ? d->imag[i] : 0;
    }
    return to;
}

bool sides_fill(struct sides *t, const struct csr *A, const struct dense_array *b, const struct dense_array *x,
                struct load_info *info, struct err *e)
{
    bool pairs = A->imag;
    *t = sides_of_columns(A, 0, NULL);
    if (!fits("b", b, A, A->rows, 0, info)) return true;
    t->n = cols_of(b, A->rows);
    t->b = numbers_of(b, pairs, e);
    bool solved = t->b && fits("x", x, A, A->cols, t->n, info);
    if (solved) t->x = numbers_of(x, pairs, e);
    if (t->b && (t->x || !solved)) return true;
    sides_free(t);
    return false;
}

bool sides_add_guess(struct sides *t, const struct csr *A, const struct dense_array *guess, struct load_info *info,
                     struct err *e)
{
    if (!t->n || !fits("the guess", guess, A, A->cols, t->n, info)) return true;
    t->guess = numbers_of(guess, A->imag, e);
    if (t->guess) return true;
    sides_free(t);
    return false;
}
