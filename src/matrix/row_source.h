/* Matrices whose rows are made when they are needed: the host never has all entries at the same time. */
#ifndef ROW_SOURCE_H
#define ROW_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csr.h"

struct err;

/* Rows that can be made in any order: length(of, r) is the number of entries of row r, and write(of, r, A, at) writes
   them to A->col and A->val, beginning at entry `at`. */
struct row_maker {
    int64_t (*length)(const void *of, int64_t row);
    void (*write)(const void *of, int64_t row, struct csr *A, int64_t at);
};

struct row_source {
    const char *name; /* what makes the rows, for progress */
    int64_t rows, cols, nnz;
    bool symmetric; /* known to be symmetric */
    struct row_maker maker;
    int64_t *start;                  /* the entries before each block of rows; NULL: not counted */
    int64_t longest;                 /* entries of the longest row, once they are counted */
    _Alignas(max_align_t) char of[]; /* what the maker's functions get */
};

/* A source with its own copy of of[size]; NULL: no memory, or the sizes exceed the limits of a matrix. */
struct row_source *row_source_new(const char *name, int64_t rows, int64_t cols, int64_t nnz, const struct row_maker *m,
                                  const void *of, size_t size, struct err *e);
/* NULL is no source. */
void row_source_free(struct row_source *s);
int64_t row_source_memory(const struct row_source *s);

static inline int64_t row_source_length(const struct row_source *s, int64_t row)
{
    return s->maker.length(s->of, row);
}

/* A matrix without arrays, which owns s. Before its rows are read, row_source_count must have succeeded once. */
struct csr csr_of_source(struct row_source *s);
/* Count the entries before each block of rows, unless that was done. */
bool row_source_count(struct row_source *s, struct err *e);

/* A slice of rows whose arrays the next slice uses again, so that few pages are touched for the first time. */
struct slice {
    struct csr A;
    int64_t rows, nnz; /* what its arrays have room for */
};

/* Give s->A this shape and arrays without contents, except that its first row begins at entry 0. */
bool slice_begin(struct slice *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e);
void slice_free(struct slice *s);

/* Called with some rows of a matrix: row i of `slice` is row first + i of the matrix. The slice has all columns of the
   matrix, and is overwritten or freed after the call. */
typedef bool visit_rows(void *user, const struct csr *slice, int64_t first, struct err *e);
/* Visit rows from .. to-1 of a matrix without arrays, in order, in slices that take about 15 MB. */
bool csr_visit(const struct csr *A, int64_t from, int64_t to, visit_rows *visit, void *user, struct err *e);
/* Visit all rows; a matrix with arrays is one slice. */
bool csr_visit_all(const struct csr *A, visit_rows *visit, void *user, struct err *e);

#endif
