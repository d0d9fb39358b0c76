/* Read and write Matrix Market files. */
#ifndef MATRIX_MARKET_H
#define MATRIX_MARKET_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct load_info;
struct watch;

bool mtx_load(const char *path, struct watch *w, struct csr *A, struct load_info *info, struct err *e);
bool mtx_save(const char *path, const struct csr *A, const char *comment, struct watch *w, struct err *e);
/* Read a vector of exactly n values: an n x 1 matrix, or n plain numbers. */
bool mtx_load_vector(const char *path, int64_t n, double *x, struct err *e);
/* The same for n pairs of a real and an imaginary part: a file of plain numbers holds 2 n numbers; the values of a
   Matrix Market file may be real. */
bool mtx_load_complex_vector(const char *path, int64_t n, double *x, struct err *e);
/* For tests: set the target size of a block in bytes, and the number of threads; 0: the default. */
void mtx_hooks(int64_t block, int threads);

#endif
