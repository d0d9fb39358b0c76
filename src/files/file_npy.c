/* .npy files, which contain one array of real numbers: vectors, the columns of the array. */
#include "base/err.h"
#include "base/mem.h"
#include "base/stream.h"
#include "file.h"
#include "npy.h"
#include "sides.h"

#include <stdio.h>
#include <string.h>

enum { MAGIC = 6, DICTIONARY = 1 << 12 };
static const char magic[MAGIC + 1] = "\x93NUMPY";

static bool bad(const char *path, const char *why, struct err *e)
{
    return fail(e, E_INPUT, "%s: %s", path, why);
}

static bool read_exactly(struct stream *s, const char *path, char *to, int64_t n, struct err *e)
{
    int64_t got = stream_read(s, to, n, e);
    return got == n || (got >= 0 && bad(path, "the .npy file ends early", e));
}

static bool is_real(const struct npy *a)
{
    return (a->kind == 'f' || npy_is_integer(a)) && file_number_of(a->kind, a->size);
}

/* The header after the magic: the version, the length of the dictionary in 2 or 4 bytes, the dictionary. */
static bool read_header(struct stream *s, const char *path, struct npy *a, struct err *e)
{
    unsigned char head[6];
    char dict[DICTIONARY + 1];
    if (!read_exactly(s, path, (char *)head, 4, e)) return false;
    int64_t n = head[2] | head[3] << 8;
    if (head[0] > 1 && !read_exactly(s, path, (char *)head + 4, 2, e)) return false;
    if (head[0] > 1) n |= (int64_t)head[4] << 16 | (int64_t)head[5] << 24;
    if (n > DICTIONARY) return bad(path, "the header of the .npy file is too long", e);
    if (!read_exactly(s, path, dict, n, e)) return false;
    dict[n] = 0;
    if (!npy_parse(dict, a) || a->dims < 1 || a->dims > 2) return bad(path, "this is no array of one or two axes", e);
    return is_real(a) || bad(path, "the array must have real numbers in fp32 or fp64, or integers", e);
}

/* Item k is element (k / cols, k % cols), or the other way round in Fortran order. */
static void spread(const struct npy *a, const char *items, int64_t rows, int64_t cols, double *x)
{
    file_number *number = file_number_of(a->kind, a->size);
    for (int64_t k = 0; k < a->n; k++) x[a->fortran ? k : k % cols * rows + k / cols] = number(items + k * a->size);
}

static bool load(struct stream *s, const char *path, double **x, int64_t *rows, int64_t *columns, struct err *e)
{
    struct npy a = {0};
    if (!read_header(s, path, &a, e)) return false;
    *rows = a.dim[0];
    *columns = a.dims > 1 ? a.dim[1] : 1;
    char *items = mem_new(a.n, (size_t)a.size, "the array of a file", e);
    *x = items ? mem_new(a.n, sizeof **x, "the array of a file", e) : NULL;
    bool ok = *x && read_exactly(s, path, items, a.n * a.size, e);
    if (ok) {
        npy_to_native(&a, items, a.n);
        spread(&a, items, *rows, *columns, *x);
    } else {
        mem_free(*x);
        *x = NULL;
    }
    mem_free(items);
    return ok;
}

/* ---- the kind ---- */

static bool load_columns(struct source *s, struct dense_array *d, struct err *e)
{
    char first[MAGIC];
    struct stream *t = stream_open(s->path, e); /* the bytes of s->stream are partly read */
    bool ok = t && read_exactly(t, s->path, first, MAGIC, e) && load(t, s->path, &d->val, &d->rows, &d->cols, e);
    stream_close(t);
    return ok;
}

static bool load_matrix(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    return file_bad(s, e,
                    "this is a dense NumPy array (.npy), not a sparse matrix; convert it in Python with "
                    "scipy.sparse.save_npz(\"A.npz\", scipy.sparse.csr_matrix(numpy.load(\"A.npy\")))");
}

static bool recognises(const char *begin, int64_t n)
{
    return n >= MAGIC && !memcmp(begin, magic, MAGIC);
}

const struct file_kind file_npy = {
    .name = "NumPy .npy",
    .endings = ".npy",
    .about = "vectors from NumPy",
    .packed = true,
    .recognises = recognises,
    .load = load_matrix,
    .load_array = load_columns,
};
