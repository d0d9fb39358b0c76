/* Matrix Market files: read and written. */
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
/* One vector: an n x 1 matrix, or n numbers; exactly n values. */
bool mtx_load_vector(const char *path, int64_t n, double *x, struct err *e);
/* Tests: bytes that a block of text aims at, and threads; 0 = the default. */
void mtx_hooks(int64_t block, int threads);

#endif
