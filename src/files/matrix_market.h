/* Read and write Matrix Market files. */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct load_info;
struct sides;
struct watch;

bool mtx_load(const char *path, struct watch *w, struct csr *A, struct load_info *info, struct err *e);
bool mtx_save(const char *path, bool force, const struct csr *A, const char *comment, struct watch *w, struct err *e);
/* mtx_save, with the right side and the solution as AMGX's sections; `sides` may be NULL or empty. Refuses several
   right sides. */
bool mtx_save_system(const char *path, bool force, const struct csr *A, const struct sides *sides, const char *comment,
                     struct watch *w, struct err *e);
/* mtx_save without values. */
bool mtx_save_pattern(const char *path, bool force, const struct csr *A, const char *comment, struct watch *w,
                      struct err *e);
/* The lines of mtx_save in hypre's form: rows and columns counted from 0, after a line with their ranges. */
bool ij_save(const char *path, bool force, const struct csr *A, struct watch *w, struct err *e);
/* The columns of a dense matrix, one after another: n numbers each or, with `pairs`, n pairs of a real and an imaginary
   part. */
struct mtx_columns {
    const double *value;
    int64_t n, columns;
    bool pairs;
};
bool mtx_save_columns(const char *path, bool force, const struct mtx_columns *from, const char *comment,
                      struct watch *w, struct err *e);
/* Read a vector of exactly n values: an n x 1 matrix in a file of any kind, or n plain numbers. */
bool mtx_load_vector(const char *path, int64_t n, double *x, struct err *e);
/* The same for n pairs of a real and an imaginary part: a file of plain numbers has 2 n numbers; the values of a Matrix
   Market file may be real. */
bool mtx_load_complex_vector(const char *path, int64_t n, double *x, struct err *e);
/* The same for one or several vectors: the columns of an n x k matrix, stored one after another in *x, which the caller
   frees with mem_free. pairs: the elements are pairs of a real and an imaginary part. */
bool mtx_load_columns(const char *path, int64_t n, bool pairs, double **x, int64_t *columns, struct err *e);
/* The columns of a real array of any shape, one after another in *x, which the caller frees with mem_free, from a
   Matrix Market file, or a file of a kind that contains vectors. */
bool columns_load(const char *path, double **x, int64_t *rows, int64_t *columns, struct err *e);
/* For tests: set the target size of a block in bytes, and the number of threads; 0: the default. */
void mtx_hooks(int64_t block, int threads);

#endif
