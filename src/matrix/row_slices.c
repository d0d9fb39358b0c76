/* Visits the rows of a matrix a slice at a time. */
#include "row_slices.h"
#include "base/loop.h"
#include "base/threads.h"
#include "row_source.h"

enum {
    SLICE_ROWS = 1 << 19, /* rows and entries of a slice whose rows are made, at most; a slice has at least one row */
    SLICE_ENTRIES = 1 << 20,
    TICK_ROWS = 1 << 19, /* the same of a matrix that has arrays */
    TICK_ENTRIES = 1 << 19
};

int64_t slice_end(const struct csr *A, int64_t row, int64_t end)
{
    int64_t most = end - row < TICK_ROWS ? end : row + TICK_ROWS;
    return csr_row_from(A, row + 1, most, csr_start(A, row) + (int64_t)TICK_ENTRIES);
}

/* The row after a slice that begins at `from`. */
static int64_t made_end(const struct csr *A, int64_t from, int64_t to)
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
    int64_t base = csr_start(A, from), shift = from % LOOP_EVERY;
    if (!slice_begin(out, to - from, A->cols, csr_start(A, to) - base, e)) return false;
    struct loop l = loop_of("", to - from + shift);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (out->A.nnz > THREADS_FROM)
    for (int64_t k = 0; k < to - from + shift; k += LOOP_EVERY) {
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
        end = made_end(A, r, to);
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
