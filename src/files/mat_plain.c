/* MATLAB's .mat files of level 4, and of level 5 without compressed variables and structures. They are read without a
   library: large files at the speed of memory, and what libmatio reads wrongly (level 4 without nonzeros).
   Format: MathWorks, "MAT-File Format". */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream.h"
#include "file.h"
#include "load_info.h"
#include "mat.h"
#include "matrix/csr.h"
#include "npy.h"
#include "sides.h"
#include "variables.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { ITEMS = 1 << 13, WORD = 4, LEVEL_4_HEAD = 5 * WORD };

/* n numbers of one type, from byte `at` of the file. */
struct array {
    int64_t at, n;
    struct npy type;
};

struct variable {
    char name[NAME_ROOM];
    int64_t rows, cols;
    bool sparse, logical, is_complex;
    bool triplets;         /* level 4: `row` and `ptr` are rows and columns, from 1, as many as values */
    struct array row, ptr; /* sparse: row indices, and the pointers of the columns */
    struct array re, im;   /* values */
};

struct plain {
    struct source *s;
    struct watch *watch;
    int fd;
    int64_t size; /* of the file, in bytes */
    bool swap;    /* the byte order of the file is the opposite of this machine's */
};

static bool truncated(const struct plain *f, struct err *e)
{
    return file_bad(f->s, e, "the .mat file ends early or is corrupt");
}

static bool read_at(const struct plain *f, void *to, int64_t n, int64_t at)
{
    for (int64_t got = 0; got < n;) {
        ssize_t r = pread(f->fd, (char *)to + got, (size_t)(n - got), at + got);
        if (r < 0 && errno == EINTR) continue;
        if (r <= 0) return false;
        got += r;
    }
    return true;
}

static bool read_words(const struct plain *f, uint32_t *to, int n, int64_t at)
{
    if (at < 0 || at > f->size - n * WORD || !read_at(f, to, n * WORD, at)) return false;
    for (int i = 0; f->swap && i < n; i++) to[i] = __builtin_bswap32(to[i]);
    return true;
}

/* ---- arrays ---- */

/* Convert n items, at p, to `val` or to `index`. Returns false if an index is no integer of 32 bits. */
static bool convert(const struct array *a, char *p, int64_t n, double *val, int *index)
{
    file_number *number = file_number_of(a->type.kind, a->type.size);
    npy_to_native(&a->type, p, n);
    for (int64_t i = 0; i < n; i++) {
        double v = number(p + i * a->type.size);
        if (val) val[i] = v;
        if (index && !(v >= INT32_MIN && v <= INT32_MAX && v == (int)v)) return false;
        if (index) index[i] = (int)v;
    }
    return true;
}

static bool read_block(const struct plain *f, const struct array *a, int64_t from, int64_t n, double *val, int *index)
{
    char items[ITEMS * sizeof(double)];
    int64_t at = a->at + from * a->type.size;
    bool native = !a->type.swap && (val ? a->type.kind == 'f' && a->type.size == sizeof *val
                                        : a->type.kind == 'i' && a->type.size == sizeof *index);
    if (native) return read_at(f, val ? (void *)(val + from) : index + from, n * a->type.size, at);
    return read_at(f, items, n * a->type.size, at) &&
           convert(a, items, n, val ? val + from : NULL, index ? index + from : NULL);
}

/* Read the first n items as `val` or as `index`; the other is NULL. */
static bool read_items(const struct plain *f, const struct array *a, int64_t n, double *val, int *index, struct err *e)
{
    if (n > a->n) return truncated(f, e);
    struct loop l = loop_of("reading", n);
    bool good = true;
#pragma omp parallel for schedule(dynamic, 8) reduction(&& : good) if (n > 64 * ITEMS)
    for (int64_t from = 0; from < n; from += ITEMS)
        if (loop_check(&l, from))
            good = good && read_block(f, a, from, n - from < ITEMS ? n - from : ITEMS, val, index);
    return loop_end(&l, e) && (good || truncated(f, e));
}

/* Allocate and read n numbers. */
static double *new_values(const struct plain *f, const struct array *a, int64_t n, struct err *e)
{
    double *to = mem_new(n, sizeof *to, "values of the file", e);
    if (to && read_items(f, a, n, to, NULL, e)) return to;
    mem_free(to);
    return NULL;
}

static int *new_indices(const struct plain *f, const struct array *a, int64_t n, struct err *e)
{
    int *to = mem_new(n, sizeof *to, "indices of the file", e);
    if (to && read_items(f, a, n, NULL, to, e)) return to;
    mem_free(to);
    return NULL;
}

/* ---- level 5: a variable is an element that contains elements ---- */

struct element {
    uint32_t type;
    int64_t at, bytes; /* of its data */
    int64_t next;      /* where the next element begins */
};

/* Read the tag at byte `at`: two words, or one word if the data have at most four bytes. Elements end before `end`. */
static bool read_tag(const struct plain *f, int64_t at, int64_t end, struct element *t, struct err *e)
{
    uint32_t word[2];
    if (end - at < 2 * WORD || !read_words(f, word, 2, at)) return truncated(f, e);
    bool small = word[0] >> 16;
    *t = (struct element){.type = small ? word[0] & 0xffff : word[0],
                          .bytes = small ? word[0] >> 16 : word[1],
                          .at = at + (small ? WORD : 2 * WORD)};
    t->next = small ? at + 2 * WORD : t->at + (t->bytes + 7) / 8 * 8;
    if (t->next > end) t->next = end;
    return (t->bytes <= end - t->at && (!small || t->bytes <= WORD)) || truncated(f, e);
}

static bool read_array(const struct plain *f, int64_t *at, int64_t end, struct array *a, struct err *e)
{
    static const char kinds[] = "?iuiuiuf?f??iu";
    static const int sizes[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
    struct element t;
    if (!read_tag(f, *at, end, &t, e)) return false;
    if (t.type >= COUNT(sizes) || !sizes[t.type]) return truncated(f, e);
    *a = (struct array){.at = t.at,
                        .n = t.bytes / sizes[t.type],
                        .type = {.kind = kinds[t.type], .size = sizes[t.type], .swap = f->swap}};
    *at = t.next;
    return true;
}

/* Read the flags, sizes and name of a variable, and where its arrays are. *usable: it is an array of numbers. */
static bool read_variable(const struct plain *f, const struct element *whole, struct variable *v, uint32_t *class,
                          bool *usable, struct err *e)
{
    uint32_t flags, size[2];
    struct element t;
    int64_t end = whole->at + whole->bytes, at;
    *usable = false;
    *v = (struct variable){0};
    if (!read_tag(f, whole->at, end, &t, e)) return false;
    if (t.type != MAT_UINT32 || t.bytes < WORD || !read_words(f, &flags, 1, t.at)) return truncated(f, e);
    *class = flags & 0xff;
    if (*class < CLASS_SPARSE || *class > CLASS_UINT64) return true;
    if (!read_tag(f, t.next, end, &t, e)) return false;
    if (t.type != MAT_INT32 || t.bytes < 2 * WORD || !read_words(f, size, 2, t.at)) return truncated(f, e);
    if (t.bytes > 2 * WORD) return true;
    if (!read_tag(f, t.next, end, &t, e)) return false;
    if (t.type != MAT_INT8 || t.bytes >= NAME_ROOM || !read_at(f, v->name, t.bytes, t.at)) return truncated(f, e);
    at = t.next;
    v->rows = (int32_t)size[0];
    v->cols = (int32_t)size[1];
    v->sparse = *class == CLASS_SPARSE;
    v->logical = flags & FLAG_LOGICAL;
    v->is_complex = flags & FLAG_COMPLEX;
    *usable = true;
    return (!v->sparse || (read_array(f, &at, end, &v->row, e) && read_array(f, &at, end, &v->ptr, e))) &&
           read_array(f, &at, end, &v->re, e) && (!v->is_complex || read_array(f, &at, end, &v->im, e));
}

/* Check the checksum of a compressed variable, which libmatio does not. */
static bool check_compressed(const struct plain *f, const struct element *t, struct err *e)
{
    unsigned char in[ITEMS * 4], out[ITEMS * 8];
    z_stream z = {0};
    int status = inflateInit(&z);
    if (status != Z_OK) return fail(e, E_MEMORY, "out of memory: zlib could not be started");
    struct loop l = loop_of("reading", t->bytes);
    for (int64_t at = 0; status == Z_OK && loop_runs(&l);) {
        if (!z.avail_in) {
            int64_t n = t->bytes - at < (int64_t)sizeof in ? t->bytes - at : (int64_t)sizeof in;
            if (!n || !loop_check(&l, at) || !read_at(f, in, n, t->at + at)) break;
            z.next_in = in;
            z.avail_in = (unsigned)n;
            at += n;
        }
        z.next_out = out;
        z.avail_out = sizeof out;
        status = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    return loop_end(&l, e) && (status == Z_STREAM_END || truncated(f, e));
}

/* ---- level 4: a header of five words, a name, numbers by columns ---- */

/* The columns of a sparse variable are the rows, the columns, the real and perhaps the imaginary parts of its nonzeros;
   its last row contains the sizes of the matrix. */
static bool sparse_4(const struct plain *f, struct variable *v, struct array all, int64_t lines, int64_t columns,
                     struct err *e)
{
    int size[2];
    int64_t n = lines - 1, step = lines * all.type.size;
    if (n < 0 || columns < 3 || columns > 4) return truncated(f, e);
    struct array *const to[] = {&v->row, &v->ptr, &v->re, &v->im};
    for (int i = 0; i < columns; i++) {
        *to[i] = (struct array){.at = all.at + i * step, .n = n, .type = all.type};
        const struct array last = {.at = to[i]->at + n * all.type.size, .n = 1, .type = all.type};
        if (i < 2 && !read_items(f, &last, 1, NULL, &size[i], e)) return false;
    }
    v->rows = size[0];
    v->cols = size[1];
    v->sparse = v->triplets = true;
    v->is_complex = columns == 4;
    return true;
}

/* Read the variable whose header is at *at, and move *at to the next one. */
static bool read_variable_4(struct plain *f, int64_t *at, struct variable *v, bool *usable, struct err *e)
{
    static const char kinds[] = "ffiiuu";
    static const int sizes[] = {8, 4, 4, 2, 2, 1};
    uint32_t head[5];
    f->swap = false;
    if (!read_words(f, head, 1, *at)) return truncated(f, e);
    f->swap = head[0] > 5000;
    if (!read_words(f, head, COUNT(head), *at)) return truncated(f, e);
    uint32_t type = head[0] % 10, precision = head[0] / 10 % 10;
    int64_t lines = head[1], columns = head[2], parts = head[3] ? 2 : 1, numbers, bytes;
    if (type > 2 || precision >= COUNT(sizes) || head[3] > 1 || !head[4] || head[4] > NAME_ROOM) return truncated(f, e);
    *v = (struct variable){.rows = lines, .cols = columns, .is_complex = head[3]};
    if (!read_at(f, v->name, head[4], *at + LEVEL_4_HEAD)) return truncated(f, e);
    v->name[head[4] - 1] = 0;
    const struct array all = {.at = *at + LEVEL_4_HEAD + head[4],
                              .type = {.kind = kinds[precision], .size = sizes[precision], .swap = f->swap}};
    bool large = __builtin_mul_overflow(lines, columns, &numbers) ||
                 __builtin_mul_overflow(numbers, parts * sizes[precision], &bytes);
    if (large || bytes > f->size - all.at) return truncated(f, e);
    *at = all.at + bytes;
    *usable = type != 1;
    if (type == 2) return parts == 1 ? sparse_4(f, v, all, lines, columns, e) : truncated(f, e);
    v->re = v->im = all;
    v->re.n = v->im.n = numbers;
    v->im.at += numbers * sizes[precision];
    return true;
}

/* ---- from variables to the matrix ---- */

static bool load_triplets(struct plain *f, const struct variable *v, struct csr *A, struct load_info *info,
                          struct err *e)
{
    int64_t n = v->re.n;
    int *row = new_indices(f, &v->row, n, e), *col = row ? new_indices(f, &v->ptr, n, e) : NULL;
    double *re = col ? new_values(f, &v->re, n, e) : NULL;
    double *im = re && v->is_complex ? new_values(f, &v->im, n, e) : NULL;
    bool ok = re && (im || !v->is_complex);
    for (int64_t k = 0; ok && k < n; k++) {
        ok =
            (row[k] > 0 && col[k] > 0) || file_bad(f->s, e, "entry %lld: the indices must be at least 1", (long long)k);
        row[k] -= ok;
        col[k] -= ok;
    }
    ok = ok && file_finish_triplets(f->s, v->rows, v->cols, n, row, col, re, im, f->watch, A, info, e);
    mem_free(row);
    mem_free(col);
    mem_free(re);
    mem_free(im);
    return ok;
}

static bool load_columns(struct plain *f, const struct variable *v, struct csr *A, struct load_info *info,
                         struct err *e)
{
    struct csr C = {.rows = v->cols, .cols = v->rows};
    if (v->ptr.n != v->cols + 1)
        return file_bad(f->s, e, "the sparse variable has %lld columns, but %lld pointers", (long long)v->cols,
                        (long long)v->ptr.n);
    bool ok = (C.rowptr = new_indices(f, &v->ptr, v->cols + 1, e)) != NULL;
    C.nnz = ok ? C.rowptr[v->cols] : 0;
    if (ok && C.nnz < 0) ok = truncated(f, e);
    ok = ok && file_sizes(f->s, v->rows, v->cols, C.nnz, e) && (C.col = new_indices(f, &v->row, C.nnz, e)) &&
         (C.val = new_values(f, &v->re, C.nnz, e)) && (!v->is_complex || (C.imag = new_values(f, &v->im, C.nnz, e)));
    if (ok) return file_finish(f->s, &C, true, MIRROR_NOT, f->watch, A, info, e);
    csr_free(&C);
    return false;
}

static bool load_sparse(struct plain *f, const struct variable *v, struct csr *A, struct load_info *info, struct err *e)
{
    if (!file_sizes(f->s, v->rows, v->cols, v->triplets ? v->re.n : 0, e)) return false;
    return v->triplets ? load_triplets(f, v, A, info, e) : load_columns(f, v, A, info, e);
}

/* ---- right sides and solutions ---- */

static bool dense_of_sparse(const struct csr *S, struct dense_array *d, struct err *e)
{
    int64_t bytes = S->rows * S->cols * (int64_t)sizeof *d->val;
    if (!dense_array_new(d, S->rows, S->cols, S->imag != NULL, e)) return false;
    if (!loop_zero(d->val, bytes, "reading", e) || (d->imag && !loop_zero(d->imag, bytes, "reading", e))) return false;
    for (int64_t i = 0; i < S->rows; i++)
        for (int64_t k = S->rowptr[i]; k < S->rowptr[i + 1]; k++) {
            d->val[i + S->col[k] * S->rows] = S->val[k];
            if (d->imag) d->imag[i + S->col[k] * S->rows] = S->imag[k];
        }
    return true;
}

static bool load_side(struct plain *f, const struct variable *v, struct dense_array *d, struct load_info *info,
                      struct err *e)
{
    struct csr S = {0};
    struct load_info unused = {0};
    int64_t n = v->rows * v->cols;
    if (!v->rows || !v->cols) return true;
    if (v->sparse && (double)n * 32 > (double)mem_available()) {
        file_note(info, "%s is %lld x %lld, too large for the memory: %s was left out", v->name, (long long)v->rows,
                  (long long)v->cols, v->name);
        return true;
    }
    if (v->sparse) {
        bool ok = load_sparse(f, v, &S, &unused, e) && dense_of_sparse(&S, d, e);
        csr_free(&S);
        return ok;
    }
    return dense_array_new(d, v->rows, v->cols, v->is_complex, e) && read_items(f, &v->re, n, d->val, NULL, e) &&
           (!d->imag || read_items(f, &v->im, n, d->imag, NULL, e));
}

/* A square sparse b of the size of A is the second matrix of a pencil (A, B). */
static bool is_pencil(const struct variable *b, const struct csr *A)
{
    return b->sparse && b->rows == b->cols && b->rows > 1 && b->cols == A->cols;
}

static bool load_sides(struct plain *f, const struct variable side[SIDES], const struct csr *A, struct load_info *info,
                       struct err *e)
{
    struct dense_array d[SIDES] = {{0}};
    bool ok = true;
    for (int i = 0; i < SIDES && ok; i++)
        if (side[i].name[0] && !(i == SIDE_B && is_pencil(&side[i], A))) ok = load_side(f, &side[i], &d[i], info, e);
    ok = ok && sides_fill(f->s->sides, A, &d[SIDE_B], &d[SIDE_X], info, e);
    for (int i = 0; i < SIDES; i++) dense_array_free(&d[i]);
    return ok;
}

/* ---- the file ---- */

struct choice {
    struct variable_names names;
    struct variable matrix, side[SIDES];
};

static void consider(struct choice *c, const struct variable *v, const char *part)
{
    if (v->sparse && variable_chosen(&c->names, v->name, part)) {
        c->matrix = *v;
        return;
    }
    for (int i = 0; i < SIDES; i++)
        if (!strcmp(v->name, side_names[i]) && !c->side[i].name[0]) c->side[i] = *v;
}

/* Go through all variables. *plain: there are no compressed variables and no structures. */
static bool read_variables(struct plain *f, bool level_4, struct choice *c, bool *plain, struct err *e)
{
    struct variable v;
    struct element t;
    *plain = true;
    for (int64_t at = level_4 ? 0 : MAT_HEADER; at < f->size;) {
        bool usable = false;
        uint32_t class = 0;
        if (level_4) {
            if (!read_variable_4(f, &at, &v, &usable, e)) return false;
        } else {
            if (!read_tag(f, at, f->size, &t, e)) return false;
            if (t.type == MAT_COMPRESSED) t.next = t.at + t.bytes;
            *plain = *plain && t.type != MAT_COMPRESSED;
            if (t.type == MAT_COMPRESSED && !check_compressed(f, &t, e)) return false;
            if (t.type == MAT_MATRIX && !read_variable(f, &t, &v, &class, &usable, e)) return false;
            *plain = *plain && class != CLASS_STRUCT;
            at = t.next;
        }
        if (usable) consider(c, &v, f->s->part);
    }
    return true;
}

static bool load_chosen(struct plain *f, const struct choice *c, struct csr *A, struct load_info *info, struct err *e)
{
    const struct variable *v = &c->matrix;
    if (!c->names.name[0]) return variable_missing(f->s, &c->names, "sparse variable", e);
    variable_note(&c->names, f->s->part, "sparse variable", false, info);
    if (!load_sparse(f, v, A, info, e)) return false;
    if (v->re.type.size == 8 && v->re.type.kind != 'f') variable_note_rounded(A->nnz, A->val, info);
    snprintf(info->field, sizeof info->field, "%s", v->logical ? "pattern" : A->imag ? "complex" : "real");
    if (load_sides(f, c->side, A, info, e)) return true;
    csr_free(A);
    return false;
}

bool mat_plain_load(struct source *s, bool level_4, bool *plain, struct watch *w, struct csr *A, struct load_info *info,
                    struct err *e)
{
    struct choice c = {0};
    struct plain f = {.s = s, .watch = w, .size = stream_size(s->stream)};
    f.swap = s->begin[MAT_VERSION_AT + 2] == 'M';
    f.fd = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (f.fd < 0) return fail_at(e, E_IO, s->where, "cannot open the file: %s", strerror(errno));
    bool ok = read_variables(&f, level_4, &c, plain, e) && (!*plain || load_chosen(&f, &c, A, info, e));
    close(f.fd);
    return ok;
}
