/* The right sides of Harwell-Boeing files, which follow the matrix: right sides, which are dense or stored like the
   matrix; then, if the file has them, guesses of the solutions; then the solutions. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "file.h"
#include "rb.h"

/* How the dense arrays are stored. The format's guide says: each array has as many rows as the matrix, and a column
   does not begin on a new line. Some programs write otherwise, which the number of lines shows. */
struct layout {
    int64_t x_rows; /* rows of a guess or solution */
    bool new_lines; /* each column begins on a new line */
};

static int64_t lines_needed(const struct format *f, int64_t n)
{
    int64_t first = format_fields(f, 0), again = format_fields(f, f->again);
    return n <= 0 ? 0 : n <= first ? 1 : 1 + (n - first + again - 1) / again;
}

static int64_t lines_of_array(const struct rb *r, int64_t rows, bool new_lines)
{
    int64_t each = rows * (rb_complex(r) ? 2 : 1);
    return new_lines ? r->rhs_n * lines_needed(&r->rhs, each) : lines_needed(&r->rhs, r->rhs_n * each);
}

static bool is_dense(const struct rb *r)
{
    return r->rhs_type[0] == 'F';
}

/* The number of guesses and solutions of each right side. */
static int arrays_of_x(const struct rb *r)
{
    return (r->rhs_type[1] == 'G') + (r->rhs_type[2] == 'X');
}

static struct layout layout_of(const struct rb *r)
{
    struct layout usual = {.x_rows = r->size[ROWS]};
    int64_t x_rows[] = {r->size[ROWS], r->type[2] == 'E' ? r->size[ROWS] : r->size[COLS]};
    if (!is_dense(r)) return usual;
    for (int i = 0; i < 4; i++) {
        struct layout a = {x_rows[i / 2], i % 2};
        int64_t lines =
            lines_of_array(r, r->size[ROWS], a.new_lines) + arrays_of_x(r) * lines_of_array(r, a.x_rows, a.new_lines);
        if (lines == r->lines_of[RHS_LINES]) return a;
    }
    return usual;
}

/* Check the size of an array before memory is allocated for it. */
static bool new_array(struct rb *r, int64_t rows, struct dense_array *d, struct err *e)
{
    int64_t n;
    if (__builtin_mul_overflow(rows, r->rhs_n, &n)) n = INT64_MAX;
    return file_sizes(r->s, rows, r->rhs_n, n, e) && dense_array_new(d, rows, r->rhs_n, rb_complex(r), e);
}

static bool read_dense(struct rb *r, int64_t rows, bool new_lines, struct dense_array *d, struct err *e)
{
    if (!rb_enough_bytes(r, rows, r->rhs_n, rb_complex(r), e) || !new_array(r, rows, d, e)) return false;
    if (!new_lines) return rb_values(r, &r->rhs, rows * r->rhs_n, d->val, d->imag, e);
    for (int64_t c = 0; c < d->cols; c++)
        if (!rb_values(r, &r->rhs, rows, d->val + c * rows, d->imag ? d->imag + c * rows : NULL, e)) return false;
    return true;
}

/* ---- right sides that are stored like the matrix ---- */

static bool clear(struct dense_array *d, struct err *e)
{
    int64_t bytes = d->rows * d->cols * (int64_t)sizeof *d->val;
    return loop_zero(d->val, bytes, "the right sides", e) &&
           (!d->imag || loop_zero(d->imag, bytes, "the right sides", e));
}

static bool add_value(struct rb *r, struct dense_array *d, int64_t at, struct err *e)
{
    double re, im = 0;
    if (!rb_value(r, &re, e) || (d->imag && !rb_value(r, &im, e))) return false;
    d->val[at] += re;
    if (d->imag) d->imag[at] += im;
    return true;
}

static bool check_sparse(const struct rb *r, const int *start, const int *row, struct err *e)
{
    for (int64_t c = 0; c < r->rhs_n; c++)
        if (start[0] || start[c + 1] < start[c] || start[r->rhs_n] != r->rhs_entries)
            return file_bad(r->s, e, "the pointers of the right sides must rise from 1 to %lld",
                            (long long)r->rhs_entries + 1);
    struct loop l = loop_of("", r->rhs_entries);
    for (int64_t k = 0; k < r->rhs_entries && loop_goes(&l, k); k++)
        if (row[k] >= r->size[ROWS])
            return file_bad(r->s, e, "row %d of a right side is outside 1 .. %lld", row[k] + 1,
                            (long long)r->size[ROWS]);
    return loop_end(&l, e);
}

static bool fill_sparse(struct rb *r, int *start, int *row, struct dense_array *d, struct err *e)
{
    if (!rb_indices(r, &r->ptr, "a pointer of a right side", r->rhs_n + 1, start, e) ||
        !rb_indices(r, &r->idx, "a row of a right side", r->rhs_entries, row, e) || !check_sparse(r, start, row, e))
        return false;
    rb_begin(r, &r->rhs, r->rhs_entries * (d->imag ? 2 : 1));
    struct loop l = loop_of("", r->rhs_entries);
    for (int64_t c = 0; c < r->rhs_n && loop_runs(&l); c++)
        for (int k = start[c]; k < start[c + 1] && loop_goes(&l, k); k++)
            if (!add_value(r, d, c * d->rows + row[k], e)) return false;
    return loop_end(&l, e);
}

static bool read_sparse(struct rb *r, struct dense_array *d, struct err *e)
{
    int64_t n = r->rhs_entries;
    if (!file_sizes(r->s, r->rhs_n, r->size[ROWS], n, e) || !rb_enough_bytes(r, r->rhs_n + 1 + 2 * n, 1, false, e))
        return false;
    int *start = mem_new(r->rhs_n + 1, sizeof *start, "the right sides of the file", e);
    int *row = mem_new(n, sizeof *row, "the right sides of the file", e);
    bool ok = start && row && fill_sparse(r, start, row, d, e);
    mem_free(start);
    mem_free(row);
    return ok;
}

/* A value for each variable of each element. */
static bool read_unassembled(struct rb *r, const struct elements *t, struct dense_array *d, struct err *e)
{
    int64_t n = r->size[ENTRIES];
    if (!rb_enough_bytes(r, n, r->rhs_n, d->imag, e)) return false;
    rb_begin(r, &r->rhs, n * r->rhs_n * (d->imag ? 2 : 1));
    struct loop l = loop_of("", n);
    for (int64_t c = 0; c < r->rhs_n && loop_runs(&l); c++)
        for (int64_t k = 0; k < n && loop_goes(&l, k); k++)
            if (!add_value(r, d, c * d->rows + t->variable[k], e)) return false;
    return loop_end(&l, e);
}

static bool read_like_matrix(struct rb *r, const struct elements *t, struct dense_array *d, struct err *e)
{
    if (!new_array(r, r->size[ROWS], d, e) || !clear(d, e)) return false;
    return t ? read_unassembled(r, t, d, e) : read_sparse(r, d, e);
}

/* ---- the file ---- */

bool rb_read_sides(struct rb *r, const struct elements *elements, struct vectors *v, struct err *e)
{
    struct layout a = layout_of(r);
    return (is_dense(r) ? read_dense(r, r->size[ROWS], a.new_lines, &v->b, e)
                        : read_like_matrix(r, elements, &v->b, e)) &&
           (r->rhs_type[1] != 'G' || read_dense(r, a.x_rows, a.new_lines, &v->guess, e)) &&
           (r->rhs_type[2] != 'X' || read_dense(r, a.x_rows, a.new_lines, &v->x, e));
}

bool vectors_finish(const struct vectors *v, struct sides *t, const struct csr *A, struct load_info *info,
                    struct err *e)
{
    if (!sides_fill(t, A, &v->b, &v->x, info, e) || !sides_add_guess(t, A, &v->guess, info, e)) return false;
    if (t->guess) file_note(info, "%s of the solution: `solve x0 given` starts from it", how_many(t->n, "guess").text);
    return true;
}

void vectors_free(struct vectors *v)
{
    dense_array_free(&v->b);
    dense_array_free(&v->guess);
    dense_array_free(&v->x);
}
