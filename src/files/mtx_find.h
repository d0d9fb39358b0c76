/* On which lines of a Matrix Market file entries of the loaded matrix stand, found by reading the file once more. */
#ifndef MTX_FIND_H
#define MTX_FIND_H

#include <stdbool.h>
#include <stdint.h>

struct csr;
struct err;
struct load_info;
struct watch;

enum { FIND_PLACES = 12, FIND_TWICE = 3 };

/* An entry of the matrix, counted from 0, and where it stands: the first line whose own value is what it is looked for,
   or the first at all, where only a sum of duplicates is that. Lines are physical ones, counted from 1. */
struct find_place {
    int64_t row, col;
    bool zero; /* looked for as a stored zero; else as NaN or inf */
    bool sure; /* found: its own value */
    int64_t line;
};
/* An entry of the file that an earlier one has the place of. */
struct find_twice {
    int64_t row, col, first, again; /* as the file has them, counted from 0; the lines of both */
};
struct mtx_find {
    int nplaces, ntwice;
    struct find_place place[FIND_PLACES];
    struct find_twice twice[FIND_TWICE]; /* the first of the file */
    int64_t block;                       /* tests: bytes of text at a time; 0: the default */
};
/* Keep in info what tells that the file is later still the one that was read: for the reader, before it reads. */
void mtx_stamp(const char *path, struct load_info *info);
/* Fill in the lines of f->place[], and f->twice[] if the file has duplicates, for A as it was loaded from there.
   E_INPUT: the file is another by now; E_IO: it cannot be read; E_CANCELLED. Holds 4 bytes for each entry if there are
   duplicates. */
bool mtx_find(const struct csr *A, const struct load_info *info, struct mtx_find *f, struct watch *w, struct err *e);

#endif
