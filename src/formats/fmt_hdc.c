/* HDC: a DIA part for diagonals that are full enough, and compressed rows for all other entries. The fill of a diagonal
   is the number of its entries divided by the number of its slots. A diagonal has one slot per row of the matrix. A
   minimum fill limits the padding: with `fill` = 50%, no diagonal of the DIA part has more padding than entries, not
   even a short diagonal. */
#include "fmt_hdc.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/threads.h"
#include "diagonals.h"
#include "fmt_dia.h"
#include "format.h"
#include "matrix/csr.h"

int64_t hdc_least(const struct stored *S)
{
    return (S->param[0] * S->rows + 99) / 100;
}

/* Number the diagonals of the DIA part. */
static int *choose(const struct csr *A, const struct stored *S, int64_t *count, struct err *e)
{
    return number_diagonals(A, hdc_least(S), count, e);
}

/* The number of a row's entries that are not in the DIA part. */
static int outside_of(const struct csr *A, const int *number, int64_t row)
{
    int outside = 0;
    for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) outside += number[A->col[k] - row + A->rows] < 0;
    return outside;
}

void hdc_sizes(struct stored *S, int64_t diagonals, int64_t outside)
{
    plan_array(S, "hdc_offsets", ROLE_DIAGONALS, T_I32, diagonals);
    plan_values(S, "hdc_data", diagonals * S->rows);
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, S->rows + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, outside);
    plan_values(S, "val", outside);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t diagonals, outside = 0;
    int *number = choose(A, S, &diagonals, e);
    if (!number) return false;
    struct loop l = loop_of("planning rows", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : outside) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) outside += outside_of(A, number, i);
    mem_free(number);
    hdc_sizes(S, diagonals, outside);
    return true;
}

static void put_outside(const struct csr *A, const int *number, struct stored *S)
{
    int *ptr = S->a[HDC_PTR].data, *col = S->a[HDC_COL].data;
    struct loop l = loop_of("packing rows", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) ptr[i + 1] = outside_of(A, number, i);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) ptr[i + 1] += ptr[i];
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++) {
            int64_t at = ptr[i];
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
                if (number[A->col[k] - i + A->rows] >= 0) continue;
                col[at] = A->col[k];
                put_value(&S->a[HDC_VAL], at++, A, k);
            }
        }
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t diagonals;
    int *number = choose(A, S, &diagonals, e);
    if (!number) return false;
    put_diagonals(A, number, &S->a[HDC_OFFSETS], &S->a[HDC_DATA]);
    put_outside(A, number, S);
    mem_free(number);
    return true;
}

/* A stored zero counts as padding in the compressed rows too, so that both parts treat stored zeros in the same way. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *offsets = S->a[HDC_OFFSETS].data, *ptr = S->a[HDC_PTR].data, *col = S->a[HDC_COL].data;
    if (k == HDC_OFFSETS) return place_of_offset(0, offsets[i]);
    if (k == HDC_PTR) return (struct place){SLOT_POINTER, i < S->rows ? i : -1, -1};
    if (k == HDC_DATA) return place_of_value(S, k, i, i % S->rows, i % S->rows + offsets[i / S->rows]);
    return place_of_value(S, HDC_VAL, i, span_of(ptr, S->rows, i), col[i]);
}

/* The paper does not divide HDC into pieces; here a piece is DIA_ROWS rows, with the entries of both parts. */
static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    const int *ptr = S->a[HDC_PTR].data;
    int64_t first = k * DIA_ROWS, last = first + DIA_ROWS < S->rows ? first + DIA_ROWS : S->rows;
    if (first >= S->rows) return false;
    *operands = S->a[HDC_OFFSETS].n * (last - first) + ptr[last] - ptr[first];
    return true;
}

const struct format format_hdc = {
    .name = "hdc",
    .about = "DIA for diagonals that are full enough, compressed rows for all other entries",
    .source = "Yang et al.; DRM, sec. 2.1; threshold [ours]",
    .params = {{"fill", 50, 1, 100, "a diagonal must fill at least this % of its slots to be stored in the DIA part"}},
    .zeros_fade = true,
    .value = -1,
    .values = {HDC_DATA, HDC_VAL, -1},
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
