/* The distribution of row lengths, and the imbalance of warps in which each thread processes a row. */
#include "rows.h"
#include "base/base.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/search.h"
#include "csr.h"

#include <string.h>

/* ---- lengths ---- */

void row_lengths_free(struct row_lengths *l)
{
    mem_free(l->length);
    mem_free(l->below);
    mem_free(l->entries);
    *l = (struct row_lengths){0};
}

/* Collect the lengths that occur; count[k] is the number of rows of length k, for k = 0 .. most. */
static bool fill(struct row_lengths *l, const int64_t *count, int64_t most, struct err *e)
{
    int64_t n = 0;
    for (int64_t k = 0; k <= most; k++) n += count[k] > 0;
    l->length = mem_new(n, sizeof *l->length, "row lengths", e);
    l->below = mem_zero(n + 1, sizeof *l->below, "row lengths", e);
    l->entries = mem_zero(n + 1, sizeof *l->entries, "row lengths", e);
    if (!l->length || !l->below || !l->entries) return false;
    for (int64_t k = 0; k <= most; k++) {
        if (!count[k]) continue;
        l->length[l->n] = k;
        l->below[l->n + 1] = l->below[l->n] + count[k];
        l->entries[l->n + 1] = l->entries[l->n] + count[k] * k;
        l->n++;
    }
    return true;
}

bool row_lengths_of(const struct csr *A, struct row_lengths *out, struct err *e)
{
    int64_t most = 0;
    *out = (struct row_lengths){.A = A};
    if (A->rows == 0) return true;
    struct loop l = loop_of("row lengths", 2 * A->rows);
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++)
        if (csr_row_length(A, r) > most) most = csr_row_length(A, r);
    int64_t *count = mem_zero(most + 1, sizeof *count, "row lengths", e);
    for (int64_t r = 0; count && r < A->rows && loop_goes(&l, A->rows + r); r++) count[csr_row_length(A, r)]++;
    bool ok = count && loop_end(&l, e) && fill(out, count, most, e);
    mem_free(count);
    if (!ok) row_lengths_free(out);
    return ok;
}

int64_t row_lengths_find(const struct row_lengths *l, int64_t length)
{
    int64_t low = 0, high = l->n;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (l->length[mid] < length)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* The index in l->length of the length of the row at this rank. */
static int64_t step_at(const struct row_lengths *l, int64_t rank)
{
    int64_t low = 0, high = l->n - 1;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (l->below[mid + 1] <= rank)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

int64_t row_length_at(const struct row_lengths *l, int64_t rank)
{
    return l->length[step_at(l, rank)];
}

int64_t row_length_quantile(const struct row_lengths *l, int percent)
{
    int64_t rows = l->below[l->n], need = (rows * percent + 99) / 100;
    return row_length_at(l, need > 0 ? need - 1 : 0);
}

int64_t row_at_rank(const struct row_lengths *l, int64_t rank)
{
    int64_t k = step_at(l, rank), nth = rank - l->below[k];
    for (int64_t r = 0; r < l->A->rows; r++)
        if (csr_row_length(l->A, r) == l->length[k] && nth-- == 0) return r;
    return l->A->rows - 1;
}

int64_t rank_of_row(const struct row_lengths *l, int64_t row)
{
    int64_t length = csr_row_length(l->A, row), rank = l->below[row_lengths_find(l, length)];
    for (int64_t r = 0; r < row; r++) rank += csr_row_length(l->A, r) == length;
    return rank;
}

/* ---- warps ---- */

double warp_cost(const struct csr *A, int64_t row)
{
    int64_t end = row + WARP_ROWS < A->rows ? row + WARP_ROWS : A->rows, longest = 0;
    for (int64_t r = row; r < end; r++)
        if (csr_row_length(A, r) > longest) longest = csr_row_length(A, r);
    int64_t entries = csr_start(A, end) - csr_start(A, row);
    return entries ? (double)(WARP_ROWS * longest) / (double)entries : 0;
}

static const int64_t cost_bins[] = {100, 105, 125, 150, 200, 300, 400, 600, 800, 1200, 1600, 2400, 3201};

void warps_of(const struct csr *A, struct warps *out)
{
    struct warps w = {.n = (A->rows + WARP_ROWS - 1) / WARP_ROWS};
    double work = 0, sum = 0;
    w.costs.n = COUNT(cost_bins) - 1;
    memcpy(w.costs.from, cost_bins, sizeof cost_bins);
    for (int64_t row = 0; row < A->rows; row += WARP_ROWS) {
        int64_t end = row + WARP_ROWS < A->rows ? row + WARP_ROWS : A->rows;
        double cost = warp_cost(A, row);
        w.idle += cost == 0;
        if (cost == 0) continue;
        w.costs.count[span_of_wide(w.costs.from, w.costs.n, (int64_t)(cost * HUNDREDTHS))]++;
        sum += cost;
        work += cost * (double)(csr_start(A, end) - csr_start(A, row));
        if (cost > w.worst) w.worst = cost, w.worst_row = row;
    }
    for (int k = 0; k < w.costs.n; k++)
        if (w.costs.count[k] > w.costs.most) w.costs.most = w.costs.count[k];
    if (w.n > w.idle) w.mean = sum / (double)(w.n - w.idle);
    if (A->nnz) w.whole = work / (double)A->nnz;
    *out = w;
}
