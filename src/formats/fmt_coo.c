/* COO: row, column and value of each entry, sorted by row. */
#include "fmt_coo.h"
#include "base/loop.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    plan_array(S, "row", ROLE_ROWS, T_I32, A->nnz);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, A->nnz);
    plan_values(S, "val", A->nnz);
    return true;
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int *row = S->a[COO_ROW].data;
    struct loop l = loop_of("packing rows", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from; i < A->rows && i < from + LOOP_EVERY && loop_runs(&l); i++)
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) row[k] = (int)i;
    put_ints(&S->a[COO_COL], A->col);
    put_values(&S->a[COO_VAL], A);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *row = S->a[COO_ROW].data, *col = S->a[COO_COL].data;
    return (struct place){SLOT_ENTRY, row[i], col[i]};
}

const struct format format_coo = {
    .name = "coo",
    .aliases = "coordinate triplet",
    .about = "coordinates: row, column and value of each entry, sorted by row",
    .source = "THESIS, fig. 2.1",
    .raw = true,
    .value = COO_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
