/* Lists of triplets: the entries are read like those of a Matrix Market file, but where the indices start, and the
   sizes, may be known only after the last entry. */
#include "base/loop.h"
#include "base/text.h"
#include "base/threads.h"
#include "file.h"
#include "load_info.h"
#include "mtx.h"

#include <stdio.h>

static int64_t bound_of(int64_t known, int first)
{
    return known < 0 || known >= INT32_MAX ? INT32_MAX : known + (first < 0);
}

void list_begin(struct head *h, int64_t bytes)
{
    const struct list *list = h->list;
    int64_t least = 2 * (h->indices + h->values); /* each number has at least one digit and a separator */
    h->rows = bound_of(list->rows, list->first);
    h->cols = bound_of(list->cols, list->first);
    h->entries = list->entries >= 0 ? list->entries : bytes == INT64_MAX ? bytes : (bytes + 1) / least;
}

/* The smallest index and the largest row and column, as they were read. */
struct extent {
    int least, row, col;
};

static bool measure(const struct entries *t, int64_t n, struct extent *x, struct err *e)
{
    struct loop l = loop_of("sizes of the list", n);
    int least = INT32_MAX, row = -1, col = -1;
#pragma omp parallel for reduction(min : least) reduction(max : row, col) if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) {
            int r = t->row[i], c = t->col[i];
            int smaller = r < c ? r : c;
            least = smaller < least ? smaller : least;
            row = r > row ? r : row;
            col = c > col ? c : col;
        }
    *x = (struct extent){least, row, col};
    return loop_end(&l, e);
}

static bool subtract_one(struct entries *t, int64_t n, struct err *e)
{
    struct loop l = loop_of("sizes of the list", n);
#pragma omp parallel for if (n > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) t->row[i]--, t->col[i]--;
    return loop_end(&l, e);
}

/* Fail at the first entry that is outside a size. */
static bool refuse_index(const struct body *b, const struct head *h, int first, const char *why, struct err *e)
{
    const struct entries *t = &b->all;
    char where[PATH_LINE];
    int64_t i = 0;
    while (t->row[i] < h->rows && t->col[i] < h->cols) i++;
    bool row = t->row[i] >= h->rows;
    return fail_at(e, E_INPUT, path_line(b->path, body_line(b, i), where), "%s %lld is outside %d .. %lld%s",
                   row ? "row" : "column", (long long)(row ? t->row[i] : t->col[i]) + first, first,
                   (long long)(row ? h->rows : h->cols) - 1 + first, why);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Set the sizes, and the first index, and make the entries 0-based. */
static bool settle_sizes(struct body *b, struct head *h, int *first, struct err *e)
{
    const struct list *list = h->list;
    struct extent x;
    if (!measure(&b->all, h->entries, &x, e)) return false;
    bool unknown = list->first < 0;
    *first = unknown ? h->entries == 0 || x.least > 0 : list->first;
    if (unknown && *first) {
        if (!subtract_one(&b->all, h->entries, e)) return false;
        x.row--, x.col--;
    }
    int64_t side = larger(larger(x.row, x.col) + 1, larger(list->rows, list->cols)); /* of a square matrix */
    h->rows = list->rows >= 0 ? list->rows : list->square ? side : x.row + 1;
    h->cols = list->cols >= 0 ? list->cols : list->square ? side : x.col + 1;
    if (x.row < h->rows && x.col < h->cols) return true;
    return refuse_index(b, h, *first, unknown && !*first ? ", as indices start at 0: index 0 occurs" : "", e);
}

/* ---- CHOLMOD's stype ---- */

static bool refuse_diagonal(const struct body *b, int64_t i, struct err *e)
{
    char where[PATH_LINE];
    return fail_at(e, E_INPUT, path_line(b->path, body_line(b, i), where),
                   "the diagonal of a hermitian matrix must be real, but this value has an imaginary part");
}

/* Keep the entries of the triangle that stype names, in their order. */
static bool keep_triangle(struct body *b, struct head *h, struct load_info *info, struct err *e)
{
    struct entries *t = &b->all;
    struct loop l = loop_of("sizes of the list", h->entries);
    int64_t n = 0, off = 0;
    for (int64_t i = 0; t->imag && i < h->entries && loop_goes(&l, i); i++)
        if (t->row[i] == t->col[i] && t->imag[i] != 0) return refuse_diagonal(b, i, e);
    for (int64_t i = 0; i < h->entries && loop_goes(&l, i); i++) {
        if ((t->col[i] - (int64_t)t->row[i]) * h->list->stype < 0) continue;
        t->row[n] = t->row[i];
        t->col[n] = t->col[i];
        if (t->val) t->val[n] = t->val[i];
        if (t->imag) t->imag[n] = t->imag[i];
        off += t->row[i] != t->col[i];
        n++;
    }
    if (!loop_end(&l, e)) return false;
    if (n < h->entries)
        file_note(info, "%s %s the diagonal left out: the size line says that only the %s triangle counts",
                  how_many(h->entries - n, "entry").text, h->list->stype > 0 ? "below" : "above",
                  h->list->stype > 0 ? "upper" : "lower");
    h->entries = n;
    h->symmetry = t->imag ? HERMITIAN : SYMMETRIC;
    snprintf(h->symmetry_word, sizeof h->symmetry_word, "%s", t->imag ? "hermitian" : "symmetric");
    if (b->first) b->first->lower = off; /* their mirror images are to be added */
    return true;
}

/* ---- */

static void describe(const struct head *h, int first, struct load_info *info)
{
    const struct list *list = h->list;
    bool known = list->rows >= 0 && list->cols >= 0;
    const char *base = list->first >= 0 ? "" : first ? " (0 does not occur)" : " (0 occurs)";
    const char *size = known ? "" : list->square ? ", square by its largest index" : " by its largest indices";
    if (list->first >= 0 && known) return;
    file_note(info, "a list of entries, counted from %d%s: %lld x %lld%s; `from`, `rows` and `cols` say otherwise",
              first, base, (long long)h->rows, (long long)h->cols, size);
}

bool list_settle(struct body *b, struct head *h, struct load_info *info, struct err *e)
{
    int first;
    if (!settle_sizes(b, h, &first, e)) return false;
    describe(h, first, info);
    return !h->list->stype || keep_triangle(b, h, info, e);
}
