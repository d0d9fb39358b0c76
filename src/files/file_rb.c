/* Rutherford-Boeing and Harwell-Boeing files: lines with fields in fixed columns, as Fortran writes them. Reading does
   not depend on the locale. Format: Duff, Grimes, Lewis, "The Rutherford-Boeing sparse matrix collection",
   RAL-TR-97-031, 1997. */
#include <stdio.h>

#include "base/number.h"
#include "base/stream.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <string.h>

enum { WIDTH_MAX = 64, RB_BLOCK = 1 << 20, TICK_EVERY = 1 << 14, HEAD_NUMBERS = 5 };

/* A Fortran format, e.g. (1P,5E16.8): 5 fields of 16 columns per line. If a number has no decimal point, its last 8
   digits are the fraction; if it has no exponent, it is divided by 10^scale. */
struct fields {
    char letter;
    int per_line, width, digits, scale;
};
struct rb {
    struct source *s;
    struct watch *watch;
    struct lines lines;
    struct text text;
    const char *p, *end;         /* the text that has not been read yet */
    const char *line, *line_end; /* the current line */
    int64_t number;              /* number of the current line, counted from 1 */
    int field;                   /* number of the next field on the line */
    int64_t left;                /* fields left in this array */
    bool words;                  /* the fields of this line are separated by blanks, so their columns are ignored */
    const char *next;            /* the next word */
    char type[4];                /* in upper case */
    int64_t lines_of[HEAD_NUMBERS], size[HEAD_NUMBERS];
    struct fields ptr, idx, val;
};

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool rb_bad(const struct rb *r, struct err *e, const char *needed, const char *found, const char *found_end)
{
    char where[PATH_LINE], quote[QUOTE];
    return fail_at(e, E_INPUT, path_line(r->s->path, r->number, where), "found \"%s\" instead of %s",
                   quoted(found, found_end, quote), needed);
}

/* ---- lines and fields ---- */

static bool next_text_line(struct rb *r, const char *needed, struct err *e)
{
    char where[PATH_LINE];
    r->number++;
    if (r->p == r->end) {
        struct err why = {0};
        if (!lines_next(&r->lines, &r->text, &why)) return file_at(r->s, &why, e);
        r->p = r->text.s;
        r->end = r->p + r->text.n;
        if (!r->text.n)
            return fail_at(e, E_INPUT, path_line(r->s->path, r->number, where),
                           "the file ends before %s; it is truncated", needed);
    }
    r->line = r->p;
    r->line_end = line_end(r->p, r->end);
    r->p = next_line(r->line_end, r->end);
    r->field = 0;
    return true;
}

/* Some programs, including SciPy, ignore the column widths that they state in the header. If a line has as many words
   as fields, each word is one field. Otherwise, the fields are read from their columns, and no blanks are needed
   between them. */
static bool next_fields(struct rb *r, const struct fields *f, const char *needed, struct err *e)
{
    int64_t words = 0, fields = r->left < f->per_line ? r->left : f->per_line;
    if (!next_text_line(r, needed, e)) return false;
    for (const char *p = r->line; p < r->line_end; p++) words += !is_blank(*p) && (p == r->line || is_blank(p[-1]));
    r->words = words == fields;
    r->next = r->line;
    return true;
}

/* Copy the next field, without blanks, to to[WIDTH_MAX + 1]. */
static bool next_field(struct rb *r, const struct fields *f, const char *needed, char *to, size_t *n, struct err *e)
{
    static const char blanks[] = "blanks";
    if (r->field == f->per_line && !next_fields(r, f, needed, e)) return false;
    const char *p = r->words ? r->next : r->line + (int64_t)r->field * f->width, *stop = p + f->width;
    if (r->words) {
        while (p < r->line_end && is_blank(*p)) p++;
        for (stop = p; stop < r->line_end && !is_blank(*stop);) stop++;
        r->next = stop;
        if (stop - p > WIDTH_MAX) return rb_bad(r, e, needed, p, stop);
    }
    r->field++;
    r->left--;
    *n = 0;
    for (; p < stop && p < r->line_end && *n < WIDTH_MAX; p++)
        if (!is_blank(*p)) to[(*n)++] = *p;
    to[*n] = 0;
    return *n || rb_bad(r, e, needed, blanks, blanks + strlen(blanks));
}

static bool next_integer(struct rb *r, const struct fields *f, const char *needed, int64_t *v, struct err *e)
{
    char text[WIDTH_MAX + 1];
    size_t n;
    if (!next_field(r, f, needed, text, &n, e)) return false;
    return !read_integer(text, n, v) || rb_bad(r, e, needed, text, text + n);
}

/* Read a value by Fortran's rules: if the value has no decimal point, its last `digits` digits are the fraction; if it
   has no exponent, it is divided by 10^scale. */
static bool next_real(struct rb *r, const struct fields *f, double *v, struct err *e)
{
    char text[WIDTH_MAX + 32];
    size_t n;
    unsigned how;
    if (!next_field(r, f, "a value", text, &n, e)) return false;
    const char *end = number_parse(text, text + n, v, &how);
    if (!end || end != text + n) return rb_bad(r, e, "a value", text, text + n);
    bool point = memchr(text, '.', n), exponent = n > 1 && strpbrk(text + 1, "eEdDqQ+-");
    int shift = (point ? 0 : -f->digits) - (exponent ? 0 : f->scale);
    if (!shift || f->letter == 'I' || how & NUMBER_SPECIAL) return true;
    if (!exponent) {
        int more = snprintf(text + n, sizeof text - n, "e%d", shift);
        return number_parse(text, text + n + more, v, &how) != NULL;
    }
    size_t mantissa = 1 + strcspn(text + 1, "eEdDqQ+-"); /* insert the implied decimal point */
    char pointed[WIDTH_MAX + 96];
    int digits = (int)mantissa - (text[0] == '+' || text[0] == '-'), sign = (int)mantissa - digits;
    int before = digits > f->digits ? digits - f->digits : 0;
    int m = snprintf(pointed, sizeof pointed, "%.*s%.*s.%.*d%.*s%s", sign, text, before, text + sign,
                     f->digits > digits ? f->digits - digits : 0, 0, digits - before, text + sign + before,
                     text + mantissa);
    return number_parse(pointed, pointed + m, v, &how) != NULL;
}

/* ---- the four header lines ---- */

static const char *unsigned_number(const char *p, const char *end, int *v)
{
    int64_t n = 0;
    const char *from = p;
    while (p < end && *p >= '0' && *p <= '9' && n < 100000) n = n * 10 + *p++ - '0';
    *v = p == from ? -1 : (int)n;
    return p;
}

/* Parse one Fortran format without blanks. */
static bool parse_fields(const char *p, const char *end, struct fields *f)
{
    int n;
    *f = (struct fields){.per_line = 1};
    bool minus = p < end && *p == '-';
    const char *after = unsigned_number(p + minus, end, &n);
    if (after < end && upper(*after) == 'P' && n >= 0 && n < 100) {
        f->scale = minus ? -n : n;
        p = after + 1;
        if (p < end && *p == ',') p++;
    }
    p = unsigned_number(p, end, &n);
    if (n >= 0) f->per_line = n;
    if (p < end) f->letter = upper(*p++);
    p = unsigned_number(p, end, &f->width);
    if (p < end && *p == '.') p = unsigned_number(p + 1, end, &f->digits);
    if (p < end && upper(*p) == 'E') p = unsigned_number(p + 1, end, &n);
    return p == end && f->letter && strchr("IEDFG", f->letter) && f->per_line > 0 && f->per_line <= 10000 &&
           f->width > 0 && f->width <= WIDTH_MAX && f->digits >= 0 && f->digits <= WIDTH_MAX;
}

/* Parse the next parenthesized format of the line, beginning at *p. */
static bool next_format(struct rb *r, const char **p, const char *needed, struct fields *f, struct err *e)
{
    char text[WIDTH_MAX];
    size_t n = 0;
    const char *open = memchr(*p, '(', (size_t)(r->line_end - *p));
    const char *close = open ? memchr(open, ')', (size_t)(r->line_end - open)) : NULL;
    for (const char *q = open; close && ++q < close && n < sizeof text;)
        if (!is_blank(*q)) text[n++] = *q;
    if (!close || !parse_fields(text, text + n, f)) return rb_bad(r, e, needed, *p, r->line_end);
    *p = close + 1;
    return true;
}

/* Read integers separated by blanks up to the end of the line. Returns their number, or -1 if there are more than
   `most` integers or any other text. */
static int integers(const char *p, const char *end, int64_t *v, int most)
{
    int n = 0;
    while (p < end) {
        while (p < end && is_blank(*p)) p++;
        const char *from = p;
        while (p < end && !is_blank(*p)) p++;
        if (p == from) break;
        if (n == most || read_integer(from, (size_t)(p - from), &v[n])) return -1;
        n++;
    }
    return n;
}

static bool known_type(const char *p)
{
    return strchr("RCPIQ", upper(p[0])) && strchr("SUHZR", upper(p[1])) && strchr("AE", upper(p[2]));
}

static bool recognises(const char *begin, int64_t n)
{
    int64_t v[HEAD_NUMBERS];
    const char *end = begin + n, *second = next_line(line_end(begin, end), end), *stop = line_end(second, end);
    const char *third = next_line(stop, end), *last = line_end(third, end);
    if (last == end || last - third < 14 || memchr(begin, 0, (size_t)n) || integers(second, stop, v, HEAD_NUMBERS) < 4)
        return false;
    return third[0] && third[1] && third[2] && known_type(third) && integers(third + 3, last, v, HEAD_NUMBERS) >= 3;
}

static bool read_head(struct rb *r, struct err *e)
{
    if (!next_text_line(r, "a title", e) || !next_text_line(r, "counts of lines", e)) return false;
    int counts = integers(r->line, r->line_end, r->lines_of, HEAD_NUMBERS);
    if (counts < 4) return rb_bad(r, e, "4 or 5 counts of lines", r->line, r->line_end);
    if (!next_text_line(r, "type and sizes", e)) return false;
    if (r->line_end - r->line < 14 || !known_type(r->line))
        return rb_bad(r, e, "a type such as RUA, and sizes", r->line, r->line_end);
    for (int i = 0; i < 3; i++) r->type[i] = upper(r->line[i]);
    if (integers(r->line + 3, r->line_end, r->size, HEAD_NUMBERS) < 3)
        return rb_bad(r, e, "rows, columns and entries", r->line, r->line_end);
    if (r->type[0] == 'Q' || r->type[2] == 'E')
        return rb_bad(r, e, "an assembled matrix of real, complex, integer or no values", r->line, r->line + 3);
    if (!next_text_line(r, "the formats of the numbers", e)) return false;
    const char *p = r->line;
    if (!next_format(r, &p, "the format of the pointers, such as (26I3)", &r->ptr, e) ||
        !next_format(r, &p, "the format of the indices, such as (26I3)", &r->idx, e))
        return false;
    if (r->type[0] != 'P' && !next_format(r, &p, "the format of the values, such as (5E16.8)", &r->val, e))
        return false;
    bool right_hand_sides = counts == 5 && r->lines_of[4] > 0;
    return !right_hand_sides || next_text_line(r, "the line on right-hand sides", e);
}

/* ---- the arrays ---- */

/* Refuse a size for which the rest of an uncompressed file is too short: each number has at least one digit. */
static bool enough_bytes(struct rb *r, struct err *e)
{
    int64_t left = lines_left(&r->lines), n = r->size[2];
    if (left == INT64_MAX) return true;
    left += r->end - r->p;
    int64_t need = r->size[1] + 1 + n * (r->type[0] == 'P' ? 1 : r->type[0] == 'C' ? 3 : 2);
    return need <= left ||
           file_bad(r->s, e,
                    "%lld pointers, indices and values do not fit in the remaining %lld bytes; the file is truncated",
                    (long long)need, (long long)left);
}

static bool tick(struct rb *r, int64_t k, struct err *e)
{
    int64_t done, total;
    if (k % TICK_EVERY) return true;
    stream_progress(r->s->stream, &done, &total);
    return watch_tick(r->watch, "reading", done, total, e);
}

/* Read n integers and convert them from 1-based to 0-based. */
static bool read_integers(struct rb *r, const struct fields *f, const char *what, int64_t n, int *to, struct err *e)
{
    r->field = f->per_line;
    r->left = n;
    for (int64_t k = 0; k < n; k++) {
        int64_t v;
        if (!tick(r, k, e) || !next_integer(r, f, what, &v, e)) return false;
        if (v < 1 || v > INT32_MAX) return rb_bad(r, e, what, r->line, r->line_end);
        to[k] = (int)(v - 1);
    }
    return true;
}

static bool read_values(struct rb *r, struct csr *C, struct err *e)
{
    r->field = r->val.per_line;
    r->left = C->nnz * (C->imag ? 2 : 1);
    for (int64_t k = 0; k < C->nnz; k++) {
        if (!tick(r, k, e)) return false;
        C->val[k] = 1;
        if (r->type[0] == 'P') continue;
        if (!next_real(r, &r->val, &C->val[k], e) || (C->imag && !next_real(r, &r->val, &C->imag[k], e))) return false;
    }
    return true;
}

static bool read_arrays(struct rb *r, struct csr *C, struct err *e)
{
    return file_sizes(r->s, r->size[0], r->size[1], r->size[2], e) && enough_bytes(r, e) &&
           csr_new(C, r->size[1], r->size[0], r->size[2], r->type[0] == 'C', e) &&
           read_integers(r, &r->ptr, "a column pointer", C->rows + 1, C->rowptr, e) &&
           read_integers(r, &r->idx, "a row index", C->nnz, C->col, e) && read_values(r, C, e) &&
           (C->rowptr[C->rows] == C->nnz || file_bad(r->s, e, "the column pointers end with %lld instead of %lld",
                                                     (long long)C->rowptr[C->rows] + 1, (long long)C->nnz + 1));
}

static enum mirrored mirrored_of(char symmetry)
{
    return symmetry == 'S'   ? MIRROR_SYMMETRIC
           : symmetry == 'Z' ? MIRROR_SKEW
           : symmetry == 'H' ? MIRROR_HERMITIAN
                             : MIRROR_NOT;
}

static const char *field_of(char type)
{
    return type == 'C' ? "complex" : type == 'I' ? "integer" : type == 'P' ? "pattern" : "real";
}

static bool load(struct source *s, struct watch *w, struct csr *A, struct load_info *info, struct err *e)
{
    struct csr C = {0};
    struct rb r = {.s = s, .watch = w, .lines = {.stream = s->stream, .block = RB_BLOCK, .streamed = s->n}};
    bool ok = lines_back(&r.lines, s->begin, s->n, e) && read_head(&r, e) && read_arrays(&r, &C, e);
    lines_free(&r.lines);
    text_free(&r.text);
    if (!ok) {
        csr_free(&C);
        return false;
    }
    snprintf(info->field, sizeof info->field, "%s", field_of(r.type[0]));
    return file_finish(s, &C, true, mirrored_of(r.type[1]), w, A, info, e);
}

const struct file_kind file_rb = {
    .name = "Rutherford-Boeing",
    .endings = ".rb .rsa .rua .psa .pua .hb",
    .about = "Rutherford-Boeing and Harwell-Boeing text",
    .packed = true,
    .recognises = recognises,
    .load = load,
};
