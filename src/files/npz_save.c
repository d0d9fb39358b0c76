/* Write .npz files: libarchive stores the arrays of csr in a zip archive without compression. */
#include "base/err.h"
#include "base/newfile.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdio.h>
#include <string.h>

struct zip {
    struct newfile file;
    struct archive *archive;
    struct watch *watch;
    int64_t done, total;
};

static bool zip_put(struct zip *z, const void *data, int64_t n, struct err *e)
{
    return archive_write_data(z->archive, data, (size_t)n) == n ||
           newfile_fail(&z->file, "write the file", archive_errno(z->archive), e);
}

static bool put_data(struct zip *z, const void *data, int64_t n, struct err *e)
{
    for (int64_t at = 0; at < n; at += NPZ_CHUNK) {
        int64_t part = n - at < NPZ_CHUNK ? n - at : NPZ_CHUNK;
        if (!watch_tick(z->watch, "writing", z->done, z->total, e) || !zip_put(z, (const char *)data + at, part, e))
            return false;
        z->done += part;
    }
    return true;
}

/* Begin an array of the file and write its .npy header. The caller then writes `bytes` bytes of items. */
static bool begin_member(struct zip *z, const char *name, const char *type, const char *shape, bool fortran,
                         int64_t bytes, struct err *e)
{
    char header[NPY_HEADER];
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return fail(e, E_MEMORY, "out of memory: the arrays of the file could not be named");
    archive_entry_set_pathname(entry, name);
    if (!archive_entry_pathname(entry)) /* libarchive would dereference a null name */
        return archive_entry_free(entry), fail(e, E_MEMORY, "out of memory: the arrays of the file could not be named");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, NPY_HEADER + bytes);
    archive_entry_set_mtime(entry, 0, 0);
    bool ok = archive_write_header(z->archive, entry) == ARCHIVE_OK ||
              newfile_fail(&z->file, "write the file", archive_errno(z->archive), e);
    archive_entry_free(entry);
    npy_header(header, type, shape, fortran);
    return ok && zip_put(z, header, NPY_HEADER, e);
}

static bool put_array(struct zip *z, const char *name, const char *type, int64_t n, const void *data, int64_t bytes,
                      struct err *e)
{
    char shape[32] = "";
    if (n >= 0) snprintf(shape, sizeof shape, "%lld,", (long long)n);
    return begin_member(z, name, type, shape, false, bytes, e) && put_data(z, data, bytes, e);
}

/* Write the values as pairs of a real and an imaginary part. */
static bool put_complex(struct zip *z, const struct csr *A, struct err *e)
{
    double pair[2 * 1024];
    char shape[32];
    snprintf(shape, sizeof shape, "%lld,", (long long)A->nnz);
    if (!begin_member(z, "data.npy", "c16", shape, false, A->nnz * 16, e)) return false;
    for (int64_t k = 0; k < A->nnz; k += 1024) {
        int64_t n = A->nnz - k < 1024 ? A->nnz - k : 1024;
        for (int64_t i = 0; i < n; i++) {
            pair[2 * i] = A->val[k + i];
            pair[2 * i + 1] = A->imag[k + i];
        }
        if (!put_data(z, pair, n * 16, e)) return false;
    }
    return true;
}

/* Write the values of a pattern: n times true. */
static bool put_pattern(struct zip *z, int64_t n, struct err *e)
{
    char shape[32], ones[4096];
    memset(ones, 1, sizeof ones);
    snprintf(shape, sizeof shape, "%lld,", (long long)n);
    if (!begin_member(z, "data.npy", "|b1", shape, false, n, e)) return false;
    for (int64_t at = 0; at < n; at += (int64_t)sizeof ones)
        if (!put_data(z, ones, n - at < (int64_t)sizeof ones ? n - at : (int64_t)sizeof ones, e)) return false;
    return true;
}

static bool put_pointers(struct zip *z, const struct csr *A, struct err *e)
{
    int64_t n = A->rows + 1;
    return csr_is_large(A) ? put_array(z, "indptr.npy", "i8", n, A->rowptr64, n * 8, e)
                           : put_array(z, "indptr.npy", "i4", n, A->rowptr, n * 4, e);
}

static bool put_values(struct zip *z, const struct csr *A, bool pattern, struct err *e)
{
    if (pattern) return put_pattern(z, A->nnz, e);
    return A->imag ? put_complex(z, A, e) : put_array(z, "data.npy", "f8", A->nnz, A->val, A->nnz * 8, e);
}

static bool put_arrays(struct zip *z, const struct csr *A, bool pattern, struct err *e)
{
    const int64_t shape[2] = {A->rows, A->cols};
    return put_array(z, "indices.npy", "i4", A->nnz, A->col, A->nnz * 4, e) && put_pointers(z, A, e) &&
           put_array(z, "format.npy", "|S3", -1, "csr", 3, e) && put_array(z, "shape.npy", "i8", 2, shape, 16, e) &&
           put_values(z, A, pattern, e);
}

/* Write n columns of numbers, or of pairs if the matrix is complex, as an array in Fortran's order. */
static bool put_columns(struct zip *z, const char *name, const double *x, int64_t n, int64_t each, bool pairs,
                        struct err *e)
{
    char shape[64];
    int64_t bytes = n * each * (int64_t)sizeof *x, rows = pairs ? each / 2 : each;
    if (n == 1)
        snprintf(shape, sizeof shape, "%lld,", (long long)rows);
    else
        snprintf(shape, sizeof shape, "%lld, %lld", (long long)rows, (long long)n);
    return begin_member(z, name, pairs ? "c16" : "f8", shape, n > 1, bytes, e) && put_data(z, x, bytes, e);
}

static bool put_sides(struct zip *z, const struct csr *A, const struct sides *t, struct err *e)
{
    if (!t || !t->n) return true;
    return put_columns(z, "b.npy", t->b, t->n, t->b_each, A->imag, e) &&
           (!t->x || put_columns(z, "x.npy", t->x, t->n, t->x_each, A->imag, e));
}

static bool start_zip(struct zip *z, struct err *e)
{
    struct archive *a = z->archive = archive_write_new();
    if (!a) return fail(e, E_MEMORY, "out of memory: libarchive could not be started");
    return (archive_write_set_format_zip(a) == ARCHIVE_OK && archive_write_zip_set_compression_store(a) == ARCHIVE_OK &&
            archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK &&
            archive_write_open_fd(a, z->file.fd) == ARCHIVE_OK) ||
           newfile_fail(&z->file, "write the file", archive_errno(a), e);
}

bool npz_save(const char *path, bool force, const struct csr *A, const struct sides *sides, bool pattern,
              struct watch *w, struct err *e)
{
    struct zip z = {.watch = w,
                    .total = A->nnz * (pattern   ? 5
                                       : A->imag ? 20
                                                 : 12) +
                             A->rows * (csr_is_large(A) ? 8 : 4)};
    if (sides) z.total += sides_memory(sides);
    bool ok = newfile_open(&z.file, path, force, e) && start_zip(&z, e) && put_arrays(&z, A, pattern, e) &&
              put_sides(&z, A, sides, e);
    if (z.archive && archive_write_close(z.archive) != ARCHIVE_OK && ok)
        ok = newfile_fail(&z.file, "write the file", archive_errno(z.archive), e);
    archive_write_free(z.archive);
    return newfile_close(&z.file, ok, e);
}
