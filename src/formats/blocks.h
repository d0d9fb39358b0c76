/* Square blocks of b x b entries: which of them a block row of a CSR matrix has. */
#ifndef BLOCKS_H
#define BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct csr;
struct err;

enum { BLOCK_MAX = 32 }; /* maximum number of rows of a block */

int64_t block_rows(const struct csr *A, int64_t b);
/* Merge the rows of block row I and return the number of blocks in it. If `list` is not NULL, write the block columns
   of these blocks in ascending order to list[0], list[step], ... */
int64_t block_columns(const struct csr *A, int64_t I, int b, int *list, int64_t step);
/* *blocks: the number of blocks that have an entry. Fails if the loop is stopped. */
bool count_blocks(const struct csr *A, int b, int64_t *blocks, struct err *e);
/* ptr[I]: the number of blocks before block row I, 0 <= I <= block_rows(A, b). */
bool block_pointers(const struct csr *A, int b, int *ptr, struct err *e);

C_END
#endif
