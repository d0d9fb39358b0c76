/* Matrices whose rows are made when they are needed. */
#include "row_source.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"

#include <string.h>

enum {
    BLOCK_ROWS = LOOP_EVERY, /* rows of a block, before which the entries are counted */
    SLICE_ROWS = 1 << 19,    /* rows and entries of a slice, at most; a slice has at least one row */
    SLICE_ENTRIES = 1 << 20
};

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
    return (s->rows + BLOCK_ROWS - 1) / BLOCK_ROWS;
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
    for (int64_t from = 0; from < s->rows; from += BLOCK_ROWS)
        start[from / BLOCK_ROWS + 1] = entries_of(s, from, loop_share(&l, from, s->rows), &longest);
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
    int64_t block = i / BLOCK_ROWS, longest = 0;
    return A->source->start[block] + entries_of(A->source, block * BLOCK_ROWS, i, &longest);
}

/* The row after a slice that begins at `from`. */
static int64_t slice_end(const struct csr *A, int64_t from, int64_t to)
{
    int64_t end = to - from < SLICE_ROWS ? to : from + SLICE_ROWS, start = csr_start(A, from);
    while (end - from > 1 && csr_start(A, end) - start > SLICE_ENTRIES) end = from + (end - from) / 2;
    return end;
}

bool slice_begin(struct slice *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    bool fits = s->A.val && rows <= s->rows && nnz <= s->nnz;
    if (!fits) {
        slice_free(s);
        s->rows = rows + rows / 8; /* the next slice may be a little larger */
        s->nnz = nnz + nnz / 8;
        if (!csr_new_any(&s->A, s->rows, cols, s->nnz, false, e)) return false;
    }
    s->A.rows = rows;
    s->A.cols = cols;
    s->A.nnz = nnz;
    csr_set_start(&s->A, 0, 0);
    return true;
}

void slice_free(struct slice *s)
{
    csr_free(&s->A);
    s->rows = s->nnz = 0;
}

/* Write rows from .. to-1, which are in the same block, to a slice that begins with row `first` and entry `base`. */
static void make_rows(const struct csr *A, int64_t from, int64_t to, int64_t first, int64_t base, struct csr *out)
{
    const struct row_source *s = A->source;
    int64_t at = csr_start_made(A, from) - base;
    for (int64_t r = from; r < to; r++) {
        s->maker.write(s->of, r, out, at);
        at += row_source_length(s, r);
        csr_set_start(out, r - first + 1, at);
    }
}

static bool slice_make(const struct csr *A, int64_t from, int64_t to, struct slice *out, struct err *e)
{
    int64_t base = csr_start(A, from), shift = from % BLOCK_ROWS;
    if (!slice_begin(out, to - from, A->cols, csr_start(A, to) - base, e)) return false;
    struct loop l = loop_of("", to - from + shift);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (out->A.nnz > THREADS_FROM)
    for (int64_t k = 0; k < to - from + shift; k += BLOCK_ROWS) {
        int64_t begin = from - shift + k, end = from - shift + loop_share(&l, k, to - from + shift);
        make_rows(A, begin < from ? from : begin, end, from, base, &out->A);
    }
    return loop_end(&l, e);
}

bool csr_visit(const struct csr *A, int64_t from, int64_t to, visit_rows *visit, void *user, struct err *e)
{
    struct slice slice = {0};
    bool ok = true;
    for (int64_t r = from, end; ok && r < to; r = end) {
        end = slice_end(A, r, to);
        ok = loop_tick(A->source->name, r, A->rows, e) && slice_make(A, r, end, &slice, e) &&
             visit(user, &slice.A, r, e);
    }
    slice_free(&slice);
    return ok;
}

bool csr_visit_all(const struct csr *A, visit_rows *visit, void *user, struct err *e)
{
    return A->source ? csr_visit(A, 0, A->rows, visit, user, e) : visit(user, A, 0, e);
}
