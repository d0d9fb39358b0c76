/* Count the sectors of x that groups of rows read, with one bit per sector and thread. */
#include "gathers.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"

#include <omp.h>

enum { BITS = 64, FEW_ENTRIES = 1 << 18 };

/* Count the distinct sectors in the entries from .. end-1, in which `seen` is all zero before and after. */
static int64_t distinct(const struct csr *A, int64_t from, int64_t end, int values, uint64_t *seen)
{
    int64_t n = 0;
    for (int64_t k = from; k < end; k++) {
        int64_t sector = A->col[k] / values;
        uint64_t bit = (uint64_t)1 << sector % BITS;
        n += !(seen[sector / BITS] & bit);
        seen[sector / BITS] |= bit;
    }
    for (int64_t k = from; k < end; k++) seen[A->col[k] / values / BITS] = 0;
    return n;
}

/* Groups of ROWS_AT_ONCE rows, or of `entries` entries if that is not 0. */
struct grouping {
    const struct csr *A;
    int64_t entries, n;
};

static struct grouping grouping_of(const struct csr *A, int64_t entries)
{
    int64_t all = entries ? A->nnz : A->rows, each = entries ? entries : ROWS_AT_ONCE;
    return (struct grouping){A, entries, (all + each - 1) / each};
}

/* The first entry of group g; the number of entries if g is the number of groups. */
static int64_t first_entry(const struct grouping *q, int64_t g)
{
    const struct csr *A = q->A;
    if (g == q->n) return A->nnz;
    return q->entries ? g * q->entries : csr_start(A, g * ROWS_AT_ONCE);
}

static bool count(const struct grouping *q, int values, int64_t *out, struct err *e)
{
    const struct csr *A = q->A;
    int threads = A->nnz > FEW_ENTRIES ? omp_get_max_threads() : 1;
    int64_t words = A->cols / values / BITS + 1, total = 0;
    uint64_t *seen = mem_zero(words * threads, sizeof *seen, "the sectors of x that were seen", e);
    if (!seen) return false;
    struct loop l = loop_of("gathers", q->n);
#pragma omp parallel for schedule(dynamic) reduction(+ : total) num_threads(threads)
    for (int64_t g = 0; g < q->n; g++) {
        if (!loop_check(&l, g)) continue;
        total += distinct(A, first_entry(q, g), first_entry(q, g + 1), values, seen + words * omp_get_thread_num());
    }
    mem_free(seen);
    *out = total;
    return loop_end(&l, e);
}

bool csr_gathers(const struct csr *A, int values, int64_t *out, struct err *e)
{
    struct grouping q = grouping_of(A, 0);
    return count(&q, values, out, e);
}

bool csr_gathers_in_runs(const struct csr *A, int values, int64_t entries, int64_t *out, struct err *e)
{
    struct grouping q = grouping_of(A, entries);
    return count(&q, values, out, e);
}
