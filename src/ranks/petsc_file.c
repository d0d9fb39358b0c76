/* Files in PETSc's binary format: big-endian integers of the size of a PetscInt, and doubles. A matrix is the number
   1211216, rows, columns, nonzeros, the row lengths, the columns and the values; a vector is 1211214, its length and
   its values. Source: the PETSc manual, "PetscViewerBinaryOpen" and MatLoad. */
#include "base/err.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/text.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "protocol.h"
#include "ranks_private.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MATRIX_ID = 1211216, VECTOR_ID = 1211214, CHUNK = 1 << 15 };

/* A file that is being written, through a buffer of CHUNK numbers. */
struct writer {
    struct newfile file;
    int index_bytes;
    uint64_t *buffer;
    int64_t used;        /* bytes */
    int64_t done, total; /* bytes */
    struct watch *watch;
};

static void path_of(const struct ranks *r, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", r->folder, name);
}

static bool flush(struct writer *f, struct err *e)
{
    if (!newfile_write(&f->file, f->buffer, f->used, e)) {
        char bytes[32];
        err_advise(e, "%s are needed there; set XDG_CACHE_HOME to a folder with more room, which all ranks can read",
                   show_bytes((double)f->total, bytes, sizeof bytes));
        return false;
    }
    f->done += f->used;
    f->used = 0;
    return watch_tick(f->watch, "writing for the ranks", f->done, f->total, e);
}

static bool put_bytes(struct writer *f, const void *bytes, int n, struct err *e)
{
    if (f->used + n > CHUNK * (int64_t)sizeof *f->buffer && !flush(f, e)) return false;
    memcpy((char *)f->buffer + f->used, bytes, (size_t)n);
    f->used += n;
    return true;
}

static bool put_index(struct writer *f, int64_t i, struct err *e)
{
    uint32_t narrow = htobe32((uint32_t)i);
    uint64_t wide = htobe64((uint64_t)i);
    return f->index_bytes == 4 ? put_bytes(f, &narrow, 4, e) : put_bytes(f, &wide, 8, e);
}

static bool put_real(struct writer *f, double x, struct err *e)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = htobe64(bits);
    return put_bytes(f, &bits, 8, e);
}

static bool writer_open(struct writer *f, const struct ranks *r, const char *name, int64_t indices, int64_t reals,
                        struct watch *w, struct err *e)
{
    char path[sizeof r->folder + 16];
    path_of(r, name, path, sizeof path);
    *f = (struct writer){.index_bytes = r->index_bytes, .watch = w};
    f->total = indices * r->index_bytes + reals * 8;
    f->buffer = mem_new(CHUNK, sizeof *f->buffer, "a buffer for the ranks", e);
    if (!f->buffer) return false;
    if (newfile_open_own(&f->file, path, true, e)) return true;
    mem_free(f->buffer);
    return false;
}

static bool writer_close(struct writer *f, bool ok, struct err *e)
{
    ok = ok && flush(f, e);
    mem_free(f->buffer);
    return newfile_close(&f->file, ok, e);
}

bool petsc_write_matrix(const struct ranks *r, const struct csr *A, struct watch *w, struct err *e)
{
    struct writer f;
    if (!writer_open(&f, r, RANKS_MATRIX, 4 + A->rows + A->nnz, A->nnz, w, e)) return false;
    bool ok = put_index(&f, MATRIX_ID, e) && put_index(&f, A->rows, e) && put_index(&f, A->cols, e) &&
              put_index(&f, A->nnz, e);
    for (int64_t i = 0; ok && i < A->rows; i++) ok = put_index(&f, csr_row_length(A, i), e);
    for (int64_t k = 0; ok && k < A->nnz; k++) ok = put_index(&f, A->col[k], e);
    for (int64_t k = 0; ok && k < A->nnz; k++) ok = put_real(&f, A->val[k], e);
    return writer_close(&f, ok, e);
}

bool petsc_write_vector(const struct ranks *r, const char *name, const double *x, int64_t n, struct watch *w,
                        struct err *e)
{
    struct writer f;
    if (!writer_open(&f, r, name, 2, n, w, e)) return false;
    bool ok = put_index(&f, VECTOR_ID, e) && put_index(&f, n, e);
    for (int64_t i = 0; ok && i < n; i++) ok = put_real(&f, x[i], e);
    return writer_close(&f, ok, e);
}

/* Read n bytes; returns false if there are fewer. */
static bool read_all(int fd, void *to, int64_t n)
{
    for (char *at = to; n > 0;) {
        ssize_t more = read(fd, at, (size_t)n);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) return false;
        at += more, n -= more;
    }
    return true;
}

bool petsc_read_vector(const struct ranks *r, const char *name, double *x, int64_t n, struct err *e)
{
    char path[sizeof r->folder + 16], where[256];
    unsigned char head[16];
    path_of(r, name, path, sizeof path);
    print_safe(path, strlen(path), 200, where, sizeof where);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_at(e, E_IO, where, "cannot read what the ranks wrote: %s", strerror(errno));
    bool ok = read_all(fd, head, 2 * r->index_bytes) && read_all(fd, x, n * 8) && read(fd, head, 1) == 0;
    close(fd);
    if (!ok) return fail_at(e, E_IO, where, "the ranks wrote a vector of another length; is the folder's disk full?");
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        bits = be64toh(bits);
        memcpy(x + i, &bits, sizeof bits);
    }
    return true;
}

void petsc_remove_files(const struct ranks *r)
{
    static const char *const names[] = {RANKS_MATRIX, RANKS_X, RANKS_B, RANKS_Y};
    char path[sizeof r->folder + 16];
    for (int i = 0; i < COUNT(names); i++) {
        path_of(r, names[i], path, sizeof path);
        unlink(path);
    }
    rmdir(r->folder);
}
