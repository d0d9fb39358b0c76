/* The files through which the ranks receive the matrix and exchange vectors, in PETSc's binary format. */
#include "base/err.h"
#include "base/text.h"
#include "files/petsc_binary.h"
#include "files/raw.h"
#include "protocol.h"
#include "ranks_private.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void path_of(const struct ranks *r, const char *name, char *out, size_t size)
{
    snprintf(out, size, "%s/%s", r->folder, name);
}

static bool writer_open(struct petsc_writer *f, const struct ranks *r, const char *name, struct watch *w, struct err *e)
{
    char path[sizeof r->folder + 16];
    path_of(r, name, path, sizeof path);
    *f = (struct petsc_writer){.index_bytes = r->index_bytes, .what = "writing for the ranks", .watch = w};
    return newfile_open_own(&f->file, path, true, e);
}

static bool writer_close(struct petsc_writer *f, bool ok, struct err *e)
{
    char bytes[32];
    if (petsc_close(f, ok, e)) return true;
    if (f->failed)
        err_advise(e, "%s are needed there; set XDG_CACHE_HOME to a folder with more room, which all ranks can read",
                   show_bytes((double)f->total, bytes, sizeof bytes));
    return false;
}

bool petsc_write_matrix(const struct ranks *r, const struct csr *A, struct watch *w, struct err *e)
{
    struct petsc_writer f;
    if (!writer_open(&f, r, RANKS_MATRIX, w, e)) return false;
    f.total = petsc_matrix_bytes(&f, A);
    return writer_close(&f, petsc_put_matrix(&f, A, e), e);
}

bool petsc_write_vector(const struct ranks *r, const char *name, const double *x, int64_t n, struct watch *w,
                        struct err *e)
{
    struct petsc_writer f;
    if (!writer_open(&f, r, name, w, e)) return false;
    f.total = 2 * r->index_bytes + n * (int64_t)sizeof *x;
    return writer_close(&f, petsc_put_vector(&f, x, n, e), e);
}

bool petsc_read_vector(const struct ranks *r, const char *name, double *x, int64_t n, struct err *e)
{
    char path[sizeof r->folder + 16], where[256];
    int64_t header = 2 * r->index_bytes, end = 0;
    struct raw f;
    path_of(r, name, path, sizeof path);
    print_safe(path, strlen(path), 200, where, sizeof where);
    bool ok = raw_open(&f, path, where, true, e);
    if (ok && (!raw_has(&f, header, n, sizeof *x, &end) || end != f.size))
        ok = fail_at(e, E_IO, where, "the ranks wrote a vector of another length; is the folder's disk full?");
    ok = ok && raw_doubles(&f, header, n, sizeof *x, x, NULL, e);
    raw_close(&f);
    return ok;
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
