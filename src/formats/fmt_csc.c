/* CSC: column j has entries ptr[j] .. ptr[j+1]-1 of row and val. CSC is the CSR form of the transpose. */
#include "fmt_csc.h"
#include "base/search.h"
#include "fmt_csr.h"
#include "format.h"
#include "matrix/csr.h"

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, A->cols + 1);
    plan_array(S, "row", ROLE_ROWS, T_I32, A->nnz);
    plan_values(S, "val", A->nnz);
    return true;
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct csr T = {0};
    if (!csr_transpose(&T, A, e)) return false;
    put_ints(&S->a[CSC_PTR], T.rowptr);
    put_ints(&S->a[CSC_ROW], T.col);
    put_values(&S->a[CSC_VAL], &T);
    csr_free(&T);
    return true;
}

/* A pointer refers to the column that begins at the entry to which it points. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *ptr = S->a[CSC_PTR].data, *row = S->a[CSC_ROW].data;
    if (k == CSC_PTR) return (struct place){SLOT_POINTER, -1, i < S->cols ? i : -1};
    return (struct place){SLOT_ENTRY, row[i], span_of(ptr, S->cols, i)};
}

const struct format format_csc = {
    .name = "csc",
    .aliases = "ccs",
    .about = "compressed columns: one pointer per column, row and value per entry",
    .source = "textbook",
    .raw = true,
    .transposed = &format_csr,
    .value = CSC_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
