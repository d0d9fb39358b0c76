/* SciPy's .npz, as scipy.sparse.save_npz writes it: a zip of .npy arrays, by libarchive. Read: csr, csc, coo, bsr and
   dia; written: csr, not compressed. Format of .npy: https://numpy.org/neps/nep-0001-npy-format.html */
#include "matrix/csr.h"
#include "base/err.h"
#include "file.h"
#include "load_info.h"
#include "base/mem.h"
#include "base/newfile.h"
#include "base/stream.h"
#include "base/text.h"
#include "base/watch.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

enum { CHUNK = 1 << 18, NPY_HEAD = 128, DICT_MOST = 4096, DEFLATE_MOST = 1100, DIMENSIONS = 3 };

/* ---- what is in a .npy header ---- */

struct npy {
    char kind; /* f float, i integer, u unsigned, b truth, c complex, S bytes, U text of 4 bytes a letter */
    int size;  /* of an item */
    bool swap; /* in the other byte order */
    bool fortran;
    int dims;
    int64_t dim[DIMENSIONS], n; /* their product */
};

/* Behind the colon of the key, or NULL. */
static const char *value_of(const char *dict, const char *key)
{
    const char *p = strstr(dict, key);
    if (!p) return NULL;
    p += strlen(key);
    while (*p == ' ') p++;
    if (*p++ != ':') return NULL;
    while (*p == ' ') p++;
    return p;
}

static bool parse_type(const char *p, struct npy *a)
{
    static const uint16_t one = 1;
    bool little = *(const uint8_t *)&one;
    if (!p || *p++ != '\'') return false;
    if (!*p || !strchr("<>|=", *p)) return false;
    a->swap = (*p == '>' && little) || (*p == '<' && !little);
    a->kind = p[1];
    a->size = 0;
    for (p += a->kind ? 2 : 1; *p >= '0' && *p <= '9' && a->size < 1000; p++) a->size = a->size * 10 + *p - '0';
    if (a->kind == 'U') a->size *= 4;
    return a->kind && *p == '\'' && a->size > 0 && strchr("fiubcSU", a->kind);
}

static bool parse_shape(const char *p, struct npy *a)
{
    if (!p || *p++ != '(') return false;
    a->n = 1;
    for (a->dims = 0; *p != ')';) {
        int64_t v = 0;
        if (*p < '0' || *p > '9' || a->dims == DIMENSIONS) return false;
        for (; *p >= '0' && *p <= '9'; p++)
            if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v)) return false;
        if (__builtin_mul_overflow(a->n, v, &a->n)) return false;
        a->dim[a->dims++] = v;
        if (*p == 'L') p++;
        while (*p == ' ' || *p == ',') p++;
    }
    return true;
}

static bool parse_dict(const char *dict, struct npy *a)
{
    const char *order = value_of(dict, "'fortran_order'");
    a->fortran = order && !strncmp(order, "True", 4);
    return order && parse_type(value_of(dict, "'descr'"), a) && parse_shape(value_of(dict, "'shape'"), a);
}

/* ---- members of the zip ---- */

struct npz {
    struct source *s;
    struct watch *watch;
    struct archive *archive;
    int64_t file_bytes;
    const char *member; /* the one at hand, safe to print */
    struct npy head;    /* of it */
    char *chunk;        /* [CHUNK] */
    int64_t done;       /* bytes of members so far */
    /* what was found; NULL, 0 or "": not yet */
    char format[8];
    int64_t rows, cols;
    bool has_shape;
    int64_t n_ptr, n_idx, n_row, n_col, n_offset, n_val;
    int *ptr, *idx, *row, *col, *offset;
    struct npy data; /* its dimensions */
    double *val, *imag;
    int64_t rounded; /* integers beyond 2^53 */
};

static bool zip_fail(struct npz *z, struct err *e)
{
    const char *why = archive_error_string(z->archive);
    char text[256];
    why = why ? print_safe(why, strlen(why), 200, text, sizeof text) : "damage";
    return file_bad(z->s, e, "expected a sound .npz file, found: %s; it is truncated or corrupt", why);
}

/* Exactly n bytes of the member. */
static bool take(struct npz *z, void *to, int64_t n, struct err *e)
{
    for (int64_t got = 0; got < n;) {
        la_ssize_t r = archive_read_data(z->archive, (char *)to + got, (size_t)(n - got));
        if (r < 0) return zip_fail(z, e);
        if (!r)
            return file_bad(z->s, e, "expected %lld more bytes of array %s, found its end", (long long)(n - got),
                            z->member);
        got += r;
    }
    z->done += n;
    return true;
}

static bool read_dict(struct npz *z, int64_t *head_bytes, struct err *e)
{
    unsigned char h[12] = {0};
    char dict[DICT_MOST + 1];
    if (!take(z, h, 8, e)) return false;
    if (memcmp(h, "\x93NUMPY", 6) || h[6] < 1 || h[6] > 3)
        return file_bad(z->s, e, "expected array %s as .npy of version 1 to 3, found something else", z->member);
    int wide = h[6] == 1 ? 2 : 4;
    if (!take(z, h + 8, wide, e)) return false;
    int64_t n = h[8] | h[9] << 8 | (int64_t)h[10] << 16 | (int64_t)h[11] << 24;
    if (n > DICT_MOST)
        return file_bad(z->s, e, "expected a short head of array %s, found %lld bytes", z->member, (long long)n);
    if (!take(z, dict, n, e)) return false;
    dict[n] = 0;
    *head_bytes = 8 + wide + n;
    char quote[160];
    return parse_dict(dict, &z->head) ||
           file_bad(z->s, e, "expected array %s to name its type, order and shape, found \"%s\"", z->member,
                    print_safe(dict, strlen(dict), 30, quote, sizeof quote));
}

/* What the head says must be in the member, and can be in the file, before memory is taken. */
static bool check_bytes(struct npz *z, struct archive_entry *entry, int64_t head_bytes, struct err *e)
{
    int64_t bytes;
    bool wrong = __builtin_mul_overflow(z->head.n, (int64_t)z->head.size, &bytes) ||
                 bytes / DEFLATE_MOST > z->file_bytes ||
                 (archive_entry_size_is_set(entry) && archive_entry_size(entry) - head_bytes != bytes);
    if (!wrong && z->head.n <= INT32_MAX) return true;
    if (!wrong)
        return fail_at(e, E_LIMIT, z->s->where, "at most %d entries fit 32-bit row pointers, found %lld in array %s",
                       INT32_MAX, (long long)z->head.n, z->member);
    return file_bad(z->s, e, "expected array %s to hold the %lld items it declares, found that it cannot", z->member,
                    (long long)z->head.n);
}

static void swap_bytes(char *p, int64_t n, int size)
{
    for (int64_t k = 0; k < n; k++, p += size)
        for (int a = 0, b = size - 1; a < b; a++, b--) {
            char c = p[a];
            p[a] = p[b];
            p[b] = c;
        }
}

/* The next items, up to a chunk of them, in z->chunk in our byte order; how many, 0 on failure. */
static int64_t next_items(struct npz *z, int64_t left, struct err *e)
{
    int64_t n = CHUNK / z->head.size;
    if (left < n) n = left;
    bool known = z->done <= z->file_bytes; /* not where it is compressed */
    if (!watch_tick(z->watch, "reading", known ? z->done : 0, known ? z->file_bytes : 0, e) ||
        !take(z, z->chunk, n * z->head.size, e))
        return 0;
    int part = z->head.kind == 'c' ? z->head.size / 2 : z->head.size;
    if (z->head.swap) swap_bytes(z->chunk, n * (z->head.size / part), part);
    return n;
}

static bool unusable(struct npz *z, const char *expected, struct err *e)
{
    return file_bad(z->s, e, "expected array %s to hold %s, found type %c%d", z->member, expected, z->head.kind,
                    z->head.size);
}

static int64_t item_integer(const struct npy *a, const char *p)
{
    int64_t v = 0;
    int32_t v4;
    if (a->size == 8) return memcpy(&v, p, 8), v;
    if (a->size == 4 && a->kind == 'i') return memcpy(&v4, p, 4), v4;
    return (int64_t)file_number_of(a->kind, a->size)(p);
}

static bool is_integer_type(const struct npy *a)
{
    return (a->kind == 'i' || a->kind == 'u') && file_number_of(a->kind, a->size);
}

/* One axis of 32-bit integers. */
static bool read_ints(struct npz *z, int **to, int64_t *count, struct err *e)
{
    if (!is_integer_type(&z->head) || z->head.dims != 1) return unusable(z, "one axis of integers", e);
    if (*to) return file_bad(z->s, e, "expected one array %s, found two", z->member);
    *to = mem_new(z->head.n, sizeof **to, "indices of the file", e);
    if (!*to) return false;
    for (int64_t k = 0, n; k < z->head.n; k += n) {
        if (!(n = next_items(z, z->head.n - k, e))) return false;
        for (int64_t i = 0; i < n; i++) {
            int64_t v = item_integer(&z->head, z->chunk + i * z->head.size);
            if (v < INT32_MIN || v > INT32_MAX)
                return fail_at(e, E_LIMIT, z->s->where, "expected 32-bit integers in array %s, found %lld", z->member,
                               (long long)v);
            (*to)[k + i] = (int)v;
        }
    }
    *count = z->head.n;
    return true;
}

static void convert(struct npz *z, file_number *number, int64_t at, int64_t n)
{
    const struct npy *a = &z->head;
    if (a->kind == 'f' && a->size == sizeof *z->val) {
        memcpy(z->val + at, z->chunk, (size_t)n * sizeof *z->val);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const char *p = z->chunk + i * a->size;
        z->val[at + i] = number(p);
        if (z->imag) z->imag[at + i] = number(p + a->size / 2);
        if (a->size == 8 && (a->kind == 'i' || a->kind == 'u'))
            z->rounded += z->val[at + i] >= 0x1p53 || z->val[at + i] <= -0x1p53;
    }
}

static bool read_data(struct npz *z, struct err *e)
{
    const struct npy *a = &z->head;
    bool complex_values = a->kind == 'c';
    file_number *number = complex_values ? file_number_of('f', a->size / 2) : file_number_of(a->kind, a->size);
    if (!number || a->dims < 1) return unusable(z, "numbers of 1 to 8 bytes", e);
    if (z->val) return file_bad(z->s, e, "expected one array %s, found two", z->member);
    z->data = *a;
    z->n_val = a->n;
    z->val = mem_new(a->n, sizeof *z->val, "values of the file", e);
    if (complex_values && z->val) z->imag = mem_new(a->n, sizeof *z->imag, "values of the file", e);
    if (!z->val || (complex_values && !z->imag)) return false;
    for (int64_t k = 0, n; k < a->n; k += n) {
        if (!(n = next_items(z, a->n - k, e))) return false;
        convert(z, number, k, n);
    }
    return true;
}

static bool read_shape(struct npz *z, struct err *e)
{
    if (!is_integer_type(&z->head) || z->head.dims != 1 || z->head.n != 2) return unusable(z, "rows and columns", e);
    if (next_items(z, 2, e) != 2) return false;
    z->rows = item_integer(&z->head, z->chunk);
    z->cols = item_integer(&z->head, z->chunk + z->head.size);
    z->has_shape = true;
    return true;
}

static bool read_format(struct npz *z, struct err *e)
{
    int step = z->head.kind == 'U' ? 4 : 1, letters = z->head.size / step;
    if (!strchr("SU", z->head.kind) || z->head.n != 1 || letters >= (int)sizeof z->format)
        return unusable(z, "the name of a format", e);
    if (!next_items(z, 1, e)) return false;
    for (int i = 0; i < letters; i++) z->format[i] = z->chunk[i * step];
    return true;
}

static bool read_pointers(struct npz *z, struct err *e)
{
    return read_ints(z, &z->ptr, &z->n_ptr, e);
}
static bool read_indices(struct npz *z, struct err *e)
{
    return read_ints(z, &z->idx, &z->n_idx, e);
}
static bool read_rows(struct npz *z, struct err *e)
{
    return read_ints(z, &z->row, &z->n_row, e);
}
static bool read_columns(struct npz *z, struct err *e)
{
    return read_ints(z, &z->col, &z->n_col, e);
}
static bool read_offsets(struct npz *z, struct err *e)
{
    return read_ints(z, &z->offset, &z->n_offset, e);
}

static const struct member {
    const char *name;
    bool (*read)(struct npz *z, struct err *e);
} members[] = {
    {"indices.npy", read_indices}, {"indptr.npy", read_pointers}, {"format.npy", read_format},
    {"shape.npy", read_shape},     {"data.npy", read_data},       {"row.npy", read_rows},
    {"col.npy", read_columns},     {"offsets.npy", read_offsets},
};

/* A read past the last byte lets libarchive check the member's sum. */
static bool read_member(struct npz *z, struct archive_entry *entry, const struct member *m, struct err *e)
{
    int64_t head_bytes;
    char rest;
    z->member = m->name;
    if (!read_dict(z, &head_bytes, e) || !check_bytes(z, entry, head_bytes, e) || !m->read(z, e)) return false;
    la_ssize_t r = archive_read_data(z->archive, &rest, 1);
    if (r < 0) return zip_fail(z, e);
    return !r ||
           file_bad(z->s, e, "expected array %s to end after %lld items, found more", m->name, (long long)z->head.n);
}

static bool read_members(struct npz *z, struct err *e)
{
    struct archive_entry *entry;
    int r;
    while ((r = archive_read_next_header(z->archive, &entry)) == ARCHIVE_OK || r == ARCHIVE_WARN) {
        const char *name = archive_entry_pathname(entry);
        for (int i = 0; name && i < COUNT(members); i++)
            if (!strcmp(name, members[i].name) && !read_member(z, entry, &members[i], e)) return false;
    }
    return r == ARCHIVE_EOF || zip_fail(z, e);
}

static bool open_zip(struct npz *z, struct err *e)
{
    z->archive = archive_read_new();
    z->chunk = mem_new(CHUNK, 1, "a piece of the file", e);
    if (!z->chunk) return false;
    if (!z->archive) return fail(e, E_MEMORY, "out of memory: libarchive could not be started");
    archive_read_support_format_zip(z->archive);
    z->file_bytes = stream_size(z->s->stream);
    return archive_read_open_filename(z->archive, z->s->path, CHUNK) == ARCHIVE_OK || zip_fail(z, e);
}

/* ---- formats ---- */

typedef bool finish(struct npz *z, struct csr *A, struct load_info *info, struct err *e);

static bool missing(struct npz *z, const char *what, struct err *e)
{
    return file_bad(z->s, e, "expected %s for format %s, found none or too few", what, z->format);
}

/* Arrays of n items, compressed; they are taken over. */
static struct csr arrays_of(struct npz *z, int64_t majors, int64_t minors, int64_t n)
{
    struct csr C = {
        .rows = majors, .cols = minors, .nnz = n, .rowptr = z->ptr, .col = z->idx, .val = z->val, .imag = z->imag};
    z->ptr = z->idx = NULL;
    z->val = z->imag = NULL;
    return C;
}

static bool compressed(struct npz *z, bool by_columns, struct csr *A, struct load_info *info, struct err *e)
{
    int64_t majors = by_columns ? z->cols : z->rows, minors = by_columns ? z->rows : z->cols;
    if (!z->ptr || z->n_ptr != majors + 1) return missing(z, "pointers, one more than the shape says", e);
    if (!z->idx || z->n_idx != z->n_val || z->data.dims != 1) return missing(z, "as many indices as values", e);
    struct csr C = arrays_of(z, majors, minors, z->n_val);
    return file_finish(z->s, &C, by_columns, MIRROR_NOT, z->watch, A, info, e);
}

static bool finish_csr(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    return compressed(z, false, A, info, e);
}

static bool finish_csc(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    return compressed(z, true, A, info, e);
}

static bool finish_coo(struct npz *z, struct csr *A, struct load_info *info, struct err *e)
{
    if (!z->row || !z->col || z->n_row != z->n_val || z->n_col != z->n_val || z->data.dims != 1)
        return missing(z, "as many rows and columns as values", e);
    return file_finish_triplets(z->s, z->rows, z->cols, z->n_val, z->row, z->col, z->val, z->imag, z->watch, A, info,
                                e);
}

/* Block rows to rows: data[block][r][c]. */
static bool spread_blocks(struct npz *z, struct csr *C, int64_t R, int64_t W, struct err *e)
{
    int64_t to = 0, block_cols = W ? z->cols / W : 0, blocks = z->data.dim[0];
    for (int64_t b = 0; b * R < z->rows; b++)
        for (int64_t r = 0; r < R; r++) {
            int64_t k = z->ptr[b], end = z->ptr[b + 1];
            if (k < 0 || end < k || end > blocks) return missing(z, "pointers to blocks that never fall", e);
            for (; k < end; k++) {
                if (z->idx[k] < 0 || z->idx[k] >= block_cols)
                    return file_bad(z->s, e, "expected block columns from 0 to %lld, found %d",
                                    (long long)block_cols - 1, z->idx[k]);
                for (int64_t c = 0; c < W && to < C->nnz; c++, to++) {
                    C->col[to] = (int)(z->idx[k] * W + c);
                    C->val[to] = z->val[(k * R + r) * W + c];
                    if (C->imag) C->imag[to] = z->imag[(k * R + r) * W + c];
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
    if (R < 1 || W < 1 || z->data.fortran) return missing(z, "data of three axes in C order", e);
    if (z->rows % R || z->cols % W) return missing(z, "a shape of whole blocks", e);
    if (!z->ptr || z->n_ptr != z->rows / R + 1) return missing(z, "pointers, one more than block rows", e);
    if (!z->idx || z->n_idx != z->data.dim[0]) return missing(z, "as many indices as blocks", e);
    if (!csr_new(&C, z->rows, z->cols, z->n_val, z->imag != NULL, e)) return false;
    if (spread_blocks(z, &C, R, W, e)) return file_finish(z->s, &C, false, MIRROR_NOT, z->watch, A, info, e);
    csr_free(&C);
    return false;
}

/* data[d][j] is the entry in column j of the diagonal offset[d]; zeros there are no entries, as in SciPy. */
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
    } table[] = {
        {"csr", finish_csr}, {"csc", finish_csc}, {"coo", finish_coo}, {"bsr", finish_bsr}, {"dia", finish_dia}};
    char quote[64];
    if (!z->format[0] || !z->has_shape || !z->val)
        return file_bad(z->s, e, "expected the arrays format, shape and data of scipy.sparse.save_npz, found no %s",
                        !z->format[0]   ? "format"
                        : !z->has_shape ? "shape"
                                        : "data");
    if (!file_sizes(z->s, z->rows, z->cols, z->n_val, e)) return false;
    for (int i = 0; i < COUNT(table); i++)
        if (!strcmp(z->format, table[i].name)) return table[i].finish(z, A, info, e);
    return file_bad(z->s, e, "expected format csr, csc, coo, bsr or dia, found \"%s\"",
                    print_safe(z->format, strlen(z->format), 8, quote, sizeof quote));
}

static void npz_free(struct npz *z)
{
    void *const arrays[] = {z->ptr, z->idx, z->row, z->col, z->offset, z->val, z->imag, z->chunk};
    for (int i = 0; i < COUNT(arrays); i++) mem_free(arrays[i]);
    archive_read_free(z->archive);
}

static const char *field_of(char kind)
{
    return kind == 'f' ? "real" : kind == 'c' ? "complex" : kind == 'b' ? "pattern" : "integer";
}

/* NumPy's .npy: one array, which is dense. */
static bool is_array(const char *begin, int64_t n)
{
    return n >= 6 && !memcmp(begin, "\x93NUMPY", 6);
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct npz z = {.s = s, .watch = w};
    if (is_array(s->begin, s->n))
        return file_bad(
            s, e,
            "expected a sparse matrix, found one array of NumPy (.npy); in Python, "
            "scipy.sparse.save_npz(\"A.npz\", scipy.sparse.csr_matrix(numpy.load(\"A.npy\"))) makes one of it");
    bool ok = open_zip(&z, e) && read_members(&z, e) && finish_any(&z, A, info, e);
    if (ok) {
        const char *field = field_of(z.data.kind);
        snprintf(info->field, sizeof info->field, "%s", field);
        if (z.rounded) file_note(info, "%s beyond 2^53 rounded", how_many(z.rounded, "integer").text);
    }
    npz_free(&z);
    return ok;
}

static bool recognises(const char *begin, int64_t n)
{
    return n >= 4 && (!memcmp(begin, "PK\3\4", 4) || !memcmp(begin, "PK\5\6", 4) || is_array(begin, n));
}

/* ---- writing ---- */

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
    for (int64_t at = 0; at < n; at += CHUNK) {
        int64_t part = n - at < CHUNK ? n - at : CHUNK;
        if (!watch_tick(z->watch, "writing", z->done, z->total, e) || !zip_put(z, (const char *)data + at, part, e))
            return false;
        z->done += part;
    }
    return true;
}

/* Header of a member: its length is a multiple of 64. */
static bool begin_member(struct zip *z, const char *name, const char *type, const char *shape, int64_t bytes,
                         struct err *e)
{
    static const uint16_t one = 1;
    char head[NPY_HEAD + 1], order = strchr("|", type[0]) ? '|' : *(const uint8_t *)&one ? '<' : '>';
    struct archive_entry *entry = archive_entry_new();
    if (!entry) return fail(e, E_MEMORY, "out of memory: the file's parts could not be named");
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, NPY_HEAD + bytes);
    archive_entry_set_mtime(entry, 0, 0);
    bool ok = archive_write_header(z->archive, entry) == ARCHIVE_OK ||
              newfile_fail(&z->file, "write the file", archive_errno(z->archive), e);
    archive_entry_free(entry);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    int n = 10 + snprintf(head + 10, sizeof head - 10, "{'descr': '%c%s', 'fortran_order': False, 'shape': (%s), }",
                          order, type + (order == '|'), shape);
    memset(head + n, ' ', (size_t)(NPY_HEAD - n));
    head[NPY_HEAD - 1] = '\n';
    return ok && zip_put(z, head, NPY_HEAD, e);
}

static bool put_array(struct zip *z, const char *name, const char *type, int64_t n, const void *data, int64_t bytes,
                      struct err *e)
{
    char shape[32] = "";
    if (n >= 0) snprintf(shape, sizeof shape, "%lld,", (long long)n);
    return begin_member(z, name, type, shape, bytes, e) && put_data(z, data, bytes, e);
}

/* Real and imaginary parts side by side. */
static bool put_complex(struct zip *z, const struct csr *A, struct err *e)
{
    double pair[2 * 1024];
    char shape[32];
    snprintf(shape, sizeof shape, "%lld,", (long long)A->nnz);
    if (!begin_member(z, "data.npy", "c16", shape, A->nnz * 16, e)) return false;
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

static bool put_arrays(struct zip *z, const struct csr *A, struct err *e)
{
    const int64_t shape[2] = {A->rows, A->cols};
    return put_array(z, "indices.npy", "i4", A->nnz, A->col, A->nnz * 4, e) &&
           put_array(z, "indptr.npy", "i4", A->rows + 1, A->rowptr, (A->rows + 1) * 4, e) &&
           put_array(z, "format.npy", "|S3", -1, "csr", 3, e) && put_array(z, "shape.npy", "i8", 2, shape, 16, e) &&
           (A->imag ? put_complex(z, A, e) : put_array(z, "data.npy", "f8", A->nnz, A->val, A->nnz * 8, e));
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

static bool save(const char *path, const struct csr *A, const struct load_info *info, const char *comment,
                 struct watch *w, struct err *e)
{
    struct zip z = {.watch = w, .total = A->nnz * (A->imag ? 20 : 12) + A->rows * 4};
    (void)info, (void)comment;
    bool ok = newfile_open(&z.file, path, e) && start_zip(&z, e) && put_arrays(&z, A, e);
    if (z.archive && archive_write_close(z.archive) != ARCHIVE_OK && ok)
        ok = newfile_fail(&z.file, "write the file", archive_errno(z.archive), e);
    archive_write_free(z.archive);
    return newfile_close(&z.file, ok, e);
}

const struct file_kind file_npz = {
    .name = "SciPy .npz",
    .endings = ".npz",
    .about = "SciPy's .npz: csr, csc, coo, bsr or dia",
    .recognises = recognises,
    .load = load,
    .save = save,
};
