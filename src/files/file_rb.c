/* Rutherford-Boeing and Harwell-Boeing files: lines with fields in fixed columns, as Fortran writes them. Reading does
   not depend on the locale. Formats: Duff, Grimes, Lewis, "Users' guide for the Harwell-Boeing sparse matrix
   collection", TR/PA/92/86, 1992, and "The Rutherford-Boeing sparse matrix collection", RAL-TR-97-031, 1997. The second
   is the first without right sides, which are in auxiliary files instead. */
#include <stdio.h>

#include "base/err.h"
#include "base/loop.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "rb.h"

#include <string.h>

enum { TYPE_LINE = 14 }; /* columns of the type, after which the sizes begin */

/* ---- the header ---- */

static bool known_type(const char *p)
{
    return strchr("RCPIQ", rb_upper(p[0])) && strchr("SUHZR", rb_upper(p[1])) && strchr("AE", rb_upper(p[2]));
}

/* The number of line counts in the second line of a file with a matrix; 0 if this is no such file. */
static int line_counts(const char *begin, int64_t n)
{
    int64_t v[HEAD_NUMBERS];
    const char *end = begin + n, *second = next_line(line_end(begin, end), end), *stop = line_end(second, end);
    const char *third = next_line(stop, end), *last = line_end(third, end);
    int counts = rb_integers(second, stop, v, HEAD_NUMBERS);
    if (last == end || last - third < TYPE_LINE || memchr(begin, 0, (size_t)n) || counts < 4) return 0;
    bool matrix =
        third[0] && third[1] && third[2] && known_type(third) && rb_integers(third + 3, last, v, HEAD_NUMBERS) >= 3;
    return matrix ? counts : 0;
}

static bool recognises(const char *begin, int64_t n)
{
    return line_counts(begin, n) == 4 || auxiliary_recognises(begin, begin + n);
}

static bool recognises_harwell(const char *begin, int64_t n)
{
    return line_counts(begin, n) == HEAD_NUMBERS;
}

/* The last format is that of the right sides, if there are any. A pattern needs no format of values, but some files
   state one. */
static bool read_formats(struct rb *r, bool sides, struct err *e)
{
    static const char of_values[] = "the format of the values, such as (5E16.8)";
    static const char of_sides[] = "the format of the right sides, such as (5E16.8)";
    if (!rb_line(r, "the formats of the numbers", e)) return false;
    const char *p = r->line;
    if (!rb_format(r, &p, "the format of the pointers, such as (26I3)", &r->ptr, e) ||
        !rb_format(r, &p, "the format of the indices, such as (26I3)", &r->idx, e))
        return false;
    if (r->type[0] != 'P' && !rb_format(r, &p, of_values, &r->val, e)) return false;
    if (!sides) return true;
    if (!rb_format(r, &p, of_sides, &r->rhs, e)) return false;
    bool more = r->type[0] == 'P' && memchr(p, '(', (size_t)(r->line_end - p));
    return !more || rb_format(r, &p, of_sides, &r->rhs, e);
}

static bool one_of(char c, const char *letters)
{
    return c && strchr(letters, c);
}

/* The line on right sides: F (dense) or M (like the matrix), G (with guesses), X (with solutions); their number; and
   the number of entries if they are like the matrix. */
static bool read_sides_line(struct rb *r, struct err *e)
{
    enum { LETTERS = 3 };
    int64_t v[2] = {0};
    if (!rb_line(r, "the line on right sides", e)) return false;
    for (int i = 0; i < LETTERS; i++) r->rhs_type[i] = r->line + i < r->line_end ? rb_upper(r->line[i]) : ' ';
    bool known = one_of(r->rhs_type[0], "FM") && one_of(r->rhs_type[1], " GN") && one_of(r->rhs_type[2], " XN");
    if (!known || r->line_end - r->line < LETTERS || rb_integers(r->line + LETTERS, r->line_end, v, 2) < 1 ||
        v[0] < 0 || v[1] < 0)
        return rb_bad(r, e, "the type and number of right sides, such as FGX 1 0", r->line, r->line_end);
    r->rhs_n = v[0];
    r->rhs_entries = v[1];
    return true;
}

static bool read_head(struct rb *r, struct err *e)
{
    if (!rb_line(r, "a title", e) || !rb_line(r, "counts of lines", e)) return false;
    int counts = rb_integers(r->line, r->line_end, r->lines_of, HEAD_NUMBERS);
    if (counts < 4) return rb_bad(r, e, "4 or 5 counts of lines", r->line, r->line_end);
    if (!rb_line(r, "type and sizes", e)) return false;
    if (r->line_end - r->line < TYPE_LINE || !known_type(r->line))
        return rb_bad(r, e, "a type such as RUA, and sizes", r->line, r->line_end);
    for (int i = 0; i < 3; i++) r->type[i] = rb_upper(r->line[i]);
    if (rb_integers(r->line + 3, r->line_end, r->size, HEAD_NUMBERS) < 3)
        return rb_bad(r, e, "rows, columns and entries", r->line, r->line_end);
    if (r->type[0] == 'Q' || (r->type[1] == 'R' && r->type[2] == 'E'))
        return rb_bad(r, e, "a matrix of real, complex, integer or no values; its elements must be square", r->line,
                      r->line + 3);
    bool sides = counts == HEAD_NUMBERS && r->lines_of[RHS_LINES] > 0;
    return read_formats(r, sides, e) && (!sides || read_sides_line(r, e));
}

/* ---- the matrix ---- */

static void set_ones(struct csr *C)
{
    struct loop l = loop_of("values", C->nnz);
    for (int64_t k = 0; k < C->nnz && loop_goes(&l, k); k++) C->val[k] = 1;
}

static bool read_assembled(struct rb *r, struct csr *C, struct err *e)
{
    int64_t rows = r->size[ROWS], cols = r->size[COLS], n = r->size[ENTRIES];
    bool pattern = r->type[0] == 'P', pairs = rb_complex(r);
    int64_t numbers = cols + 1 + n * (pattern ? 1 : pairs ? 3 : 2);
    if (!file_sizes(r->s, rows, cols, n, e) || !rb_enough_bytes(r, numbers, 1, false, e) ||
        !csr_new(C, cols, rows, n, pairs, e) || !rb_indices(r, &r->ptr, "a column pointer", cols + 1, C->rowptr, e) ||
        !rb_indices(r, &r->idx, "a row index", n, C->col, e))
        return false;
    if (pattern) set_ones(C);
    return (pattern || rb_values(r, &r->val, n, C->val, C->imag, e)) &&
           (C->rowptr[cols] == n || file_bad(r->s, e, "the column pointers end with %lld instead of %lld",
                                             (long long)C->rowptr[cols] + 1, (long long)n + 1));
}

static enum mirrored mirrored_of(char symmetry)
{
    return symmetry == 'S'   ? MIRROR_SYMMETRIC
           : symmetry == 'Z' ? MIRROR_SKEW
           : symmetry == 'H' ? MIRROR_HERMITIAN
                             : MIRROR_NOT;
}

/* What a file contains, before it becomes a matrix with right sides. */
struct content {
    struct csr C; /* by columns */
    struct elements elements;
    struct vectors vectors;
};

static void content_free(struct content *c)
{
    csr_free(&c->C);
    elements_free(&c->elements);
    vectors_free(&c->vectors);
}

static bool read_content(struct rb *r, struct content *c, struct err *e)
{
    bool assembled = r->type[2] == 'A';
    return (assembled ? read_assembled(r, &c->C, e) : elements_read(&c->elements, r, &c->C, e)) &&
           (!r->rhs_n || rb_read_sides(r, assembled ? NULL : &c->elements, &c->vectors, e));
}

static bool finish(struct rb *r, struct content *c, struct csr *A, struct load_info *info, struct err *e)
{
    enum mirrored mirrored = mirrored_of(r->type[1]);
    bool assembled = r->type[2] == 'A';
    snprintf(info->field, sizeof info->field, "%s", rb_field(r));
    if (!file_finish(r->s, &c->C, true, assembled ? mirrored : MIRROR_NOT, r->watch, A, info, e)) return false;
    if (!assembled) {
        if (r->type[0] == 'P') set_ones(A);
        snprintf(info->symmetry, sizeof info->symmetry, "%s", mirrored_word(mirrored));
        elements_describe(&c->elements, info);
    }
    rb_note_blanks(r, info);
    if (vectors_finish(&c->vectors, r->s->sides, A, info, e)) return true;
    csr_free(A);
    return false;
}

static bool load_matrix(struct rb *r, struct csr *A, struct load_info *info, struct err *e)
{
    struct content c = {0};
    bool ok = read_head(r, e) && read_content(r, &c, e) && finish(r, &c, A, info, e);
    content_free(&c);
    return ok;
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct rb r;
    bool vectors = auxiliary_recognises(s->begin, s->begin + s->n);
    bool ok = rb_open(&r, s, w, e) && (vectors ? auxiliary_load : load_matrix)(&r, A, info, e);
    rb_close(&r);
    return ok;
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    return rb_save(path, force, A, NULL, false, load_info_is_pattern(info) && values_are_ones(A), comment, w, e);
}

static bool save_harwell(const char *path, bool force, const struct csr *A, const struct sides *sides,
                         const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    return rb_save(path, force, A, sides, true, load_info_is_pattern(info) && values_are_ones(A), comment, w, e);
}

const struct file_kind file_rb = {
    .name = "Rutherford-Boeing",
    .endings = ".rb",
    .about = "Rutherford-Boeing",
    .packed = true,
    .recognises = recognises,
    .load = load,
    .save = save,
};

const struct file_kind file_hb = {
    .name = "Harwell-Boeing",
    .endings = ".hb .rsa .rua .psa .pua",
    .about = "Harwell-Boeing",
    .packed = true,
    .recognises = recognises_harwell,
    .load = load,
    .save = save_harwell,
    .saves_sides = true,
    .saves_guesses = true,
};
