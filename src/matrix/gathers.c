/* Count the sectors of x that groups of rows read, with one bit per sector and thread. */
#include "gathers.h"
#include "csr.h"
#include "base/loop.h"
#include "base/mem.h"

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

bool csr_gathers(const struct csr *A, int values, int64_t *out, struct err *e)
{
    int threads = A->nnz > FEW_ENTRIES ? omp_get_max_threads() : 1;
    int64_t groups = (A->rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, words = A->cols / values / BITS + 1, total = 0;
    uint64_t *seen = mem_zero(words * threads, sizeof *seen, "the sectors of x that were seen", e);
    if (!seen) return false;
    struct loop l = loop_of("gathers", groups);
#pragma omp parallel for schedule(dynamic) reduction(+ : total) num_threads(threads)
    for (int64_t g = 0; g < groups; g++) {
        int64_t last = (g + 1) * ROWS_AT_ONCE < A->rows ? (g + 1) * ROWS_AT_ONCE : A->rows;
        if (!loop_check(&l, g)) continue;
        total += distinct(A, A->rowptr[g * ROWS_AT_ONCE], A->rowptr[last], values, seen + words * omp_get_thread_num());
    }
    mem_free(seen);
    *out = total;
    return loop_end(&l, e);
}
