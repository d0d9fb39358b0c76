/* BRCSD-I: the table entry, the arrays, and the pieces. */
#ifndef FMT_BRCSD1_H
#define FMT_BRCSD1_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

C_BEGIN

struct err;
struct format;
struct stored;

extern const struct format format_brcsd1;

enum { BRCSD1_OFFSETS, BRCSD1_DATA, BRCSD1_PTR, BRCSD1_START };
enum { BRCSD1_MIN, BRCSD1_PIECE }; /* params */
enum { BRCSD1_ROWS = 64 };         /* default of `piece`: the paper's second threshold for cutting blocks */

/* The maximum number of rows in a piece of S, a matrix in this format or in DIA-Adaptive that uses it. */
int64_t brcsd1_piece(const struct stored *S);

struct brcsd1_numbers {
    int64_t pieces, records, slots;
};
/* cut: the n rows where a cut is possible, in ascending order and each at least 1. Chooses blocks of at least
   S->param[BRCSD1_MIN] rows and divides them into pieces. Writes the first row of each piece, and then the number of
   rows of the matrix, to `start`, which has room for brcsd1_most_starts elements. Returns the number of pieces. */
int64_t brcsd1_starts(int64_t n, const int *cut, const struct stored *S, int *start);
int64_t brcsd1_most_starts(int64_t n, const struct stored *S);
/* For n pieces: piece k begins at row start[k], and the pieces before it have dnum[k] diagonals. */
struct brcsd1_numbers brcsd1_count(int64_t n, const int *start, const int *dnum);
bool brcsd1_sizes(struct stored *S, const struct brcsd1_numbers *N, struct err *e);
/* Write the n + 1 elements of the arrays BRCSD1_PTR and BRCSD1_START. */
void brcsd1_point(int64_t n, const int *start, const int *dnum, int *ptr, int64_t *first);

C_END
#endif
