/* Dense: every element of the matrix, column by column: slot j*rows + i is row i, column j. */
#include "fmt_dense.h"
#include "base/loop.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    plan_values(S, "val", A->rows * A->cols);
    return true;
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct loop l = loop_of("packing entries", A->nnz);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from; i < A->rows && i < from + LOOP_EVERY && loop_runs(&l); i++)
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++)
                put_value(&S->a[DENSE_VAL], A->col[k] * A->rows + i, A, k);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    return place_of_value(S, k, i, i % S->rows, i / S->rows);
}

const struct format format_dense = {
    .name = "dense",
    .aliases = "full",
    .about = "every element of the matrix, column by column",
    .source = "LU; column by column [ours]",
    .zeros_fade = true,
    .value = DENSE_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
