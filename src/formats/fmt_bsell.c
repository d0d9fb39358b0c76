/* Sliced blocks: SELL-C-sigma of b x b blocks. Block rows are sorted by their number of blocks, most first, in windows
   of sigma block rows, then cut into slices of C block rows. Each slice is as wide as its widest block row.

   Step k of a slice is block k of each of its C block rows: one block column per block, and the values column by
   column of the blocks, each column over all C*b rows of the slice. With b = 2, C = 2 and the block rows I and J:

       col    I  J
       val    row  0 of I   row 1 of I   row 0 of J   row 1 of J      column 0 of the blocks
              row  0 of I   row 1 of I   row 0 of J   row 1 of J      column 1 of the blocks

   A thread that computes one row thus reads, with its neighbours, adjacent values. ptr[s] is the number of steps before
   slice s. perm lists the row at each position, C*b positions per slice, and -1 beyond the last row. Padding blocks
   have column -1 and values 0; absent entries of the other blocks, and elements beyond the matrix's edges, are 0.

   The default C fills b warps. The default sigma is 32 slices, as for sell. */
#include "fmt_bsell.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/search.h"
#include "base/threads.h"
#include "blocks.h"
#include "format.h"
#include "matrix/csr.h"
#include "slices.h"

int64_t bsell_choice(const int64_t blocks[BSELL_CHOICES], enum precision real)
{
    int64_t best = 0, least = INT64_MAX;
    for (int64_t b = BSELL_MIN; b <= BSELL_MAX; b++) {
        int64_t bytes =
            blocks[b - BSELL_MIN] * (b * b * (int64_t)type_size(precisions[real].stored) + (int64_t)sizeof(int));
        if (bytes < least) best = b, least = bytes;
    }
    return best;
}

static bool choose_block(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t blocks[BSELL_CHOICES];
    for (int k = 0; k < BSELL_CHOICES; k++)
        if (!count_blocks(A, BSELL_MIN + k, &blocks[k], e)) return false;
    S->param[0] = bsell_choice(blocks, S->real);
    return true;
}

static int64_t slices_of(const struct stored *S)
{
    int64_t tall = S->param[0] * S->param[1];
    return (S->rows + tall - 1) / tall;
}

void bsell_sizes(struct stored *S, int64_t steps)
{
    int64_t b = S->param[0], C = S->param[1], slices = slices_of(S);
    plan_array(S, "perm", ROLE_ROW_ORDER, T_I32, slices * C * b);
    plan_array(S, "ptr", ROLE_POINTERS, T_I32, slices + 1);
    plan_array(S, "col", ROLE_COLUMNS, T_I32, steps * C);
    plan_values(S, "val", steps * C * b * b);
}

/* The block rows: where the blocks of each begin, and their sorted order. */
struct order {
    int64_t n;
    int *ptr;
    int64_t *key;
};

static void order_free(struct order *o)
{
    mem_free(o->ptr);
    mem_free(o->key);
}

/* Call order_free afterwards, also on failure. */
static bool order_of(const struct csr *A, const struct stored *S, struct order *o, struct err *e)
{
    int b = (int)S->param[0];
    *o = (struct order){.n = block_rows(A, b)};
    o->ptr = mem_new(o->n + 1, sizeof *o->ptr, "block pointers", e);
    if (!o->ptr || !block_pointers(A, b, o->ptr, e)) return false;
    o->key = slices_sort(o->ptr, o->n, S->param[2], e);
    return o->key != NULL;
}

static int64_t width_of(const struct order *o, const struct stored *S, int64_t s)
{
    return slices_width(o->ptr, o->n, o->key, S->param[1], s);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct order o;
    int64_t steps = 0;
    if (S->param[0] == 0 && !choose_block(A, S, e)) return false;
    bool ok = order_of(A, S, &o, e);
    for (int64_t s = 0; ok && s < slices_of(S); s++) steps += width_of(&o, S, s);
    order_free(&o);
    if (ok) bsell_sizes(S, steps);
    return ok;
}

/* Write the blocks of block row I, the block row at position `at` of slice s. */
static void put_block_row(const struct csr *A, int64_t I, int64_t s, int64_t at, struct stored *S)
{
    const int *ptr = S->a[BSELL_PTR].data;
    int64_t b = S->param[0], C = S->param[1];
    int *col = (int *)S->a[BSELL_COL].data + ptr[s] * C + at;
    int64_t blocks = block_columns(A, I, (int)b, col, C);
    for (int64_t k = blocks; k < ptr[s + 1] - ptr[s]; k++) col[k * C] = -1;
    for (int64_t row = I * b; row < (I + 1) * b && row < A->rows; row++) {
        int64_t block = 0;
        for (int64_t k = A->rowptr[row]; k < A->rowptr[row + 1]; k++) {
            while (col[block * C] < A->col[k] / b) block++;
            int64_t column = (ptr[s] + block) * b + A->col[k] % b;
            put_value(&S->a[BSELL_VAL], (column * C + at) * b + row % b, A, k);
        }
    }
}

/* Block row -1 is a filler of the last slice, which has only padding. */
static void put_position(const struct csr *A, int64_t I, int64_t k, struct stored *S)
{
    const int *ptr = S->a[BSELL_PTR].data;
    int *perm = S->a[BSELL_PERM].data, *col = S->a[BSELL_COL].data;
    int64_t b = S->param[0], C = S->param[1], s = k / C;
    for (int64_t r = 0; r < b; r++) perm[k * b + r] = I >= 0 && I * b + r < A->rows ? (int)(I * b + r) : -1;
    if (I >= 0) return put_block_row(A, I, s, k % C, S);
    for (int64_t step = ptr[s]; step < ptr[s + 1]; step++) col[step * C + k % C] = -1;
}

static bool put_slices(const struct csr *A, const struct order *o, struct stored *S, struct err *e)
{
    int *ptr = S->a[BSELL_PTR].data;
    int64_t places = slices_of(S) * S->param[1];
    for (int64_t s = 0; s < slices_of(S); s++) ptr[s + 1] = ptr[s] + (int)width_of(o, S, s);
    struct loop l = loop_of("packing blocks", places);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < places; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, places); k < end; k++)
            put_position(A, k < o->n ? slices_row(o->key, k) : -1, k, S);
    return loop_end(&l, e);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct order o;
    bool ok = order_of(A, S, &o, e) && put_slices(A, &o, S, e);
    order_free(&o);
    return ok;
}

/* A slice pointer refers to the first row of its slice; a block column refers to the first row and column of its block.
 */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *perm = S->a[BSELL_PERM].data, *ptr = S->a[BSELL_PTR].data, *col = S->a[BSELL_COL].data;
    int64_t b = S->param[0], C = S->param[1], slices = S->a[BSELL_PTR].n - 1;
    if (k == BSELL_PERM) return (struct place){perm[i] < 0 ? SLOT_PADDING : SLOT_POINTER, perm[i], -1};
    if (k == BSELL_PTR) return (struct place){SLOT_POINTER, i < slices ? perm[i * C * b] : -1, -1};
    int64_t step = k == BSELL_COL ? i / C : i / (C * b * b), s = span_of(ptr, slices, step);
    if (k == BSELL_COL) {
        int64_t first = perm[(s * C + i % C) * b];
        return (struct place){col[i] < 0 ? SLOT_PADDING : SLOT_POINTER, first, col[i] < 0 ? -1 : col[i] * b};
    }
    int64_t at = i % (C * b), row = perm[s * C * b + at], block_col = col[step * C + at / b];
    if (row < 0) return (struct place){SLOT_PADDING, -1, -1};
    return place_of_value(S, k, i, row, block_col < 0 ? -1 : block_col * b + i / (C * b) % b);
}

const struct format format_bsell = {
    .name = "bsell",
    .aliases = "sliced-bsr blocked-sell",
    .about = "sliced ELL of small dense blocks: block rows sorted by length, values interleaved over a slice",
    .source = "[ours], after Kreutzer et al. 2014 and the blocks of BSR",
    .params = {{"block", 0, 0, BSELL_MAX,
                "rows and columns per block; 0 = 2, 3 or 4, whichever takes the fewest bytes"},
               {"C", BSELL_C_MAX, 1, BSELL_C_MAX, "block rows per slice"},
               {"sigma", 1024, 1, INT32_MAX, "block rows per sorting window; 1 = no sorting"}},
    .zeros_fade = true,
    .value = BSELL_VAL,
    .plan = plan,
    .pack = pack,
    .where = where,
};
