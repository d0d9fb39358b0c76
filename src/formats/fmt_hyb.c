/* HYB: an ELL part for the first `width` entries of each row, and a COO part, sorted by row, for the other entries. */
#include "fmt_hyb.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "fmt_ell.h"
#include "format.h"
#include "matrix/csr.h"

/* The largest width such that at least a third of the rows have `width` or more entries. */
static bool choose_width(const struct csr *A, int64_t *width, struct err *e)
{
    int64_t longest = csr_longest_row(A), rows = 0, w;
    int64_t *count = mem_zero(longest + 1, sizeof *count, "a count of row lengths", e);
    if (!count) return false;
    struct loop l = loop_of("counting row lengths", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) count[csr_row_length(A, i)]++;
    for (w = longest; w > 0; w--) {
        rows += count[w];
        if (3 * rows >= A->rows) break;
    }
    mem_free(count);
    *width = w;
    return loop_end(&l, e);
}

void hyb_sizes(struct stored *S, int64_t over)
{
    plan_array(S, "ell_col", ROLE_COLUMNS, T_I32, S->rows * S->param[0]);
    plan_values(S, "ell_val", S->rows * S->param[0]);
    plan_array(S, "row", ROLE_ROWS, T_I32, over);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, over);
    plan_values(S, "val", over);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    if (S->param[0] == 0 && !choose_width(A, &S->param[0], e)) return false;
    struct loop l = loop_of("planning the overflow", A->rows);
    int64_t width = S->param[0], over = 0;
#pragma omp parallel for schedule(static) reduction(+ : over) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            int64_t n = csr_row_length(A, i);
            over += n > width ? n - width : 0;
        }
    hyb_sizes(S, over);
    return loop_end(&l, e);
}

static void put_overflow(const struct csr *A, struct stored *S)
{
    int *row = S->a[HYB_ROW].data, *col = S->a[HYB_COL].data;
    int64_t at = 0;
    struct loop l = loop_of("packing the overflow", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++)
        for (int64_t k = A->rowptr[i] + S->param[0]; k < A->rowptr[i + 1]; k++, at++) {
            row[at] = (int)i;
            col[at] = A->col[k];
            put_value(&S->a[HYB_VAL], at, A, k);
        }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    ell_put(A, S->param[0], &S->a[HYB_ELL_COL], &S->a[HYB_ELL_VAL]);
    put_overflow(A, S);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *row = S->a[HYB_ROW].data, *col = S->a[HYB_COL].data;
    if (k == HYB_ELL_COL || k == HYB_ELL_VAL) return ell_where(S, &S->a[HYB_ELL_COL], i);
    return (struct place){SLOT_ENTRY, row[i], col[i]};
}

const struct format format_hyb = {
    .name = "hyb",
    .aliases = "hybrid",
    .about = "ELL with a width that many rows fill, and COO for the overflow",
    .source = "NOTES; default width [ours], after Bell and Garland 2009",
    .params = {{"width", 0, 0, INT32_MAX,
                "slots per row in the ELL part; 0 = the largest width that at least 1/3 of the rows fill"}},
    .spills = true,
    .value = -1,
    .values = {HYB_ELL_VAL, HYB_VAL, -1},
    .plan = plan,
    .pack = pack,
    .where = where,
};
