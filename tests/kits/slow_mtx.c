/* Read Matrix Market text in the plainest way: line by line, word by word, into a list of entries that is sorted and
   summed. */
#include <stdio.h>

#include "base/err.h"
#include "matrix/csr.h"
#include "slow_mtx.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 5, SIZES = 3 };

struct word {
    const char *s;
    size_t n;
};
struct reader {
    struct slow_mtx *m;
    const char *p, *end;  /* the unread text */
    const char *s, *stop; /* the current line */
    int64_t line;         /* number of the current line, counted from 1 */
    bool plain;
    int64_t left_out; /* the number of bytes at the end of the file that are ignored */
    bool array, vector, pattern;
    char symmetry; /* 'g' general, 's' symmetric, 'k' skew, 'h' hermitian */
    int64_t size_line, declared;
    int indices, values; /* per line */
    int64_t row, col;    /* position of the next value of an array */
    int64_t n, room;
    struct slow_entry *list; /* the n entries, in the order of the file */
    int64_t upper, lower;
};

static void *more(void *p, size_t bytes)
{
    p = realloc(p, bytes ? bytes : 1);
    if (!p) abort();
    return p;
}

static bool refuse(struct reader *r, int64_t line, const char *why)
{
    r->m->refused = line;
    r->m->why = why;
    return false;
}

/* ---- lines, words, numbers ---- */

static bool next_line(struct reader *r)
{
    if (r->p == r->end) return false;
    r->line++;
    r->s = r->p;
    while (r->p < r->end && *r->p != '\n' && *r->p != '\r') r->p++;
    r->stop = r->p;
    if (r->end - r->p >= 2 && r->p[0] == '\r' && r->p[1] == '\n') r->p++;
    if (r->p < r->end) r->p++;
    return true;
}

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Split the text before a comment into words, and store the first few words in w. Returns the number of words. */
static int words_of(const char *s, const char *end, struct word *w)
{
    for (int n = 0;; n++) {
        while (s < end && blank(*s)) s++;
        if (s == end || *s == '%') return n;
        const char *from = s;
        while (s < end && !blank(*s)) s++;
        if (n < WORDS) w[n] = (struct word){from, (size_t)(s - from)};
    }
}

static bool is(struct word w, const char *name)
{
    if (w.n != strlen(name)) return false;
    for (size_t i = 0; i < w.n; i++)
        if ((w.s[i] >= 'A' && w.s[i] <= 'Z' ? w.s[i] + 32 : w.s[i]) != name[i]) return false;
    return true;
}

static size_t digits(const char *p, const char *end)
{
    const char *from = p;
    while (p < end && *p >= '0' && *p <= '9') p++;
    return (size_t)(p - from);
}

/* Parse an integer; an integer that is too large becomes the largest possible value. */
static bool integer(struct word w, int64_t *v)
{
    const char *p = w.s, *end = w.s + w.n;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p == end || digits(p, end) != (size_t)(end - p)) return false;
    for (*v = 0; p < end; p++)
        if (*v <= INT64_MAX / 100) *v = *v * 10 + (*p - '0');
    if (minus) *v = -*v;
    return true;
}

static bool special(struct word w, double *v)
{
    if (is(w, "inf") || is(w, "infinity")) return *v = INFINITY, true;
    if (is(w, "nan")) return *v = NAN, true;
    if (w.n < 5 || !is((struct word){w.s, 4}, "nan(") || w.s[w.n - 1] != ')') return false;
    for (const char *p = w.s + 4; p < w.s + w.n - 1; p++)
        if (!is((struct word){p, 1}, "_") && !digits(p, p + 1) && !((*p | 32) >= 'a' && (*p | 32) <= 'z')) return false;
    return *v = NAN, true;
}

/* Convert an exponent in any of the three notations to the notation of C; returns 0 if the text from p to the end of
   the word is not an exponent. point: the digits before the exponent hold a decimal point. */
static size_t exponent(const char *p, const char *end, bool point, char *to)
{
    bool letter = p < end && (*p == 'e' || *p == 'E' || *p == 'd' || *p == 'D');
    const char *q = p + letter;
    bool sign = q < end && (*q == '+' || *q == '-');
    size_t n = digits(q + sign, end);
    if (!n || q + sign + n != end || (!letter && !(sign && (n == 3 || (point && n < 3))))) return 0;
    *to = 'e';
    memcpy(to + 1, q, (size_t)(end - q));
    return 1 + (size_t)(end - q);
}

static double rounded(const char *text)
{
    static locale_t c;
    if (!c) c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return strtod_l(text, NULL, c);
}

static bool number(struct word w, double *v)
{
    const char *p = w.s, *end = w.s + w.n;
    bool minus = p < end && *p == '-', found = false;
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *whole = p;
    p += digits(p, end);
    size_t n = (size_t)(p - whole);
    bool point = p < end && *p == '.';
    if (point) {
        size_t behind = digits(p + 1, end);
        p += 1 + behind;
        n += behind;
    }
    char *text = more(NULL, w.n + 3), *to = text + (p - whole);
    memcpy(text, whole, (size_t)(p - whole));
    if (n) {
        size_t tail = p < end ? exponent(p, end, point, to) : 0;
        found = p == end || tail;
        to[tail] = 0;
        *v = rounded(text);
    } else
        found = special((struct word){whole, (size_t)(end - whole)}, v);
    if (minus) *v = -*v;
    free(text);
    return found;
}

/* ---- banner and size ---- */

/* Is the file in Harwell-Boeing format? Such a file is not a Matrix Market file, and its first line is reported as the
   faulty line. */
static bool harwell_boeing(const char *text, const char *end)
{
    struct reader r = {.p = text, .end = end};
    struct word w[WORDS];
    if (!next_line(&r) || !next_line(&r) || !words_of(r.s, r.stop, w) || !digits(w[0].s, r.stop)) return false;
    if (end - r.p <= 14 || memchr(r.p, 0, 3)) return false;
    return strchr("RCPI", r.p[0]) && strchr("SUHZR", r.p[1]) && strchr("AE", r.p[2]) &&
           !memcmp(r.p + 3, "           ", 11);
}

static bool banner_words(struct reader *r, const char *p)
{
    struct word w[WORDS];
    if (words_of(p, r->stop, w) < 4) return refuse(r, r->line, "banner");
    r->vector = is(w[0], "vector");
    r->array = is(w[1], "array");
    r->pattern = is(w[2], "pattern");
    r->m->complex_values = is(w[2], "complex");
    bool real = is(w[2], "real") || is(w[2], "double") || is(w[2], "integer") || is(w[2], "unsigned-integer");
    r->symmetry = is(w[3], "general")          ? 'g'
                  : is(w[3], "symmetric")      ? 's'
                  : is(w[3], "skew-symmetric") ? 'k'
                  : is(w[3], "hermitian")      ? 'h'
                                               : 0;
    if ((!r->vector && !is(w[0], "matrix")) || (!r->array && !is(w[1], "coordinate")) ||
        (!r->pattern && !r->m->complex_values && !real) || !r->symmetry)
        return refuse(r, r->line, "word");
    if ((r->array && r->pattern) || (r->pattern && strchr("kh", r->symmetry)) || (r->vector && r->symmetry != 'g'))
        return refuse(r, r->line, "combination");
    if (r->symmetry == 'h' && !r->m->complex_values) r->symmetry = 's';
    return true;
}

static bool banner(struct reader *r)
{
    const char *text = r->p;
    while (next_line(r)) {
        const char *p = r->s;
        if (r->line == 1 && r->stop - p >= 3 && !memcmp(p, "\xef\xbb\xbf", 3)) p += 3;
        while (p < r->stop && blank(*p)) p++;
        if (p == r->stop) continue;
        const char *from = p;
        while (p < r->stop && !blank(*p)) p++;
        struct word key = {from, (size_t)(p - from)};
        if (is(key, "%%matrixmarket") || is(key, "%matrixmarket")) return banner_words(r, p);
        return refuse(r, *from != '%' && harwell_boeing(text, r->end) ? 1 : r->line, "keyword");
    }
    return refuse(r, r->line ? r->line : 1, "empty");
}

/* The number of values in an array of this symmetry. */
static int64_t array_values(const struct reader *r)
{
    int64_t n = r->m->rows;
    if (r->symmetry == 'g') return n * r->m->cols;
    return r->symmetry == 'k' ? n * (n - 1) / 2 : n * (n + 1) / 2;
}

static bool size_line(struct reader *r, const struct word *w, int n)
{
    int64_t size[SIZES] = {0};
    int full = r->array ? 2 : 3;
    bool short_vector = r->vector && n == full - 1;
    r->size_line = r->line;
    if (n != full && !short_vector) return refuse(r, r->line, "sizes");
    for (int i = 0; i < n; i++)
        if (!integer(w[i], &size[i]) || size[i] < 0 || size[i] > INT32_MAX) return refuse(r, r->line, "size");
    r->m->rows = size[0];
    r->m->cols = short_vector ? 1 : size[1];
    r->indices = r->array ? 0 : short_vector ? 1 : 2;
    r->values = r->pattern ? 0 : r->m->complex_values ? 2 : 1;
    r->row = r->symmetry == 'k'; /* the first value of a skew-symmetric array is below the diagonal */
    if (r->vector && r->m->cols != 1) return refuse(r, r->line, "vector");
    if (r->symmetry != 'g' && r->m->rows != r->m->cols) return refuse(r, r->line, "not square");
    r->declared = r->array ? array_values(r) : size[n - 1];
    if (r->declared > INT32_MAX) return refuse(r, r->line, "too many");
    /* A file that is too short for all values is still read if it is long enough for one line per entry, because the
       fault may be one line in which a number is missing. */
    int64_t rest = r->end - r->p + r->left_out, least = rest <= 65536 ? 1 : r->indices + r->values;
    if (r->plain && r->declared * 2 * least > rest + 1) return refuse(r, r->line, "no room");
    return true;
}

static bool sizes(struct reader *r)
{
    struct word w[WORDS];
    while (next_line(r)) {
        int n = words_of(r->s, r->stop, w);
        if (n) return size_line(r, w, n);
    }
    return refuse(r, r->line, "no size");
}

/* ---- entries ---- */

static bool mirror_is_there(const struct reader *r, int64_t row, int64_t col)
{
    for (int64_t k = 0; k < r->n; k++)
        if (r->list[k].row == col && r->list[k].col == row) return true;
    return false;
}

/* Refuse entries that contradict the symmetry that the file declares. */
static bool fits_symmetry(struct reader *r, const struct slow_entry *x)
{
    if (x->row == x->col) {
        if (r->symmetry == 'k' && !(x->re == 0 && x->im == 0)) return refuse(r, r->line, "skew diagonal");
        if (r->symmetry == 'h' && !(x->im == 0)) return refuse(r, r->line, "hermitian diagonal");
        return true;
    }
    if (r->array || r->symmetry == 'g') return true;
    if (x->row < x->col ? r->lower && mirror_is_there(r, x->row, x->col)
                        : r->upper && mirror_is_there(r, x->row, x->col))
        return refuse(r, r->line, "both triangles");
    *(x->row < x->col ? &r->upper : &r->lower) += 1;
    return true;
}

static void to_next_value(struct reader *r)
{
    if (++r->row < r->m->rows) return;
    r->col++;
    r->row = r->symmetry == 'g' ? 0 : r->col + (r->symmetry == 'k');
}

static bool entry(struct reader *r, const struct word *w, int n)
{
    struct slow_entry x = {.row = r->row, .col = r->col, .order = r->n, .re = 1};
    if (n != r->indices + r->values) return refuse(r, r->line, "numbers");
    for (int i = 0; i < r->indices; i++) {
        int64_t v, most = i ? r->m->cols : r->m->rows;
        if (!integer(w[i], &v) || v < 1 || v > most) return refuse(r, r->line, "index");
        *(i ? &x.col : &x.row) = v - 1;
    }
    if (r->values > 0 && !number(w[r->indices], &x.re)) return refuse(r, r->line, "value");
    if (r->values > 1 && !number(w[r->indices + 1], &x.im)) return refuse(r, r->line, "value");
    if (r->n == r->declared) return refuse(r, r->line, "surplus");
    if (!fits_symmetry(r, &x)) return false;
    if (r->n == r->room) r->list = more(r->list, (size_t)(r->room = 2 * r->room + 1) * sizeof x);
    r->list[r->n++] = x;
    if (r->array) to_next_value(r);
    return true;
}

static bool entries(struct reader *r)
{
    struct word w[WORDS];
    while (next_line(r)) {
        int n = words_of(r->s, r->stop, w);
        if (n && !entry(r, w, n)) return false;
    }
    return r->n == r->declared || refuse(r, r->size_line, "fewer");
}

/* ---- the matrix ---- */

static int by_place(const void *a, const void *b)
{
    const struct slow_entry *p = a, *q = b;
    if (p->row != q->row) return p->row < q->row ? -1 : 1;
    if (p->col != q->col) return p->col < q->col ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

static void sum_duplicates(struct slow_mtx *m)
{
    int64_t to = 0;
    for (int64_t k = 0; k < m->n; k++) {
        struct slow_entry *x = &m->entry[k], *last = to ? &m->entry[to - 1] : NULL;
        if (last && last->row == x->row && last->col == x->col) {
            last->re += x->re;
            last->im += x->im;
        } else
            m->entry[to++] = *x;
    }
    m->n = to;
}

static void expand(struct reader *r)
{
    struct slow_mtx *m = r->m;
    m->entry = more(NULL, (size_t)(2 * r->n) * sizeof *m->entry);
    for (int64_t k = 0; k < r->n; k++) {
        struct slow_entry x = r->list[k];
        if (r->array && x.re == 0 && x.im == 0) continue;
        m->entry[m->n++] = x;
        if (r->symmetry == 'g' || x.row == x.col) continue;
        if (r->symmetry == 'k') x.re = -x.re;
        if (m->complex_values && strchr("kh", r->symmetry)) x.im = -x.im;
        m->entry[m->n++] = (struct slow_entry){x.col, x.row, x.order, x.re, x.im};
    }
    qsort(m->entry, (size_t)m->n, sizeof *m->entry, by_place);
    sum_duplicates(m);
}

void slow_read(const char *text, size_t n, bool plain, struct slow_mtx *m)
{
    struct reader r = {.m = m, .p = text, .end = text + n, .plain = plain};
    memset(m, 0, sizeof *m);
    /* DOS marked the end of text files with the byte 0x1a. */
    while (r.end > r.p && r.end[-1] == 0x1a) r.end--, r.left_out++;
    if (banner(&r) && sizes(&r) && entries(&r)) expand(&r);
    free(r.list);
}

void slow_free(struct slow_mtx *m)
{
    free(m->entry);
    memset(m, 0, sizeof *m);
}

/* ---- comparison ---- */

static bool same_value(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

static bool same_entry(const struct slow_entry *x, const struct csr *A, int64_t row, int64_t k)
{
    return x->row == row && x->col == A->col[k] && same_value(x->re, A->val[k]) &&
           same_value(x->im, A->imag ? A->imag[k] : 0);
}

static bool same_matrix(const struct slow_mtx *m, const struct csr *A, char *how, size_t room)
{
    if (m->rows != A->rows || m->cols != A->cols || m->n != A->nnz || m->complex_values != (A->imag != NULL)) {
        snprintf(how, room, "expected %lld x %lld with %lld entries, got %lld x %lld with %lld", (long long)m->rows,
                 (long long)m->cols, (long long)m->n, (long long)A->rows, (long long)A->cols, (long long)A->nnz);
        return false;
    }
    for (int64_t row = 0; row < A->rows; row++)
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++)
            if (!same_entry(&m->entry[k], A, row, k)) {
                const struct slow_entry *x = &m->entry[k];
                snprintf(how, room, "expected %lld %lld %.17g %.17g, got %lld %d %.17g", (long long)x->row + 1,
                         (long long)x->col + 1, x->re, x->im, (long long)row + 1, A->col[k] + 1, A->val[k]);
                return false;
            }
    return true;
}

bool slow_agrees(const struct slow_mtx *m, const struct csr *A, const struct err *e, char *how, size_t room)
{
    const char *colon = strrchr(e->where, ':');
    if (!e->code && !m->refused) return same_matrix(m, A, how, room);
    if (e->code && m->refused && colon && atoll(colon + 1) == m->refused) return true;
    snprintf(how, room, "expected %s of line %lld (%s), got \"%s: %s\"", m->refused ? "a refusal" : "a matrix instead",
             (long long)m->refused, m->why ? m->why : "", e->where, e->code ? e->text : "a matrix");
    return false;
}
