/* Kinds of matrix files: one file src/file_KIND.c and one line in files.def each. */
#ifndef FILE_H
#define FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/base.h"

struct csr;
struct err;
struct load_info;
struct watch;

enum { FILE_BEGIN = 512 };

/* A file that is being read. */
struct source {
    const char *path;
    const char *part;      /* the variable asked for by name, NULL: none */
    char where[256];       /* the path, safe to print */
    struct stream *stream; /* unpacked on the way; the first n bytes were taken from it */
    char begin[FILE_BEGIN];
    int64_t n;
};

struct file_kind {
    const char *name;
    const char *endings; /* of file names, separated by blanks; save chooses the kind by them */
    const char *about;
    bool packed;     /* is read from a stream, so also where it is compressed or in an archive */
    bool has_parts;  /* holds variables with names */
    bool tells_wild; /* its reader itself notes inf and NaN, which it sees as it reads */
    /* Whether a file that begins with these n bytes is one; NULL: what no other kind recognises. */
    bool (*recognises)(const char *begin, int64_t n);
    /* A and *info are empty and stay so on failure, but for what the caller sets: file, ms, explicit_zeros. */
    bool (*load)(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e);
    /* Whole or not at all; NULL: it is only read. info may be NULL. */
    bool (*save)(const char *path, const struct csr *A, const struct load_info *info, const char *comment,
                 struct watch *w, struct err *e);
};
extern const struct file_kind *const file_kinds[]; /* ended by NULL */

/* Read a matrix of whatever kind the content says; part NULL: the first of the file's variables. */
bool file_load(const char *path, const char *part, struct watch *w, struct csr *A, struct load_info *info,
               struct err *e);
/* Write the kind that the name's ending says. */
bool file_save(const char *path, const struct csr *A, const struct load_info *info, const char *comment,
               struct watch *w, struct err *e);
/* Reject with E_INPUT and the file's name: "where: expected ..., found ...". */
bool file_bad(const struct source *s, struct err *e, const char *fmt, ...) PRINTF(3, 4);
/* Pass on what was said without a place. */
bool file_at(const struct source *s, const struct err *why, struct err *e);
/* One more note for the user, if there is room. */
void file_note(struct load_info *info, const char *fmt, ...) PRINTF(2, 3);

/* ---- file_arrays.c: from the arrays of a file to a matrix ---- */

/* A number in memory, in this machine's byte order, as a double: kind f float, i integer, u unsigned, b truth; of
   so many bytes. NULL: no such type. 64-bit integers beyond 2^53 are rounded. */
typedef double file_number(const void *at);
file_number *file_number_of(char kind, int bytes);

enum mirrored { MIRROR_NOT, MIRROR_SYMMETRIC, MIRROR_SKEW, MIRROR_HERMITIAN };
/* Compressed arrays as a file holds them, nothing in them checked: rowptr[rows + 1], col, val and imag of nnz items.
   by_columns: rows stand for columns, and col for rows. Takes the arrays over, also on failure; indices out of range
   are refused, order and duplicates (summed in the order of the file) mended. Three matrices in memory at most. */
bool file_finish(const struct source *s, struct csr *arrays, bool by_columns, enum mirrored mirrored, struct watch *w,
                 struct csr *A, struct load_info *info, struct err *e);
/* The same of triplets, which are only read. */
bool file_finish_triplets(const struct source *s, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                          const double *val, const double *imag, struct watch *w, struct csr *A, struct load_info *info,
                          struct err *e);
/* csr_limits, and whether so much memory can be had, before it is taken. */
bool file_sizes(const struct source *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e);

#endif
