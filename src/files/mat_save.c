/* Write MATLAB's .mat files of level 5, uncompressed. Format: MathWorks, "MAT-File Format". */
#include "base/err.h"
#include "base/newfile.h"
#include "base/watch.h"
#include "mat.h"
#include "matrix/csr.h"
#include "sides.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 18, PAIRS = 1 << 10, TAG = 8, FLAGS_SIZE_NAME = 16 + 16 + 8 };

struct writer {
    struct newfile file;
    struct watch *watch;
    int64_t done, total;
};

static bool put(struct writer *m, const void *data, int64_t n, struct err *e)
{
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t part = n - at < CHUNK ? n - at : CHUNK;
        if (!watch_tick(m->watch, "writing", m->done, m->total, e) ||
            !newfile_write(&m->file, (const char *)data + at, part, e))
            return false;
        m->done += part;
    }
    return true;
}

static bool put_tag(struct writer *m, uint32_t type, int64_t bytes, struct err *e)
{
    const uint32_t tag[2] = {type, (uint32_t)bytes};
    return put(m, tag, sizeof tag, e);
}

/* Data are padded to a multiple of 8 bytes. */
static int64_t padded(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static bool put_padding(struct writer *m, int64_t bytes, struct err *e)
{
    return put(m, (const char[TAG]){0}, padded(bytes) - bytes, e);
}

static bool put_array(struct writer *m, uint32_t type, const void *data, int64_t bytes, struct err *e)
{
    return put_tag(m, type, bytes, e) && put(m, data, bytes, e) && put_padding(m, bytes, e);
}

/* Write n doubles that are `step` apart. */
static bool put_doubles(struct writer *m, const double *x, int64_t n, int step, struct err *e)
{
    double some[PAIRS];
    if (step == 1) return put_array(m, MAT_DOUBLE, x, n * (int64_t)sizeof *x, e);
    if (!put_tag(m, MAT_DOUBLE, n * (int64_t)sizeof *x, e)) return false;
    for (int64_t k = 0; k < n; k += PAIRS) {
        int64_t part = n - k < PAIRS ? n - k : PAIRS;
        for (int64_t i = 0; i < part; i++) some[i] = x[(k + i) * step];
        if (!put(m, some, part * (int64_t)sizeof *x, e)) return false;
    }
    return true;
}

static bool put_ones(struct writer *m, int64_t n, struct err *e)
{
    char ones[PAIRS];
    memset(ones, 1, sizeof ones);
    if (!put_tag(m, MAT_UINT8, n, e)) return false;
    for (int64_t k = 0; k < n; k += PAIRS)
        if (!put(m, ones, n - k < PAIRS ? n - k : PAIRS, e)) return false;
    return put_padding(m, n, e);
}

/* Begin a variable whose arrays, with their tags, have `bytes` bytes. nonzeros: of a sparse variable, else 0. */
static bool begin_variable(struct writer *m, char name, uint32_t class, int64_t nonzeros, int64_t rows, int64_t cols,
                           int64_t bytes, struct err *e)
{
    const uint32_t flags[2] = {class, (uint32_t)nonzeros};
    const int32_t size[2] = {(int32_t)rows, (int32_t)cols};
    const uint32_t one_letter[2] = {1u << 16 | MAT_INT8, (uint32_t)name};
    if (FLAGS_SIZE_NAME + bytes > INT32_MAX)
        return fail(e, E_LIMIT,
                    "variable %c needs %lld bytes, but .mat files store at most 2^31-1 per variable; save it as .npz",
                    name, (long long)bytes);
    return put_tag(m, MAT_MATRIX, FLAGS_SIZE_NAME + bytes, e) && put_array(m, MAT_UINT32, flags, sizeof flags, e) &&
           put_array(m, MAT_INT32, size, sizeof size, e) && put(m, one_letter, sizeof one_letter, e);
}

/* T: the transpose of the matrix, whose rows are the columns of the file. */
static bool put_sparse(struct writer *m, const struct csr *T, bool pattern, struct err *e)
{
    int64_t n = T->nnz, index = (int64_t)sizeof *T->col, value = pattern ? 1 : (int64_t)sizeof *T->val;
    int64_t arrays =
        2 * TAG + padded(n * index) + padded((T->rows + 1) * index) + (TAG + padded(n * value)) * (T->imag ? 2 : 1);
    uint32_t class = CLASS_SPARSE | (pattern ? FLAG_LOGICAL : 0) | (T->imag ? FLAG_COMPLEX : 0);
    return begin_variable(m, 'A', class, n ? n : 1, T->cols, T->rows, arrays, e) &&
           put_array(m, MAT_INT32, T->col, n * index, e) &&
           put_array(m, MAT_INT32, T->rowptr, (T->rows + 1) * index, e) &&
           (pattern ? put_ones(m, n, e) : put_doubles(m, T->val, n, 1, e)) &&
           (!T->imag || put_doubles(m, T->imag, n, 1, e));
}

/* Write n columns of `each` numbers, or of each / 2 pairs. */
static bool put_columns(struct writer *m, char name, const double *x, int64_t n, int64_t each, bool pairs,
                        struct err *e)
{
    int parts = pairs ? 2 : 1;
    int64_t rows = each / parts, bytes = TAG + n * rows * (int64_t)sizeof *x;
    return begin_variable(m, name, CLASS_DOUBLE | (pairs ? FLAG_COMPLEX : 0), 0, rows, n, bytes * parts, e) &&
           put_doubles(m, x, n * rows, parts, e) && (!pairs || put_doubles(m, x + 1, n * rows, parts, e));
}

static bool put_sides(struct writer *m, const struct sides *t, bool pairs, struct err *e)
{
    if (!t || !t->n) return true;
    return put_columns(m, 'b', t->b, t->n, t->b_each, pairs, e) &&
           (!t->x || put_columns(m, 'x', t->x, t->n, t->x_each, pairs, e));
}

/* 116 letters of text, 8 bytes that are not used, the version and the byte order. */
static bool put_header(struct writer *m, const char *comment, struct err *e)
{
    static const uint16_t version[2] = {0x0100, 'M' << 8 | 'I'};
    char head[MAT_HEADER];
    memset(head, ' ', sizeof head);
    int n = snprintf(head, MAT_VERSION_AT - 8, "MATLAB 5.0 MAT-file, %s", comment ? comment : "");
    if (n < MAT_VERSION_AT - 8) head[n] = ' ';
    head[MAT_VERSION_AT - 9] = ' ';
    memset(head + MAT_VERSION_AT - 8, 0, 8);
    memcpy(head + MAT_VERSION_AT, version, sizeof version);
    return put(m, head, sizeof head, e);
}

bool mat_save(const char *path, bool force, const struct csr *A, const struct sides *sides, bool pattern,
              const char *comment, struct watch *w, struct err *e)
{
    struct csr T;
    struct writer m = {.watch = w, .total = csr_memory(A) + (sides ? sides_memory(sides) : 0)};
    if (!csr_transpose(&T, A, e)) return false;
    bool ok = newfile_open(&m.file, path, force, e) && put_header(&m, comment, e) && put_sparse(&m, &T, pattern, e) &&
              put_sides(&m, sides, A->imag != NULL, e);
    csr_free(&T);
    return newfile_close(&m.file, ok, e);
}
