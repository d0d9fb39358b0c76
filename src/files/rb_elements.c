/* Unassembled matrices: a sum of small dense matrices, the elements. In the arrays of the file, a column is an element,
   its indices are the variables of the element, and its values are a dense matrix, column by column; only its lower
   triangle if the matrix is symmetric, skew-symmetric (perhaps without the diagonal) or hermitian. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "rb.h"

void elements_free(struct elements *t)
{
    mem_free(t->start);
    mem_free(t->variable);
    *t = (struct elements){0};
}

static int64_t variables_of(const struct elements *t, int64_t i)
{
    return t->start[i + 1] - t->start[i];
}

static bool check_elements(const struct elements *t, const struct rb *r, struct err *e)
{
    struct loop l = loop_of("checking elements", t->n);
    if (t->start[0] != 0 || t->start[t->n] != r->size[ENTRIES])
        return file_bad(r->s, e, "the element pointers run from %d to %d instead of from 1 to %lld", t->start[0] + 1,
                        t->start[t->n] + 1, (long long)r->size[ENTRIES] + 1);
    for (int64_t i = 0; i < t->n && loop_goes(&l, i); i++)
        if (t->start[i + 1] < t->start[i])
            return file_bad(r->s, e, "the element pointers decrease: %d follows %d", t->start[i + 1] + 1,
                            t->start[i] + 1);
    for (int64_t k = 0; k < r->size[ENTRIES] && loop_goes(&l, k); k++)
        if (t->variable[k] >= r->size[ROWS])
            return file_bad(r->s, e, "variable %d of an element is outside 1 .. %lld", t->variable[k] + 1,
                            (long long)r->size[ROWS]);
    return loop_end(&l, e);
}

static bool read_elements(struct elements *t, struct rb *r, struct err *e)
{
    t->n = r->size[COLS];
    t->start = mem_new(t->n + 1, sizeof *t->start, "the elements", e);
    t->variable = mem_new(r->size[ENTRIES], sizeof *t->variable, "the elements", e);
    return t->start && t->variable && rb_indices(r, &r->ptr, "an element pointer", t->n + 1, t->start, e) &&
           rb_indices(r, &r->idx, "a variable", r->size[ENTRIES], t->variable, e) && check_elements(t, r, e);
}

/* The entries of all elements: of the whole dense matrices, and of their lower triangles without the diagonals. */
struct entry_counts {
    int64_t all, below;
};

static struct entry_counts count_entries(const struct elements *t)
{
    struct entry_counts c = {0};
    struct loop l = loop_of("", t->n);
    for (int64_t i = 0; i < t->n && loop_goes(&l, i); i++) {
        int64_t n = variables_of(t, i); /* the sum of n^2 fits: n and the sum of n are below 2^31 */
        c.all += n * n;
        c.below += n * (n - 1) / 2;
    }
    return c;
}

/* Count the entries of each column in C->rowptr, which becomes the offsets of the columns. */
static void count_columns(const struct elements *t, struct csr *C)
{
    struct loop l = loop_of("assembling", t->n);
    for (int64_t i = 0; i < t->n && loop_goes(&l, i); i++)
        for (int k = t->start[i]; k < t->start[i + 1]; k++) C->rowptr[t->variable[k] + 1] += (int)variables_of(t, i);
    counts_to_offsets(C->rows, C->rowptr);
}

static void put(struct csr *C, int row, int col, double re, double im)
{
    int at = C->rowptr[col + 1]++;
    C->col[at] = row;
    C->val[at] = re;
    if (C->imag) C->imag[at] = im;
}

/* How the values of an element are stored. */
struct packing {
    bool triangle; /* only the lower triangle */
    bool strict;   /* ... without the diagonal, which is 0 */
};

/* Read the next value, and add it to the entry (row, col) of the matrix and, if only a triangle is stored, to
   (col, row). */
static bool put_value(struct rb *r, bool triangle, int row, int col, struct csr *C, struct err *e)
{
    bool skew = r->type[1] == 'Z', hermitian = r->type[1] == 'H';
    double re = 1, im = 0;
    if (r->type[0] != 'P' && (!rb_value(r, &re, e) || (C->imag && !rb_value(r, &im, e)))) return false;
    put(C, row, col, re, im);
    if (triangle && row != col) put(C, col, row, skew ? -re : re, skew || hermitian ? -im : im);
    return true;
}

static bool put_element(const struct elements *t, int64_t i, const struct packing *p, struct loop *l, struct rb *r,
                        struct csr *C, struct err *e)
{
    const int *variable = t->variable + t->start[i];
    for (int64_t j = 0, n = variables_of(t, i); j < n; j++) {
        if (p->strict) put(C, variable[j], variable[j], 0, 0);
        for (int64_t k = p->triangle ? j + p->strict : 0; k < n && loop_goes(l, k); k++)
            if (!put_value(r, p->triangle, variable[k], variable[j], C, e)) return false;
    }
    return true;
}

static bool put_elements(const struct elements *t, const struct packing *p, struct rb *r, struct csr *C, struct err *e)
{
    struct loop l = loop_of("", t->n);
    count_columns(t, C);
    rb_begin(r, &r->val, C->imag ? 2 * t->values : t->values);
    for (int64_t i = 0; i < t->n && loop_goes(&l, i); i++)
        if (!put_element(t, i, p, &l, r, C, e)) return false;
    return loop_end(&l, e);
}

static bool read_values(struct elements *t, struct rb *r, struct csr *C, struct err *e)
{
    struct entry_counts n = count_entries(t);
    bool pattern = r->type[0] == 'P', skew = r->type[1] == 'Z';
    struct packing p = {r->type[1] != 'U', skew && r->size[ELEMENT_VALUES] == n.below};
    t->values = !p.triangle ? n.all : p.strict ? n.below : n.all - n.below;
    if (!pattern && r->size[ELEMENT_VALUES] != t->values)
        return file_bad(r->s, e, "the header says %lld values, but the elements have %lld",
                        (long long)r->size[ELEMENT_VALUES], (long long)t->values);
    return file_sizes(r->s, r->size[ROWS], r->size[ROWS], n.all, e) &&
           (pattern || rb_enough_bytes(r, t->values, 1, rb_complex(r), e)) &&
           csr_new(C, r->size[ROWS], r->size[ROWS], n.all, rb_complex(r), e) && put_elements(t, &p, r, C, e);
}

bool elements_read(struct elements *t, struct rb *r, struct csr *C, struct err *e)
{
    return file_sizes(r->s, r->size[ROWS], r->size[COLS], r->size[ENTRIES], e) &&
           rb_enough_bytes(r, r->size[COLS] + 1 + r->size[ENTRIES], 1, false, e) && read_elements(t, r, e) &&
           read_values(t, r, C, e);
}

void elements_describe(const struct elements *t, struct load_info *info)
{
    info->nnz_stored = t->values;
    file_note(info, "the matrix was assembled from %s: %s added to others", how_many(t->n, "element").text,
              how_many(info->duplicates, "entry").text);
}
