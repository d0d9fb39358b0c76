/* BRCSD-I: the table entry, the arrays, and the blocks. */
#ifndef FMT_BRCSD1_H
#define FMT_BRCSD1_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct err;
struct format;
struct stored;

extern const struct format format_brcsd1;

enum { BRCSD1_OFFSETS, BRCSD1_DATA, BRCSD1_PTR, BRCSD1_START, BRCSD1_BLOCK, BRCSD1_ROW }; /* param 0: min */
enum { BRCSD1_ROWS = 64 }; /* maximum number of rows per thread block, as in the paper */

/* For n blocks: block b begins at row start[b], and the blocks before it have dnum[b] diagonals. */
struct brcsd1_numbers {
    int64_t blocks, records, slots, pieces;
};
struct brcsd1_pointers {
    int *ptr;
    int64_t *start;
    int *block, *row;
};
/* cut: the n rows where a cut is possible, in ascending order and each at least 1. Chooses blocks of at least min rows.
   Writes the first row of each block, and then the number of rows of the matrix, to start[n + 2]. Returns the number of
   blocks. */
int64_t brcsd1_starts(int64_t n, const int *cut, int64_t rows, int64_t min, int *start);
struct brcsd1_numbers brcsd1_count(int64_t n, const int *start, const int *dnum);
bool brcsd1_sizes(struct stored *S, const struct brcsd1_numbers *N, struct err *e);
void brcsd1_point(int64_t n, const int *start, const int *dnum, const struct brcsd1_pointers *to);

#ifdef __cplusplus
}
#endif
#endif
