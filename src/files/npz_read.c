/* Read .npz files: libarchive reads the members of the zip archive into the arrays of struct npz. */
#include "base/err.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    DICT_MAX = 4096,   /* largest size of a header's dictionary in bytes */
    DEFLATE_MAX = 1100 /* highest compression ratio of deflate */
};

struct reader {
    struct npz *to;
    struct source *s;
    struct archive *archive;
    int64_t file_bytes;
    const char *member; /* name of the array that is being read, safe to print */
    bool large;         /* the array may have more than 2^31-1 items */
    struct npy head;    /* header of that array */
    char *chunk;        /* [NPZ_CHUNK] */
    int64_t done;       /* bytes of arrays read so far */
    bool skip;          /* the array is left out, so its items are not read */
};

static bool zip_fail(struct reader *r, struct err *e)
{
    const char *why = archive_error_string(r->archive);
    char text[256];
    why = why ? print_safe(why, strlen(why), 200, text, sizeof text) : "no details";
    if (archive_errno(r->archive) == ENOMEM)
        return fail_at(e, E_MEMORY, r->s->where, "out of memory for the .npz file (%s)", why);
    return file_bad(r->s, e, "the .npz file is damaged (%s): it is truncated or corrupt", why);
}

/* Read exactly n bytes of the current member of the zip. */
static bool take(struct reader *r, void *to, int64_t n, struct err *e)
{
    for (int64_t got = 0; got < n;) {
        la_ssize_t bytes = archive_read_data(r->archive, (char *)to + got, (size_t)(n - got));
        if (bytes < 0) return zip_fail(r, e);
        if (!bytes) return file_bad(r->s, e, "array %s ends %lld bytes too early", r->member, (long long)(n - got));
        got += bytes;
    }
    r->done += n;
    return true;
}

static bool read_dict(struct reader *r, int64_t *head_bytes, struct err *e)
{
    unsigned char h[12] = {0};
    char dict[DICT_MAX + 1];
    if (!take(r, h, 8, e)) return false;
    if (memcmp(h, "\x93NUMPY", 6) || h[6] < 1 || h[6] > 3)
        return file_bad(r->s, e, "array %s is not in version 1, 2 or 3 of the .npy format", r->member);
    int wide = h[6] == 1 ? 2 : 4;
    if (!take(r, h + 8, wide, e)) return false;
    int64_t n = h[8] | h[9] << 8 | (int64_t)h[10] << 16 | (int64_t)h[11] << 24;
    if (n > DICT_MAX)
        return file_bad(r->s, e, "the header of array %s has %lld bytes, but at most %d are allowed", r->member,
                        (long long)n, DICT_MAX);
    if (!take(r, dict, n, e)) return false;
    dict[n] = 0;
    *head_bytes = 8 + wide + n;
    char quote[160];
    return npy_parse(dict, &r->head) ||
           file_bad(r->s, e, "the header of array %s does not state a known type, order and shape: \"%s\"", r->member,
                    print_safe(dict, strlen(dict), 30, quote, sizeof quote));
}

/* Before memory is allocated, check that the member has the items that its header declares. */
static bool check_bytes(struct reader *r, struct archive_entry *entry, int64_t head_bytes, struct err *e)
{
    int64_t bytes;
    bool wrong = __builtin_mul_overflow(r->head.n, (int64_t)r->head.size, &bytes) ||
                 bytes / DEFLATE_MAX > r->file_bytes ||
                 (archive_entry_size_is_set(entry) && archive_entry_size(entry) - head_bytes != bytes);
    if (!wrong && (r->large || r->head.n <= INT32_MAX)) return true;
    if (!wrong)
        return fail_at(e, E_LIMIT, r->s->where, "array %s has %lld items: at most %d are supported", r->member,
                       (long long)r->head.n, INT32_MAX);
    return file_bad(r->s, e, "array %s does not hold the %lld items that its header declares", r->member,
                    (long long)r->head.n);
}

/* Read the next items, at most one chunk, into r->chunk, in this machine's byte order. Returns the number of items, or
   0 on failure. */
static int64_t next_items(struct reader *r, int64_t left, struct err *e)
{
    int64_t n = NPZ_CHUNK / r->head.size;
    if (left < n) n = left;
    bool known = r->done <= r->file_bytes; /* false: the file is compressed, so its length does not show the progress */
    if (!watch_tick(r->to->watch, "reading", known ? r->done : 0, known ? r->file_bytes : 0, e) ||
        !take(r, r->chunk, n * r->head.size, e))
        return 0;
    npy_to_native(&r->head, r->chunk, n);
    return n;
}

static bool unusable(struct reader *r, const char *needed, struct err *e)
{
    return file_bad(r->s, e, "array %s must hold %s, not type %c%d", r->member, needed, r->head.kind, r->head.size);
}

static bool too_wide(struct reader *r, int64_t value, struct err *e)
{
    return fail_at(e, E_LIMIT, r->s->where, "array %s holds %lld, which does not fit in 32 bits", r->member,
                   (long long)value);
}

static bool twice(struct reader *r, struct err *e)
{
    return file_bad(r->s, e, "the file holds array %s twice", r->member);
}

/* Read the next n items as 32-bit integers. */
static bool read_some_ints(struct reader *r, int *to, int64_t n, struct err *e)
{
    for (int64_t k = 0, m; k < n; k += m) {
        if (!(m = next_items(r, n - k, e))) return false;
        for (int64_t i = 0; i < m; i++) {
            int64_t v = npy_integer(&r->head, r->chunk + i * r->head.size);
            if (v < INT32_MIN || v > INT32_MAX) return too_wide(r, v, e);
            to[k + i] = (int)v;
        }
    }
    return true;
}

/* Read a one-dimensional array as 32-bit integers. */
static bool read_ints(struct reader *r, int **to, int64_t *count, struct err *e)
{
    if (!npy_is_integer(&r->head) || r->head.dims != 1) return unusable(r, "one axis of integers", e);
    if (*to) return twice(r, e);
    *to = mem_new(r->head.n, sizeof **to, "indices of the file", e);
    *count = r->head.n;
    return *to && read_some_ints(r, *to, r->head.n, e);
}

/* Convert n items of the chunk to items [at, at + n) of val and, unless it is NULL, imag. */
static void convert(struct reader *r, file_number *number, int64_t at, int64_t n, double *val, double *imag)
{
    const struct npy *a = &r->head;
    if (a->kind == 'f' && a->size == sizeof *val) {
        memcpy(val + at, r->chunk, (size_t)n * sizeof *val);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const char *p = r->chunk + i * a->size;
        val[at + i] = number(p);
        if (imag) imag[at + i] = number(p + a->size / 2);
        if (a->size == 8 && (a->kind == 'i' || a->kind == 'u')) r->to->rounded += fabs(val[at + i]) >= 0x1p53;
        if (npy_is_x87(a)) r->to->rounded += npy_x87_is_rounded(a, p);
    }
}

static file_number *number_of(const struct npy *a)
{
    return a->kind == 'c' ? file_number_of('f', a->size / 2) : file_number_of(a->kind, a->size);
}

/* Read all items of the array to val and imag, which have room for them. */
static bool read_numbers(struct reader *r, double *val, double *imag, struct err *e)
{
    file_number *number = number_of(&r->head);
    for (int64_t k = 0, n; k < r->head.n; k += n) {
        if (!(n = next_items(r, r->head.n - k, e))) return false;
        if (npy_is_x87(&r->head) && !npy_all_x87(&r->head, r->chunk, n))
            return file_bad(r->s, e,
                            "array %s does not hold 80-bit numbers of x87, but quadruple precision; in Python, convert "
                            "the matrix with A.astype(\"%s\") and save it again",
                            r->member, r->head.kind == 'c' ? "c16" : "f8");
        convert(r, number, k, n, val, imag);
    }
    return true;
}

static bool read_data(struct reader *r, struct err *e)
{
    const struct npy *a = &r->head;
    bool complex_values = a->kind == 'c';
    if (!number_of(a) || a->dims < 1) return unusable(r, "numbers of 1 to 16 bytes", e);
    if (r->to->val) return twice(r, e);
    r->to->data = *a;
    r->to->n_val = a->n;
    r->to->val = mem_new(a->n, sizeof *r->to->val, "values of the file", e);
    if (complex_values && r->to->val) r->to->imag = mem_new(a->n, sizeof *r->to->imag, "values of the file", e);
    if (!r->to->val || (complex_values && !r->to->imag)) return false;
    return read_numbers(r, r->to->val, r->to->imag, e);
}

/* Turn rows one after another, as in C, into columns one after another. */
static bool turn(struct dense_array *d, struct err *e)
{
    struct dense_array by_columns;
    if (!dense_array_new(&by_columns, d->rows, d->cols, d->imag != NULL, e)) return false;
    for (int64_t i = 0; i < d->rows; i++)
        for (int64_t j = 0; j < d->cols; j++) {
            by_columns.val[j * d->rows + i] = d->val[i * d->cols + j];
            if (d->imag) by_columns.imag[j * d->rows + i] = d->imag[i * d->cols + j];
        }
    dense_array_free(d);
    *d = by_columns;
    return true;
}

/* Read right sides or solutions: one axis, or rows and columns. Other arrays of this name are left out. */
static bool read_dense(struct reader *r, struct dense_array *d, struct err *e)
{
    const struct npy *a = &r->head;
    if (d->val) return twice(r, e);
    if (!number_of(a) || a->dims < 1 || a->dims > 2) {
        r->skip = true;
        return true;
    }
    if (!dense_array_new(d, a->dim[0], a->dims == 2 ? a->dim[1] : 1, a->kind == 'c', e)) return false;
    return read_numbers(r, d->val, d->imag, e) && (a->fortran || d->cols == 1 || d->rows == 1 || turn(d, e));
}

static bool read_right_sides(struct reader *r, struct err *e)
{
    return read_dense(r, &r->to->b, e);
}
static bool read_solutions(struct reader *r, struct err *e)
{
    return read_dense(r, &r->to->x, e);
}

static bool read_shape(struct reader *r, struct err *e)
{
    int64_t axes = r->head.n, size = r->head.size;
    if (!npy_is_integer(&r->head) || r->head.dims != 1 || axes < 1) return unusable(r, "rows and columns", e);
    if (axes > 2)
        return file_bad(r->s, e,
                        "the array has %lld dimensions, but a matrix has 2; in Python, use A.reshape((rows, columns)) "
                        "and save it again",
                        (long long)axes);
    if (next_items(r, axes, e) != axes) return false;
    r->to->rows = axes == 1 ? 1 : npy_integer(&r->head, r->chunk);
    r->to->cols = npy_integer(&r->head, r->chunk + (axes - 1) * size);
    r->to->has_shape = true;
    return true;
}

static bool read_format(struct reader *r, struct err *e)
{
    int step = r->head.kind == 'U' ? 4 : 1, letters = r->head.size / step;
    if (!strchr("SU", r->head.kind) || r->head.n != 1 || letters >= (int)sizeof r->to->format)
        return unusable(r, "the name of a format", e);
    if (!next_items(r, 1, e)) return false;
    for (int i = 0; i < letters; i++) r->to->format[i] = r->chunk[i * step];
    return true;
}

/* Read an array of 64-bit integers. */
static bool read_longs(struct reader *r, int64_t **to, int64_t *count, struct err *e)
{
    *to = mem_new(r->head.n, sizeof **to, "pointers of the file", e);
    if (!*to) return false;
    for (int64_t k = 0, n; k < r->head.n; k += n) {
        if (!(n = next_items(r, r->head.n - k, e))) return false;
        for (int64_t i = 0; i < n; i++) (*to)[k + i] = npy_integer(&r->head, r->chunk + i * r->head.size);
    }
    *count = r->head.n;
    return true;
}

/* Pointers of 64 bits are kept as 32 bits unless the last one needs 64. */
static bool read_pointers(struct reader *r, struct err *e)
{
    struct npz *z = r->to;
    int64_t n = r->head.n;
    if (r->head.size < 8 || z->ptr || !n || !npy_is_integer(&r->head) || r->head.dims != 1)
        return read_ints(r, &z->ptr, &z->n_ptr, e);
    if (z->ptr64) return twice(r, e);
    if (!read_longs(r, &z->ptr64, &z->n_ptr, e)) return false;
    if (z->ptr64[n - 1] > INT32_MAX) return true;
    if (!(z->ptr = mem_new(n, sizeof *z->ptr, "pointers of the file", e))) return false;
    for (int64_t i = 0; i < n; i++) {
        if (z->ptr64[i] < INT32_MIN || z->ptr64[i] > INT32_MAX) return too_wide(r, z->ptr64[i], e);
        z->ptr[i] = (int)z->ptr64[i];
    }
    mem_free(z->ptr64);
    z->ptr64 = NULL;
    return true;
}
static bool read_indices(struct reader *r, struct err *e)
{
    return read_ints(r, &r->to->idx, &r->to->n_idx, e);
}
static bool read_rows(struct reader *r, struct err *e)
{
    return read_ints(r, &r->to->row, &r->to->n_row, e);
}
static bool read_columns(struct reader *r, struct err *e)
{
    return read_ints(r, &r->to->col, &r->to->n_col, e);
}

/* Coordinates in one array, as SciPy stores them for a row and PyData sparse for all shapes: all rows, then all
   columns; or only columns. */
static bool read_coords(struct reader *r, struct err *e)
{
    struct npz *z = r->to;
    int64_t axes = r->head.dim[0], n = r->head.dim[1];
    if (!npy_is_integer(&r->head) || r->head.dims != 2) return unusable(r, "two axes of integers", e);
    if (r->head.fortran && axes > 1 && n > 1) return unusable(r, "coordinates in C order", e);
    if (axes < 1 || axes > 2) {
        r->skip = true; /* the shape says that this is no matrix */
        return true;
    }
    if (z->row || z->col) return twice(r, e);
    z->axes = (int)axes;
    z->n_row = z->n_col = n;
    z->row = mem_zero(n, sizeof *z->row, "indices of the file", e);
    z->col = z->row ? mem_new(n, sizeof *z->col, "indices of the file", e) : NULL;
    return z->col && (axes == 1 || read_some_ints(r, z->row, n, e)) && read_some_ints(r, z->col, n, e);
}

/* PyData sparse: the axes whose pointers `indptr` contains; none if the array is a row. */
static bool read_compressed_axes(struct reader *r, struct err *e)
{
    if (!npy_is_integer(&r->head) || r->head.n > 1) return unusable(r, "the number of an axis", e);
    if (r->head.n && !next_items(r, 1, e)) return false;
    r->to->by_columns = r->head.n && npy_integer(&r->head, r->chunk) == 1;
    return true;
}

/* PyData sparse: the value of the elements that are not stored. */
static bool read_fill(struct reader *r, struct err *e)
{
    double re = 0, im = 0;
    if (!number_of(&r->head) || r->head.n != 1) return unusable(r, "one number", e);
    if (!read_numbers(r, &re, r->head.kind == 'c' ? &im : NULL, e)) return false;
    return (re == 0 && im == 0) ||
           file_bad(r->s, e,
                    "the elements that are not stored are %.17g, not 0 (fill_value of PyData sparse); in Python, use "
                    "A - A.fill_value, or A.todense()",
                    re == 0 ? im : re);
}
static bool read_offsets(struct reader *r, struct err *e)
{
    return read_ints(r, &r->to->offset, &r->to->n_offset, e);
}

static const struct member {
    const char *name;
    bool (*read)(struct reader *r, struct err *e);
    bool large; /* may have more than 2^31-1 items */
    bool extra; /* not part of SciPy's format: an array that cannot be read is left out */
} members[] = {
    {"indices.npy", read_indices, true, false},  {"indptr.npy", read_pointers, true, false},
    {"format.npy", read_format, false, false},   {"shape.npy", read_shape, false, false},
    {"data.npy", read_data, true, false},        {"row.npy", read_rows, false, false},
    {"col.npy", read_columns, false, false},     {"offsets.npy", read_offsets, false, false},
    {"coords.npy", read_coords, true, false},    {"compressed_axes.npy", read_compressed_axes, false, false},
    {"fill_value.npy", read_fill, false, false}, {"b.npy", read_right_sides, true, true},
    {"x.npy", read_solutions, true, true},
};

/* Reading past the last byte makes libarchive verify the checksum of the member. */
static bool read_member(struct reader *r, struct archive_entry *entry, const struct member *m, struct err *e)
{
    struct err why = {0};
    int64_t head_bytes = 0;
    char byte;
    r->member = m->name;
    r->large = m->large;
    r->skip = false;
    if (!read_dict(r, &head_bytes, &why))
        return (m->extra && why.code == E_INPUT) || fail_at(e, why.code, why.where, "%s", why.text);
    if (!check_bytes(r, entry, head_bytes, e) || !m->read(r, e)) return false;
    if (r->skip) return true;
    la_ssize_t bytes = archive_read_data(r->archive, &byte, 1);
    if (bytes < 0) return zip_fail(r, e);
    return !bytes || file_bad(r->s, e, "array %s has more data after its %lld items", m->name, (long long)r->head.n);
}

static bool read_members(struct reader *r, struct err *e)
{
    struct archive_entry *entry;
    int status;
    while ((status = archive_read_next_header(r->archive, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN) {
        const char *name = archive_entry_pathname(entry), *dot = name ? strrchr(name, '.') : NULL;
        r->to->arrays += dot && !strcmp(dot, ".npy");
        for (int i = 0; name && i < COUNT(members); i++)
            if (!strcmp(name, members[i].name) && !read_member(r, entry, &members[i], e)) return false;
    }
    return status == ARCHIVE_EOF || zip_fail(r, e);
}

static bool open_zip(struct reader *r, struct err *e)
{
    r->archive = archive_read_new();
    r->chunk = mem_new(NPZ_CHUNK, 1, "a piece of the file", e);
    if (!r->chunk) return false;
    if (!r->archive) return fail(e, E_MEMORY, "out of memory: libarchive could not be started");
    archive_read_support_format_zip(r->archive);
    r->file_bytes = stream_size(r->s->stream);
    return archive_read_open_filename(r->archive, r->s->path, NPZ_CHUNK) == ARCHIVE_OK || zip_fail(r, e);
}

bool npz_read(struct npz *z, struct err *e)
{
    struct reader r = {.to = z, .s = z->s};
    bool ok = open_zip(&r, e) && read_members(&r, e);
    mem_free(r.chunk);
    archive_read_free(r.archive);
    return ok;
}

void npz_free(struct npz *z)
{
    void *const arrays[] = {z->ptr, z->ptr64, z->idx, z->row, z->col, z->offset, z->val, z->imag};
    for (int i = 0; i < COUNT(arrays); i++) mem_free(arrays[i]);
    dense_array_free(&z->b);
    dense_array_free(&z->x);
}
