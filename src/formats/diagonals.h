/* Finding and filling the diagonals that have an entry, in the whole matrix or in blocks of its rows; shared by all
   formats that store diagonals. A diagonal is identified by its offset, column - row. */
#ifndef DIAGONALS_H
#define DIAGONALS_H

#include <stdbool.h>
#include <stdint.h>

struct array;
struct csr;
struct err;
struct stored;

/* ---- the whole matrix: DIA, HDC, the cuts of BRCSD-I ---- */

/* Give numbers 0, 1, ... to the diagonals that have at least max(1, least) entries, in ascending order of their
   offsets. The result has rows + cols elements; the caller frees it. Element offset + rows is the number of the
   diagonal with that offset, or -1. *count receives the number of numbered diagonals. NULL on failure. */
int *number_diagonals(const struct csr *A, int64_t least, int64_t *count, struct err *e);
/* Store the numbered diagonals in full: the element of diagonal d in row i is slot d*rows + i. Entries on other
   diagonals are skipped. */
void put_diagonals(const struct csr *A, const int *number, struct array *offsets, struct array *data);

/* ---- blocks of rows: HDIA, BRCSD-I, BRCSD-II, DRM ---- */

/* A division of the rows into n blocks. If start is NULL, each block has `height` rows and the last block may extend
   beyond the matrix; otherwise block b is rows start[b] .. start[b+1]-1. If index is not NULL, block index[p] is at
   position p; otherwise block p is at position p. */
struct blocks {
    int64_t n, height;
    const int *start, *index;
};
struct blocks blocks_of(const struct csr *A, int64_t height);

/* A block during a visit. */
struct block {
    int64_t at;          /* position among the blocks */
    int64_t first, last; /* rows first .. last-1 */
    int64_t n;           /* diagonals that have an entry in these rows */
    /* [n] the offsets of these diagonals, in the order in which they were found; block_put sorts them */
    int *offset;
    int *table, bits; /* hash table of 2^bits places: 1 + the index of an offset, 0 = free */
};
/* Call visit once for each block, from several threads. Each call must write only to those parts of `to` that belong to
   its block. */
bool visit_blocks(const struct csr *A, const struct blocks *all,
                  void (*visit)(void *to, const struct csr *A, struct block *B), void *to, struct err *e);
/* Returns n + 1 counts: for each position, the number of diagonals of all blocks before it; the last count is the
   total, at most nnz. The caller frees the result. */
int *count_diagonals(const struct csr *A, const struct blocks *all, struct err *e);
/* Does B have all diagonals of rows first .. last-1? */
bool block_holds(const struct block *B, const struct csr *A, int64_t first, int64_t last);
/* If `offsets` is not NULL, write B's offsets to it in ascending order. Write B's values to `data`: row t of the block
   on its diagonal d goes to slot base + d*height + t. */
void block_put(struct block *B, const struct csr *A, int *offsets, struct array *data, int64_t base, int64_t height);
/* Do 32-bit pointers suffice for n elements in BRCSD's records of offsets? E_LIMIT if not. */
bool records_fit(const struct stored *S, int64_t n, struct err *e);

/* The matrix position that an offset refers to: the first element of its diagonal in or after row `first`. */
struct place place_of_offset(int64_t first, int64_t offset);

#endif
