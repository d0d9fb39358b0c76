/* The largest absolute value and the signs of the entries in each cell of a grid over a window of a matrix. */
#include "cell_values.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/watch.h"
#include "csr.h"
#include "scale.h"

#include <string.h>

/* One thread looks at FEW_ENTRIES entries in about a millisecond. */
enum { SLICE_ENTRIES = 1 << 19, PART_ENTRIES = 1 << 16, FEW_ENTRIES = 1 << 18, GLANCE = 1 << 18, ROW_COST = 64 };

bool cell_values_new(struct cell_values *v, int h, int w, struct err *e)
{
    int64_t n = (int64_t)h * w;
    *v = (struct cell_values){.h = h, .w = w};
    v->largest = mem_zero(n, sizeof *v->largest, "the picture", e);
    v->signs = v->largest ? mem_zero(n, sizeof *v->signs, "the picture", e) : NULL;
    if (!v->signs) cell_values_free(v);
    return v->signs;
}

void cell_values_free(struct cell_values *v)
{
    mem_free(v->largest);
    mem_free(v->signs);
    *v = (struct cell_values){0};
}

double cell_largest(const struct cell_values *v, int64_t i)
{
    double a;
    memcpy(&a, &v->largest[i], sizeof a);
    return a;
}

/* ---- one entry ---- */

/* Raise the value of a cell to at least `bits`. Several threads may do this at the same time. Most calls change
   nothing, so they only read. */
static void raise_to(uint64_t *cell, uint64_t bits)
{
    uint64_t was = __atomic_load_n(cell, __ATOMIC_RELAXED);
    while (was < bits && !__atomic_compare_exchange_n(cell, &was, bits, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        continue;
}

static void mark(uint8_t *cell, uint8_t sign)
{
    if ((__atomic_load_n(cell, __ATOMIC_RELAXED) & sign) != sign) __atomic_fetch_or(cell, sign, __ATOMIC_RELAXED);
}

static void see(const struct csr *A, int64_t k, uint64_t *largest, uint8_t *signs)
{
    double a = A->val[k], size = csr_abs(A, k);
    uint64_t bits;
    memcpy(&bits, &size, sizeof bits);
    if (size > 0) raise_to(largest, bits);
    mark(signs, A->imag || !(size > 0) ? SIGN_NONE : a > 0 ? SIGN_PLUS : SIGN_MINUS);
}

/* ---- rows ---- */

struct lens {
    const struct csr *A;
    struct window win;
    struct scale down, across;
    struct cell_values *to;
};

static struct lens lens_of(const struct csr *A, struct window win, struct cell_values *to)
{
    return (struct lens){A, win, scale_of(win.row1 - win.row0, to->h), scale_of(win.col1 - win.col0, to->w), to};
}

/* Look at the entries k .. end-1 of a row. */
static void see_row(const struct lens *l, int64_t row, int64_t k, int64_t end)
{
    const struct csr *A = l->A;
    const struct scale across = l->across;
    int64_t line = cell_of(&l->down, row - l->win.row0) * l->to->w;
    if (l->win.col0 > 0) k = csr_lower(A, k, end, l->win.col0);
    if (l->win.col1 < A->cols) end = csr_lower(A, k, end, l->win.col1);
    const struct cell_marker *m = &l->to->marker;
    for (; k < end && m->mark; k++)
        mark(l->to->signs + line + cell_of(&across, A->col[k] - l->win.col0), m->mark(m->user, row, A->col[k]));
    for (; k < end; k++) {
        int64_t i = line + cell_of(&across, A->col[k] - l->win.col0);
        see(A, k, l->to->largest + i, l->to->signs + i);
    }
}

static void see_part(const struct lens *l, int64_t k, int64_t end)
{
    for (int64_t row = csr_row_of(l->A, k); k < end; row++) {
        int64_t stop = csr_start(l->A, row + 1) < end ? csr_start(l->A, row + 1) : end;
        see_row(l, row, k, stop);
        k = stop;
    }
}

/* ---- all entries ---- */

static int64_t within(int64_t row, const struct csr *A)
{
    return row < 0 ? 0 : row < A->rows ? row : A->rows;
}

void survey_begin(struct survey *t, const struct csr *A, struct window win, struct cell_values *to)
{
    *t = (struct survey){.A = A, .win = win, .to = to};
    if (win.row1 <= win.row0 || win.col1 <= win.col0 || to->h <= 0 || to->w <= 0) return;
    t->done = csr_start(A, within(win.row0, A));
    t->end = csr_start(A, within(win.row1, A));
}

bool survey_more(struct survey *t)
{
    if (t->done >= t->end) return false;
    struct lens l = lens_of(t->A, t->win, t->to);
    int64_t from = t->done, slice = t->A->imag ? SLICE_ENTRIES / 8 : SLICE_ENTRIES;
    int64_t to = t->end - from < slice ? t->end : from + slice;
#pragma omp parallel for schedule(dynamic, 1) if (to - from > FEW_ENTRIES)
    for (int64_t k = from; k < to; k += PART_ENTRIES) see_part(&l, k, to - k < PART_ENTRIES ? to : k + PART_ENTRIES);
    t->done = to;
    return to < t->end;
}

bool cell_values_of(const struct csr *A, struct window win, struct cell_values *to, struct watch *watch, struct err *e)
{
    struct survey t;
    survey_begin(&t, A, win, to);
    do
        if (!watch_tick(watch, "looking at values", t.done, t.end, e)) return false;
    while (survey_more(&t));
    return true;
}

/* ---- a sample ---- */

static void glance_at(const struct lens *l, int64_t y, int64_t most)
{
    int64_t begin = within(l->win.row0 + cell_begin(&l->down, y), l->A);
    int64_t rows = within(l->win.row0 + cell_begin(&l->down, y + 1), l->A) - begin;
    int64_t stride = rows > 0 ? stride_of(rows) : 0;
    for (int64_t seen = 0, cost = 0; seen < rows && cost < most; seen++) {
        int64_t row = begin + seen * stride % rows, k = csr_start(l->A, row), end = csr_start(l->A, row + 1);
        if (end - k > most) end = k + most;
        see_row(l, row, k, end);
        cost += ROW_COST + end - k;
    }
}

void cell_values_glance(const struct csr *A, struct window win, struct cell_values *to)
{
    struct survey t;
    survey_begin(&t, A, win, to);
    if (t.done >= t.end) return;
    struct lens l = lens_of(A, win, to);
    for (int64_t y = 0; y < to->h; y++) glance_at(&l, y, GLANCE / to->h);
}
