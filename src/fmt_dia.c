/* DIA: the occupied diagonals, ascending, each stored whole: slot d*rows + i is row i of the diagonal whose column is
   i + offsets[d]. Places outside the matrix and absent entries are 0. */
#include "format.h"

/* The number of each occupied diagonal, ascending from 0, at offset + rows; -1 where empty. To be freed. */
static int *number_diagonals(const struct csr *A, int64_t *count, struct err *e)
{
    int64_t span = A->rows + A->cols;
    int *number = mem_zero(span, sizeof *number, "numbers of diagonals", e);
    if (!number) return NULL;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) number[A->col[k] - i + A->rows] = 1;
    *count = 0;
    for (int64_t d = 0; d < span; d++) number[d] = number[d] ? (int)(*count)++ : -1;
    return number;
}

static bool plan(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t diagonals;
    int *number = number_diagonals(A, &diagonals, e);
    if (!number) return false;
    mem_free(number);
    plan_array(S, "offsets", T_I32, diagonals);
    plan_array(S, "data", S->real, diagonals * A->rows);
    return true;
}

static void put_diagonals(const struct csr *A, const int *number, struct stored *S)
{
    int *offsets = S->a[DIA_OFFSETS].data;
    for (int64_t d = 0; d < A->rows + A->cols; d++)
        if (number[d] >= 0) offsets[number[d]] = (int)(d - A->rows);
#pragma omp parallel for schedule(static) if (A->nnz > THREADS_FROM)
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            put_real(&S->a[DIA_DATA], number[A->col[k] - i + A->rows] * A->rows + i, A->val[k]);
}

static bool pack(const struct csr *A, struct stored *S, struct err *e)
{
    int64_t diagonals;
    int *number = number_diagonals(A, &diagonals, e);
    if (!number) return false;
    put_diagonals(A, number, S);
    mem_free(number);
    return true;
}

/* An offset names the first place of its diagonal. */
static struct place where(const struct stored *S, int k, int64_t i)
{
    const int *offsets = S->a[DIA_OFFSETS].data;
    if (k == DIA_OFFSETS)
        return (struct place){SLOT_POINTER, offsets[i] < 0 ? -(int64_t)offsets[i] : 0, offsets[i] > 0 ? offsets[i] : 0};
    int64_t row = i % S->rows;
    return place_of_value(S, k, i, row, row + offsets[i / S->rows]);
}

const struct format format_dia = {
    .name = "dia",
    .about = "whole diagonals and their offsets; no column is stored",
    .source = "Liang 2012, fig. 2.2; Wang et al. 2024",
    .zeros_fade = true,
    .value = DIA_DATA,
    .plan = plan,
    .pack = pack,
    .where = where,
};
