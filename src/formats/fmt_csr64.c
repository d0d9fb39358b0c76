/* CSR with row pointers of 64 bits: row i has entries ptr[i] .. ptr[i+1]-1 of col and val. The columns keep their 32
   bits, so an entry needs as many bytes as in csr. Stores small matrices and large ones. */
#include "fmt_csr64.h"
#include "base/loop.h"
#include "base/search.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    plan_array(S, "ptr", ROLE_POINTERS, T_I64, A->rows + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, A->nnz);
    plan_values(S, "val", A->nnz);
    return true;
}

/* A large matrix has these arrays itself, except values that are rounded or complex. */
static void *of_large(const struct csr *A, const struct stored *S, int k)
{
    if (k == CSR64_PTR) return A->rowptr64;
    if (k == CSR64_COL) return A->col;
    return S->real == P_F64 ? A->val : NULL;
}

static void put_starts(struct array *a, const struct csr *A)
{
    int64_t *ptr = a->data;
    struct loop l = loop_of("row pointers", a->n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES * 16) if (a->n > THREADS_FROM)
    for (int64_t from = 0; from < a->n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, a->n); i < end; i++) ptr[i] = csr_start(A, i);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    if (!S->a[CSR64_PTR].lent) put_starts(&S->a[CSR64_PTR], A);
    if (!S->a[CSR64_COL].lent) put_ints(&S->a[CSR64_COL], A->col);
    if (!S->a[CSR64_VAL].lent) put_values(&S->a[CSR64_VAL], A);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    const int64_t *ptr = S->a[CSR64_PTR].data;
    const int *col = S->a[CSR64_COL].data;
    if (k == CSR64_PTR) return (struct place){SLOT_POINTER, i < S->rows ? i : -1, -1};
    return (struct place){SLOT_ENTRY, span_of_wide(ptr, S->rows, i), col[i]};
}

const struct format format_csr64 = {
    .name = "csr64",
    .about = "csr with row pointers of 64 bits: for more than 2,147,483,647 rows or nonzeros",
    .source = "[ours]",
    .raw = true,
    .value = CSR64_VAL,
    .of_large = of_large,
    .plan = plan,
    .pack = pack,
    .where = where,
};
