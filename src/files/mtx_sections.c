/* AMGX's extension of Matrix Market files: a comment line before the size line,

       %%AMGX [BLOCK [BLOCK]] [sorted] [base0] [diagonal] [rhs] [solution]

   names sections that follow the entries: the diagonal, if it is not among the entries, as blocks of BLOCK x BLOCK
   values; a right side; and a solution. Each section is a list of numbers without a title. Source: readers.cu of
   NVIDIA's AMGX, which also accepts the older word %%NVAMG. */
#include "base/mem.h"
#include "base/number.h"
#include "base/stream.h"
#include "base/watch.h"
#include "file.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <string.h>

/* ---- the comment line ---- */

static bool set_block(struct amgx *a, const char *s, size_t n, const char *where, struct err *e)
{
    int64_t v;
    char quote[QUOTE];
    if (read_integer(s, n, &v) || v < 1 || v > INT32_MAX)
        return fail_at(e, E_INPUT, where, "the block size on the AMGX line is not a positive integer: \"%s\"",
                       quoted(s, s + n, quote));
    if (a->block && a->block != v)
        return fail_at(e, E_UNSUPPORTED, where,
                       "the AMGX line asks for blocks of %lld x %lld, but blocks must be square", (long long)a->block,
                       (long long)v);
    a->block = v;
    return true;
}

static bool set_word(struct amgx *a, const char *s, size_t n, const char *where, struct err *e)
{
    const struct {
        const char *word;
        bool *flag;
    } table[] = {{"diagonal", &a->diagonal}, {"rhs", &a->rhs}, {"solution", &a->solution}, {"base0", &a->base0}};
    if (*s >= '0' && *s <= '9') return set_block(a, s, n, where, e);
    for (int i = 0; i < COUNT(table); i++)
        if (same_word(s, n, table[i].word)) *table[i].flag = true;
    return true; /* AMGX ignores all other words too, such as `sorted` */
}

bool sections_line(struct head *h, const char *s, const char *where, struct err *e)
{
    const char *p = skip_token(s);
    size_t n = (size_t)(p - s);
    if (!same_word(s, n, "%%amgx") && !same_word(s, n, "%%nvamg")) return true;
    for (p = skip_blanks(p); !is_eol(*p); p = skip_blanks(p)) {
        const char *end = skip_token(p);
        if (!set_word(&h->amgx, p, (size_t)(end - p), where, e)) return false;
        p = end;
    }
    return true;
}

static int64_t diagonal_numbers(const struct head *h)
{
    return h->amgx.diagonal ? h->rows * h->amgx.block : 0;
}

bool sections_count(struct head *h, const char *where, struct err *e)
{
    struct amgx *a = &h->amgx;
    int64_t parts = h->field == COMPLEX ? 2 : 1, diagonal;
    struct err why = {0};
    if (!a->diagonal && !a->rhs && !a->solution) return true;
    if (!a->block) a->block = 1;
    if (h->array || h->vector)
        return fail_at(e, E_UNSUPPORTED, where,
                       "the AMGX line promises numbers after the entries of %s; this needs a "
                       "matrix in format coordinate",
                       h->vector ? "a vector" : "an array");
    if (a->diagonal && (h->rows != h->cols || h->rows % a->block))
        return fail_at(e, E_INPUT, where,
                       "the AMGX line promises a diagonal of %lld x %lld blocks, but the matrix is "
                       "%lld x %lld",
                       (long long)a->block, (long long)a->block, (long long)h->rows, (long long)h->cols);
    if (__builtin_mul_overflow(h->rows, a->block, &diagonal) || !csr_limits(h->rows, h->cols, diagonal, &why))
        return fail_at(e, E_LIMIT, where, "the diagonal that the AMGX line promises is too large");
    a->numbers = parts * (diagonal_numbers(h) + (a->rhs ? h->rows : 0) + (a->solution ? h->cols : 0));
    return true;
}

/* ---- where the entries end ---- */

bool sections_cut(struct lines *l, struct text *t, int64_t *left, struct err *e)
{
    const char *p = t->s, *end = t->s + t->n;
    while (p < end && *left) {
        const char *first = skip_blanks(p);
        *left -= !is_eol(*first) && *first != '%';
        p = next_line(line_end(p, end), end);
    }
    int64_t cut = p - t->s;
    if (!lines_back(l, t->s + cut, t->n - cut, e)) return false;
    t->n = cut;
    t->s[cut] = '\n';
    return true;
}

/* ---- the sections ---- */

/* The sections that are still to be filled, in the order of the file. */
struct filling {
    const char *path;
    int64_t line;
    int at, n;
    struct {
        const char *name;
        double *to;
        int64_t room, found;
    } section[3];
};

static bool fill_line(struct filling *f, const char *p, const char *eol, struct err *e)
{
    char where[PATH_LINE], quote[QUOTE];
    unsigned how;
    double v;
    for (p = skip_blanks(p); p < eol && *p != '%'; p = skip_blanks(p)) {
        const char *after = number_parse(p, eol, &v, &how);
        while (f->at < f->n && f->section[f->at].found == f->section[f->at].room) f->at++;
        if (f->at == f->n)
            return fail_at(e, E_INPUT, path_line(f->path, f->line, where),
                           "the file goes on after the last section of the AMGX line, with \"%s\"",
                           quoted(p, skip_token(p), quote));
        if (!after || !ends_token(*after))
            return fail_at(e, E_INPUT, path_line(f->path, f->line, where), "\"%s\" in the %s is not a decimal number",
                           quoted(p, skip_token(p), quote), f->section[f->at].name);
        f->section[f->at].to[f->section[f->at].found++] = v;
        p = after;
    }
    return true;
}

static bool fill_text(struct filling *f, const struct text *t, struct err *e)
{
    const char *p = t->s, *end = t->s + t->n;
    while (p < end) {
        const char *eol = line_end(p, end);
        f->line++;
        if (!fill_line(f, p, eol, e)) return false;
        p = next_line(eol, end);
    }
    return true;
}

static bool is_full(const struct filling *f, struct err *e)
{
    char where[PATH_LINE];
    for (int i = 0; i < f->n; i++)
        if (f->section[i].found < f->section[i].room)
            return fail_at(e, E_INPUT, path_line(f->path, f->line, where),
                           "the file ends after %lld of the %lld numbers of the %s that its AMGX line promises",
                           (long long)f->section[i].found, (long long)f->section[i].room, f->section[i].name);
    return true;
}

static bool add_section(struct filling *f, const char *name, int64_t n, double **to, struct err *e)
{
    if (!(*to = mem_new(n, sizeof **to, name, e))) return false;
    f->section[f->n].name = name;
    f->section[f->n].to = *to;
    f->section[f->n++].room = n;
    return true;
}

static bool fill(struct filling *f, struct lines *l, struct watch *w, struct err *e)
{
    struct text t = {0};
    bool ok = true, more = true;
    while (ok && more) {
        int64_t done, total;
        stream_progress(l->stream, &done, &total);
        ok = watch_tick(w, "reading", done, total, e) && lines_next(l, &t, e);
        more = ok && t.n > 0;
        l->streamed_at_entry = l->streamed;
        ok = ok && fill_text(f, &t, e);
    }
    text_free(&t);
    return ok && is_full(f, e);
}

bool sections_read(struct sections *t, struct lines *l, const struct head *h, const char *path, int64_t line,
                   struct watch *w, struct err *e)
{
    int64_t parts = h->field == COMPLEX ? 2 : 1;
    struct filling f = {.path = path, .line = line};
    return (!h->amgx.diagonal || add_section(&f, "diagonal", parts * diagonal_numbers(h), &t->diagonal, e)) &&
           (!h->amgx.rhs || add_section(&f, "right side", parts * h->rows, &t->rhs, e)) &&
           (!h->amgx.solution || add_section(&f, "solution", parts * h->cols, &t->solution, e)) && fill(&f, l, w, e);
}

void sections_free(struct sections *t)
{
    mem_free(t->diagonal);
    mem_free(t->rhs);
    mem_free(t->solution);
}

/* ---- the sections as a diagonal, a right side and a solution ---- */

/* The diagonal as a matrix of its own: row i has the values of its block, which begins in column i / size * size. */
static bool diagonal_of(const struct sections *t, const struct head *h, struct csr *D, struct err *e)
{
    int64_t size = h->amgx.block;
    if (!csr_new(D, h->rows, h->cols, diagonal_numbers(h), h->field == COMPLEX, e)) return false;
    for (int64_t i = 0; i < h->rows; i++) {
        D->rowptr[i + 1] = (int)((i + 1) * size);
        for (int64_t j = 0, k = i * size; j < size; j++, k++) {
            D->col[k] = (int)(i / size * size + j);
            D->val[k] = t->diagonal[D->imag ? 2 * k : k];
            if (D->imag) D->imag[k] = t->diagonal[2 * k + 1];
        }
    }
    return true;
}

static bool add_diagonal(const struct sections *t, const struct head *h, struct csr *A, struct load_info *info,
                         struct err *e)
{
    struct csr D = {0}, sum = {0};
    if (!t->diagonal) return true;
    bool ok = !csr_is_large(A) ? diagonal_of(t, h, &D, e) && csr_sum(&sum, 1, A, 1, &D, e)
                               : fail(e, E_LIMIT, "AMGX's diagonal cannot be added to a matrix of this size");
    csr_free(&D);
    if (!ok) return false;
    csr_free(A);
    *A = sum;
    file_note(info, "the diagonal, which follows the entries, was added to them");
    return true;
}

/* `from` has n numbers, or pairs if the matrix is complex. */
static bool dense_of(struct dense_array *d, const double *from, int64_t n, bool pairs, struct err *e)
{
    if (!from) return true;
    if (!dense_array_new(d, n, 1, pairs, e)) return false;
    for (int64_t i = 0; i < n; i++) {
        d->val[i] = from[pairs ? 2 * i : i];
        if (pairs) d->imag[i] = from[2 * i + 1];
    }
    return true;
}

bool sections_apply(const struct sections *t, const struct head *h, struct csr *A, struct sides *sides,
                    struct load_info *info, struct err *e)
{
    struct dense_array b = {0}, x = {0};
    bool pairs = h->field == COMPLEX;
    bool ok = add_diagonal(t, h, A, info, e) && dense_of(&b, t->rhs, h->rows, pairs, e) &&
              dense_of(&x, t->solution, h->cols, pairs, e) && sides_fill(sides, A, &b, &x, info, e);
    dense_array_free(&b);
    dense_array_free(&x);
    return ok;
}
