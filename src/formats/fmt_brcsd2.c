/* BRCSD-II: blocks of `nrows` rows, each with the diagonals that have an entry in it; neighbouring blocks with the same
   offsets share one record of these offsets. A record in brcsd2_offsets is the number of blocks that share it, followed
   by the offsets.

     row 0   * * . *         nrows = 2
         1     * * . *       brcsd2_offsets = 2 | 0 1 3, 1 | -3 0
         2       * * . *     brcsd2_ptr = 0 0 4: where each block's record begins
         3         * *       brcsd2_dnum = 0 3 6 8: for each block, the number of diagonals of the blocks before it
         4   . *     *
         5   . . *     *

   Slot (brcsd2_dnum[b] + d)*nrows + t is row t of block b on its diagonal d. The last block is stored at full
   height. */
#include "fmt_brcsd2.h"
#include "base/mem.h"
#include "base/search.h"
#include "diagonals.h"
#include "format.h"

struct layout {
    struct blocks blocks;
    int *dnum, *ptr;
    int64_t records;
};

static void layout_free(struct layout *L)
{
    mem_free(L->dnum);
    mem_free(L->ptr);
}

/* Does the block before B have all diagonals of B? */
static void compare(void *to, const struct csr *A, struct block *B)
{
    const struct layout *L = to;
    L->ptr[B->at] = B->at > 0 && block_holds(B, A, B->first - L->blocks.height, B->first);
}

/* Two neighbouring blocks have the same diagonals if one block has all diagonals of the other and both have the same
   number of diagonals. */
static void share_records(struct layout *L)
{
    int diagonals = -1;
    int64_t at = 0;
    for (int64_t b = 0; b < L->blocks.n; b++) {
        int before = diagonals;
        diagonals = L->dnum[b + 1] - L->dnum[b];
        if (!L->ptr[b] || diagonals != before) {
            at = L->records;
            L->records += 1 + diagonals;
        }
        L->ptr[b] = (int)at;
    }
}

static bool lay(const struct csr *A, const struct stored *S, struct layout *L, struct err *e)
{
    *L = (struct layout){.blocks = blocks_of(A, S->param[0])};
    int64_t n = L->blocks.n;
    L->dnum = count_diagonals(A, &L->blocks, e);
    L->ptr = mem_new(n, sizeof *L->ptr, "the records of blocks", e);
    if (!L->dnum || !L->ptr || !records_fit(S, L->dnum[n] + n, e)) return false;
    if (!visit_blocks(A, &L->blocks, compare, L, e)) return false;
    share_records(L);
    return true;
}

bool brcsd2_sizes(struct stored *S, int64_t records, int64_t diagonals, struct err *e)
{
    int64_t nrows = S->param[0], n = (S->rows + nrows - 1) / nrows;
    if (!records_fit(S, diagonals + n, e)) return false;
    plan_array(S, "brcsd2_offsets", ROLE_DIAGONALS, T_I32, records);
    plan_values(S, "brcsd2_data", diagonals * nrows);
    plan_array(S, "brcsd2_ptr", ROLE_LAYOUT, T_I32, n);
    plan_array(S, "brcsd2_dnum", ROLE_LAYOUT, T_I32, n + 1);
    return true;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    bool ok = lay(A, S, &L, e) && brcsd2_sizes(S, L.records, L.dnum[L.blocks.n], e);
    layout_free(&L);
    return ok;
}

/* The first block that uses a record writes the record's offsets. */
static void put_block(void *to, const struct csr *A, struct block *B)
{
    struct stored *S = to;
    const int *ptr = S->a[BRCSD2_PTR].data, *dnum = S->a[BRCSD2_DNUM].data;
    int *offsets = S->a[BRCSD2_OFFSETS].data;
    int64_t nrows = S->param[0];
    bool opens = B->at == 0 || ptr[B->at] != ptr[B->at - 1];
    block_put(B, A, opens ? offsets + ptr[B->at] + 1 : NULL, &S->a[BRCSD2_DATA], dnum[B->at] * nrows, nrows);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct layout L;
    int *offsets = S->a[BRCSD2_OFFSETS].data;
    bool ok = lay(A, S, &L, e);
    if (ok) {
        put_ints(&S->a[BRCSD2_PTR], L.ptr);
        put_ints(&S->a[BRCSD2_DNUM], L.dnum);
        for (int64_t b = 0; b < L.blocks.n; b++) offsets[L.ptr[b]]++;
        ok = visit_blocks(A, &L.blocks, put_block, S, e);
    }
    layout_free(&L);
    return ok;
}

/* The count and the offsets of a record refer to the first row of the record's first block; a pointer refers to the
   first row of its block. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *offsets = S->a[BRCSD2_OFFSETS].data, *ptr = S->a[BRCSD2_PTR].data, *dnum = S->a[BRCSD2_DNUM].data;
    int64_t nrows = S->param[0], n = S->a[BRCSD2_PTR].n;
    if (k == BRCSD2_DATA) {
        int64_t d = i / nrows, b = span_of(dnum, n, d), row = b * nrows + i % nrows;
        return place_of_value(S, k, i, row, row + offsets[ptr[b] + 1 + d - dnum[b]]);
    }
    if (k != BRCSD2_OFFSETS) return (struct place){SLOT_POINTER, i < n ? i * nrows : -1, -1};
    int64_t b = span_of(ptr, n, i), record = ptr[b], first = (b + 1 - offsets[record]) * nrows;
    return i == record ? (struct place){SLOT_POINTER, first, -1} : place_of_offset(first, offsets[i]);
}

/* A piece is a block of nrows rows. */
static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    const int *dnum = S->a[BRCSD2_DNUM].data;
    if (k >= S->a[BRCSD2_PTR].n) return false;
    *operands = (dnum[k + 1] - dnum[k]) * S->param[0];
    return true;
}

const struct format format_brcsd2 = {
    .name = "brcsd2",
    .about = "BRCSD-II: diagonals in blocks of equal height; neighbouring blocks with the same offsets store them once",
    .source = "Gao et al.; DRM, sec. 3.3, fig. 4; 32 rows: sec. 5.1",
    .params = {{"nrows", 32, 1, 1024, "rows per block"}},
    .zeros_fade = true,
    .value = BRCSD2_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
