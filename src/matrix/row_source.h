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
    const char *name; /* the maker's name in progress reports */
    int64_t rows, cols, nnz;
    bool symmetric; /* known to be symmetric */
    struct row_maker maker;
    int64_t *start;                  /* the entries before each block of LOOP_EVERY rows; NULL: not counted */
    int64_t longest;                 /* entries of the longest row, once they are counted */
    _Alignas(max_align_t) char of[]; /* passed to the maker's functions */
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

#endif
