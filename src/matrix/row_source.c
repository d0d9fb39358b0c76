/* Matrices whose rows are made when they are needed. */
#include "row_source.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"

#include <string.h>

struct row_source *row_source_new(const char *name, int64_t rows, int64_t cols, int64_t nnz, const struct row_maker *m,
                                  const void *of, size_t size, struct err *e)
{
    if (!csr_limits_any(rows, cols, nnz, e)) return NULL;
    struct row_source *s = mem_zero((int64_t)(sizeof *s + size), 1, "what makes the rows of a matrix", e);
    if (!s) return NULL;
    s->name = name;
    s->rows = rows;
    s->cols = cols;
    s->nnz = nnz;
    s->maker = *m;
    memcpy(s->of, of, size);
    return s;
}

void row_source_free(struct row_source *s)
{
    if (s) mem_free(s->start);
    mem_free(s);
}

static int64_t blocks_of(const struct row_source *s)
{
    return (s->rows + LOOP_EVERY - 1) / LOOP_EVERY;
}

int64_t row_source_memory(const struct row_source *s)
{
    return s->start ? (blocks_of(s) + 1) * (int64_t)sizeof *s->start : 0;
}

/* The entries of rows from .. to-1; *longest becomes the length of the longest of them if that is more. */
static int64_t entries_of(const struct row_source *s, int64_t from, int64_t to, int64_t *longest)
{
    int64_t sum = 0;
    for (int64_t r = from; r < to; r++) {
        int64_t n = row_source_length(s, r);
        if (n > *longest) *longest = n;
        sum += n;
    }
    return sum;
}

static bool count_blocks(struct row_source *s, int64_t *start, struct err *e)
{
    struct loop l = loop_of("counting rows", s->rows);
    int64_t blocks = blocks_of(s), longest = 0;
    start[0] = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(max : longest) if (s->nnz > THREADS_FROM)
    for (int64_t from = 0; from < s->rows; from += LOOP_EVERY)
        start[from / LOOP_EVERY + 1] = entries_of(s, from, loop_share(&l, from, s->rows), &longest);
    s->longest = longest;
    for (int64_t k = 0; k < blocks && loop_goes(&l, k); k++) start[k + 1] += start[k];
    if (!loop_end(&l, e)) return false;
    return start[blocks] == s->nnz || fail(e, E_INTERNAL, "%s: the rows have %lld entries, not %lld", s->name,
                                           (long long)start[blocks], (long long)s->nnz);
}

bool row_source_count(struct row_source *s, struct err *e)
{
    if (s->start) return true;
    int64_t *start = mem_new(blocks_of(s) + 1, sizeof *start, "the entries before blocks of rows", e);
    if (start && count_blocks(s, start, e)) return s->start = start, true;
    mem_free(start);
    return false;
}

struct csr csr_of_source(struct row_source *s)
{
    return (struct csr){.rows = s->rows, .cols = s->cols, .nnz = s->nnz, .source = s};
}

int64_t csr_start_made(const struct csr *A, int64_t i)
{
    int64_t block = i / LOOP_EVERY, longest = 0;
    return A->source->start[block] + entries_of(A->source, block * LOOP_EVERY, i, &longest);
}
