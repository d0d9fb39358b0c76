/* SELL-C-sigma: rows are sorted by length, longest first, in windows of sigma rows, then cut into slices of C rows.
   Each slice is an ELL matrix of its own width. Slot ptr[s] + k*C + lane is that of element k of row perm[s*C + lane].

   The default C is the warp size. The default sigma is 32 slices, which makes the row lengths within a slice similar
   but keeps neighbouring rows close together, so that reads of x still hit the cache. The last slice is padded with
   filler rows, which have perm -1. */
#include "fmt_sell.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"
#include "slices.h"

bool sell_sizes(struct stored *S, int64_t slots, struct err *e)
{
    int64_t C = S->param[0], slices = (S->rows + C - 1) / C;
    if (slots > INT32_MAX)
        return fail(e, E_LIMIT,
                    "sell: 32-bit slice pointers allow at most %d slots, not %lld; use a smaller C or a larger sigma",
                    INT32_MAX, (long long)slots);
    plan_array(S, "perm", ROLE_ROW_ORDER, T_I32, slices * C);
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, slices + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, slots);
    plan_values(S, "val", slots);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t C = S->param[0], slices = (A->rows + C - 1) / C, slots = 0;
    int64_t *key = slices_sort(A->rowptr, A->rows, S->param[1], e);
    if (!key) return false;
    for (int64_t s = 0; s < slices; s++) slots += C * slices_width(A->rowptr, A->rows, key, C, s);
    mem_free(key);
    return sell_sizes(S, slots, e);
}

/* Row -1 is a filler, which has only padding. */
static void put_row(const struct csr *A, int64_t row, int64_t start, int64_t width, struct stored *S)
{
    int *col = S->a[SELL_COL].data;
    int64_t C = S->param[0], first = 0, n = 0;
    if (row >= 0) {
        first = A->rowptr[row];
        n = csr_row_length(A, row);
    }
    for (int64_t k = 0; k < width; k++) {
        int64_t slot = start + k * C;
        col[slot] = k < n ? A->col[first + k] : -1;
        if (k < n) put_value(&S->a[SELL_VAL], slot, A, first + k);
    }
}

static void put_slices(const struct csr *A, const int64_t *key, struct stored *S)
{
    int *perm = S->a[SELL_PERM].data, *ptr = S->a[SELL_PTR].data;
    int64_t C = S->param[0], slices = S->a[SELL_PTR].n - 1;
    for (int64_t s = 0; s < slices; s++) ptr[s + 1] = ptr[s] + (int)(C * slices_width(A->rowptr, A->rows, key, C, s));
    struct loop l = loop_of("packing rows", slices * C);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < slices * C; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, slices * C); k < end; k++) {
            int64_t s = k / C;
            perm[k] = k < A->rows ? (int)slices_row(key, k) : -1;
            put_row(A, perm[k], ptr[s] + k % C, (ptr[s + 1] - ptr[s]) / C, S);
        }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t *key = slices_sort(A->rowptr, A->rows, S->param[1], e);
    if (!key) return false;
    put_slices(A, key, S);
    mem_free(key);
    return true;
}

/* A slice pointer refers to the first row of its slice. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *perm = S->a[SELL_PERM].data, *ptr = S->a[SELL_PTR].data, *col = S->a[SELL_COL].data;
    int64_t C = S->param[0], slices = S->a[SELL_PTR].n - 1;
    if (k == SELL_PERM) return (struct place){perm[i] < 0 ? SLOT_PADDING : SLOT_POINTER, perm[i], -1};
    if (k == SELL_PTR) return (struct place){SLOT_POINTER, i < slices ? perm[i * C] : -1, -1};
    int64_t s = span_of(ptr, slices, i), row = perm[s * C + i % C];
    return (struct place){col[i] < 0 ? SLOT_PADDING : SLOT_ENTRY, row, col[i]};
}

const struct format format_sell = {
    .name = "sell",
    .aliases = "sell-c-sigma sellcs sliced-ell",
    .about = "SELL-C-sigma: slices of C rows sorted by length, each padded to its own width",
    .source = "Kreutzer et al. 2014; C and sigma [ours]",
    .params = {{"C", 32, 1, 1024, "rows per slice"},
               {"sigma", 1024, 1, INT32_MAX, "rows per sorting window; 1 = no sorting"}},
    .value = SELL_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
