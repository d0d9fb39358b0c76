/* Row and column scales that make all rows and columns of a matrix about equally large. */
#include "equilibrate.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"

#include <math.h>

enum { ROUNDS = 10 };

/* The binary logarithms of the scales, and of the largest entry of each scaled row and column. */
struct logs {
    double *row, *col, *row_most, *col_most;
};

static bool logs_new(struct logs *g, int64_t rows, int64_t cols, struct err *e)
{
    double *all = mem_zero(2 * (rows + cols), sizeof *all, "the scales of rows and columns", e);
    if (!all) return false;
    *g = (struct logs){all, all + rows, all + rows + cols, all + 2 * rows + cols};
    return true;
}

static void find_largest(const struct csr *A, struct logs *g, struct loop *l)
{
    for (int64_t i = 0; i < A->rows; i++) g->row_most[i] = -INFINITY;
    for (int64_t j = 0; j < A->cols; j++) g->col_most[j] = -INFINITY;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(l, k); k++) {
            double size = csr_abs(A, k);
            if (!(size > 0) || !isfinite(size)) continue;
            int64_t j = A->col[k];
            double log = ilogb(size) + g->row[i] + g->col[j];
            if (log > g->row_most[i]) g->row_most[i] = log;
            if (log > g->col_most[j]) g->col_most[j] = log;
        }
}

/* Returns the largest change. */
static double correct(int64_t n, const double *most, double *scale)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(most[i])) continue;
        scale[i] -= most[i] / 2;
        largest = fmax(largest, fabs(most[i] / 2));
    }
    return largest;
}

static void to_integers(int64_t n, const double *scale, int *out)
{
    for (int64_t i = 0; i < n; i++) out[i] = (int)lround(scale[i]);
}

bool equilibrate(const struct csr *A, int *row, int *col, struct err *e)
{
    struct logs g;
    struct loop l = loop_of("the scales of rows and columns", A->nnz);
    bool goes = logs_new(&g, A->rows, A->cols, e);
    if (!goes) return false;
    for (int turn = 0; turn < ROUNDS && goes; turn++) {
        find_largest(A, &g, &l);
        double rows = correct(A->rows, g.row_most, g.row), cols = correct(A->cols, g.col_most, g.col);
        goes = fmax(rows, cols) > 0.5;
    }
    to_integers(A->rows, g.row, row);
    to_integers(A->cols, g.col, col);
    mem_free(g.row);
    return loop_end(&l, e);
}
