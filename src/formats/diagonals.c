/* Finds, counts and fills the diagonals that have an entry, in the whole matrix or in blocks of its rows. */
#include "diagonals.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "format.h"
#include "matrix/csr.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- the whole matrix ---- */

int *number_diagonals(const struct csr *A, int64_t least, int64_t *count, struct err *e)
{
    int64_t span = A->rows + A->cols;
    int *number = mem_zero(span, sizeof *number, "numbers of diagonals", e);
    if (!number) return NULL;
    struct loop l = loop_of("finding diagonals", A->nnz);
    for (int64_t i = 0; i < A->rows && loop_runs(&l); i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) number[A->col[k] - i + A->rows]++;
    *count = 0;
    for (int64_t d = 0; d < span && loop_goes(&l, d); d++)
        number[d] = number[d] > 0 && number[d] >= least ? (int)(*count)++ : -1;
    if (loop_end(&l, e)) return number;
    mem_free(number);
    return NULL;
}

void put_diagonals(const struct csr *A, const int *number, struct array *offsets, struct array *data)
{
    int *offset = offsets->data;
    struct loop l = loop_of("packing diagonals", A->nnz);
    for (int64_t d = 0; d < A->rows + A->cols && loop_goes(&l, d); d++)
        if (number[d] >= 0) offset[number[d]] = (int)(d - A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from; i < A->rows && i < from + LOOP_EVERY && loop_runs(&l); i++)
            for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) {
                int64_t d = number[A->col[k] - i + A->rows];
                if (d >= 0) put_value(data, d * A->rows + i, A, k);
            }
}

struct place place_of_offset(int64_t first, int64_t offset)
{
    int64_t row = first < -offset ? -offset : first;
    return (struct place){SLOT_POINTER, row, row + offset};
}

/* ---- the set of one block's diagonals: a list of offsets, and a small hash table to find them ---- */

/* Find an offset in the hash table: returns the place of the offset, or the free place at which to insert it. */
static int *place_in(const struct block *B, int offset)
{
    uint64_t hash = (uint64_t)(uint32_t)offset * 0x9e3779b97f4a7c15, mask = (UINT64_C(1) << B->bits) - 1;
    uint64_t at = hash >> (64 - B->bits);
    while (B->table[at] && B->offset[B->table[at] - 1] != offset) at = (at + 1) & mask;
    return &B->table[at];
}

/* Append an offset to the list, unless the list already contains it. */
static void enter(struct block *B, int offset)
{
    int *place = place_in(B, offset);
    if (*place) return;
    B->offset[B->n++] = offset;
    *place = (int)B->n;
}

/* The smallest number of bits such that n offsets fill at most half of a hash table of 2^bits places. */
static int bits_for(int64_t n)
{
    int bits = 1;
    while (INT64_C(1) << bits < 2 * n) bits++;
    return bits;
}

static void clear(struct block *B)
{
    memset(B->table, 0, sizeof *B->table << B->bits);
    B->n = 0;
}

/* An upper bound for the number of diagonals in rows first .. last-1. */
static int64_t most_diagonals(const struct csr *A, int64_t first, int64_t last)
{
    int64_t entries = A->rowptr[last] - A->rowptr[first], span = A->rows + A->cols;
    return entries < span ? entries : span;
}

static void find(const struct csr *A, struct block *B)
{
    B->bits = bits_for(most_diagonals(A, B->first, B->last));
    clear(B);
    for (int64_t i = B->first; i < B->last; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) enter(B, (int)(A->col[k] - i));
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void sort(struct block *B)
{
    int64_t n = B->n, i = 1;
    while (i < n && B->offset[i - 1] < B->offset[i]) i++;
    if (i >= n) return;
    qsort(B->offset, (size_t)n, sizeof *B->offset, ascending);
    clear(B);
    for (i = 0; i < n; i++) enter(B, B->offset[i]);
}

bool block_holds(const struct block *B, const struct csr *A, int64_t first, int64_t last)
{
    for (int64_t i = first; i < last; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
            if (!*place_in(B, (int)(A->col[k] - i))) return false;
    return true;
}

void block_put(struct block *B, const struct csr *A, int *offsets, struct array *data, int64_t base, int64_t height)
{
    sort(B);
    if (offsets) memcpy(offsets, B->offset, (size_t)B->n * sizeof *offsets);
    for (int64_t i = B->first; i < B->last; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t d = *place_in(B, (int)(A->col[k] - i)) - 1;
            put_value(data, base + d * height + i - B->first, A, k);
        }
}

/* ---- all blocks ---- */

struct blocks blocks_of(const struct csr *A, int64_t height)
{
    return (struct blocks){.n = (A->rows + height - 1) / height, .height = height};
}

static void bounds(const struct csr *A, const struct blocks *all, int64_t at, int64_t *first, int64_t *last)
{
    int64_t b = all->index ? all->index[at] : at, end = (b + 1) * all->height;
    *first = all->start ? all->start[b] : b * all->height;
    *last = all->start ? all->start[b + 1] : end < A->rows ? end : A->rows;
}

/* Memory for the threads. Each thread has a list and a hash table that are large enough for any block. */
struct team {
    int threads, bits;
    int64_t most;
    int *offset, *table;
};

static bool team_new(struct team *t, const struct csr *A, const struct blocks *all, struct err *e)
{
    *t = (struct team){.threads = A->nnz > THREADS_FROM ? omp_get_max_threads() : 1};
    if (t->threads > all->n) t->threads = all->n > 0 ? (int)all->n : 1;
    struct loop l = loop_of("finding diagonals", all->n);
    for (int64_t at = 0; at < all->n && loop_goes(&l, at); at++) {
        int64_t first, last;
        bounds(A, all, at, &first, &last);
        int64_t n = most_diagonals(A, first, last);
        if (n > t->most) t->most = n;
    }
    t->bits = bits_for(t->most);
    t->offset = mem_new(t->threads * t->most, sizeof *t->offset, "the diagonals of a block", e);
    t->table = mem_new((int64_t)t->threads << t->bits, sizeof *t->table, "a table of diagonals", e);
    return t->offset && t->table && loop_end(&l, e);
}

static void team_free(struct team *t)
{
    mem_free(t->offset);
    mem_free(t->table);
}

bool visit_blocks(const struct csr *A, const struct blocks *all,
                  void (*visit)(void *to, const struct csr *A, struct block *B), void *to, struct err *e)
{
    struct team t;
    bool ok = team_new(&t, A, all, e);
    struct loop l = loop_of("packing diagonals", all->n);
    if (ok) {
#pragma omp parallel for schedule(dynamic) num_threads(t.threads) if (t.threads > 1)
        for (int64_t at = 0; at < all->n; at++) {
            if (!loop_check(&l, at)) continue;
            int64_t me = omp_get_thread_num();
            struct block B = {.at = at, .offset = t.offset + me * t.most, .table = t.table + (me << t.bits)};
            bounds(A, all, at, &B.first, &B.last);
            find(A, &B);
            visit(to, A, &B);
        }
    }
    team_free(&t);
    return ok && loop_end(&l, e);
}

static void count_one(void *to, const struct csr *A, struct block *B)
{
    int *dnum = to;
    dnum[B->at + 1] = (int)B->n;
}

int *count_diagonals(const struct csr *A, const struct blocks *all, struct err *e)
{
    int *dnum = mem_zero(all->n + 1, sizeof *dnum, "numbers of diagonals", e);
    if (!dnum) return NULL;
    if (!visit_blocks(A, all, count_one, dnum, e)) {
        mem_free(dnum);
        return NULL;
    }
    for (int64_t b = 0; b < all->n; b++) dnum[b + 1] += dnum[b];
    return dnum;
}

bool records_fit(const struct stored *S, int64_t n, struct err *e)
{
    if (n <= INT32_MAX) return true;
    return fail(e, E_LIMIT, "%s: %lld offsets do not fit in 32-bit pointers, which allow %d; use the format csr",
                S->format->name, (long long)n, INT32_MAX);
}
