/* The entries of a Matrix Market file, parsed by all cores. Reading is one thread's turn at a time, since a copy is
   many times as fast as parsing. Each thread parses its block of whole lines into arrays that it uses again for the
   next, so they stay in its cache, and then, in the file's order, delivers them to the arrays of the whole file. */
#include "mtx.h"
#include "number.h"

#include <math.h>
#include <omp.h>
#include <sched.h>
#include <string.h>

enum { MEMORY_EVERY = 256, MEMORY_LEAST = 1 << 28, UNSURE = 1 << 16 };

/* One thread's work on one block. */
struct parser {
    const struct head *h;
    struct block *k;
    struct entries *to;
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

/* ---- plain lines, which nothing need be said of: nearly all of nearly every file ---- */

/* Past an index of 1 .. most, given 0-based, that a blank or the line's end follows; NULL if it is not so plain. */
static inline const char *plain_index(const char *p, int64_t most, int *index)
{
    uint64_t v;
    int n = digits_read(p, &v);
    *index = (int)(v - 1);
    p += n;
    return v - 1 < (uint64_t)most && n <= 16 && (is_blank(*p) || is_eol(*p)) ? p : NULL;
}

/* Past a line that ends here, or NULL. */
static inline const char *plain_end(const char *p)
{
    if (*p == '\r') p++;
    return *p == '\n' ? p + 1 : NULL;
}

/* One of the triangle that a file with this symmetry is asked to hold, where no value is wrong. */
static inline bool plain_side(enum symmetry symmetry, int row, int col)
{
    return row > col || (row == col && symmetry == SYMMETRIC);
}

static inline bool plain_value(const struct head *h, double v)
{
    return h->field != INTEGER || v == nearbyint(v);
}

/* The lines from s->p up to the first that is not plain. Called with constants, one loop for each kind of line. */
static inline __attribute__((always_inline)) void plain_lines(struct parser *s, int indices, int values)
{
    const struct head h = *s->h;
    const struct entries to = *s->to;
    bool general = h.array || h.symmetry == GENERAL;
    int64_t n = s->k->n, first = n, lower = 0;
    int index[2] = {0};
    double v[2] = {0};
    for (const char *p = s->p; p < s->end; s->p = p, n++) {
        for (int i = 0; p && i < indices; i++) p = plain_index(skip_blanks(p), i ? h.cols : h.rows, &index[i]);
        for (int i = 0; p && i < values; i++) p = number_plain(skip_blanks(p), &v[i]);
        if (!p || !(p = plain_end(p))) break;
        if (!general && !plain_side(h.symmetry, index[0], index[1])) break;
        if (values && !plain_value(&h, v[0])) break;
        if (indices) to.row[n] = index[0], to.col[n] = index[1];
        if (values > 0) to.val[n] = v[0];
        if (values > 1) to.imag[n] = v[1];
        lower += index[0] > index[1];
    }
    s->k->n = n;
    s->k->lines += n - first;
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

/* ---- blocks ---- */

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
    for (take_plain(s); s->p < s->end; take_plain(s)) {
        s->k->lines++;
        s->p = skip_blanks(s->p);
        if (!(is_eol(*s->p) || *s->p == '%' ? take_gap(s) : take_entry(s))) return false;
    }
    return true;
}

bool entries_new(struct entries *t, const struct head *h, int64_t room, struct err *e)
{
    const char *what = "entries of the file";
    *t = (struct entries){.room = room};
    bool ok = (h->array || ((t->row = mem_new(room, sizeof *t->row, what, e)) &&
                            (t->col = mem_new(room, sizeof *t->col, what, e)))) &&
              (h->values < 1 || (t->val = mem_new(room, sizeof *t->val, what, e))) &&
              (h->values < 2 || (t->imag = mem_new(room, sizeof *t->imag, what, e)));
    if (!ok) entries_free(t);
    return ok;
}

void entries_free(struct entries *t)
{
    mem_free(t->row);
    mem_free(t->col);
    mem_free(t->val);
    mem_free(t->imag);
    memset(t, 0, sizeof *t);
}

/* Items [0, n) of `from` to those from `at` on. */
static void entries_copy(const struct entries *from, int64_t n, struct entries *to, int64_t at)
{
    size_t indices = (size_t)n * sizeof *to->row, values = (size_t)n * sizeof *to->val;
    if (to->row) memcpy(to->row + at, from->row, indices);
    if (to->col) memcpy(to->col + at, from->col, indices);
    if (to->val) memcpy(to->val + at, from->val, values);
    if (to->imag) memcpy(to->imag + at, from->imag, values);
}

/* ---- bands of rows ---- */

int band_shift(const struct head *h)
{
    int shift = 0;
    while (h->rows > (int64_t)BANDS << shift) shift++;
    return shift;
}

static bool rows_ascend(const int *row, int64_t n)
{
    int64_t i = 1;
    while (i < n && row[i - 1] <= row[i]) i++;
    return i >= n;
}

/* Where the rows of a block are in no order, its entries are to be delivered by bands, so that whoever places them
   finds those of a band side by side. Small blocks are not worth a table. */
static bool block_bands(struct block *k, const struct head *h, const struct entries *t, struct err *e)
{
    int shift = band_shift(h);
    if (h->array || h->vector || h->symmetry != GENERAL || k->n < BANDS || rows_ascend(t->row, k->n)) return true;
    if (!(k->band = mem_zero(BANDS + 1, sizeof *k->band, "a block of the file", e))) return false;
    for (int64_t i = 0; i < k->n; i++) k->band[(t->row[i] >> shift) + 1]++;
    for (int s = 0; s < BANDS; s++) k->band[s + 1] += k->band[s];
    return true;
}

/* As entries_copy, but by bands; those of a band stay in the file's order. */
static void entries_deal(const struct entries *from, const struct block *k, int shift, struct entries *to, int64_t at)
{
    int64_t place[BANDS];
    for (int s = 0; s < BANDS; s++) place[s] = at + k->band[s];
    for (int64_t i = 0; i < k->n; i++) {
        int64_t p = place[from->row[i] >> shift]++;
        to->row[p] = from->row[i];
        to->col[p] = from->col[i];
        if (to->val) to->val[p] = from->val[i];
        if (to->imag) to->imag[p] = from->imag[i];
    }
}

/* What a thread works with. */
struct desk {
    struct text text;
    struct entries entries;
};

static bool desk_room(struct desk *d, const struct head *h, struct err *e)
{
    int64_t most = d->text.n / (2 * (h->indices + h->values)) + 1; /* each number has a digit and what ends it */
    if (d->entries.room >= most) return true;
    entries_free(&d->entries);
    return entries_new(&d->entries, h, most, e);
}

static void desk_free(struct desk *d)
{
    text_free(&d->text);
    entries_free(&d->entries);
}

static bool block_parse(struct block *k, const struct head *h, struct desk *d, struct err *e)
{
    struct parser s = {.h = h, .k = k, .to = &d->entries, .p = d->text.s, .end = d->text.s + d->text.n};
    bool ok = desk_room(d, h, &s.why) && take_lines(&s) && block_bands(k, h, &d->entries, &s.why);
    if (!ok) fail(e, s.why.code, "%s", s.why.text);
    return ok;
}

void block_free(struct block *k)
{
    mem_free(k->gap);
    mem_free(k->band);
    k->gap = NULL;
    k->band = NULL;
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
    entries_free(&b->all);
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

/* ---- delivery ---- */

static int64_t next_turn(struct body *b)
{
    int64_t turn;
#pragma omp atomic read acquire
    turn = b->turn;
    return turn;
}

/* A size line that the file's length does not vouch for gets memory as entries come. Only by whose turn it is; waits
   for those that still copy. */
static bool all_room(struct body *b, int64_t n, struct err *e)
{
    struct entries more;
    int copying = 1;
    if (n <= b->all.room) return true;
    while (copying) {
#pragma omp atomic read acquire
        copying = b->delivering;
        if (copying) sched_yield();
    }
    int64_t room = 2 * n < b->head->entries ? 2 * n : b->head->entries;
    if (!entries_new(&more, b->head, room, e)) return false;
    entries_copy(&b->all, b->delivered, &more, 0);
    entries_free(&b->all);
    b->all = more;
    return true;
}

/* In the file's order, what a block has of the entries declared: how many, and *at which place they go. More are a
   fault that more reading cannot mend. */
static int64_t take_turn(struct body *b, struct block *k, int64_t *at)
{
    struct err why = {0};
    int64_t left = b->head->entries - b->delivered, n = k->n < left ? k->n : left;
    if (k->n > left) {
#pragma omp atomic write
        b->stop = true;
    }
    if (!all_room(b, b->delivered + n, &why)) {
        fault(b, NULL, &why);
        n = 0;
    }
    *at = b->delivered;
    b->delivered += n;
    return n;
}

static void deliver(struct body *b, struct block *k, const struct entries *from)
{
    int64_t at;
    while (next_turn(b) != k->seq) sched_yield();
    int64_t n = take_turn(b, k, &at);
#pragma omp atomic update
    b->delivering++;
#pragma omp atomic write release
    b->turn = k->seq + 1;
    if (k->band && n == k->n) /* else it is a fault, and nothing will be placed */
        entries_deal(from, k, band_shift(b->head), &b->all, at);
    else if (n)
        entries_copy(from, n, &b->all, at);
#pragma omp atomic update release
    b->delivering--;
}

static void work(struct body *b)
{
    struct desk d = {0};
    struct block *k = NULL;
    do {
        struct err why = {0};
        if (!tick(b)) break;
#pragma omp critical(mtx_next)
        k = block_next(b, &d.text);
        if (k && !block_parse(k, b->head, &d, &why)) fault(b, k, &why);
        if (k) deliver(b, k, &d.entries);
    } while (k);
    desk_free(&d);
}

void body_parse(struct body *b)
{
    struct err why = {0};
    bool vouched = stream_size(b->lines->stream) >= 0; /* for entries, by the file's length: mtx_head.c looked */
    int64_t n = b->head->entries, room = vouched || n < UNSURE ? n : UNSURE;
    if (!entries_new(&b->all, b->head, room, &why)) {
        fault(b, NULL, &why);
        return;
    }
#pragma omp parallel num_threads(b->threads)
    work(b);
}
