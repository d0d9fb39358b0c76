/* Finds nodes by the sums of rows over the columns of each unknown. */
#include "nodes.h"
#include "csr.h"

#include <math.h>
#include <stdbool.h>

static int64_t unknown_of(const struct csr *A, int64_t block, enum node_order order, int64_t col)
{
    return order == NODES_TOGETHER ? col % block : col / (A->cols / block);
}

/* Has row i entries in the columns of every unknown, and are their sums 0 up to rounding errors? */
static bool sums_to_0(const struct csr *A, int64_t block, enum node_order order, int64_t i)
{
    static const double ROUNDING = 1e-10;
    double sum[BLOCK_MOST] = {0}, size[BLOCK_MOST] = {0}, all = 0;
    bool fits = true;
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
        int64_t u = unknown_of(A, block, order, A->col[k]);
        sum[u] += A->val[k];
        size[u] += fabs(A->val[k]);
        all += fabs(A->val[k]);
    }
    for (int64_t u = 0; u < block; u++) fits = fits && size[u] > ROUNDING * all && fabs(sum[u]) <= ROUNDING * all;
    return fits;
}

static bool fits_half(const struct csr *A, int64_t block, enum node_order order)
{
    enum { SAMPLE = 1000 };
    int64_t n = A->rows < SAMPLE ? A->rows : SAMPLE, fit = 0;
    for (int64_t k = 0; k < n; k++) fit += sums_to_0(A, block, order, k * A->rows / n);
    return n && 2 * fit >= n;
}

enum node_order nodes_order(const struct csr *A, int64_t block)
{
    if (A->imag || A->rows % block) return NODES_NONE;
    for (enum node_order order = NODES_TOGETHER; order <= NODES_BY_UNKNOWN; order++)
        if (fits_half(A, block, order)) return order;
    return NODES_NONE;
}
