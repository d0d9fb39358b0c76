/* Rutherford-Boeing's auxiliary files: right sides, solutions and other vectors of a matrix, in a file of their own.
   The second line states what they are, e.g.

       rhsrd FULL_R2  r             5             2            10

   which says: right sides of A x = b (l: of x' A = b'), dense (s: sparse), a name, real, and rows, columns and numbers.
   Source: Duff, Grimes, Lewis, RAL-TR-97-031, 1997. */
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "rb.h"

#include <stdio.h>
#include <string.h>

enum { KIND = 3, SIDE = 3, STORAGE = 4, NUMBERS = 15, SIZES = 3 };

static const struct meaning {
    const char *word, *plural;
} meanings[] = {
    {"RHS", "right sides"},      {"SLN", "solutions"},       {"EST", "guesses of the solution"},
    {"EVL", "eigenvalues"},      {"SVL", "singular values"}, {"EVC", "eigenvectors"},
    {"SVC", "singular vectors"}, {"ORD", "orderings"},       {"GEO", "coordinates"},
};

static const struct meaning *meaning_of(const char *line)
{
    const char word[] = {rb_upper(line[0]), rb_upper(line[1]), rb_upper(line[2]), 0};
    for (int i = 0; i < COUNT(meanings); i++)
        if (!strcmp(meanings[i].word, word)) return &meanings[i];
    return NULL;
}

bool auxiliary_recognises(const char *begin, const char *end)
{
    int64_t v[SIZES];
    const char *second = next_line(line_end(begin, end), end), *stop = line_end(second, end);
    const char *third = next_line(stop, end);
    return stop - second > NUMBERS + 1 && meaning_of(second) && strchr("RCI", rb_upper(second[NUMBERS])) &&
           second[NUMBERS] && rb_integers(second + NUMBERS + 1, stop, v, SIZES) >= 2 && third < end && *third == '(';
}

struct auxiliary {
    const struct meaning *meaning;
    char side, storage;
    int64_t size[SIZES]; /* rows, columns, and numbers in the file */
};

static bool read_head(struct rb *r, struct auxiliary *t, struct err *e)
{
    if (!rb_line(r, "a title", e) || !rb_line(r, "type and sizes", e)) return false;
    t->meaning = meaning_of(r->line);
    t->side = rb_upper(r->line[SIDE]);
    t->storage = rb_upper(r->line[STORAGE]);
    r->type[0] = rb_upper(r->line[NUMBERS]);
    t->size[ENTRIES] = -1;
    if (rb_integers(r->line + NUMBERS + 1, r->line_end, t->size, SIZES) < 2)
        return rb_bad(r, e, "rows and columns", r->line, r->line_end);
    if (t->storage == 'E')
        return file_bad(r->s, e, "vectors of elements cannot be read; assemble them, with D in place of E in line 2");
    return rb_line(r, "the formats of the numbers", e);
}

/* Read all numbers of the vectors; zeros are not stored. C is by columns. */
static bool read_dense(struct rb *r, const struct auxiliary *t, struct csr *C, struct err *e)
{
    int64_t rows = t->size[ROWS], cols = t->size[COLS], n = rows * cols, parts = rb_complex(r) ? 2 : 1, to = 0;
    if (!csr_new(C, cols, rows, n, parts == 2, e)) return false;
    rb_begin(r, &r->val, n * parts);
    for (int64_t c = 0; c < cols; c++) {
        for (int64_t i = 0; i < rows; i++) {
            C->col[to] = (int)i;
            if (!rb_more(r, 1, &C->val[to], C->imag ? &C->imag[to] : NULL, e)) return false;
            to += C->val[to] != 0 || (C->imag && C->imag[to] != 0);
        }
        C->rowptr[c + 1] = (int)to;
    }
    return true;
}

static bool read_sparse(struct rb *r, const struct auxiliary *t, struct csr *C, struct err *e)
{
    int64_t n = t->size[ENTRIES];
    return file_sizes(r->s, t->size[ROWS], t->size[COLS], n, e) &&
           rb_enough_bytes(r, t->size[COLS] + 1 + 2 * n, 1, false, e) &&
           csr_new(C, t->size[COLS], t->size[ROWS], n, rb_complex(r), e) &&
           rb_indices(r, &r->ptr, "a column pointer", C->rows + 1, C->rowptr, e) &&
           rb_indices(r, &r->idx, "a row index", n, C->col, e) && rb_values(r, &r->val, n, C->val, C->imag, e);
}

static bool read_vectors(struct rb *r, const struct auxiliary *t, struct csr *C, struct err *e)
{
    int64_t n;
    const char *p = r->line;
    bool sparse = t->storage == 'S';
    if (__builtin_mul_overflow(t->size[ROWS], t->size[COLS], &n)) n = INT64_MAX;
    if (!sparse && t->size[ENTRIES] >= 0 && t->size[ENTRIES] != n)
        return file_bad(r->s, e, "%lld x %lld vectors have %lld numbers, but the header says %lld",
                        (long long)t->size[ROWS], (long long)t->size[COLS], (long long)n, (long long)t->size[ENTRIES]);
    if (sparse && (!rb_format(r, &p, "the format of the pointers, such as (26I3)", &r->ptr, e) ||
                   !rb_format(r, &p, "the format of the indices, such as (26I3)", &r->idx, e)))
        return false;
    if (!rb_format(r, &p, "the format of the values, such as (5E16.8)", &r->val, e)) return false;
    return sparse ? read_sparse(r, t, C, e)
                  : rb_enough_bytes(r, t->size[ROWS], t->size[COLS], rb_complex(r), e) &&
                        file_sizes(r->s, t->size[ROWS], t->size[COLS], n, e) && read_dense(r, t, C, e);
}

static void describe(const struct auxiliary *t, struct load_info *info)
{
    bool order = !strcmp(t->meaning->word, "ORD");
    snprintf(info->object, sizeof info->object, "%s", order ? "ordering" : t->side == 'L' ? "left vector" : "vector");
    file_note(info, "the columns are %s%s", t->meaning->plural,
              order            ? ", counted from 1"
              : t->side == 'L' ? " of the transpose"
                               : "");
}

bool auxiliary_load(struct rb *r, struct csr *A, struct load_info *info, struct err *e)
{
    struct auxiliary t;
    struct csr C = {0};
    if (!read_head(r, &t, e) || !read_vectors(r, &t, &C, e)) {
        csr_free(&C);
        return false;
    }
    if (!file_finish(r->s, &C, true, MIRROR_NOT, r->watch, A, info, e)) return false;
    snprintf(info->field, sizeof info->field, "%s", rb_field(r));
    describe(&t, info);
    return true;
}
