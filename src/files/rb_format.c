/* Fortran's formats, such as (1X,8I9) or (3(1P,E24.16)), and its rules for reading a number. */
#include "base/number.h"
#include "rb.h"

#include <stdio.h>
#include <string.h>

enum { REPEAT_MAX = 10000, DEPTH_MAX = 4, SCALE_MAX = 100, EXPONENT_MAX = 100000 };

/* ---- formats ---- */

struct parser {
    struct format *f;
    const char *p, *end;
    int skip;  /* columns to skip before the next field */
    int scale; /* the last kP */
    int depth;
};

static bool at(const struct parser *s, char c)
{
    return s->p < s->end && rb_upper(*s->p) == c;
}

static bool accept(struct parser *s, char c)
{
    bool found = at(s, c);
    s->p += found;
    return found;
}

/* Read digits; returns `missing` if there are none. */
static int digits(struct parser *s, int missing)
{
    const char *from = s->p;
    int64_t n = 0;
    for (; s->p < s->end && *s->p >= '0' && *s->p <= '9' && n < EXPONENT_MAX; s->p++) n = n * 10 + *s->p - '0';
    return s->p == from ? missing : (int)n;
}

/* Read what follows the repeat count of a field: its letter, width and digits, e.g. ES24.16E3. */
static bool parse_field(struct parser *s, int repeat)
{
    struct edit d = {.repeat = repeat, .skip = s->skip, .scale = s->scale};
    if (s->p == s->end || s->f->n == EDITS_MAX) return false;
    d.letter = rb_upper(*s->p++);
    if (d.letter == 'E' && (at(s, 'S') || at(s, 'N'))) s->p++; /* to a reader, ES and EN are the same as E */
    d.width = digits(s, 0);
    if (accept(s, '.')) d.digits = digits(s, -1);
    if (accept(s, 'E')) digits(s, 0);
    s->skip = 0;
    s->f->edit[s->f->n++] = d;
    return strchr("IEDFGQ", d.letter) && d.width > 0 && d.width <= WIDTH_MAX && d.digits >= 0 && d.digits <= WIDTH_MAX;
}

static bool parse_list(struct parser *s);

/* Read a group whose left parenthesis was read, `repeat` times. */
static bool parse_group(struct parser *s, int repeat)
{
    const char *begin = s->p;
    int first = s->f->n, before = s->skip;
    if (++s->depth > DEPTH_MAX) return false;
    for (int i = 0; i < repeat; i++) {
        s->p = begin;
        if (!parse_list(s) || !accept(s, ')')) return false;
    }
    if (--s->depth == 0) s->f->again = first, s->f->before = before;
    return s->f->n > first;
}

static bool parse_item(struct parser *s)
{
    bool minus = accept(s, '-');
    int n = digits(s, 1);
    if (accept(s, 'P')) {
        s->scale = minus ? -n : n;
        bool ends = s->p == s->end || at(s, ',') || at(s, ')');
        return n < SCALE_MAX && (ends || parse_item(s)); /* 1P5E16.8: the comma may be left out */
    }
    if (minus || n < 1 || n > REPEAT_MAX) return false;
    if (accept(s, 'X')) {
        s->skip += n;
        return s->skip <= REPEAT_MAX;
    }
    return accept(s, '(') ? parse_group(s, n) : parse_field(s, n);
}

static bool parse_list(struct parser *s)
{
    do
        if (!parse_item(s)) return false;
    while (accept(s, ','));
    return true;
}

bool format_parse(struct format *f, const char *p, const char *end)
{
    struct parser s = {.f = f, .p = p, .end = end};
    f->n = f->again = f->before = 0;
    return parse_list(&s) && s.p == end && f->n > 0;
}

int64_t format_fields(const struct format *f, int from)
{
    int64_t n = 0;
    for (int i = from; i < f->n; i++) n += f->edit[i].repeat;
    return n;
}

/* ---- numbers ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Read the exponent [p, end). Larger ones than EXPONENT_MAX give 0 or inf anyway. */
static bool exponent_value(const char *p, const char *end, int64_t *v)
{
    if (p < end && strchr("EDQ", rb_upper(*p))) p++;
    bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    const char *first = p;
    *v = 0;
    for (; p < end && is_digit(*p); p++)
        if (*v < EXPONENT_MAX) *v = 10 * *v + *p - '0';
    if (minus) *v = -*v;
    return p == end && p > first;
}

bool edit_value(const struct edit *d, const char *s, size_t n, double *v)
{
    char text[WIDTH_MAX + 32];
    unsigned how;
    const char *end = s + n, *p = s + (n > 0 && (*s == '-' || *s == '+'));
    if (p < end && strchr("IN", rb_upper(*p))) return number_parse(s, end, v, &how) == end; /* inf and nan */
    int points = 0, found = 0;
    for (; p < end && (is_digit(*p) || *p == '.'); p++) *p == '.' ? points++ : found++;
    int64_t power = 0, shift = points || d->letter == 'I' ? 0 : -d->digits;
    if (points > 1 || !found || (p < end && !exponent_value(p, end, &power))) return false;
    if (p == end && d->letter != 'I') shift -= d->scale;
    if (!shift && number_parse(s, end, v, &how) == end) return true;
    int m = snprintf(text, sizeof text, "%.*se%lld", (int)(p - s), s, (long long)(power + shift));
    return number_parse(text, text + m, v, &how) == text + m;
}
