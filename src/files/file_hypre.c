/* hypre's IJ files: each process wrote its rows to a file of its own, NAME.00000, NAME.00001, ... Text:

       matrix   first and last row, first and last column of the part | row column value, one entry a line
       vector   first and last row of the part | row value, one a line

   Binary files, NAME.00000.bin, are little-endian. A header of 64-bit integers precedes the arrays:

       matrix   1, bytes of an index, bytes of a value, rows, columns, nonzeros, nonzeros of the part, first and last
   row and first and last column of the part | rows, columns, values vector   1, bytes of a value, first row, row after
   the last, length, rows of the part, components, 0 | values, one component after another

   Source: hypre_ParCSRMatrixPrintBinaryIJ and hypre_ParVectorPrintBinaryIJ of hypre 2.30. Rows and columns are counted
   from 0 or from 1. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "matrix_market.h"
#include "mtx.h"
#include "raw.h"
#include "sides.h"

#include <endian.h>
#include <limits.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
    PARTS_MAX = 100000, /* names have five digits */
    NUMBER = 6,         /* characters of .00000 */
    MATRIX_WORDS = 11,
    VECTOR_WORDS = 8,
    COMPONENTS_MAX = 1 << 20,
    LINE_TOKENS = 4,
    COUNT_BLOCK = 1 << 16
};
enum what { UNKNOWN, TEXT_MATRIX, TEXT_VECTOR, BINARY_MATRIX, BINARY_VECTOR };

/* What the beginning of a part says. */
struct part {
    enum what what;
    int64_t row, last_row, col, last_col; /* of a vector: col = last_col = row of the first part */
    int64_t n;                            /* entries; in a text file, counted later */
    int64_t all_rows;                     /* binary: rows of the whole matrix or vector */
    int index_bytes, value_bytes;         /* binary */
    int components;                       /* of a binary vector; otherwise 1 */
    int64_t header;                       /* bytes before the arrays of a binary file */
};
struct ij {
    struct source *s;
    struct watch *watch;
    char prefix[PATH_MAX]; /* the path without number and .bin; empty: one file of any name */
    const char *suffix;    /* ".bin" or "" */
    int n;
    struct part *part; /* owned: [n] */
    int64_t rows, cols, entries;
    struct notes notes; /* on the numbers of text files */
};

/* ---- the beginning of a part ---- */

struct token {
    const char *s;
    size_t n;
};

/* Split a line into tokens. Returns their number, or LINE_TOKENS + 1 if there are more than LINE_TOKENS. */
static int split_line(const char *p, const char *end, struct token *t)
{
    int n = 0;
    for (const char *from; p < end; n++) {
        while (p < end && is_blank(*p)) p++;
        for (from = p; p < end && !is_blank(*p);) p++;
        if (p == from) break;
        if (n == LINE_TOKENS) return n + 1;
        t[n] = (struct token){from, (size_t)(p - from)};
    }
    return n;
}

static bool is_real(const struct token *t)
{
    return memchr(t->s, '.', t->n) || memchr(t->s, 'e', t->n) || memchr(t->s, 'n', t->n);
}

/* The line begins with `indices` indices in their ranges, and a value follows. */
static bool is_entry(const char *line, const char *end, int indices, const int64_t *range)
{
    struct token t[LINE_TOKENS];
    int64_t v;
    if (split_line(line, end, t) != indices + 1) return false;
    for (int i = 0; i < indices; i++)
        if (read_integer(t[i].s, t[i].n, &v) || v < 0 || (!i && v > range[1])) return false;
    return is_real(&t[indices]) || (range[0] <= 1 && indices == 2);
}

/* A first line of ranges, and an entry, unless the part is empty. A METIS graph may begin like a matrix, too, but its
   numbers are integers. */
static enum what text_what(const char *begin, int64_t n, struct part *p)
{
    struct token t[LINE_TOKENS];
    int64_t range[LINE_TOKENS] = {0};
    const char *end = begin + n, *first_end = line_end(begin, end), *second = next_line(first_end, end);
    int count = split_line(begin, first_end, t);
    if (first_end == end || (count != 2 && count != 4)) return UNKNOWN;
    for (int i = 0; i < count; i++)
        if (read_integer(t[i].s, t[i].n, &range[i]) || range[i] < -1 || range[i] > INT_MAX ||
            (i % 2 && range[i] < range[i - 1] - 1))
            return UNKNOWN;
    bool empty = second == end && range[1] < range[0];
    if (!empty && (second == end || !is_entry(second, line_end(second, end), count / 2, range)) &&
        !(count == 4 && second == end && n < FILE_BEGIN))
        return UNKNOWN;
    p->row = range[0], p->last_row = range[1], p->col = range[2], p->last_col = range[3];
    return count == 4 ? TEXT_MATRIX : TEXT_VECTOR;
}

static bool is_size(int64_t bytes)
{
    return bytes == 4 || bytes == 8;
}

/* Are the numbers of a header small enough for sums and products of two of them? */
static bool are_counts(const int64_t *h, int n)
{
    int i = 0;
    while (i < n && h[i] >= -1 && h[i] <= (int64_t)1 << 48) i++;
    return i == n;
}

static enum what binary_what(const char *begin, int64_t n, struct part *p)
{
    int64_t h[MATRIX_WORDS] = {0};
    if (n < VECTOR_WORDS * 8) return UNKNOWN;
    memcpy(h, begin, n < (int64_t)sizeof h ? (size_t)n : sizeof h);
    for (int i = 0; i < MATRIX_WORDS; i++) h[i] = (int64_t)le64toh((uint64_t)h[i]);
    if (h[0] != 1 || !is_size(h[1]) || !are_counts(h, VECTOR_WORDS)) return UNKNOWN;
    if (n >= (int64_t)sizeof h && are_counts(h, MATRIX_WORDS) && is_size(h[2]) && h[7] >= 0 && h[8] < h[3] + h[7] &&
        h[9] >= 0 && h[6] >= 0 && h[6] <= h[5]) {
        *p = (struct part){.row = h[7],
                           .last_row = h[8],
                           .col = h[9],
                           .last_col = h[10],
                           .n = h[6],
                           .all_rows = h[3],
                           .index_bytes = (int)h[1],
                           .value_bytes = (int)h[2],
                           .header = sizeof h};
        return BINARY_MATRIX;
    }
    if (h[2] < 0 || h[5] < 0 || h[3] != h[2] + h[5] || h[4] < h[5] || h[6] < 1 || h[6] > COMPONENTS_MAX || h[7])
        return UNKNOWN;
    *p = (struct part){.row = h[2],
                       .last_row = h[3] - 1,
                       .n = h[5],
                       .all_rows = h[4],
                       .value_bytes = (int)h[1],
                       .components = (int)h[6],
                       .header = VECTOR_WORDS * 8};
    return BINARY_VECTOR;
}

static enum what what_of(const char *begin, int64_t n, struct part *p)
{
    *p = (struct part){0};
    enum what what = binary_what(begin, n, p);
    if (!what) what = text_what(begin, n, p);
    p->what = what;
    if (!p->components) p->components = 1;
    return what;
}

static bool recognises(const char *begin, int64_t n)
{
    struct part p;
    return what_of(begin, n, &p);
}

static bool is_matrix(enum what what)
{
    return what == TEXT_MATRIX || what == BINARY_MATRIX;
}

/* ---- the parts ---- */

static bool ends_in_number(const char *path, size_t n)
{
    return n > NUMBER && path[n - NUMBER] == '.' && strspn(path + n - NUMBER + 1, "0123456789") >= NUMBER - 1;
}

static void find_prefix(struct ij *f)
{
    const char *path = f->s->path;
    size_t n = strlen(path), bin = n > 4 && !strcmp(path + n - 4, ".bin") ? 4 : 0;
    f->suffix = bin ? ".bin" : "";
    if (ends_in_number(path, n - bin) && n < sizeof f->prefix)
        snprintf(f->prefix, sizeof f->prefix, "%.*s", (int)(n - bin - NUMBER), path);
}

/* The path of part k. Returns false if it is too long. */
static bool path_of(const struct ij *f, int k, char path[PATH_MAX])
{
    if (!f->prefix[0]) return snprintf(path, PATH_MAX, "%s", f->s->path) < PATH_MAX;
    return snprintf(path, PATH_MAX, "%s.%05d%s", f->prefix, k, f->suffix) < PATH_MAX;
}

static bool exists(const struct ij *f, int k)
{
    char path[PATH_MAX];
    return k < (f->prefix[0] ? PARTS_MAX : 1) && path_of(f, k, path) && !access(path, F_OK);
}

/* The lines that are not blank, less the first. A lone CR ends a line, too. */
static bool count_entries(const char *path, int64_t *lines, struct err *e)
{
    char block[COUNT_BLOCK];
    bool inside = false;
    int64_t got = 0;
    struct stream *stream = stream_open(path, e);
    *lines = -1;
    while (stream && (got = stream_read(stream, block, COUNT_BLOCK, e)) > 0) {
        for (int64_t i = 0; i < got; i++) {
            *lines += inside && is_eol(block[i]);
            inside = !is_eol(block[i]) && (inside || !is_blank(block[i]));
        }
        if (!loop_tick("counting entries", 0, 0, e)) got = -1;
        if (got < 0) break;
    }
    *lines += inside;
    stream_close(stream);
    return stream && got >= 0;
}

/* Read the beginning of part k, and count its entries. */
static bool read_begin(struct ij *f, int k, struct part *p, struct err *e)
{
    char path[PATH_MAX], where[256], begin[FILE_BEGIN];
    struct raw r;
    path_of(f, k, path);
    print_safe(path, strlen(path), 200, where, sizeof where);
    bool ok = raw_open(&r, path, where, false, e);
    int64_t n = ok ? read_at(r.fd, begin, FILE_BEGIN, 0) : -1, end = 0;
    if (ok && n < 0) ok = fail_at(e, E_IO, where, "cannot read the file");
    if (ok && (!what_of(begin, n, p) || (k && p->what != f->part[0].what)))
        ok = fail_at(e, E_INPUT, where, "this is no part of the same kind as the first of hypre's files");
    if (ok && p->what == BINARY_MATRIX &&
        !(raw_has(&r, p->header, p->n, 2 * p->index_bytes + p->value_bytes, &end) && end == r.size))
        ok = fail_at(e, E_INPUT, where, "the file has %lld bytes, but %lld entries need %lld; it is truncated",
                     (long long)r.size, (long long)p->n, (long long)end);
    if (ok && p->what == BINARY_VECTOR &&
        !(raw_has(&r, p->header, p->n, p->components * p->value_bytes, &end) && end == r.size))
        ok = fail_at(e, E_INPUT, where, "the file has %lld bytes, but the vector needs %lld; it is truncated",
                     (long long)r.size, (long long)end);
    raw_close(&r);
    return ok && (p->what == BINARY_MATRIX || p->what == BINARY_VECTOR || count_entries(path, &p->n, e));
}

/* Part k must begin with the row after the last row of the part before. */
static bool follows(const struct ij *f, int k, struct err *e)
{
    const struct part *p = &f->part[k];
    int64_t row = k ? f->part[k - 1].last_row + 1 : p->row;
    if (!k && p->row > 1)
        return file_bad(f->s, e, "the rows begin with %lld, not with 0 or 1; is this one of several parts?",
                        (long long)p->row);
    return p->row == row || file_bad(f->s, e,
                                     "part %05d begins with row %lld instead of %lld: a part is missing, or is of "
                                     "another matrix",
                                     k, (long long)p->row, (long long)row);
}

static bool find_parts(struct ij *f, struct err *e)
{
    find_prefix(f);
    if (!exists(f, 0)) return file_bad(f->s, e, "the first part %s.00000%s is missing", f->prefix, f->suffix);
    for (int room = 0; exists(f, f->n); f->n++) {
        if (f->n == room) {
            struct part *more = mem_resize(f->part, room = 2 * room + 8, sizeof *more, "the parts of the matrix", e);
            if (!more) return false;
            f->part = more;
        }
        struct part *p = &f->part[f->n];
        if (!read_begin(f, f->n, p, e) || !follows(f, f->n, e)) return false;
        f->rows = p->last_row + 1 - f->part[0].row;
        if (p->last_col + 1 - f->part[0].row > f->cols) f->cols = p->last_col + 1 - f->part[0].row;
        f->entries += p->n;
    }
    if (exists(f, f->n + 1)) return file_bad(f->s, e, "part %05d is missing", f->n);
    return !f->part[0].header || f->rows == f->part[0].all_rows ||
           file_bad(f->s, e, "the header declares %lld rows, but %s %lld; is a part missing?",
                    (long long)f->part[0].all_rows, f->n == 1 ? "this part has" : "the parts have", (long long)f->rows);
}

/* ---- entries ---- */

struct triplets {
    int *row, *col;
    double *val;
};

static bool triplets_new(struct triplets *t, int64_t n, struct err *e)
{
    t->row = mem_new(n, sizeof *t->row, "the entries", e);
    t->col = t->row ? mem_new(n, sizeof *t->col, "the entries", e) : NULL;
    t->val = t->col ? mem_new(n, sizeof *t->val, "the entries", e) : NULL;
    return t->val;
}

static void triplets_free(struct triplets *t)
{
    mem_free(t->row);
    mem_free(t->col);
    mem_free(t->val);
}

/* Read the lines of a text part as those of a Matrix Market file whose size line is the first line. */
static bool read_text(struct ij *f, int k, struct triplets *to, int64_t at, struct err *e)
{
    char path[PATH_MAX], line[FILE_BEGIN];
    const struct part *p = &f->part[k];
    path_of(f, k, path);
    struct head h = {.amgx = {.base0 = !f->part[0].row},
                     .field = REAL,
                     .symmetry = GENERAL,
                     .indices = is_matrix(p->what) ? 2 : 1,
                     .values = 1,
                     .rows = f->rows,
                     .cols = is_matrix(p->what) ? f->cols : 1,
                     .entries = p->n,
                     .lines = 1};
    struct lines lines = {.stream = stream_open(path, e), .block = MTX_BLOCK};
    struct body body = {.head = &h,
                        .path = path,
                        .lines = &lines,
                        .watch = f->watch,
                        .threads = p->n > COUNT_BLOCK ? omp_get_max_threads() : 1};
    int64_t got = lines.stream ? stream_read(lines.stream, line, sizeof line, e) : -1;
    const char *rest = got > 0 ? next_line(line_end(line, line + got), line + got) : line;
    lines.streamed = got;
    bool ok = got >= 0 && lines_back(&lines, rest, line + got - rest, e);
    if (ok) body_parse(&body);
    ok = ok && body_judge(&body, &f->notes, e);
    if (ok && p->n) {
        memcpy(to->row + at, body.all.row, (size_t)p->n * sizeof *to->row);
        if (h.indices == 2) memcpy(to->col + at, body.all.col, (size_t)p->n * sizeof *to->col);
        memcpy(to->val + at, body.all.val, (size_t)p->n * sizeof *to->val);
    }
    body_free(&body);
    stream_close(lines.stream);
    lines_free(&lines);
    return ok;
}

static bool read_binary(struct ij *f, int k, struct triplets *to, int64_t at, struct err *e)
{
    char path[PATH_MAX];
    const struct part *p = &f->part[k];
    int64_t cols = p->header + p->n * p->index_bytes, vals = cols + p->n * p->index_bytes, base = f->part[0].row;
    struct raw r;
    path_of(f, k, path);
    bool ok = raw_open(&r, path, f->s->where, false, e) &&
              raw_integers(&r, p->header, p->n, p->index_bytes, to->row + at, e) &&
              raw_integers(&r, cols, p->n, p->index_bytes, to->col + at, e) &&
              raw_doubles(&r, vals, p->n, p->value_bytes, to->val + at, NULL, e);
    raw_close(&r);
    struct loop l = loop_of("counting from 0", p->n);
    for (int64_t i = at; ok && base && i < at + p->n && loop_goes(&l, i); i++) to->row[i]--, to->col[i]--;
    return ok && loop_end(&l, e);
}

static bool read_entries(struct ij *f, struct triplets *to, struct err *e)
{
    int64_t at = 0;
    for (int k = 0; k < f->n; at += f->part[k++].n)
        if (!(f->part[k].what == BINARY_MATRIX ? read_binary : read_text)(f, k, to, at, e)) return false;
    return true;
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct ij f = {.s = s, .watch = w};
    struct triplets t = {0};
    bool ok = find_parts(&f, e);
    if (ok && !is_matrix(f.part[0].what))
        ok = file_bad(s, e,
                      "the file has a hypre vector of length %lld, but no matrix; load the matrix, and give this file "
                      "after `rhs` or `b`",
                      (long long)f.rows);
    ok = ok && file_sizes(s, f.rows, f.cols, f.entries, e) && triplets_new(&t, f.entries, e) &&
         read_entries(&f, &t, e) &&
         file_finish_triplets(s, f.rows, f.cols, f.entries, t.row, t.col, t.val, NULL, w, A, info, e);
    triplets_free(&t);
    mem_free(f.part);
    if (!ok) return false;
    snprintf(info->field, sizeof info->field, "real");
    f.notes.n[NOTE_SPECIAL] = 0; /* file_load notes the first inf or nan */
    notes_show(&f.notes, info);
    if (f.n > 1) file_note(info, "read from %d files, one for each process of hypre", f.n);
    return true;
}

/* ---- vectors ---- */

static bool read_vector_text(struct ij *f, int k, struct dense_array *d, struct err *e)
{
    int64_t n = f->part[k].n;
    struct triplets t = {0};
    bool ok = triplets_new(&t, n, e) && read_text(f, k, &t, 0, e);
    struct loop l = loop_of("placing values", n);
    for (int64_t i = 0; ok && i < n && loop_goes(&l, i); i++) d->val[t.row[i]] = t.val[i];
    triplets_free(&t);
    return ok && loop_end(&l, e);
}

static bool read_vector_binary(struct ij *f, int k, struct dense_array *d, struct err *e)
{
    char path[PATH_MAX];
    const struct part *p = &f->part[k];
    struct raw r;
    path_of(f, k, path);
    bool ok = raw_open(&r, path, f->s->where, false, e);
    for (int c = 0; ok && c < d->cols; c++)
        ok = raw_doubles(&r, p->header + c * p->n * p->value_bytes, p->n, p->value_bytes,
                         d->val + c * d->rows + p->row - f->part[0].row, NULL, e);
    raw_close(&r);
    return ok;
}

static bool right_sizes(const struct ij *f, struct err *e)
{
    for (int k = 1; k < f->n; k++)
        if (f->part[k].components != f->part[0].components)
            return file_bad(f->s, e, "the parts of the vector have different numbers of components");
    return f->entries == f->rows ||
           file_bad(f->s, e, "the file has %lld values for %lld rows", (long long)f->entries, (long long)f->rows);
}

static bool load_array(struct source *s, struct dense_array *d, struct err *e)
{
    struct ij f = {.s = s, .watch = loop_watch()};
    bool ok = find_parts(&f, e);
    if (ok && is_matrix(f.part[0].what)) ok = file_bad(s, e, "the file has a hypre matrix, not a vector");
    ok = ok && right_sizes(&f, e) && dense_array_new(d, f.rows, f.part[0].components, false, e);
    /* a text file may have a row twice, and leave another row out */
    ok = ok && loop_zero(d->val, d->rows * d->cols * (int64_t)sizeof *d->val, "clearing the vector", e);
    for (int k = 0; ok && k < f.n; k++)
        ok = (f.part[k].what == BINARY_VECTOR ? read_vector_binary : read_vector_text)(&f, k, d, e);
    if (!ok) dense_array_free(d);
    mem_free(f.part);
    return ok;
}

/* ---- saving ---- */

/* One part, whose number is added if the user left it out. */
static bool save(const char *path, bool force, const struct csr *A, const struct sides *sides,
                 const struct load_info *info, const char *comment, struct watch *w, struct err *e)
{
    char part[PATH_MAX];
    bool named = ends_in_number(path, strlen(path));
    if (A->imag)
        return fail(e, E_UNSUPPORTED, "hypre's files hold real numbers; save a complex matrix as .npz or .mtx");
    if (snprintf(part, sizeof part, "%s%s", path, named ? "" : ".00000") >= PATH_MAX)
        return fail(e, E_LIMIT, "the path is too long");
    return ij_save(part, force, A, w, e);
}

const struct file_kind file_hypre = {
    .name = "hypre IJ",
    .endings = ".IJ .IJ.00000",
    .about = "hypre's IJ, text or binary",
    .recognises = recognises,
    .load = load,
    .load_array = load_array,
    .first_parts = ".00000 .00000.bin",
    .save = save,
};
