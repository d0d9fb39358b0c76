/* DIA: the diagonals that have an entry, in ascending order, each stored in full: slot d*rows + i is row i, column i +
   offsets[d]. Elements outside the matrix and absent entries are 0. */
#include "fmt_dia.h"
#include "base/mem.h"
#include "diagonals.h"
#include "format.h"

void dia_sizes(struct stored *S, int64_t diagonals)
{
    plan_array(S, "offsets", ROLE_DIAGONALS, T_I32, diagonals);
    plan_values(S, "data", diagonals * S->rows);
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t diagonals;
    int *number = number_diagonals(A, 1, &diagonals, e);
    if (!number) return false;
    mem_free(number);
    dia_sizes(S, diagonals);
    return true;
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t diagonals;
    int *number = number_diagonals(A, 1, &diagonals, e);
    if (!number) return false;
    put_diagonals(A, number, &S->a[DIA_OFFSETS], &S->a[DIA_DATA]);
    mem_free(number);
    return true;
}

static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *offsets = S->a[DIA_OFFSETS].data;
    if (k == DIA_OFFSETS) return place_of_offset(0, offsets[i]);
    int64_t row = i % S->rows;
    return place_of_value(S, k, i, row, row + offsets[i / S->rows]);
}

/* The paper does not divide DIA into pieces; here a piece is DIA_ROWS rows. */
static bool piece(const struct stored *S, int64_t k, int64_t *operands)
{
    int64_t rows = S->rows - k * DIA_ROWS;
    *operands = S->a[DIA_OFFSETS].n * (rows < DIA_ROWS ? rows : DIA_ROWS);
    return rows > 0;
}

const struct format format_dia = {
    .name = "dia",
    .aliases = "diagonal",
    .about = "whole diagonals and their offsets, without column indices",
    .source = "THESIS, fig. 2.2; DRM, fig. 1",
    .zeros_fade = true,
    .value = DIA_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
    .piece = piece,
};
