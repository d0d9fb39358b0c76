/* Rows and columns of a matrix, multiplied by powers of two so that their norms are about 1. */
#include "equilibrate.h"
#include "base/loop.h"
#include "base/mem.h"
#include "csr.h"

#include <math.h>

/* Rounds with the largest |a|, after which no value is far above 1, and rounds with 2-norms. */
enum { ROUNDS_MAX = 8, ROUNDS_NORM = 25 };

/* Logarithms to base 2: of the size of each row and column, -INFINITY if it is 0; and of the scales. */
struct logs {
    double *row_size, *col_size, *row, *col;
    double *entry; /* log2 |a| */
};

static bool logs_new(struct logs *l, const struct csr *A, struct err *e)
{
    int64_t n = A->rows + A->cols;
    double *room = mem_zero(2 * n + A->nnz, sizeof *room, "the scales of rows and columns", e);
    if (!room) return false;
    *l = (struct logs){room, room + A->rows, room + n, room + n + A->rows, room + 2 * n};
    return true;
}

static bool read_entries(struct logs *l, const struct csr *A, struct err *e)
{
    struct loop loop = loop_of("the scales of rows and columns", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&loop, k); k++) l->entry[k] = log2(csr_abs(A, k));
    return loop_end(&loop, e);
}

/* The largest |a| of each row and column of the matrix as it is scaled so far. */
static bool find_maxima(struct logs *l, const struct csr *A, struct err *e)
{
    struct loop loop = loop_of("the scales of rows and columns", A->nnz);
    for (int64_t i = 0; i < A->rows + A->cols; i++) l->row_size[i] = -INFINITY;
    for (int64_t i = 0; i < A->rows && loop_runs(&loop); i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&loop, k); k++) {
            int64_t j = A->col[k];
            double a = l->entry[k] + (l->row[i] + l->col[j]); /* the same for (i, j) and (j, i) */
            l->row_size[i] = fmax(l->row_size[i], a);
            l->col_size[j] = fmax(l->col_size[j], a);
        }
    return loop_end(&loop, e);
}

/* The 2-norm of each row and column of the matrix as it is scaled so far. */
static bool find_norms(struct logs *l, const struct csr *A, struct err *e)
{
    struct loop loop = loop_of("the scales of rows and columns", A->nnz);
    for (int64_t i = 0; i < A->rows + A->cols; i++) l->row_size[i] = 0;
    for (int64_t i = 0; i < A->rows && loop_runs(&loop); i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&loop, k); k++) {
            int64_t j = A->col[k];
            double square = exp2(2 * (l->entry[k] + (l->row[i] + l->col[j])));
            l->row_size[i] += square;
            l->col_size[j] += square;
        }
    for (int64_t i = 0; i < A->rows + A->cols; i++) l->row_size[i] = log2(l->row_size[i]) / 2;
    return loop_end(&loop, e);
}

static void update(double *scale, const double *most, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isfinite(most[i])) scale[i] -= most[i] / 2;
}

static double range_of_finite(const double *most, int64_t n)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(most[i])) continue;
        low = fmin(low, most[i]);
        high = fmax(high, most[i]);
    }
    return high >= low ? exp2(high - low) : 1;
}

bool csr_imbalance(const struct csr *A, struct imbalance *out, struct err *e)
{
    struct logs l;
    if (!logs_new(&l, A, e)) return false;
    bool ok = read_entries(&l, A, e) && find_maxima(&l, A, e);
    if (ok) *out = (struct imbalance){range_of_finite(l.row_size, A->rows), range_of_finite(l.col_size, A->cols)};
    mem_free(l.row_size);
    return ok;
}

bool csr_scale_by_powers(struct csr *A, const int *row, const int *col, struct err *e)
{
    struct loop loop = loop_of("scaling", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&loop); i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&loop, k); k++) {
            int by = row[i] + col[A->col[k]];
            A->val[k] = ldexp(A->val[k], by);
            if (A->imag) A->imag[k] = ldexp(A->imag[k], by);
        }
    return loop_end(&loop, e);
}

/* A matrix that is symmetric up to rounding errors gets the same scales for row and column i, also where rounding to a
   power of two would tell them apart. */
static void join_equal(struct logs *l, const struct csr *A)
{
    static const double same = 1e-6;
    double most = 0;
    for (int64_t i = 0; A->rows == A->cols && i < A->rows; i++) most = fmax(most, fabs(l->row[i] - l->col[i]));
    for (int64_t i = 0; A->rows == A->cols && most < same && i < A->rows; i++) l->row[i] = l->col[i];
}

/* `rounds` rounds, of which the first ROUNDS_MAX use the largest |a| as the size of a row or column. */
static bool find_scales(const struct csr *A, int rounds, int *row, int *col, struct err *e)
{
    struct logs l;
    if (!logs_new(&l, A, e)) return false;
    bool ok = read_entries(&l, A, e);
    for (int r = 0; ok && r < rounds; r++) {
        ok = (r < ROUNDS_MAX ? find_maxima : find_norms)(&l, A, e);
        update(l.row, l.row_size, A->rows);
        update(l.col, l.col_size, A->cols);
    }
    join_equal(&l, A);
    for (int64_t i = 0; i < A->rows; i++) row[i] = (int)lrint(l.row[i]);
    for (int64_t j = 0; j < A->cols; j++) col[j] = (int)lrint(l.col[j]);
    mem_free(l.row_size);
    return ok;
}

bool equilibrate(const struct csr *A, int *row, int *col, struct err *e)
{
    return find_scales(A, ROUNDS_MAX, row, col, e);
}

bool csr_equilibrate(struct csr *out, const struct csr *A, int *row, int *col, struct err *e)
{
    if (!find_scales(A, ROUNDS_MAX + ROUNDS_NORM, row, col, e) || !csr_copy(out, A, e)) return false;
    if (csr_scale_by_powers(out, row, col, e)) return true;
    csr_free(out);
    return false;
}
