/* Write matrices and vectors in PETSc's binary format. */
#include "base/mem.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "petsc_binary.h"

#include <endian.h>
#include <string.h>

enum { ROOM = 1 << 15, MATRIX_HEADER = 4 };

static int64_t scalar_bytes(const struct petsc_writer *f)
{
    return f->complex_values ? 16 : 8;
}

int64_t petsc_matrix_bytes(const struct petsc_writer *f, const struct csr *A)
{
    return (MATRIX_HEADER + A->rows + A->nnz) * f->index_bytes + A->nnz * scalar_bytes(f);
}

static bool flush(struct petsc_writer *f, struct err *e)
{
    f->failed = !newfile_write(&f->file, f->buffer, f->used, e);
    if (f->failed) return false;
    f->done += f->used;
    f->used = 0;
    return watch_tick(f->watch, f->what, f->done, f->total, e);
}

static bool put_bytes(struct petsc_writer *f, const void *bytes, int n, struct err *e)
{
    if (f->used + n > ROOM * (int64_t)sizeof *f->buffer && !flush(f, e)) return false;
    memcpy((char *)f->buffer + f->used, bytes, (size_t)n);
    f->used += n;
    return true;
}

static bool put_index(struct petsc_writer *f, int64_t i, struct err *e)
{
    uint32_t narrow = htobe32((uint32_t)i);
    uint64_t wide = htobe64((uint64_t)i);
    return f->index_bytes == 4 ? put_bytes(f, &narrow, 4, e) : put_bytes(f, &wide, 8, e);
}

static bool put_real(struct petsc_writer *f, double x, struct err *e)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = htobe64(bits);
    return put_bytes(f, &bits, 8, e);
}

/* The header of an object: n integers. */
static bool put_header(struct petsc_writer *f, const int64_t *header, int n, struct err *e)
{
    bool ok = f->buffer || (f->buffer = mem_new(ROOM, sizeof *f->buffer, "a buffer to write", e));
    for (int i = 0; ok && i < n; i++) ok = put_index(f, header[i], e);
    return ok;
}

bool petsc_put_matrix(struct petsc_writer *f, const struct csr *A, struct err *e)
{
    bool ok = put_header(f, (int64_t[]){PETSC_MATRIX, A->rows, A->cols, A->nnz}, MATRIX_HEADER, e);
    for (int64_t i = 0; ok && i < A->rows; i++) ok = put_index(f, csr_row_length(A, i), e);
    for (int64_t k = 0; ok && k < A->nnz; k++) ok = put_index(f, A->col[k], e);
    for (int64_t k = 0; ok && k < A->nnz; k++)
        ok = put_real(f, A->val[k], e) && (!f->complex_values || put_real(f, A->imag[k], e));
    return ok;
}

bool petsc_put_vector(struct petsc_writer *f, const double *x, int64_t n, struct err *e)
{
    bool ok = put_header(f, (int64_t[]){PETSC_VECTOR, n}, 2, e);
    int64_t numbers = f->complex_values ? 2 * n : n;
    for (int64_t i = 0; ok && i < numbers; i++) ok = put_real(f, x[i], e);
    return ok;
}

bool petsc_put_dense(struct petsc_writer *f, const double *x, int64_t rows, int64_t columns, struct err *e)
{
    int parts = f->complex_values ? 2 : 1;
    bool ok = put_header(f, (int64_t[]){PETSC_MATRIX, rows, columns, PETSC_DENSE}, MATRIX_HEADER, e);
    for (int64_t i = 0; ok && i < rows; i++)
        for (int64_t c = 0; ok && c < columns; c++)
            for (int p = 0; ok && p < parts; p++) ok = put_real(f, x[(c * rows + i) * parts + p], e);
    return ok;
}

bool petsc_close(struct petsc_writer *f, bool ok, struct err *e)
{
    ok = ok && flush(f, e);
    mem_free(f->buffer);
    f->buffer = NULL;
    return newfile_close(&f->file, ok, e);
}
