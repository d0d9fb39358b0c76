/* The entries of a Matrix Market file, parsed by all cores. Reading is one thread's turn at a time, since a copy is
   many times as fast as parsing; blocks of whole lines are parsed side by side and kept in the file's order. */
#include "mtx.h"
#include "number.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { MEMORY_EVERY = 64, MEMORY_LEAST = 1 << 28 };

/* One thread's work on one block. */
struct parser {
    const struct head *h;
    struct block *k;
    const char *p, *end; /* the next byte; the text's end, where a line end stands */
    struct err why;
};

static void remark(struct parser *s, enum note kind)
{
    note(&s->k->notes, kind, s->k->lines);
}

/* Why the index at s->p will not do; called only when it will not. */
static bool refuse_index(struct parser *s, const char *what, int64_t most)
{
    char quote[QUOTE];
    const char *end = skip_token(s->p);
    int64_t v = 0;
    if (end == s->p) return fail(&s->why, E_INPUT, "expected a %s index, found the end of the line", what);
    const char *why = read_integer(s->p, (size_t)(end - s->p), &v);
    quoted(s->p, end, quote);
    if (why)
        return fail(&s->why, strstr(why, "64 bits") ? E_LIMIT : E_INPUT, "expected a %s index, found %s: \"%s\"", what,
                    why, quote);
    return fail(&s->why, E_INPUT, "expected a %s index from 1 to %lld, found %lld%s", what, (long long)most,
                (long long)v, v ? "" : "; indices start at 1 and this file looks 0-based: add 1 to each");
}

/* An index of 1 .. most, given 0-based. */
static inline bool take_index(struct parser *s, const char *what, int64_t most, int64_t *index)
{
    const uint64_t enough = (uint64_t)1 << 40; /* beyond any index; digits that follow change nothing */
    uint64_t v = 0, digit;
    s->p = skip_blanks(s->p);
    const char *p = s->p + (*s->p == '+');
    for (; (digit = (uint64_t)*p - '0') < 10; p++)
        if (v < enough) v = v * 10 + digit;
    if (v - 1 >= (uint64_t)most || !ends_token(*p)) return refuse_index(s, what, most);
    s->p = p;
    *index = (int64_t)v - 1;
    return true;
}

static bool refuse_value(struct parser *s)
{
    char quote[QUOTE];
    const char *end = skip_token(s->p);
    bool complex_values = s->h->field == COMPLEX;
    if (end == s->p)
        return fail(&s->why, E_INPUT,
                    "expected %s value%s, found the end of the line; a file without values is pattern",
                    complex_values ? "a real and an imaginary" : "a", complex_values ? "s" : "");
    return fail(&s->why, E_INPUT, "expected a decimal number, found \"%s\"", quoted(s->p, end, quote));
}

static void remark_value(struct parser *s, double v, unsigned how)
{
    if (how & NUMBER_FORTRAN) remark(s, NOTE_FORTRAN);
    if (how & NUMBER_SPECIAL) remark(s, NOTE_SPECIAL);
    if (how & NUMBER_OVERFLOW) remark(s, NOTE_OVERFLOW);
    if (s->h->field == INTEGER && isfinite(v) && v != nearbyint(v)) remark(s, NOTE_FRACTION);
}

static inline bool take_value(struct parser *s, double *v)
{
    unsigned how;
    s->p = skip_blanks(s->p);
    const char *after = number_parse(s->p, s->end, v, &how);
    if (!after || !ends_token(*after)) return refuse_value(s);
    if (how || s->h->field == INTEGER) remark_value(s, *v, how);
    s->p = after;
    return true;
}

static bool refuse_rest(struct parser *s)
{
    char quote[QUOTE];
    static const char *const hint[] = {
        [REAL] = "; two values on a line make a complex file",
        [INTEGER] = "; two values on a line make a complex file",
        [PATTERN] = "; a file with values is real or integer",
        [COMPLEX] = "",
    };
    const struct head *h = s->h;
    return fail(&s->why, E_INPUT, "expected the line to end after %d number%s, found \"%s\"%s", h->indices + h->values,
                h->indices + h->values == 1 ? "" : "s", quoted(s->p, skip_token(s->p), quote), hint[h->field]);
}

/* Past the end of the line, where nothing but a comment may stand before it. */
static inline bool take_end(struct parser *s)
{
    s->p = skip_blanks(s->p);
    if (*s->p == '%') {
        remark(s, NOTE_COMMENT);
        s->p = line_end(s->p, s->end);
    }
    if (!is_eol(*s->p)) return refuse_rest(s);
    s->p = next_line(s->p, s->end);
    return true;
}

/* What a file with a symmetry may hold: one triangle, and a diagonal that the symmetry allows. */
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
            return fail(&s->why, E_INPUT,
                        "expected a zero on the diagonal of a skew-symmetric matrix, found another value");
        remark(s, NOTE_DIAGONAL);
    }
    return s->h->symmetry != HERMITIAN || im == 0 ||
           fail(&s->why, E_INPUT, "expected a real diagonal in a hermitian matrix, found an imaginary part");
}

static bool take_entry(struct parser *s)
{
    const struct head *h = s->h;
    struct block *k = s->k;
    int64_t row = 0, col = 0;
    double re = 1, im = 0;
    if (h->indices > 0 && !take_index(s, "row", h->rows, &row)) return false;
    if (h->indices > 1 && !take_index(s, "column", h->cols, &col)) return false;
    if (h->values > 0 && !take_value(s, &re)) return false;
    if (h->values > 1 && !take_value(s, &im)) return false;
    if (!take_end(s)) return false;
    if (!h->array && h->symmetry != GENERAL && !take_side(s, row, col, re, im)) return false;
    if (!h->array) {
        k->row[k->n] = (int)row;
        k->col[k->n] = (int)col;
    }
    if (k->val) k->val[k->n] = re;
    if (k->imag) k->imag[k->n] = im;
    k->n++;
    return true;
}

/* A line that is blank or a comment. */
static bool take_gap(struct parser *s)
{
    struct block *k = s->k;
    struct gap *last = k->ngaps ? &k->gap[k->ngaps - 1] : NULL;
    if (*s->p == '%') remark(s, NOTE_COMMENT);
    s->p = next_line(line_end(s->p, s->end), s->end);
    if (last && last->at == k->n) {
        last->lines++;
        return true;
    }
    if ((k->ngaps & (k->ngaps - 1)) == 0) { /* a power of two: full */
        struct gap *more =
            mem_resize(k->gap, k->ngaps ? 2 * k->ngaps : 1, sizeof *more, "lines without entries", &s->why);
        if (!more) return false;
        k->gap = more;
    }
    k->gap[k->ngaps++] = (struct gap){k->n, 1};
    return true;
}

static bool take_lines(struct parser *s)
{
    while (s->p < s->end) {
        s->k->lines++;
        s->p = skip_blanks(s->p);
        if (!(is_eol(*s->p) || *s->p == '%' ? take_gap(s) : take_entry(s))) return false;
    }
    return true;
}

static bool block_room(struct block *k, const struct head *h, int64_t bytes, struct err *e)
{
    const char *what = "entries of the file";
    int64_t most = bytes / (2 * (h->indices + h->values)) + 1; /* each number has a digit and what ends it */
    if (!h->array &&
        (!(k->row = mem_new(most, sizeof *k->row, what, e)) || !(k->col = mem_new(most, sizeof *k->col, what, e))))
        return false;
    if (h->values > 0 && !(k->val = mem_new(most, sizeof *k->val, what, e))) return false;
    return h->values < 2 || (k->imag = mem_new(most, sizeof *k->imag, what, e));
}

/* The array cut to n items; unchanged, and *ok false, where that fails. */
static void *trimmed(void *array, int64_t n, size_t size, bool *ok, struct err *e)
{
    if (!array || !*ok) return array;
    void *shorter = mem_resize(array, n, size, "entries of the file", e);
    *ok = shorter;
    return shorter ? shorter : array;
}

static bool block_trim(struct block *k, struct err *e)
{
    bool ok = true;
    k->row = trimmed(k->row, k->n, sizeof *k->row, &ok, e);
    k->col = trimmed(k->col, k->n, sizeof *k->col, &ok, e);
    k->val = trimmed(k->val, k->n, sizeof *k->val, &ok, e);
    k->imag = trimmed(k->imag, k->n, sizeof *k->imag, &ok, e);
    return ok;
}

static bool block_parse(struct block *k, const struct head *h, const struct text *t, struct err *e)
{
    struct parser s = {.h = h, .k = k, .p = t->s, .end = t->s + t->n};
    bool ok = block_room(k, h, t->n, &s.why) && take_lines(&s);
    if (ok) ok = block_trim(k, &s.why);
    if (!ok) fail(e, s.why.code, "%s", s.why.text);
    return ok;
}

void block_free(struct block *k)
{
    mem_free(k->row);
    mem_free(k->col);
    mem_free(k->val);
    mem_free(k->imag);
    mem_free(k->gap);
    k->row = k->col = NULL;
    k->val = k->imag = NULL;
    k->gap = NULL;
    k->ngaps = 0;
}

void body_free(struct body *b)
{
    for (struct block *k = b->first, *next; k; k = next) {
        next = k->next;
        block_free(k);
        mem_free(k);
    }
    b->first = b->last = NULL;
}

/* Stop, and keep the earliest fault; one that no line is to blame for comes before all. */
static void fault(struct body *b, struct block *k, const struct err *why)
{
    if (why->code == E_MEMORY || why->code == E_CANCELLED) k = NULL;
#pragma omp critical(mtx_fault)
    {
        struct fault *f = &b->fault;
        if (!f->why.code || (f->block && (!k || k->seq < f->block->seq)))
            *f = (struct fault){.block = k, .line = k ? k->lines : 0, .why = *why};
#pragma omp atomic write
        b->stop = true;
    }
}

static bool stopped(struct body *b)
{
    bool stop;
#pragma omp atomic read
    stop = b->stop;
    return stop;
}

/* More entries than the size line allows are a fault that more reading cannot mend. */
static void count(struct body *b, int64_t n)
{
    int64_t sum;
#pragma omp atomic capture
    sum = b->parsed += n;
    if (sum <= b->head->entries) return;
#pragma omp atomic write
    b->stop = true;
}

/* What is unpacked may be far longer than the file, so look now and then whether the machine can hold it. */
static bool enough_memory(const struct body *b, struct err *e)
{
    if (!b->last || b->last->seq % MEMORY_EVERY || mem_available() > MEMORY_LEAST) return true;
    return fail(e, E_MEMORY, "out of memory after %lld MiB of text; drop a matrix or choose a smaller one",
                (long long)(b->lines->streamed >> 20));
}

/* The next block in the file's order, NULL at its end or after a fault. */
static struct block *block_next(struct body *b, struct text *t)
{
    struct err why = {0};
    struct block *k =
        stopped(b) || !enough_memory(b, &why) ? NULL : mem_zero(1, sizeof *k, "a block of the file", &why);
    if (!k) {
        if (why.code) fault(b, NULL, &why);
        return NULL;
    }
    k->seq = b->last ? b->last->seq + 1 : 0;
    b->last = *(b->last ? &b->last->next : &b->first) = k;
    bool ok = lines_next(b->lines, t, &why);
    if (ok && t->n) return k;
    k->lines = 1; /* the fault is where its first line would be */
    if (!ok) fault(b, k, &why);
    k->lines = 0;
    return NULL;
}

static bool tick(struct body *b)
{
    struct err why = {0};
    int64_t done, total;
    if (omp_get_thread_num() != 0) return true;
#pragma omp critical(mtx_next)
    stream_progress(b->lines->stream, &done, &total);
    if (watch_tick(b->watch, "reading", done, total, &why)) return true;
    fault(b, NULL, &why);
    return false;
}

static void work(struct body *b)
{
    struct text t = {0};
    struct block *k = NULL;
    do {
        struct err why = {0};
        if (!tick(b)) break;
#pragma omp critical(mtx_next)
        k = block_next(b, &t);
        if (k && !block_parse(k, b->head, &t, &why)) fault(b, k, &why);
        if (k) count(b, k->n);
    } while (k);
    text_free(&t);
}

void body_parse(struct body *b)
{
#pragma omp parallel num_threads(b->threads)
    work(b);
}
