/* Copy one half of a matrix, with its rows and columns reordered. */
#include "triangle_half.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "matrix/csr.h"

#include <omp.h>

/* Work on a half, row by row. Threads sort the entries of a row in their part of `keys`. */
struct copying {
    struct half *h;
    const struct csr *A;
    const int *diag;
    double sign;
    uint64_t *keys; /* [threads][2 longest]; NULL: the entries of each row are in order */
    int64_t longest;
    int threads;
};

/* A key: a new column in the upper 32 bits, and the index of the entry in A in the lower 32 bits. */
static int64_t row_keys(const struct copying *c, int64_t i, uint64_t *key)
{
    const struct half *h = c->h;
    int64_t from = c->A->rowptr[h->names[i]], end = c->A->rowptr[h->names[i] + 1], n = 0;
    for (int64_t k = from; k < end; k++) {
        int64_t j = h->position[c->A->col[k]];
        if (h->right ? j <= i : j >= i) continue;
        if (key) key[n] = (uint64_t)j << 32 | (uint64_t)k;
        n++;
    }
    return n;
}

/* The entries of row i in A, if the rows keep their order. */
static int64_t row_first(const struct copying *c, int64_t i)
{
    return c->h->right ? c->diag[i] + 1 : c->A->rowptr[i];
}

static int64_t row_length(const struct copying *c, int64_t i)
{
    if (c->h->names) return row_keys(c, i, NULL);
    return c->h->right ? c->A->rowptr[i + 1] - c->diag[i] - 1 : c->diag[i] - c->A->rowptr[i];
}

static void put_value(const struct copying *c, int64_t to, int64_t from)
{
    const struct csr *A = c->A;
    double *val = c->h->val;
    if (A->imag) {
        val[2 * to] = c->sign * A->val[from];
        val[2 * to + 1] = c->sign * A->imag[from];
    } else {
        val[to] = c->sign * A->val[from];
    }
}

static void put_entry(const struct copying *c, int64_t to, int64_t from, int col)
{
    c->h->col[to] = col;
    if (c->h->val) put_value(c, to, from);
}

static void copy_row(const struct copying *c, int64_t i)
{
    int64_t to = c->h->ptr[i], n = c->h->ptr[i + 1] - to, from;
    if (c->h->names) {
        uint64_t *key = c->keys + 2 * c->longest * omp_get_thread_num();
        row_keys(c, i, key);
        csr_sort_keys(key, key + c->longest, n, c->A->cols);
        for (int64_t k = 0; k < n; k++) put_entry(c, to + k, (uint32_t)key[k], (int)(key[k] >> 32));
    } else {
        from = row_first(c, i);
        for (int64_t k = 0; k < n; k++) put_entry(c, to + k, from + k, c->A->col[from + k]);
    }
}

static bool copy_rows(const struct copying *c, struct err *e)
{
    int64_t n = c->h->n;
    struct loop l = loop_of("the triangles of A", n);
#pragma omp parallel for num_threads(c->threads) schedule(dynamic, LOOP_SHARES) if (c->threads > 1)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, n); i < end; i++) copy_row(c, i);
    return loop_end(&l, e);
}

static bool count_rows(const struct copying *c, struct err *e)
{
    struct half *h = c->h;
    struct loop l = loop_of("the triangles of A", h->n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (c->threads > 1)
    for (int64_t from = 0; from < h->n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, h->n); i < end; i++) h->ptr[i + 1] = (int)row_length(c, i);
    h->ptr[0] = 0;
    for (int64_t i = 0; i < h->n && loop_goes(&l, i); i++) h->ptr[i + 1] += h->ptr[i];
    h->nnz = h->ptr[h->n];
    return loop_end(&l, e);
}

static bool find_positions(struct half *h, struct err *e)
{
    struct loop l = loop_of("the order of the rows", h->n);
    h->position = mem_new(h->n, sizeof *h->position, "the order of the rows", e);
    if (!h->position) return false;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (h->n > THREADS_FROM)
    for (int64_t from = 0; from < h->n; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, h->n); i < end; i++) h->position[h->names[i]] = (int)i;
    return loop_end(&l, e);
}

/* With names, a matrix with a very long row takes fewer threads, so that the keys are no larger than the matrix. */
static bool copying_new(struct copying *c, struct err *e)
{
    c->threads = c->A->nnz > THREADS_FROM ? omp_get_max_threads() : 1;
    if (!c->h->names) return true;
    c->longest = csr_longest_row(c->A);
    if (c->longest && c->A->nnz / c->longest < c->threads) c->threads = (int)(c->A->nnz / c->longest);
    c->keys = mem_new(2 * c->longest * c->threads, sizeof *c->keys, "keys of a row", e);
    return c->keys != NULL;
}

static bool half_room(const struct copying *c, bool values, struct err *e)
{
    struct half *h = c->h;
    int64_t parts = c->A->imag ? 2 : 1;
    h->ptr = mem_new(h->n + 1, sizeof *h->ptr, "a triangle of A", e);
    if (!h->ptr || !count_rows(c, e)) return false;
    h->col = mem_new(h->nnz, sizeof *h->col, "a triangle of A", e);
    if (h->col && values) h->val = mem_new(parts * h->nnz, sizeof *h->val, "the values of a triangle", e);
    return h->col && (!values || h->val);
}

bool half_make(struct half *h, const struct csr *A, const int *diag, const int *names, bool right, double sign,
               struct err *e)
{
    struct copying c = {h, A, diag, sign, NULL, 0, 1};
    *h = (struct half){.n = A->rows, .names = names, .right = right};
    bool ok = (!names || find_positions(h, e)) && copying_new(&c, e) && half_room(&c, sign != 0, e) && copy_rows(&c, e);
    mem_free(c.keys);
    return ok;
}

bool half_copy(struct half *h, const struct csr *A, const int *diag, double sign, struct err *e)
{
    struct copying c = {h, A, diag, sign, NULL, 0, 1};
    bool ok = copying_new(&c, e) && copy_rows(&c, e);
    mem_free(c.keys);
    return ok;
}

void half_free(struct half *h)
{
    mem_free(h->position);
    mem_free(h->ptr);
    mem_free(h->col);
    mem_free(h->val);
    *h = (struct half){0};
}

struct entries half_entries(const struct half *h)
{
    return (struct entries){h->ptr, h->ptr + 1, 0, h->col, h->val};
}
