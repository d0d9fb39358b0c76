/* ELL: every row is padded to the same width, and the rows are stored column by column, so that adjacent threads read
   adjacent slots: element k of row i is slot k*rows + i. Padding has column -1 and value 0. */
#include "fmt_ell.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/text.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

void ell_put(const struct csr *A, int64_t width, struct array *col, struct array *val)
{
    int *c = col->data;
    struct loop l = loop_of("packing rows", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            int64_t first = A->rowptr[i], n = csr_row_length(A, i);
            for (int64_t k = 0; k < width; k++) {
                int64_t slot = k * A->rows + i;
                c[slot] = k < n ? A->col[first + k] : -1;
                if (k < n) put_value(val, slot, A, first + k);
            }
        }
}

struct place ell_where(const struct stored *S, const struct array *col, int64_t i)
{
    int c = ((const int *)col->data)[i];
    return (struct place){c < 0 ? SLOT_PADDING : SLOT_ENTRY, i % S->rows, c};
}

bool ell_sizes(struct stored *S, int64_t longest, struct err *e)
{
    if (S->param[0] == 0) S->param[0] = longest;
    if (S->param[0] < longest)
        return fail(e, E_USAGE,
                    "ell: width %lld is less than the longest row, which has %s; use width 0 (the length of the "
                    "longest row) or the format hyb, which stores the overflow separately",
                    (long long)S->param[0], how_many(longest, "entry").text);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, S->rows * S->param[0]);
    plan_values(S, "val", S->rows * S->param[0]);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    return ell_sizes(S, csr_longest_row(A), e);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    ell_put(A, S->param[0], &S->a[ELL_COL], &S->a[ELL_VAL]);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    return ell_where(S, &S->a[ELL_COL], i);
}

const struct format format_ell = {
    .name = "ell",
    .aliases = "ellpack",
    .about = "rows padded to the length of the longest row, stored column by column",
    .source = "NOTES; column -1 of padding [ours]",
    .params = {{"width", 0, 0, INT32_MAX, "slots per row; 0 = the length of the longest row"}},
    .value = ELL_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
