/* PETSc's binary format: objects one after another, big-endian. Each begins with its number, an integer, and its sizes.
   All integers have the size of a PetscInt (4 or 8 bytes); a scalar has 8 bytes, or 16 if it is complex.

       matrix   1211216 rows columns nonzeros | row lengths [rows] | columns [nonzeros] | values [nonzeros]
       dense    1211216 rows columns -1 | values [rows * columns], row by row
       vector   1211214 length | values [length]
       indices  1211218 length | integers [length]

   Source: the manual pages of MatLoad, VecLoad and ISLoad, and files that PETSc 3.18 wrote. */
#ifndef PETSC_BINARY_H
#define PETSC_BINARY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/newfile.h"

struct csr;
struct err;
struct watch;

enum { PETSC_VECTOR = 1211214, PETSC_MATRIX = 1211216, PETSC_INDICES = 1211218, PETSC_DENSE = -1 };

/* A file that is being written, through a buffer. The caller opens `file` and sets the members before `failed`. */
struct petsc_writer {
    struct newfile file;
    int index_bytes;     /* of a PetscInt: 4 or 8 */
    bool complex_values; /* vectors contain pairs, and matrices have imaginary parts */
    const char *what;    /* for the watch: what is being written */
    int64_t total;       /* bytes of the file, for the watch */
    struct watch *watch;
    bool failed; /* the disk refused a write */
    uint64_t *buffer;
    int64_t used, done; /* bytes */
};
/* The bytes that a matrix occupies. */
int64_t petsc_matrix_bytes(const struct petsc_writer *f, const struct csr *A);
bool petsc_put_matrix(struct petsc_writer *f, const struct csr *A, struct err *e); /* any size */
/* x: n numbers, or n pairs of a real and an imaginary part. */
bool petsc_put_vector(struct petsc_writer *f, const double *x, int64_t n, struct err *e);
/* A dense matrix: `columns` vectors of `rows` numbers or pairs, one after another. */
bool petsc_put_dense(struct petsc_writer *f, const double *x, int64_t rows, int64_t columns, struct err *e);
/* If ok, write what is left, and complete the file; otherwise remove it. */
bool petsc_close(struct petsc_writer *f, bool ok, struct err *e);

#endif
