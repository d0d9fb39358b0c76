/* The norms of the columns: M = diag(||a_j||), so that the columns of A M^-1 have norm 1. Of all diagonal matrices,
   this one has almost the least condition of A M^-1 (van der Sluis 1969). */
#include "base/loop.h"
#include "base/mem.h"
#include "matrix/csr.h"
#include "matrix/row_slices.h"
#include "precond.h"
#include "solve.h"

#include <math.h>

struct columns {
    double *square;
    int64_t parts; /* numbers per element */
};

static bool add_squares(void *user, const struct csr *A, int64_t first, struct err *e)
{
    const struct columns *c = user;
    struct loop l = loop_of("the norms of the columns", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++)
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1) && loop_goes(&l, k); k++) {
            double size = csr_abs(A, k);
            c->square[A->col[k] * c->parts] += size * size;
        }
    return loop_end(&l, e);
}

/* A column without a nonzero keeps its 0, whatever it is divided by. */
static void invert(int64_t n, int64_t parts, double *x)
{
    for (int64_t j = 0; j < n; j += parts) x[j] = x[j] > 0 ? 1 / sqrt(x[j]) : 1;
}

static bool make(struct solve *v, struct err *e)
{
    const struct csr *A = v->system.A;
    struct columns c = {mem_zero(v->n, sizeof *c.square, "the norms of the columns", e), A->imag ? 2 : 1};
    bool ok = c.square && csr_visit_all(A, add_squares, &c, e);
    if (ok) invert(v->n, c.parts, c.square);
    ok = ok && diagonal_put(v, c.square, "the norms of the columns", e);
    mem_free(c.square);
    return ok;
}

const struct precond precond_columns = {
    .name = "columns",
    .aliases = "column-norms",
    .about = "the norms of the columns, for least squares: corrects bad scaling",
    .source = "van der Sluis 1969",
    .needs = "any matrix",
    .symmetric = true,
    .least_squares = true,
    .diagonal = true,
    .takes_complex = true,
    .making = 20,
    .make = make,
    .apply = diagonal_apply,
    .bytes = diagonal_bytes,
};
