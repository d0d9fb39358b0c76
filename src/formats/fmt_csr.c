/* CSR: row i has entries ptr[i] .. ptr[i+1]-1 of col and val. All conversions start from CSR. */
#include "fmt_csr.h"
#include "base/search.h"
#include "format.h"
#include "matrix/csr.h"

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, A->rows + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, A->nnz);
    plan_values(S, "val", A->nnz);
    return true;
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    put_ints(&S->a[CSR_PTR], A->rowptr);
    put_ints(&S->a[CSR_COL], A->col);
    put_values(&S->a[CSR_VAL], A);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *ptr = S->a[CSR_PTR].data, *col = S->a[CSR_COL].data;
    if (k == CSR_PTR) return (struct place){SLOT_POINTER, i < S->rows ? i : -1, -1};
    return (struct place){SLOT_ENTRY, span_of(ptr, S->rows, i), col[i]};
}

const struct format format_csr = {
    .name = "csr",
    .aliases = "crs",
    .about = "compressed rows: one pointer per row, column and value per entry",
    .source = "THESIS, fig. 2.3",
    .raw = true,
    .interchange = true,
    .value = CSR_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
