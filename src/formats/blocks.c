/* Finds the blocks of a CSR matrix by merging the rows of each block row. */
#include "blocks.h"
#include "base/loop.h"
#include "base/threads.h"
#include "matrix/csr.h"

#include <stddef.h>

int64_t block_rows(const struct csr *A, int64_t b)
{
    return (A->rows + b - 1) / b;
}

/* The block column of entry k of a row that ends at `end`. If k >= end, the result is larger than any block column. */
static int block_of(const struct csr *A, int k, int end, int b)
{
    return k < end ? (int)((unsigned)A->col[k] / (unsigned)b) : INT32_MAX;
}

int64_t block_columns(const struct csr *A, int64_t I, int b, int *list, int64_t step)
{
    int64_t first = I * b, n = 0, rows = A->rows - first < b ? A->rows - first : b;
    const int *end = A->rowptr + first + 1;
    int at[BLOCK_MAX], block[BLOCK_MAX], next = INT32_MAX;
    for (int64_t r = 0; r < rows; r++) {
        at[r] = A->rowptr[first + r];
        block[r] = block_of(A, at[r], end[r], b);
        if (block[r] < next) next = block[r];
    }
    for (; next != INT32_MAX; n++) {
        int least = next;
        if (list) list[n * step] = least;
        next = INT32_MAX;
        for (int64_t r = 0; r < rows; r++) {
            while (block[r] == least) block[r] = block_of(A, ++at[r], end[r], b);
            if (block[r] < next) next = block[r];
        }
    }
    return n;
}

bool count_blocks(const struct csr *A, int b, int64_t *blocks, struct err *e)
{
    int64_t n = 0, rows = block_rows(A, b);
    struct loop l = loop_of("planning blocks", rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : n) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < rows; from += LOOP_EVERY)
        for (int64_t I = from, end = loop_share(&l, from, rows); I < end; I++) n += block_columns(A, I, b, NULL, 1);
    *blocks = n;
    return loop_end(&l, e);
}

bool block_pointers(const struct csr *A, int b, int *ptr, struct err *e)
{
    int64_t n = block_rows(A, b);
    struct loop l = loop_of("counting blocks", n);
    ptr[0] = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t I = from, end = loop_share(&l, from, n); I < end; I++)
            ptr[I + 1] = (int)block_columns(A, I, b, NULL, 1);
    for (int64_t I = 0; I < n && loop_goes(&l, I); I++) ptr[I + 1] += ptr[I];
    return loop_end(&l, e);
}
