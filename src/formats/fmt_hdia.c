/* HDIA: the rows are divided into blocks of `hack` rows, called hacks. Each hack is stored as a separate DIA matrix.
   Hack h has the diagonals hackOffsets[h] .. hackOffsets[h+1]-1, which are the diagonals with an entry in its rows;
   slot d*hack + t is row t of the hack on diagonal d. The last hack is stored at full height. */
#include "fmt_hdia.h"
#include "base/mem.h"
#include "base/search.h"
#include "diagonals.h"
#include "format.h"

void hdia_sizes(struct stored *S, int64_t diagonals)
{
    int64_t hack = S->param[0];
    plan_array(S, "hackOffsets", ROLE_LAYOUT, T_I32, (S->rows + hack - 1) / hack + 1);
    plan_array(S, "hdi_offsets", ROLE_DIAGONALS, T_I32, diagonals);
    plan_values(S, "hdi_data", diagonals * hack);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    struct blocks hacks = blocks_of(A, S->param[0]);
    int *dnum = count_diagonals(A, &hacks, e);
    if (!dnum) return false;
    hdia_sizes(S, dnum[hacks.n]);
    mem_free(dnum);
    return true;
}

static void put_hack(void *to, const struct csr *A, struct block *B)
{
    struct stored *S = to;
    int *offsets = S->a[HDIA_OFFSETS].data;
    int64_t first = ((const int *)S->a[HDIA_HACKOFFSETS].data)[B->at], hack = S->param[0];
    block_put(B, A, offsets + first, &S->a[HDIA_DATA], first * hack, hack);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    struct blocks hacks = blocks_of(A, S->param[0]);
    int *dnum = count_diagonals(A, &hacks, e);
    if (!dnum) return false;
    put_ints(&S->a[HDIA_HACKOFFSETS], dnum);
    mem_free(dnum);
    return visit_blocks(A, &hacks, put_hack, S, e);
}

/* The pointer of a hack refers to the first row of that hack. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *dnum = S->a[HDIA_HACKOFFSETS].data, *offsets = S->a[HDIA_OFFSETS].data;
    int64_t hack = S->param[0], hacks = S->a[HDIA_HACKOFFSETS].n - 1;
    if (k == HDIA_HACKOFFSETS) return (struct place){SLOT_POINTER, i < hacks ? i * hack : -1, -1};
    int64_t d = k == HDIA_OFFSETS ? i : i / hack, first = span_of(dnum, hacks, d) * hack, row = first + i % hack;
    if (k == HDIA_OFFSETS) return place_of_offset(first, offsets[d]);
    return place_of_value(S, k, i, row, row + offsets[d]);
}

/* A piece is a hack. */
static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    const int *dnum = S->a[HDIA_HACKOFFSETS].data;
    if (k >= S->a[HDIA_HACKOFFSETS].n - 1) return false;
    *operands = (dnum[k + 1] - dnum[k]) * S->param[0];
    return true;
}

const struct format format_hdia = {
    .name = "hdia",
    .about = "blocks of a few rows (hacks), each with only the diagonals that it needs",
    .source = "Barbieri et al.; DRM, sec. 3.2, fig. 2; 32 rows: sec. 5.1",
    .params = {{"hack", 32, 1, 1024, "rows per hack"}},
    .zeros_fade = true,
    .value = HDIA_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
