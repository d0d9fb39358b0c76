/* Find rows and entries: the measures of a row, the comparisons, and the selection of the first matches. */
#include "find.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"

#include <math.h>

/* ---- measures ---- */

static double length_of(const struct csr *A, int64_t row)
{
    return (double)csr_row_length(A, row);
}

/* The value of a real matrix, the absolute value of a complex one. */
static double real_or_abs(const struct csr *A, struct parts p)
{
    return A->imag ? hypot(p.re, p.im) : p.re;
}

/* In long double, no sum of a few numbers overflows before others cancel them. */
static struct parts sum_parts(const struct csr *A, int64_t row)
{
    long double re = 0, im = 0;
    for (int64_t k = csr_start(A, row), end = csr_start(A, row + 1); k < end; k++) {
        re += A->val[k];
        if (A->imag) im += A->imag[k];
    }
    return (struct parts){(double)re, (double)im};
}

static double sum_of(const struct csr *A, int64_t row)
{
    return real_or_abs(A, sum_parts(A, row));
}

/* 0 if the diagonal entry is not stored. */
static struct parts diagonal_parts(const struct csr *A, int64_t row)
{
    int64_t k = csr_find(A, row, row);
    return k < 0 ? (struct parts){0, 0} : (struct parts){A->val[k], A->imag ? A->imag[k] : 0};
}

static double diagonal_of(const struct csr *A, int64_t row)
{
    return real_or_abs(A, diagonal_parts(A, row));
}

static double max_of(const struct csr *A, int64_t row)
{
    double most = 0;
    for (int64_t k = csr_start(A, row), end = csr_start(A, row + 1); k < end; k++) {
        double size = csr_abs(A, k);
        if (isnan(size)) return size;
        if (size > most) most = size;
    }
    return most;
}

const struct row_measure row_measures[] = {
    {"length", "number of stored entries", "length", "%.0f", false, length_of, NULL},
    {"sum", "sum of the entries", "sum", "%.6g", false, sum_of, sum_parts},
    {"diagonal", "the diagonal entry; 0 if it is not stored", "diagonal", "%.6g", false, diagonal_of, diagonal_parts},
    {"max", "largest |a|", "largest |a|", "%.6g", true, max_of, NULL},
    {0},
};
const struct registry row_measure_registry = {.entries = row_measures, .size = sizeof *row_measures};

/* ---- comparisons ---- */

static bool less(double a, double b)
{
    return a < b;
}

static bool at_most(double a, double b)
{
    return a <= b;
}

static bool above(double a, double b)
{
    return a > b;
}

static bool at_least(double a, double b)
{
    return a >= b;
}

static bool equal(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static bool unequal(double a, double b)
{
    return !equal(a, b);
}

const struct comparison comparisons[] = {
    {"<=", at_most}, {">=", at_least}, {"!=", unequal}, {"==", equal}, {"<", less}, {">", above}, {"=", equal}, {0},
};

/* ---- the first matches ---- */

/* A heap of the best matches so far; the root is the worst of these matches. */
struct heap {
    struct found *f;
    int64_t limit;
};

/* Does a come before b? Matches are sorted by descending key, with NaN last; matches with equal keys are sorted by
   position. */
static bool stands_before(struct match_key a, struct match_key b)
{
    if (isnan(a.key) || isnan(b.key)) return isnan(a.key) == isnan(b.key) ? a.at < b.at : isnan(b.key);
    return a.key != b.key ? a.key > b.key : a.at < b.at;
}

/* Move the item at `i` down the heap until each of its children comes before it in the order of matches. */
static void sift_down(struct match_key *item, int64_t n, int64_t i)
{
    struct match_key moved = item[i];
    for (int64_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && stands_before(item[child], item[child + 1])) child++;
        if (!stands_before(moved, item[child])) break;
        item[i] = item[child];
    }
    item[i] = moved;
}

static void sift_up(struct match_key *item, int64_t i)
{
    struct match_key moved = item[i];
    for (int64_t parent; i > 0 && stands_before(item[parent = (i - 1) / 2], moved); i = parent) item[i] = item[parent];
    item[i] = moved;
}

static void offer(struct heap *h, double key, int64_t at)
{
    struct match_key new = {key, at};
    struct found *f = h->f;
    f->matches++;
    if (f->n < h->limit) {
        f->item[f->n++] = new;
        sift_up(f->item, f->n - 1);
    } else if (h->limit && stands_before(new, f->item[0])) {
        f->item[0] = new;
        sift_down(f->item, f->n, 0);
    }
}

/* Heapsort: repeatedly swap the worst of the remaining items with the last of the remaining items. */
static bool in_order(struct found *f, struct err *e)
{
    struct loop l = loop_of("sorting", f->n);
    for (int64_t n = f->n - 1; n > 0 && loop_goes(&l, n); n--) {
        struct match_key worst = f->item[0];
        f->item[0] = f->item[n];
        f->item[n] = worst;
        sift_down(f->item, n, 0);
    }
    return loop_end(&l, e);
}

/* ---- searches ---- */

static bool holds(const struct condition *c, const struct csr *A, int64_t at)
{
    double value = c->measure ? c->measure->of(A, at) : csr_abs(A, at);
    return c->comparison->holds(value, c->value);
}

static bool matches(const struct csr *A, const struct search *s, int64_t at)
{
    for (int i = 0; i < s->n; i++)
        if (!holds(&s->condition[i], A, at)) return false;
    return true;
}

static double key_of(const struct csr *A, const struct search *s, int64_t at)
{
    double key = s->sort ? s->sort->of(A, at) : s->sorted ? csr_abs(A, at) : 0;
    return s->ascending ? -key : key;
}

/* Search all rows or all entries; `all` is the number of rows or entries. */
static bool find_all(const struct csr *A, const struct search *s, int64_t all, struct found *out, struct err *e)
{
    struct heap h = {out, s->limit < all ? s->limit : all};
    *out = (struct found){0};
    out->item = mem_new(h.limit, sizeof *out->item, "the matches", e);
    if (!out->item) return false;
    struct loop l = loop_of("searching", all);
    for (int64_t i = 0; i < all && loop_goes(&l, i); i++)
        if (matches(A, s, i)) offer(&h, key_of(A, s, i), i);
    if (loop_end(&l, e) && in_order(out, e)) return true;
    found_free(out);
    return false;
}

bool rows_find(const struct csr *A, const struct search *s, struct found *out, struct err *e)
{
    return find_all(A, s, A->rows, out, e);
}

bool entries_find(const struct csr *A, const struct search *s, struct found *out, struct err *e)
{
    return find_all(A, s, A->nnz, out, e);
}

void found_free(struct found *f)
{
    mem_free(f->item);
    *f = (struct found){0};
}
