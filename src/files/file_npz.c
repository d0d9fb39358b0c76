/* .npz files of SciPy and PyData sparse: make a matrix from the arrays of the formats csr, csc, coo, bsr, dia and gcxs.
   npz_read.c reads the arrays, npz_save.c writes csr. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "npz.h"

#include <string.h>

/* ---- formats ---- */

typedef bool finish(struct npz *z, struct csr *A, struct load_info *info, struct err *e);

static bool missing(struct npz *z, const char *what, struct err *e)
{
    return file_bad(z->s, e, "format %s needs %s, which the file does not have", z->format, what);
}

/* Give a matrix of any size the pointers of z. */
static bool take_pointers(struct npz *z, struct csr *C, struct err *e)
{
    bool large = csr_size_is_large(C->rows, C->nnz);
    if (!large && z->ptr64)
        return file_bad(z->s, e, "the pointers end with %lld, but there are %lld entries", (long long)z->ptr64[C->rows],
                        (long long)C->nnz);
    if (large && !z->ptr64) {
        if (!csr_pointers_new(C, e)) return false;
        struct loop l = loop_of("copying row pointers", C->rows);
        for (int64_t i = 0; i <= C->rows && loop_goes(&l, i); i++) csr_set_start(C, i, z->ptr[i]);
        return loop_end(&l, e);
    }
    C->rowptr = z->ptr;
    C->rowptr64 = z->ptr64;
    z->ptr = NULL;
    z->ptr64 = NULL;
    return true;
}

/* Move the compressed arrays from z to C, whose sizes are set. */
static bool take_arrays(struct npz *z, struct csr *C, struct err *e)
{
    if (!take_pointers(z, C, e)) return false;
    C->col = z->idx;
    C->val = z->val;
    C->imag = z->imag;
    z->idx = NULL;
    z->val = z->imag = NULL;
    return true;
}

static bool compressed(struct npz *z, bool by_columns, struct csr *A, struct load_info *info, struct err *e)
{
    int64_t majors = by_columns ? z->cols : z->rows, minors = by_columns ? z->rows : z->cols;
    if ((!z->ptr && !z->ptr64) || z->n_ptr != majors + 1)
        return missing(z, by_columns ? "columns + 1 pointers" : "rows + 1 pointers", e);
    if (!z->idx || z->n_idx != z->n_val || z->data.dims != 1) return missing(z, "as many indices as values", e);
    struct csr C = {.rows = majors, .cols = minors, .nnz = z->n_val};
    return take_arrays(z, &C, e) && file_finish(z->s, &C, by_columns, MIRROR_NOT, z->watch, A, info, e);
}

static bool finish_csr(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    return compressed(z, false, A, info, e);
}

static bool finish_csc(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    return compressed(z, true, A, info, e);
}

static bool finish_gcxs(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    return compressed(z, z->by_columns, A, info, e);
}

static bool finish_coo(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    if (z->axes == 1 && z->rows != 1) return missing(z, "two coordinates of each value", e);
    if (!z->row || !z->col || z->n_row != z->n_val || z->n_col != z->n_val || z->data.dims != 1)
        return missing(z, "as many row and column indices as values", e);
    return file_finish_triplets(z->s, z->rows, z->cols, z->n_val, z->row, z->col, z->val, z->imag, z->watch, A, info,
                                e);
}

/* The item of data[block][r][c]. */
static int64_t block_item(const struct npy *data, int64_t block, int64_t r, int64_t c)
{
    return data->fortran ? block + data->dim[0] * (r + data->dim[1] * c)
                         : (block * data->dim[1] + r) * data->dim[2] + c;
}

/* Expand blocks to rows. */
static bool spread_blocks(struct npz *z, struct csr *C, int64_t R, int64_t W, struct err *e)
{
    int64_t to = 0, block_cols = W ? z->cols / W : 0, blocks = z->data.dim[0];
    for (int64_t b = 0; b * R < z->rows; b++)
        for (int64_t r = 0; r < R; r++) {
            int64_t k = z->ptr[b], end = z->ptr[b + 1];
            if (k < 0 || end < k || end > blocks)
                return file_bad(z->s, e, "the pointers to blocks decrease or exceed the number of blocks, %lld",
                                (long long)blocks);
            for (; k < end; k++) {
                if (z->idx[k] < 0 || z->idx[k] >= block_cols)
                    return file_bad(z->s, e, "block column %d is outside 0 .. %lld", z->idx[k],
                                    (long long)block_cols - 1);
                for (int64_t c = 0; c < W && to < C->nnz; c++, to++) {
                    int64_t from = block_item(&z->data, k, r, c);
                    C->col[to] = (int)(z->idx[k] * W + c);
                    C->val[to] = z->val[from];
                    if (C->imag) C->imag[to] = z->imag[from];
                }
            }
            C->rowptr[b * R + r + 1] = (int)to;
        }
    return true;
}

static bool finish_bsr(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    struct csr C = {0};
    int64_t R = z->data.dims == 3 ? z->data.dim[1] : 0, W = z->data.dims == 3 ? z->data.dim[2] : 0;
    if (R < 1 || W < 1) return missing(z, "three-dimensional data", e);
    if (z->rows % R || z->cols % W) return missing(z, "a shape of whole blocks", e);
    if (!z->ptr || z->n_ptr != z->rows / R + 1) return missing(z, "(block rows + 1) pointers", e);
    if (!z->idx || z->n_idx != z->data.dim[0]) return missing(z, "as many indices as blocks", e);
    if (!csr_new(&C, z->rows, z->cols, z->n_val, z->imag != NULL, e)) return false;
    if (spread_blocks(z, &C, R, W, e)) return file_finish(z->s, &C, false, MIRROR_NOT, z->watch, A, info, e);
    csr_free(&C);
    return false;
}

/* data[d][j] is the entry in column j of diagonal offset[d]. As in SciPy, zeros are not entries. Returns the
   number of entries; also writes the entries unless row is NULL. */
static int64_t diagonal_entries(struct npz *z, int *row, int *col, double *val, double *imag)
{
    int64_t width = z->data.dim[1], n = 0;
    for (int64_t d = 0; d < z->n_offset; d++)
        for (int64_t j = 0; j < width && j < z->cols; j++) {
            int64_t i = j - z->offset[d], at = z->data.fortran ? d + j * z->n_offset : d * width + j;
            if (i < 0 || i >= z->rows || (z->val[at] == 0 && (!z->imag || z->imag[at] == 0))) continue;
            if (row) {
                row[n] = (int)i;
                col[n] = (int)j;
                val[n] = z->val[at];
                if (imag) imag[n] = z->imag[at];
            }
            n++;
        }
    return n;
}

static bool finish_dia(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    if (!z->offset || z->data.dims != 2 || z->data.dim[0] != z->n_offset)
        return missing(z, "as many offsets as rows of data", e);
    int64_t n = diagonal_entries(z, NULL, NULL, NULL, NULL);
    int *row = mem_new(n, sizeof *row, "rows of entries", e), *col = mem_new(n, sizeof *col, "columns of entries", e);
    double *val = mem_new(n, sizeof *val, "values", e), *imag = z->imag ? mem_new(n, sizeof *imag, "values", e) : NULL;
    bool ok = row && col && val && (imag || !z->imag);
    if (ok) {
        diagonal_entries(z, row, col, val, imag);
        ok = file_finish_triplets(z->s, z->rows, z->cols, n, row, col, val, imag, z->watch, A, info, e);
    }
    mem_free(row);
    mem_free(col);
    mem_free(val);
    mem_free(imag);
    return ok;
}

static bool finish_any(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    static const struct {
        const char *name;
        finish *finish;
    } table[] = {{"csr", finish_csr}, {"csc", finish_csc}, {"coo", finish_coo},
                 {"bsr", finish_bsr}, {"dia", finish_dia}, {"gcxs", finish_gcxs}};
    char quote[64];
    if (!z->arrays)
        return file_bad(z->s, e,
                        "this is a ZIP archive without arrays, so it is no .npz file; unpack it with `unzip` and load "
                        "the matrix file in it");
    if (!z->format[0] || !z->has_shape || !z->val)
        return file_bad(z->s, e, "the file has no %s array; scipy.sparse.save_npz writes format, shape and data",
                        !z->format[0]   ? "format"
                        : !z->has_shape ? "shape"
                                        : "data");
    if (!file_sizes_any(z->s, z->rows, z->cols, z->n_val, e)) return false;
    for (int i = 0; i < COUNT(table); i++)
        if (!strcmp(z->format, table[i].name)) return table[i].finish(z, A, info, e);
    return file_bad(z->s, e, "unknown format \"%s\"; the known formats are csr, csc, coo, bsr, dia and gcxs",
                    print_safe(z->format, strlen(z->format), 8, quote, sizeof quote));
}

static const char *field_of(char kind)
{
    return kind == 'f' ? "real" : kind == 'c' ? "complex" : kind == 'b' ? "pattern" : "integer";
}

static void note_rounded(const struct npz *z, struct load_info *info)
{
    bool x87 = npy_is_x87(&z->data);
    if (!z->rounded) return;
    file_note(info, "%s%s %s rounded", how_many(z->rounded, x87 ? "80-bit value" : "integer").text,
              x87 ? "" : " beyond 2^53", z->rounded == 1 ? "was" : "were");
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct npz z = {.s = s, .watch = w};
    bool ok = npz_read(&z, e) && finish_any(&z, A, info, e);
    if (ok && !sides_fill(s->sides, A, &z.b, &z.x, info, e)) {
        csr_free(A);
        ok = false;
    }
    if (ok) {
        const char *field = field_of(z.data.kind);
        snprintf(info->field, sizeof info->field, "%s", field);
        note_rounded(&z, info);
    }
    npz_free(&z);
    return ok;
}

static bool recognises(const char *begin, int64_t n)
{
    return n >= 4 && (!memcmp(begin, "PK\3\4", 4) || !memcmp(begin, "PK\5\6", 4));
}

static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    return npz_save(path, force, A, sides, load_info_is_pattern(info) && values_are_ones(A), w, e);
}

const struct file_kind file_npz = {
    .name = "SciPy .npz",
    .endings = ".npz",
    .about = "SciPy's or PyData sparse's arrays",
    .recognises = recognises,
    .large = true,
    .load = load,
    .save = save,
    .saves_sides = true,
};
