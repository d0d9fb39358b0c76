/* .npz: a zip archive of .npy arrays, as written by scipy.sparse.save_npz. This header is shared by reading and
   writing. */
#ifndef NPZ_H
#define NPZ_H

#include <stdbool.h>
#include <stdint.h>

#include "npy.h"
#include "sides.h"

struct csr;
struct err;
struct source;
struct watch;

/* The arrays of a file. Members for arrays that the file does not contain are NULL, 0 or "". */
struct npz {
    struct source *s;
    struct watch *watch;
    char format[8]; /* csr, csc, coo, bsr, dia; gcxs of PyData sparse */
    int64_t rows, cols;
    bool has_shape;
    bool by_columns; /* PyData sparse: format gcxs compresses the columns */
    int arrays;      /* number of arrays in the file, also those that are left out */
    int64_t n_ptr, n_idx, n_row, n_col, n_offset, n_val; /* items of each array below */
    int *ptr, *idx, *row, *col, *offset;
    int axes;        /* of the array `coords`, whose coordinates row and col contain; 0: there is no such array */
    int64_t *ptr64;  /* the pointers, instead of `ptr`, if their values do not fit in 32 bits */
    struct npy data; /* type and axes of the values in the file */
    double *val, *imag;
    int64_t rounded;         /* number of integers beyond 2^53, or of rounded 80-bit numbers, among the values */
    struct dense_array b, x; /* right sides and solutions */
};

/* npz_read.c: read the arrays. The caller sets s and watch. Call npz_free even after a failure. */
bool npz_read(struct npz *z, struct err *e);
void npz_free(struct npz *z);
/* npz_save.c: write A in format csr, uncompressed, and the right sides b and solutions x; `sides` may be NULL. The
   values of a pattern, which are ones, are written as booleans. */
bool npz_save(const char *path, bool force, const struct csr *A, const struct sides *sides, bool pattern,
              struct watch *w, struct err *e);

enum { NPZ_CHUNK = 1 << 18 }; /* bytes read or written at a time */

#endif
