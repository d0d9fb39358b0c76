/* BRCSD-I: the entry, the arrays, and the blocks. */
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
enum { BRCSD1_ROWS = 64 }; /* rows of a thread block, at most, as in the paper */

/* BRCSD-I: n blocks from rows start[b] on, with dnum[b] diagonals before each. */
struct brcsd1_numbers {
    int64_t blocks, records, slots, pieces;
};
struct brcsd1_pointers {
    int *ptr;
    int64_t *start;
    int *block, *row;
};
/* Rows where cuts may be, ascending, none before 1: the start rows of blocks of at least min rows, ended by the number
   of rows, go to start[n + 2]; how many blocks there are. */
int64_t brcsd1_starts(int64_t n, const int *cut, int64_t rows, int64_t min, int *start);
struct brcsd1_numbers brcsd1_count(int64_t n, const int *start, const int *dnum);
bool brcsd1_sizes(struct stored *S, const struct brcsd1_numbers *N, struct err *e);
void brcsd1_point(int64_t n, const int *start, const int *dnum, const struct brcsd1_pointers *to);

#ifdef __cplusplus
}
#endif
#endif
