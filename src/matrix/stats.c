/* Statistics of a matrix: row lengths, bandwidth, diagonals, dominance; and the histogram of row lengths. */
#include "stats.h"
#include "base/base.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/threads.h"
#include "base/watch.h"
#include "csr.h"
#include "row_slices.h"
#include "rows.h"

#include <math.h>
#include <string.h>

/* ---- row lengths ---- */

/* Insert row into the list of the longest rows. The caller passes rows in ascending order, so rows of equal length stay
   in that order. */
static void note_length(const struct csr *A, int64_t row, struct stats *s)
{
    int64_t length = csr_row_length(A, row);
    int k = s->nlongest;
    if (k == COUNT(s->longest) && csr_row_length(A, s->longest[k - 1]) >= length) return;
    if (k < COUNT(s->longest))
        s->nlongest++;
    else
        k--;
    for (; k > 0 && csr_row_length(A, s->longest[k - 1]) < length; k--) s->longest[k] = s->longest[k - 1];
    s->longest[k] = row;
}

/* The length of the nth row in ascending order of length; count[k] is the number of rows of length k. */
static int64_t nth_length(const int64_t *count, int64_t nth)
{
    int64_t length = 0;
    for (; nth >= count[length]; length++) nth -= count[length];
    return length;
}

bool stats_rows(const struct csr *A, struct stats *s, struct err *e)
{
    *s = (struct stats){0};
    struct loop l = loop_of("row lengths", A->rows);
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++) note_length(A, r, s);
    if (!loop_end(&l, e)) return false;
    if (A->rows == 0) return true;
    s->row_max = csr_row_length(A, s->longest[0]);
    int64_t *count = mem_zero(s->row_max + 1, sizeof *count, "row lengths", e);
    if (!count) return false;
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++) count[csr_row_length(A, r)]++;
    if (!loop_end(&l, e)) {
        mem_free(count);
        return false;
    }
    s->empty_rows = count[0];
    s->row_min = nth_length(count, 0);
    s->row_mean = (double)A->nnz / (double)A->rows;
    s->row_median = (double)(nth_length(count, (A->rows - 1) / 2) + nth_length(count, A->rows / 2)) / 2;
    double sum = 0;
    for (int64_t k = 0; k <= s->row_max; k++) {
        double off = (double)k - s->row_mean;
        sum += (double)count[k] * off * off;
    }
    s->row_std = sqrt(sum / (double)A->rows);
    mem_free(count);
    return true;
}

/* ---- entries ---- */

/* The results of one thread; they may be merged in any order. */
struct part {
    int64_t bandwidth, explicit_zeros, zero_diagonal, dominant_rows;
    double value_min, value_max;
};

/* Set bit `at`, which stands for one diagonal. Most bits are already set, so read the bit first and do the atomic write
   only if needed. */
static void mark_diagonal(uint64_t *bits, int64_t at)
{
    uint64_t bit = 1ull << (at & 63), *word = bits + (at >> 6);
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

static void scan_row(const struct csr *A, int64_t r, uint64_t *bits, struct part *p)
{
    double diagonal = 0, others = 0;
    for (int64_t k = csr_start(A, r), end = csr_start(A, r + 1); k < end; k++) {
        int64_t away = A->col[k] - r;
        double size = csr_abs(A, k), v = A->imag ? size : A->val[k];
        if (away == 0)
            diagonal = size;
        else
            others += size;
        p->explicit_zeros += size == 0;
        if (v < p->value_min) p->value_min = v;
        if (v > p->value_max) p->value_max = v;
        mark_diagonal(bits, away + A->rows - 1);
    }
    p->zero_diagonal += diagonal == 0;
    p->dominant_rows += diagonal > 0 && diagonal >= others;
    if (csr_start(A, r) == csr_start(A, r + 1)) return;
    int64_t left = r - A->col[csr_start(A, r)], right = A->col[csr_start(A, r + 1) - 1] - r;
    if (left > p->bandwidth) p->bandwidth = left;
    if (right > p->bandwidth) p->bandwidth = right;
}

static void merge(struct part *all, const struct part *p)
{
    all->explicit_zeros += p->explicit_zeros;
    all->zero_diagonal += p->zero_diagonal;
    all->dominant_rows += p->dominant_rows;
    if (p->bandwidth > all->bandwidth) all->bandwidth = p->bandwidth;
    if (p->value_min < all->value_min) all->value_min = p->value_min;
    if (p->value_max > all->value_max) all->value_max = p->value_max;
}

static void scan_rows(const struct csr *A, int64_t from, int64_t to, uint64_t *bits, struct part *all)
{
#pragma omp parallel if (csr_start(A, to) - csr_start(A, from) > THREADS_FROM)
    {
        struct part mine = {.value_min = INFINITY, .value_max = -INFINITY};
#pragma omp for schedule(guided)
        for (int64_t r = from; r < to; r++) scan_row(A, r, bits, &mine);
#pragma omp critical(stats_merge)
        merge(all, &mine);
    }
}

static bool entries(const struct csr *A, struct watch *w, struct stats *s, struct err *e)
{
    int64_t words = (A->rows + A->cols) / 64 + 1;
    struct part all = {.value_min = INFINITY, .value_max = -INFINITY};
    uint64_t *bits = mem_zero(words, sizeof *bits, "occupied diagonals", e);
    if (!bits) return false;
    bool ok = true;
    for (int64_t from = 0, to; ok && from < A->rows; from = to) {
        to = slice_end(A, from, A->rows);
        scan_rows(A, from, to, bits, &all);
        ok = watch_tick(w, "statistics", csr_start(A, to), A->nnz, e);
    }
    struct loop l = loop_of("statistics", words);
    for (int64_t k = 0; k < words && loop_goes(&l, k); k++) s->diagonals += __builtin_popcountll(bits[k]);
    mem_free(bits);
    bool square = A->rows == A->cols, any = all.value_min <= all.value_max;
    s->bandwidth = all.bandwidth;
    s->explicit_zeros = all.explicit_zeros;
    s->zero_diagonal = square ? all.zero_diagonal : 0;
    s->dominant_rows = square ? all.dominant_rows : 0;
    s->value_min = any ? all.value_min : 0;
    s->value_max = any ? all.value_max : 0;
    return ok && loop_end(&l, e);
}

bool stats_of(const struct csr *A, struct watch *w, struct stats *out, struct err *e)
{
    struct stats s = {0};
    if (!stats_rows(A, &s, e) || !entries(A, w, &s, e)) return false;
    if (!symmetry_of(A, w, &s.symmetry, e)) return false;
    *out = s;
    return true;
}

/* ---- histogram ---- */

static void linear_bins(struct histogram *h, int64_t least, int64_t most, int bins)
{
    int64_t width = (most - least + bins) / bins;
    for (h->n = 0; least + h->n * width <= most; h->n++) h->from[h->n] = least + h->n * width;
    h->from[h->n] = least + h->n * width;
}

/* Use the bins 0, 1, 2-3, 4-7, ... If that gives more than `bins` bins, each bin is 4, 8, ... times as wide as the bin
   before it. */
static void log_bins(struct histogram *h, int64_t least, int64_t most, int bins)
{
    h->log = true;
    for (int power = 1; power == 1 || h->n > bins; power++) {
        int64_t from = least ? 1 : 0, next = 1;
        for (; from && next << power <= least; from = next) next <<= power;
        h->n = 0;
        for (; from <= most; from = from ? from << power : 1) h->from[h->n++] = from;
        h->from[h->n] = from;
    }
}

/* Choose bins for lengths least .. most. On entry, all counts in *h are 0. */
static void choose_bins(struct histogram *h, int64_t least, int64_t most, int bins)
{
    bins = bins < 1 ? 1 : bins > COUNT(h->count) ? COUNT(h->count) : bins;
    if (most - least < 2 * bins || bins < 3)
        linear_bins(h, least, most, bins);
    else
        log_bins(h, least, most, bins);
}

void histogram_from(const struct row_lengths *l, int bins, struct histogram *out)
{
    memset(out, 0, sizeof *out);
    if (l->n == 0) return;
    choose_bins(out, l->length[0], l->length[l->n - 1], bins);
    for (int64_t i = 0, k = 0; i < l->n; i++) {
        while (l->length[i] >= out->from[k + 1]) k++;
        out->count[k] += l->below[i + 1] - l->below[i];
        if (out->count[k] > out->most) out->most = out->count[k];
    }
}

void histogram_of(const struct csr *A, int bins, struct histogram *out)
{
    memset(out, 0, sizeof *out);
    if (A->rows == 0) return;
    int64_t least = INT64_MAX, most = 0;
    for (int64_t r = 0; r < A->rows; r++) {
        int64_t length = csr_row_length(A, r);
        if (length < least) least = length;
        if (length > most) most = length;
    }
    choose_bins(out, least, most, bins);
    int k = 0;
    for (int64_t r = 0; r < A->rows; r++) {
        int64_t length = csr_row_length(A, r);
        if (length < out->from[k] || length >= out->from[k + 1]) k = span_of_wide(out->from, out->n, length);
        out->count[k]++;
    }
    for (k = 0; k < out->n; k++)
        if (out->count[k] > out->most) out->most = out->count[k];
}
