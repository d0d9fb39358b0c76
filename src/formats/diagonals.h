/* Diagonals that have an entry, in the whole matrix or in blocks of its rows: found and filled once for all the
   formats that store them. The diagonal of an entry is its offset, column - row. */
#ifndef DIAGONALS_H
#define DIAGONALS_H

#include <stdbool.h>
#include <stdint.h>

struct array;
struct csr;
struct err;
struct stored;

/* ---- of the whole matrix: DIA, HDC, the cuts of BRCSD-I ---- */

/* Number the diagonals of at least `least` entries, and of one, ascending from 0: a number at offset + rows, -1 for the
   others; [rows + cols], to be freed. NULL on failure. */
int *number_diagonals(const struct csr *A, int64_t least, int64_t *count, struct err *e);
/* Store the numbered diagonals whole: row i of diagonal d is slot d*rows + i. Entries of others are left out. */
void put_diagonals(const struct csr *A, const int *number, struct array *offsets, struct array *data);

/* ---- of blocks of rows: HDIA, BRCSD-I, BRCSD-II, DRM ---- */

/* Blocks of `height` rows, of which the last may hang over the edge; or, with start, block b is rows
   start[b] .. start[b+1]-1. With index, the block at position p of their order is index[p], else p. */
struct blocks {
    int64_t n, height;
    const int *start, *index;
};
struct blocks blocks_of(const struct csr *A, int64_t height);

/* A block that is visited. */
struct block {
    int64_t at;          /* position in the order */
    int64_t first, last; /* rows first .. last-1 */
    int64_t n;           /* diagonals that have an entry in these rows */
    int *offset;         /* [n], in the order in which they were found; ascending once block_put returns */
    int *table, bits;    /* hash table of 2^bits places: 1 + the number of an offset, 0 = free */
};
/* Visit each block once, from several threads: a visit writes nothing but its own block's places in `to`. */
bool visit_blocks(const struct csr *A, const struct blocks *all,
                  void (*visit)(void *to, const struct csr *A, struct block *B), void *to, struct err *e);
/* [n + 1], to be freed: the diagonals of the blocks before each, by position. They are at most one a nonzero. */
int *count_diagonals(const struct csr *A, const struct blocks *all, struct err *e);
/* Are the diagonals of rows first .. last-1 all among those of B? */
bool block_holds(const struct block *B, const struct csr *A, int64_t first, int64_t last);
/* Write B's offsets, ascending, unless NULL; and its values: row t of the block on its diagonal d to slot
   base + d*height + t. */
void block_put(struct block *B, const struct csr *A, int *offsets, struct array *data, int64_t base, int64_t height);
/* Can 32-bit pointers number the n places of BRCSD's records of offsets? */
bool records_fit(const struct stored *S, int64_t n, struct err *e);

/* An offset names the first place of its diagonal from row `first` on. */
struct place place_of_offset(int64_t first, int64_t offset);

#endif
