/* PETSc's binary files (petsc_binary.h): a matrix and the vectors that follow it.

   The first integer of the file shows how many bytes an integer has. Nothing in the file shows what a scalar is, so the
   file's length decides: with 8 bytes (double), 16 (complex double) or 4 (single precision) for each scalar, the
   objects must end exactly where the file ends. Single precision complex values are read as double real ones. */
#include "base/err.h"
#include "base/loop.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "petsc_binary.h"
#include "raw.h"
#include "sides.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum {
    OBJECTS_MAX = 64, /* objects that are told apart; there may be more */
    HEADER = 4,       /* integers in the header of a matrix, the longest header */
    LENGTHS = 1 << 12,
    FIRST_ID = 1211211, /* PETSc's numbers of objects */
    LAST_ID = 1211230
};

struct object {
    int64_t id;
    int64_t rows, cols; /* of a vector, cols is 1 */
    int64_t nnz;        /* PETSC_DENSE: a dense matrix */
    int64_t at;         /* the byte after the header */
};
struct petsc_file {
    struct raw raw;
    const struct source *s;
    int index_bytes, scalar_bytes;
    bool complex_values;
    int n; /* objects */
    struct object object[OBJECTS_MAX];
    bool more; /* other objects follow */
};

/* ---- the objects of the file ---- */

static int index_bytes_of(const char *begin, int64_t n, int64_t *id)
{
    uint32_t word[2] = {0};
    memcpy(word, begin, n < (int64_t)sizeof word ? (size_t)n : sizeof word);
    bool wide = n >= 8 && !word[0];
    *id = be32toh(word[wide]);
    return wide ? 8 : 4;
}

static bool is_id(int64_t id)
{
    return id >= FIRST_ID && id <= LAST_ID;
}

static bool recognises(const char *begin, int64_t n)
{
    int64_t id;
    return n >= 4 && (index_bytes_of(begin, n, &id), is_id(id));
}

static bool is_dense(const struct object *o)
{
    return o->id == PETSC_MATRIX && o->nnz == PETSC_DENSE;
}

static int header_of(int64_t id)
{
    return id == PETSC_MATRIX ? HEADER : id == PETSC_VECTOR || id == PETSC_INDICES ? 2 : 0;
}

/* The byte after the arrays of an object, whose sizes may be any numbers. Returns false if the file ends before. */
static bool object_end(const struct petsc_file *f, const struct object *o, int64_t *end)
{
    int64_t scalars = o->nnz, at = o->at;
    if (o->id == PETSC_INDICES) return raw_has(&f->raw, at, o->rows, f->index_bytes, end);
    if (o->rows < 0 || o->cols < 0) return false;
    if (is_dense(o) && __builtin_mul_overflow(o->rows, o->cols, &scalars)) return false;
    if (o->id == PETSC_MATRIX && !is_dense(o) &&
        (!raw_has(&f->raw, at, o->rows, f->index_bytes, &at) || !raw_has(&f->raw, at, o->nnz, f->index_bytes, &at)))
        return false;
    return raw_has(&f->raw, at, scalars, f->scalar_bytes, end);
}

static bool bad_object(const struct petsc_file *f, const struct object *o, struct err *e)
{
    if (o->id == PETSC_MATRIX)
        return file_bad(f->s, e,
                        "the file has %lld bytes, which are too few for a PETSc matrix of %lld x %lld with %lld "
                        "nonzeros; it is truncated",
                        (long long)f->raw.size, (long long)o->rows, (long long)o->cols, (long long)o->nnz);
    return file_bad(f->s, e,
                    "the file has %lld bytes, which are too few for PETSc's vector of length %lld; it is truncated",
                    (long long)f->raw.size, (long long)o->rows);
}

/* Read the header at byte *at. *end is set if the objects that can be read end there. */
static bool next_object(struct petsc_file *f, int64_t *at, bool *end, struct err *e)
{
    struct object o = {.cols = 1};
    int64_t header[HEADER] = {0}, after;
    if (!raw_has(&f->raw, *at, 1, f->index_bytes, &after))
        return file_bad(f->s, e, "the file ends within the header of a PETSc object; it is truncated");
    if (!raw_integer(&f->raw, *at, f->index_bytes, &o.id, e)) return false;
    int n = header_of(o.id);
    *end = !n && is_id(o.id);
    if (*end) return f->more = true;
    if (!n)
        return file_bad(f->s, e, "no PETSc object begins at byte %lld: its number is %lld; the file is corrupt",
                        (long long)*at, (long long)o.id);
    if (!raw_has(&f->raw, *at, n, f->index_bytes, &o.at))
        return file_bad(f->s, e, "the file ends within the header of a PETSc object; it is truncated");
    for (int i = 1; i < n; i++)
        if (!raw_integer(&f->raw, *at + i * f->index_bytes, f->index_bytes, &header[i], e)) return false;
    o.rows = o.nnz = header[1];
    if (o.id == PETSC_MATRIX) o.cols = header[2], o.nnz = header[3];
    if (!object_end(f, &o, at)) return bad_object(f, &o, e);
    if (f->n < OBJECTS_MAX)
        f->object[f->n++] = o;
    else
        f->more = true;
    return true;
}

/* List the objects, if each scalar has this size. */
static bool list_objects(struct petsc_file *f, int scalar_bytes, struct err *e)
{
    int64_t at = 0;
    bool end = false;
    f->n = 0;
    f->more = false;
    f->scalar_bytes = scalar_bytes;
    while (at < f->raw.size && !end)
        if (!next_object(f, &at, &end, e)) return false;
    return true;
}

/* If several sizes of a scalar fit, most objects are right: values hardly ever look like the number of an object. The
   error is that of scalars of 8 bytes, which most files have. */
static bool find_objects(struct petsc_file *f, struct err *e)
{
    static const int bytes[] = {8, 16, 4};
    int best = 0, most = 0;
    for (int i = 0; i < COUNT(bytes); i++) {
        struct err why = {0};
        if (!list_objects(f, bytes[i], &why) || f->n + f->more <= most) continue;
        best = bytes[i];
        most = f->n + f->more;
    }
    if (!list_objects(f, best ? best : bytes[0], e)) return false;
    f->complex_values = best == 16;
    if (f->complex_values) f->scalar_bytes = 8;
    return true;
}

static bool petsc_open(struct petsc_file *f, const struct source *s, struct err *e)
{
    int64_t id;
    *f = (struct petsc_file){.s = s, .index_bytes = index_bytes_of(s->begin, s->n, &id)};
    return raw_open(&f->raw, s->path, s->where, true, e) && find_objects(f, e);
}

/* ---- arrays ---- */

static bool read_scalars(struct petsc_file *f, int64_t at, int64_t n, double *to, double *imag, struct err *e)
{
    hint_large(to, n * (int64_t)sizeof *to);
    if (imag) hint_large(imag, n * (int64_t)sizeof *imag);
    return raw_doubles(&f->raw, at, n, f->scalar_bytes, to, imag, e);
}

/* Set the row pointers from the row lengths that begin at byte `at`. */
static bool read_lengths(struct petsc_file *f, int64_t at, struct csr *C, struct err *e)
{
    int length[LENGTHS];
    int64_t total = 0;
    csr_set_start(C, 0, 0);
    for (int64_t i = 0; i < C->rows; i++) {
        int64_t k = i % LENGTHS, left = C->rows - i;
        if (!k &&
            !raw_integers(&f->raw, at + i * f->index_bytes, left < LENGTHS ? left : LENGTHS, f->index_bytes, length, e))
            return false;
        if (length[k] < 0 || length[k] > C->nnz - total)
            return file_bad(f->s, e, "row %lld (counted from 0) has the length %d, but %lld nonzeros are left",
                            (long long)i, length[k], (long long)(C->nnz - total));
        csr_set_start(C, i + 1, total += length[k]);
    }
    return total == C->nnz || file_bad(f->s, e, "the row lengths add up to %lld, but the header declares %lld nonzeros",
                                       (long long)total, (long long)C->nnz);
}

static bool read_sparse(struct petsc_file *f, const struct object *o, struct csr *C, struct err *e)
{
    int64_t columns = o->at + o->rows * f->index_bytes;
    hint_large(C->col, C->nnz * (int64_t)sizeof *C->col);
    return read_lengths(f, o->at, C, e) && raw_integers(&f->raw, columns, C->nnz, f->index_bytes, C->col, e) &&
           read_scalars(f, columns + C->nnz * f->index_bytes, C->nnz, C->val, C->imag, e);
}

/* A dense matrix: every element is an entry. */
static bool read_full(struct petsc_file *f, const struct object *o, struct csr *C, struct err *e)
{
    struct loop l = loop_of("making rows", C->rows);
    for (int64_t i = 0; i <= C->rows; i++) csr_set_start(C, i, i * C->cols);
    for (int64_t i = 0; i < C->rows; i++)
        for (int64_t j = 0; j < C->cols && loop_goes(&l, j); j++) C->col[i * C->cols + j] = (int)j;
    return loop_end(&l, e) && read_scalars(f, o->at, C->nnz, C->val, C->imag, e);
}

static bool read_matrix(struct petsc_file *f, const struct object *o, struct watch *w, struct csr *A,
                        struct load_info *info, struct err *e)
{
    struct csr C = {0};
    int64_t nnz = is_dense(o) ? o->rows * o->cols : o->nnz;
    bool ok = file_sizes_any(f->s, o->rows, o->cols, nnz, e) &&
              csr_new_any(&C, o->rows, o->cols, nnz, f->complex_values, e) &&
              (is_dense(o) ? read_full : read_sparse)(f, o, &C, e);
    if (ok) return file_finish(f->s, &C, false, MIRROR_NOT, w, A, info, e);
    csr_free(&C);
    return false;
}

/* A vector or a dense matrix, which is stored row by row. */
static bool read_array(struct petsc_file *f, const struct object *o, struct dense_array *d, struct err *e)
{
    struct dense_array rows;
    if (!dense_array_new(&rows, o->rows, o->cols, f->complex_values, e)) return false;
    bool ok = read_scalars(f, o->at, o->rows * o->cols, rows.val, rows.imag, e);
    if (!ok || o->cols == 1) {
        *d = rows;
        return ok || (dense_array_free(d), false);
    }
    ok = dense_array_new(d, o->rows, o->cols, f->complex_values, e);
    struct loop l = loop_of("transposing", o->rows * o->cols);
    for (int64_t k = 0; ok && k < o->rows * o->cols && loop_goes(&l, k); k++) {
        int64_t to = k % o->cols * o->rows + k / o->cols;
        d->val[to] = rows.val[k];
        if (d->imag) d->imag[to] = rows.imag[k];
    }
    dense_array_free(&rows);
    if (!ok || loop_end(&l, e)) return ok;
    dense_array_free(d);
    return false;
}

/* ---- loading ---- */

static int count_matrices(const struct petsc_file *f)
{
    int n = 0;
    for (int i = 0; i < f->n; i++) n += f->object[i].id == PETSC_MATRIX;
    return n;
}

/* The index of the matrix to read: the first, or the one whose number, counted from 1, `variable` names. -1: none. */
static int find_matrix(const struct petsc_file *f, struct err *e)
{
    const char *part = f->s->part;
    int n = count_matrices(f), wanted = part ? atoi(part) : 1;
    for (int i = 0, k = 0; i < f->n; i++)
        if (f->object[i].id == PETSC_MATRIX && ++k == wanted) return i;
    if (n)
        file_bad(f->s, e, "no matrix of this number; the file has %s: `variable 1` reads the first",
                 n == 1 ? "1 matrix" : how_many(n, "matrice").text);
    else if (f->n && f->object[0].id == PETSC_VECTOR)
        file_bad(f->s, e,
                 "the file has a PETSc vector of length %lld, but no matrix; load the matrix, and give this file after "
                 "`rhs` or `b`",
                 (long long)f->object[0].rows);
    else
        file_bad(f->s, e, "the file has PETSc objects, but no matrix; write the matrix with MatView");
    return -1;
}

/* The vectors or dense matrices at `i` and after it: the right sides, then their solutions. */
static bool read_sides(struct petsc_file *f, int *i, const struct csr *A, struct load_info *info, struct err *e)
{
    struct dense_array side[2] = {{0}, {0}};
    bool ok = true;
    for (int k = 0; ok && k < 2 && *i < f->n; k++, (*i)++) {
        const struct object *o = &f->object[*i];
        if (o->id != PETSC_VECTOR && !is_dense(o)) break;
        ok = read_array(f, o, &side[k], e);
    }
    ok = ok && sides_fill(f->s->sides, A, &side[0], &side[1], info, e);
    for (int k = 0; k < 2; k++) dense_array_free(&side[k]);
    return ok;
}

/* PETSc writes only the upper triangle of a matrix of type SBAIJ. */
static void note_triangle(const struct csr *A, struct load_info *info)
{
    bool above = false;
    struct loop l = loop_of("checking rows", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        int64_t k = csr_start(A, i), end = csr_start(A, i + 1);
        if (k < end && A->col[k] < i) return;
        above |= k < end && A->col[end - 1] > i;
    }
    if (above && A->rows == A->cols)
        file_note(info,
                  "no entry is below the diagonal; PETSc writes only this triangle of an SBAIJ matrix: convert it "
                  "to AIJ first if it is one");
}

static void describe(const struct petsc_file *f, int first, int after, struct load_info *info)
{
    int left = f->n - after, n = count_matrices(f);
    snprintf(info->field, sizeof info->field, "%s", f->complex_values ? "complex" : "real");
    if (f->scalar_bytes == 4) file_note(info, "the length of the file shows that its values are in single precision");
    if (n > 1 && left && !f->s->part)
        file_note(info, "read the first of %d matrices; `variable 2` reads the second", n);
    else if (left && !f->s->part)
        file_note(info, "%s after the right side %s left out", how_many(left, "object").text,
                  left == 1 ? "was" : "were");
    if (f->more) file_note(info, "PETSc objects that are no matrices and vectors were left out");
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct petsc_file f;
    int first = -1, after = 0;
    bool ok =
        petsc_open(&f, s, e) && (first = find_matrix(&f, e)) >= 0 && read_matrix(&f, &f.object[first], w, A, info, e);
    if (ok) {
        after = first + 1;
        ok = read_sides(&f, &after, A, info, e);
        if (!ok) csr_free(A);
    }
    raw_close(&f.raw);
    if (!ok) return false;
    describe(&f, first, after, info);
    note_triangle(A, info);
    return true;
}

/* The first vector or dense matrix of the file. */
static bool load_array(struct source *s, struct dense_array *d, struct err *e)
{
    struct petsc_file f;
    int i = 0;
    bool ok = petsc_open(&f, s, e);
    while (ok && i < f.n && f.object[i].id != PETSC_VECTOR && !is_dense(&f.object[i])) i++;
    if (ok && i == f.n) ok = file_bad(s, e, "the file has PETSc objects, but no vector; write the vector with VecView");
    ok = ok && read_array(&f, &f.object[i], d, e);
    raw_close(&f.raw);
    return ok;
}

/* ---- saving ---- */

static bool put_side(struct petsc_writer *f, const double *x, int64_t each, int64_t n, struct err *e)
{
    int64_t rows = f->complex_values ? each / 2 : each;
    return n == 1 ? petsc_put_vector(f, x, rows, e) : petsc_put_dense(f, x, rows, n, e);
}

static bool put_file(struct petsc_writer *f, const struct csr *A, const struct sides *t, struct err *e)
{
    return petsc_put_matrix(f, A, e) && (!t->n || put_side(f, t->b, t->b_each, t->n, e)) &&
           (!t->n || !t->x || put_side(f, t->x, t->x_each, t->n, e));
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    const struct sides none = {0};
    struct petsc_writer f = {
        .index_bytes = csr_is_large(A) ? 8 : 4, .complex_values = A->imag, .what = "writing", .watch = w};
    f.total = petsc_matrix_bytes(&f, A);
    bool ok = watch_tick(w, f.what, 0, f.total, e) && newfile_open(&f.file, path, force, e);
    return ok ? petsc_close(&f, put_file(&f, A, sides ? sides : &none, e), e) : false;
}

const struct file_kind file_petsc = {
    .name = "PETSc binary",
    .endings = ".petsc",
    .about = "PETSc's binary format",
    .has_parts = true,
    .large = true,
    .recognises = recognises,
    .load = load,
    .load_array = load_array,
    .save = save,
    .saves_sides = true,
};
