/* Find the lines of a Matrix Market file in which given entries of the loaded matrix are, by reading the file again. */
#ifndef MTX_FIND_H
#define MTX_FIND_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct load_info;
struct watch;

enum { FIND_PLACES = 12, FIND_TWICE = 3 };

/* An entry of the matrix (row and column, counted from 0) and its line in the file (counted from 1). The line is the
   first line with the wanted value. If only the sum of duplicates has the wanted value, the line is the first line with
   the entry. */
struct find_place {
    int64_t row, col;
    bool zero; /* true: look for a stored zero; false: look for NaN or inf */
    bool sure; /* the value on that line is the wanted value */
    int64_t line;
};
/* A duplicate: an entry of the file with the same row and column as an earlier entry. */
struct find_twice {
    int64_t row, col; /* row and column in the file, counted from 0 */
    int64_t first;    /* line of the earlier entry */
    int64_t again;    /* line of the duplicate */
};
struct mtx_find {
    int nplaces, ntwice;
    struct find_place place[FIND_PLACES];
    struct find_twice twice[FIND_TWICE]; /* the first duplicates of the file */
    int64_t block;                       /* tests: bytes of text per block; 0: the default */
};
/* Store the size and the time stamp of the file in info, so that mtx_find notices a later change of the file. Call this
   before the file is read. */
void mtx_stamp(const char *path, struct load_info *info);
/* Fill in the lines of f->place[], and f->twice[] if the file has duplicates; A must be unchanged since it was loaded.
   Fails with E_INPUT if the file has changed since then, with E_IO if the file cannot be read, or with E_CANCELLED.
   Needs 4 bytes per entry if there are duplicates. */
bool mtx_find(const struct csr *A, const struct load_info *info, struct mtx_find *f, struct watch *w, struct err *e);

#endif
