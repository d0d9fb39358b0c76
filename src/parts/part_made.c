/* The parts of a matrix whose rows are made when they are needed. */
#include "part_made.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "matrix/row_slices.h"
#include "partition.h"

#include <string.h>

/* ---- sets of columns ---- */

enum { WORD = 64 };

/* A bit for each column, and the number of columns of the set before each word of bits. */
struct columns {
    int64_t words, n;
    uint64_t *bit;
    int *before; /* NULL: not counted */
};

static bool columns_new(struct columns *c, int64_t cols, struct err *e)
{
    *c = (struct columns){.words = (cols + WORD - 1) / WORD};
    c->bit = mem_new(c->words, sizeof *c->bit, "the columns of a halo", e);
    return c->bit && loop_zero(c->bit, c->words * (int64_t)sizeof *c->bit, "the columns of a halo", e);
}

static void columns_free(struct columns *c)
{
    mem_free(c->bit);
    mem_free(c->before);
}

/* Any thread may add a column. */
static void columns_add(struct columns *c, int64_t j)
{
    uint64_t *word = &c->bit[j / WORD], bit = UINT64_C(1) << j % WORD;
    if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
}

static bool columns_count(struct columns *c, struct err *e)
{
    struct loop l = loop_of("", c->words);
    c->before = mem_new(c->words, sizeof *c->before, "the columns of a halo", e);
    if (!c->before) return false;
    c->n = 0;
    for (int64_t w = 0; w < c->words && loop_goes(&l, w); w++) {
        c->before[w] = (int)c->n;
        c->n += __builtin_popcountll(c->bit[w]);
    }
    return loop_end(&l, e);
}

/* The place of column j, which is in the set, among the columns of the set. */
static int64_t columns_rank(const struct columns *c, int64_t j)
{
    uint64_t below = c->bit[j / WORD] & ((UINT64_C(1) << j % WORD) - 1);
    return c->before[j / WORD] + __builtin_popcountll(below);
}

static bool columns_list(const struct columns *c, int *out, struct err *e)
{
    struct loop l = loop_of("", c->words);
    int64_t n = 0;
    for (int64_t w = 0; w < c->words && loop_goes(&l, w); w++)
        for (uint64_t bits = c->bit[w]; bits; bits &= bits - 1) out[n++] = (int)(w * WORD + __builtin_ctzll(bits));
    return loop_end(&l, e);
}

/* ---- what a part has and needs ---- */

struct scan {
    struct columns halo;
    int64_t col0, col1;      /* its own columns */
    int64_t inside, outside; /* entries */
    int64_t rows;            /* with outer entries */
};

static bool scan_rows(void *user, const struct csr *slice, int64_t first, struct err *e)
{
    struct scan *q = user;
    int64_t inside = 0, rows = 0;
    struct loop l = loop_of("", slice->rows);
#pragma omp parallel for schedule(static) reduction(+ : inside, rows) if (slice->nnz > THREADS_FROM)
    for (int64_t from = 0; from < slice->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, slice->rows); i < end; i++) {
            int64_t own = 0, stop = csr_start(slice, i + 1);
            for (int64_t k = csr_start(slice, i); k < stop; k++)
                if (slice->col[k] >= q->col0 && slice->col[k] < q->col1)
                    own++;
                else
                    columns_add(&q->halo, slice->col[k]);
            inside += own;
            rows += own < csr_row_length(slice, i);
        }
    q->inside += inside;
    q->outside += slice->nnz - inside;
    q->rows += rows;
    return loop_end(&l, e);
}

/* The first item of the sorted halo, from `low` on, whose column is at least `col`. */
static int64_t halo_lower(const struct part *part, int64_t low, int64_t col)
{
    int64_t high = part->outside.cols;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (part->halo[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool find_owners(struct part *part, const struct partition *P, struct err *e)
{
    int n = 0;
    int64_t at = 0;
    struct neighbours *from = &part->from;
    from->part = mem_new(P->parts, sizeof *from->part, "a part's neighbours", e);
    from->first = from->part ? mem_zero((int64_t)P->parts + 1, sizeof *from->first, "a part's neighbours", e) : NULL;
    if (!from->first) return false;
    for (int p = 0; p < P->parts; p++) {
        int64_t begin = at;
        at = halo_lower(part, begin, P->first_col[p + 1]);
        if (at == begin) continue;
        from->part[n] = p;
        from->first[++n] = at;
    }
    from->n = n;
    return true;
}

static bool take_scan(struct part *part, struct scan *q, const struct partition *P, struct err *e)
{
    int64_t rows = P->first[part->number + 1] - P->first[part->number];
    if (!columns_count(&q->halo, e)) return false;
    part->inside = (struct csr){.rows = rows, .cols = q->col1 - q->col0, .nnz = q->inside};
    part->outside = (struct csr){.rows = rows, .cols = q->halo.n, .nnz = q->outside};
    part->halo = mem_new(q->halo.n, sizeof *part->halo, "a halo", e);
    return part->halo && columns_list(&q->halo, part->halo, e) && find_owners(part, P, e);
}

static bool scan_part(struct part *part, const struct csr *A, const struct partition *P, int k, int64_t *rows_outside,
                      struct err *e)
{
    struct scan q = {.col0 = P->first_col[k], .col1 = P->first_col[k + 1]};
    *part = (struct part){.number = k};
    bool ok = columns_new(&q.halo, A->cols, e) && csr_visit(A, P->first[k], P->first[k + 1], scan_rows, &q, e) &&
              take_scan(part, &q, P, e);
    columns_free(&q.halo);
    *rows_outside = q.rows;
    return ok;
}

struct part *parts_of_made(const struct csr *A, const struct partition *P, int64_t *rows_outside, struct err *e)
{
    struct part *part = mem_zero(P->parts, sizeof *part, "parts", e);
    bool ok = part != NULL;
    for (int k = 0; ok && k < P->parts; k++) ok = scan_part(&part[k], A, P, k, &rows_outside[k], e);
    if (ok && parts_link(part, P, e)) return part;
    parts_free(part, P->parts);
    return NULL;
}

/* ---- the entries of a part ---- */

struct filling {
    struct columns halo;
    int64_t row0, col0, col1;
    struct slice in, out;
    visit_part *visit;
    void *user;
};

static bool is_own(const struct filling *f, int64_t col)
{
    return col >= f->col0 && col < f->col1;
}

/* The own entries before each share of LOOP_EVERY rows, for the caller to free; NULL: an error. */
static int64_t *count_own(const struct filling *f, const struct csr *slice, struct err *e)
{
    int64_t shares = (slice->rows + LOOP_EVERY - 1) / LOOP_EVERY, sum = 0;
    int64_t *before = mem_new(shares, sizeof *before, "the entries of a part", e);
    struct loop l = loop_of("", slice->rows);
    if (!before) return NULL;
#pragma omp parallel for schedule(static) if (slice->nnz > THREADS_FROM)
    for (int64_t from = 0; from < slice->rows; from += LOOP_EVERY) {
        int64_t own = 0, stop = csr_start(slice, loop_share(&l, from, slice->rows));
        for (int64_t k = csr_start(slice, from); k < stop; k++) own += is_own(f, slice->col[k]);
        before[from / LOOP_EVERY] = own;
    }
    for (int64_t k = 0; k < shares; k++) {
        int64_t own = before[k];
        before[k] = sum;
        sum += own;
    }
    if (loop_end(&l, e)) return before;
    mem_free(before);
    return NULL;
}

/* Entries *a of `in` and *b of `out` are the first of the row; afterwards, those after it. */
static void split_row(struct filling *f, const struct csr *slice, int64_t i, int64_t *a, int64_t *b)
{
    int64_t stop = csr_start(slice, i + 1);
    for (int64_t k = csr_start(slice, i); k < stop; k++) {
        int64_t col = slice->col[k];
        bool own = is_own(f, col);
        struct csr *to = own ? &f->in.A : &f->out.A;
        int64_t at = own ? (*a)++ : (*b)++;
        to->col[at] = (int)(own ? col - f->col0 : columns_rank(&f->halo, col));
        to->val[at] = slice->val[k];
    }
    csr_set_start(&f->in.A, i + 1, *a);
    csr_set_start(&f->out.A, i + 1, *b);
}

/* The halo is sorted, so the columns of the outer slice ascend within each row, as those of the matrix do. */
static bool split_slice(void *user, const struct csr *slice, int64_t first, struct err *e)
{
    struct filling *f = user;
    struct csr *in = &f->in.A, *out = &f->out.A;
    struct loop l = loop_of("", slice->rows);
    if (!slice_begin(&f->in, slice->rows, f->col1 - f->col0, slice->nnz, e) ||
        !slice_begin(&f->out, slice->rows, f->halo.n, slice->nnz, e))
        return false;
    int64_t *own = count_own(f, slice, e);
    if (!own) return false;
#pragma omp parallel for schedule(static) if (slice->nnz > THREADS_FROM)
    for (int64_t from = 0; from < slice->rows; from += LOOP_EVERY) {
        int64_t a = own[from / LOOP_EVERY], b = csr_start(slice, from) - a;
        for (int64_t i = from, end = loop_share(&l, from, slice->rows); i < end; i++) split_row(f, slice, i, &a, &b);
    }
    mem_free(own);
    in->nnz = csr_start(in, slice->rows);
    out->nnz = csr_start(out, slice->rows);
    return loop_end(&l, e) && f->visit(f->user, in, out, first - f->row0, e);
}

static bool halo_again(struct columns *c, const struct part *part, int64_t cols, struct err *e)
{
    struct loop l = loop_of("", part_halo(part));
    if (!columns_new(c, cols, e)) return false;
    for (int64_t h = 0; h < part_halo(part) && loop_goes(&l, h); h++) columns_add(c, part->halo[h]);
    return loop_end(&l, e) && columns_count(c, e);
}

bool part_visit(const struct part *part, const struct csr *A, const struct partition *P, visit_part *visit, void *user,
                struct err *e)
{
    int k = part->number;
    struct filling f = {.row0 = P->first[k], .visit = visit, .user = user};
    f.col0 = P->first_col[k];
    f.col1 = P->first_col[k + 1];
    bool ok = halo_again(&f.halo, part, A->cols, e) && csr_visit(A, f.row0, P->first[k + 1], split_slice, &f, e);
    columns_free(&f.halo);
    slice_free(&f.in);
    slice_free(&f.out);
    return ok;
}
