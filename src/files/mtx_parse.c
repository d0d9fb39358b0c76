/* Parse the lines of a block of a Matrix Market file into entries: plain lines in a fast loop, all other lines step by
   step. */
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"
#include "mtx.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The state of one thread that parses one block. */
struct parser {
    const struct head *h;
    struct block *k;
    struct entries *to;
    const char *p;   /* the next byte */
    const char *end; /* the end of the text; a line end follows it */
    struct err why;
};

static void remark(struct parser *s, enum note kind)
{
    note(&s->k->notes, kind, s->k->lines);
}

/* Fail with the reason why the index at s->p is invalid. */
static bool refuse_index(struct parser *s, const char *what, int64_t most)
{
    char quote[QUOTE];
    const char *end = skip_token(s->p);
    int64_t v = 0;
    if (ends_numbers(*s->p)) return fail(&s->why, E_INPUT, "the line ends before its %s index", what);
    enum integer_fault fault = read_integer(s->p, (size_t)(end - s->p), &v);
    quoted(s->p, end, quote);
    if (fault)
        return fail(&s->why, fault == FAULT_TOO_LARGE ? E_LIMIT : E_INPUT, "the %s index is %s: \"%s\"%s", what,
                    integer_fault_text[fault], quote, comment_advice(s->p, end));
    int64_t first = first_index(s->h);
    const char *hint = v || !first  ? ""
                       : s->h->list ? "; if indices start at 0, load the file with `from 0`"
                                    : "; indices start at 1, but this file seems to be 0-based: add 1 to each index";
    return fail(&s->why, E_INPUT, "%s %lld is outside %lld .. %lld%s", what, (long long)v, (long long)first,
                (long long)(most - 1 + first), hint);
}

/* Read an index that is written like a real number, as NumPy's savetxt and MATLAB's save -ascii do. */
static bool take_real_index(struct parser *s, int64_t most, int64_t *index)
{
    double v = 0;
    unsigned how;
    const char *after = number_parse(s->p, skip_token(s->p), &v, &how);
    v -= (double)first_index(s->h);
    if (!after || !ends_token(*after) || !(v >= 0 && v < (double)most) || v != floor(v)) return false;
    s->p = after;
    *index = (int64_t)v;
    return true;
}

/* Read an index in 1 .. most, or in 0 .. most - 1; *index is 0-based. */
static inline bool take_index(struct parser *s, const char *what, int64_t most, int64_t *index)
{
    const uint64_t enough = (uint64_t)1 << 40; /* beyond any index, so further digits may be ignored */
    uint64_t v = 0, digit;
    s->p = skip_blanks(s->p);
    const char *p = s->p + (*s->p == '+'), *digits = p;
    for (; (digit = (uint64_t)*p - '0') < 10; p++)
        if (v < enough) v = v * 10 + digit;
    v -= (uint64_t)first_index(s->h);
    if (v >= (uint64_t)most || p == digits || !ends_token(*p))
        return (s->h->list && take_real_index(s, most, index)) || refuse_index(s, what, most);
    s->p = p;
    *index = (int64_t)v;
    return true;
}

static bool refuse_value(struct parser *s)
{
    char quote[QUOTE];
    const char *end = skip_token(s->p);
    bool complex_values = s->h->field == COMPLEX;
    if (ends_numbers(*s->p))
        return fail(&s->why, E_INPUT, "the line ends before its %s; %s",
                    complex_values ? "real and imaginary values" : "value",
                    s->h->list ? "all lines of a list must have as many numbers as the first"
                               : "if the file has no values, its field must be pattern");
    return fail(&s->why, E_INPUT, "\"%s\" is not a decimal number%s", quoted(s->p, end, quote),
                comment_advice(s->p, end));
}

/* Does the text consist of digits, after an optional sign? */
static bool only_digits(const char *p, const char *end)
{
    p += *p == '-' || *p == '+';
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p == end;
}

/* Does the number have a digit other than 0 before its exponent? */
static bool has_digits(const char *p, const char *end)
{
    while (p < end && (*p == '-' || *p == '+' || *p == '.' || *p == '0')) p++;
    return p < end && *p >= '1' && *p <= '9';
}

/* Is the text the integer v, apart from a plus sign and leading zeros? The text consists of digits, after an optional
   sign. */
static bool is_exact(const char *p, const char *end, double v)
{
    char exact[400];
    int n = snprintf(exact, sizeof exact, "%.0f", fabs(v));
    while (p < end && (*p == '-' || *p == '+' || *p == '0')) p++;
    return end - p == n && !memcmp(p, exact, (size_t)n);
}

/* Count the notes about the value v, whose text is [s->p, after). */
static void remark_value(struct parser *s, const char *after, double v, unsigned how)
{
    if (how & NUMBER_FORTRAN) remark(s, NOTE_FORTRAN);
    if (how & NUMBER_SPECIAL) remark(s, NOTE_SPECIAL);
    if (how & NUMBER_OVERFLOW) remark(s, NOTE_OVERFLOW);
    if (v == 0 && has_digits(s->p, after)) remark(s, NOTE_UNDERFLOW);
    if (s->h->field == INTEGER && fabs(v) >= 0x1p53 && isfinite(v) && only_digits(s->p, after) &&
        !is_exact(s->p, after, v))
        remark(s, NOTE_ROUNDED);
    if (s->h->field == INTEGER && isfinite(v) && !only_digits(s->p, after))
        remark(s, v == nearbyint(v) ? NOTE_AS_REAL : NOTE_FRACTION);
    if (s->h->is_unsigned && v < 0) remark(s, NOTE_NEGATIVE);
}

static inline bool take_value(struct parser *s, double *v)
{
    unsigned how;
    s->p = skip_blanks(s->p);
    const char *after = number_parse(s->p, s->end, v, &how);
    if (!after || !ends_token(*after)) return refuse_value(s);
    if (how || s->h->field == INTEGER || *v == 0) remark_value(s, after, *v, how);
    s->p = after;
    return true;
}

static bool refuse_more(struct parser *s)
{
    char quote[QUOTE];
    static const char *const hint[] = {
        [REAL] = "; if lines have two values, the field must be complex",
        [INTEGER] = "; if lines have two values, the field must be complex",
        [PATTERN] = "; if lines have values, the field must be real, integer or complex",
        [COMPLEX] = "",
    };
    const struct head *h = s->h;
    return fail(&s->why, E_INPUT, "the line goes on after %s with \"%s\"%s",
                how_many(h->indices + h->values, "number").text, quoted(s->p, skip_token(s->p), quote),
                h->list ? "; all lines of a list must have as many numbers as the first" : hint[h->field]);
}

/* Move to the next line; only blanks and a comment may precede the end of the current line. */
static inline bool take_end(struct parser *s)
{
    s->p = skip_blanks(s->p);
    if (*s->p == '%') {
        remark(s, NOTE_COMMENT);
        s->p = line_end(s->p, s->end);
    }
    if (!is_eol(*s->p)) return refuse_more(s);
    s->p = next_line(s->p, s->end);
    return true;
}

/* Check an entry of a file with a symmetry: count the entry in its triangle, and check the value of a diagonal
   entry. */
static bool take_side(struct parser *s, int64_t row, int64_t col, double re, double im)
{
    if (row > col) s->k->lower++;
    if (row < col) {
        s->k->upper++;
        remark(s, NOTE_UPPER);
    }
    if (row != col) return true;
    if (s->h->symmetry == SKEW) {
        if (!(re == 0 && im == 0))
            return fail(&s->why, E_INPUT, "the diagonal of a skew-symmetric matrix must be 0, but this value is not");
        remark(s, NOTE_DIAGONAL);
    }
    return s->h->symmetry != HERMITIAN || im == 0 ||
           fail(&s->why, E_INPUT,
                "the diagonal of a hermitian matrix must be real, but this value has an imaginary part");
}

static bool take_entry(struct parser *s)
{
    const struct head *h = s->h;
    const struct entries *to = s->to;
    int64_t row = 0, col = 0, n = s->k->n;
    double re = 1, im = 0;
    if (h->indices > 0 && !take_index(s, "row", h->rows, &row)) return false;
    if (h->indices > 1 && !take_index(s, "column", h->cols, &col)) return false;
    if (h->values > 0 && !take_value(s, &re)) return false;
    if (h->values > 1 && !take_value(s, &im)) return false;
    if (!take_end(s)) return false;
    if (!h->array && h->symmetry != GENERAL && !take_side(s, row, col, re, im)) return false;
    if (to->row) to->row[n] = (int)row;
    if (to->col) to->col[n] = (int)col;
    if (to->val) to->val[n] = re;
    if (to->imag) to->imag[n] = im;
    s->k->n++;
    return true;
}

/* ---- plain lines, which need no note: nearly all lines of nearly all files ---- */

/* Read an index in first .. most - 1 + first, followed by a blank or a line end; *index is 0-based. Returns the end of
   the index, or NULL if the text does not have this form. */
static inline const char *plain_index(const char *p, uint64_t first, int64_t most, int *index)
{
    uint64_t v;
    int n = digits_read(p, &v);
    *index = (int)(v - first);
    p += n;
    return v - first < (uint64_t)most && (unsigned)(n - 1) < 16 && (is_blank(*p) || is_eol(*p)) ? p : NULL;
}

/* If the line ends here, the start of the next line; otherwise NULL. */
static inline const char *plain_end(const char *p)
{
    if (*p == '\r') p++;
    return *p == '\n' ? p + 1 : NULL;
}

/* Does the entry need no further check? This is the case in the lower triangle, and on the diagonal of a symmetric
   matrix, where any value is allowed. */
static inline bool plain_side(enum symmetry symmetry, int row, int col)
{
    return row > col || (row == col && symmetry == SYMMETRIC);
}

/* Read a value. In an integer file, the value must be an integer below 2^53 without a point or exponent, and without a
   minus if it is unsigned. A nonzero number must not have become 0. */
static inline const char *plain_value(const char *p, bool integer, bool is_unsigned, double *v)
{
    uint64_t digits;
    if (is_unsigned && *p == '-') return NULL;
    const char *after = number_plain(p, v), *first = p + (*p == '-');
    if (after && *v == 0 && has_digits(p, after)) return NULL;
    return !integer || !after || (first + digits_read(first, &digits) == after && digits < (uint64_t)1 << 53) ? after
                                                                                                              : NULL;
}

/* Parse lines from s->p up to the first line that is not plain. The function is inlined with constant numbers of
   indices and values per line, so that each kind of line has its own loop. */
static inline __attribute__((always_inline)) void plain_lines(struct parser *s, int indices, int values)
{
    const struct head h = *s->h;
    const struct entries to = *s->to;
    bool general = h.array || h.symmetry == GENERAL, integer = h.field == INTEGER;
    int64_t n = s->k->n, n0 = n, lower = 0;
    uint64_t first = (uint64_t)first_index(&h);
    int index[2] = {0};
    double v[2] = {0};
    for (const char *p = s->p; p < s->end; s->p = p, n++) {
        for (int i = 0; p && i < indices; i++) p = plain_index(skip_blanks(p), first, i ? h.cols : h.rows, &index[i]);
        for (int i = 0; p && i < values; i++) p = plain_value(skip_blanks(p), integer, h.is_unsigned, &v[i]);
        if (!p || !(p = plain_end(p))) break;
        if (!general && !plain_side(h.symmetry, index[0], index[1])) break;
        if (indices) to.row[n] = index[0], to.col[n] = index[1];
        if (values > 0) to.val[n] = v[0];
        if (values > 1) to.imag[n] = v[1];
        lower += index[0] > index[1];
    }
    s->k->n = n;
    s->k->lines += n - n0;
    if (!general) s->k->lower += lower;
}

static void take_plain(struct parser *s)
{
    int indices = s->h->indices, values = s->h->values;
    if (indices == 2 && values == 1)
        plain_lines(s, 2, 1);
    else if (indices == 2 && values == 0)
        plain_lines(s, 2, 0);
    else
        plain_lines(s, indices, values);
}

/* ---- all lines ---- */

/* Skip a blank line or a comment. */
static bool take_gap(struct parser *s)
{
    struct block *k = s->k;
    struct gap *last = k->ngaps ? &k->gap[k->ngaps - 1] : NULL;
    int64_t lines = 1;
    if (*s->p == '%') remark(s, NOTE_COMMENT);
    s->p = next_line(line_end(s->p, s->end), s->end);
    for (; s->p < s->end && is_eol(*s->p); lines++) s->p = next_line(s->p, s->end);
    k->lines += lines - 1;
    if (last && last->at == k->n) {
        last->lines += lines;
        return true;
    }
    if ((k->ngaps & (k->ngaps - 1)) == 0) { /* the array is full when ngaps is 0 or a power of two */
        struct gap *more =
            mem_resize(k->gap, k->ngaps ? 2 * k->ngaps : 1, sizeof *more, "lines without entries", &s->why);
        if (!more) return false;
        k->gap = more;
    }
    k->gap[k->ngaps++] = (struct gap){k->n, lines};
    return true;
}

static bool take_lines(struct parser *s)
{
    for (take_plain(s); s->p < s->end; take_plain(s)) {
        s->k->lines++;
        s->p = skip_blanks(s->p);
        if (!(is_eol(*s->p) || *s->p == '%' ? take_gap(s) : take_entry(s))) return false;
    }
    return true;
}

bool lines_parse(struct block *k, const struct head *h, const struct text *t, struct entries *to, struct err *e)
{
    struct parser s = {.h = h, .k = k, .to = to, .p = t->s, .end = t->s + t->n};
    return take_lines(&s) || fail(e, s.why.code, "%s", s.why.text);
}
