/* Make rows from entries. If the entries are in row order, their arrays become the arrays of the matrix. Otherwise, the
   entries are placed by a counting sort, one array after another, so that the total memory never exceeds twice that of
   the matrix. If the blocks were delivered by bands, the entries are placed band by band. */
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "matrix/csr.h"
#include "mtx.h"

#include <string.h>

enum { PIECE = 1 << 16 }; /* number of entries or rows between two checks for Ctrl-C */

/* ---- array files: rows and columns of the values ---- */

static bool is_zero(const struct entries *t, int64_t i)
{
    return t->val[i] == 0 && (!t->imag || t->imag[i] == 0);
}

/* Turn the values of an array file, listed by columns, into *count entries, dropping zeros. Adds to *more the number of
   entries below the diagonal that will be mirrored later. */
static bool place_array(struct entries *t, const struct head *h, int64_t *count, int64_t *more, struct err *e)
{
    int64_t n = 0, row = 0, c = 0, room = 0;
    struct loop l = loop_of("sorting rows", h->entries);
    for (int64_t i = 0; i < h->entries && loop_goes(&l, i); i++) room += !is_zero(t, i);
    t->row = mem_new(room, sizeof *t->row, "rows of an array", e);
    t->col = mem_new(room, sizeof *t->col, "columns of an array", e);
    if (!t->row || !t->col) return false;
    row = column_top(h, c);
    for (int64_t i = 0; i < h->entries && loop_goes(&l, i); i++, row++) {
        while (row >= h->rows) row = column_top(h, ++c);
        if (is_zero(t, i)) continue;
        t->row[n] = (int)row;
        t->col[n] = (int)c;
        t->val[n] = t->val[i];
        if (t->imag) t->imag[n] = t->imag[i];
        *more += h->symmetry != GENERAL && row > c;
        n++;
    }
    *count = n;
    return loop_end(&l, e);
}

/* ---- entries in row order ---- */

/* Do the rows ascend, and do the columns ascend within each row? */
static bool in_order(const struct entries *t, int64_t n)
{
    struct loop l = loop_of("sorting rows", n);
    int64_t wrong = 0;
#pragma omp parallel for reduction(+ : wrong) if (n > THREADS_FROM)
    for (int64_t at = 1; at < n; at += PIECE) {
        int64_t end = !loop_check(&l, at) ? at : n - at < PIECE ? n : at + PIECE;
        for (int64_t i = at; i < end; i++)
            wrong += (t->row[i] < t->row[i - 1]) | ((t->row[i] == t->row[i - 1]) & (t->col[i] <= t->col[i - 1]));
    }
    return !wrong;
}

struct rows {
    int64_t first, end;
};

/* Returns the range of the rows that begin at entry i: the rows after the row of entry i - 1, up to the row of entry
   i. */
static struct rows rows_at(const struct csr *A, const int *row, int64_t i)
{
    return (struct rows){(i > 0 ? row[i - 1] : -1) + (int64_t)1, (i < A->nnz ? row[i] : A->rows) + 1};
}

/* Rows s begin at entry i. */
static bool fill_starts(struct csr *A, struct rows s, int64_t i, struct err *e)
{
    if (A->rowptr) return loop_fill(A->rowptr + s.first, s.end - s.first, (int)i, "making rows", e);
    struct loop l = loop_of("making rows", s.end - s.first);
    for (int64_t r = s.first; r < s.end && loop_goes(&l, r); r++) A->rowptr64[r] = i;
    return loop_end(&l, e);
}

/* Set the row pointers. If very many rows begin at the same entry, all threads share the work of
   setting the pointers of these rows. */
static bool mark_rows(struct csr *A, const int *row, struct err *e)
{
    struct loop l = loop_of("making rows", A->nnz);
    int64_t far = 0;
#pragma omp parallel for reduction(+ : far) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from <= A->nnz; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->nnz + 1); i < end; i++) {
            struct rows s = rows_at(A, row, i);
            if (s.end - s.first > PIECE)
                far++;
            else
                for (int64_t r = s.first; r < s.end; r++) csr_set_start(A, r, i);
        }
    for (int64_t i = 0; far && i <= A->nnz && loop_goes(&l, i); i++) {
        struct rows s = rows_at(A, row, i);
        if (s.end - s.first <= PIECE) continue;
        if (!fill_starts(A, s, i, e)) return false;
        far--;
    }
    return loop_end(&l, e);
}

static bool hand_over(struct csr *A, struct entries *t, struct err *e)
{
    if (!csr_pointers_new(A, e)) return false;
    if (!mark_rows(A, t->row, e)) return false;
    A->col = t->col;
    A->val = t->val;
    A->imag = t->imag;
    t->col = NULL;
    t->val = t->imag = NULL;
    return true;
}

/* ---- entries in any order ---- */

/* Indices of entries: 32 bits each, or 64 in a large matrix. */
struct indices {
    int *small;
    int64_t *large;
};

static bool indices_new(struct indices *x, int64_t n, bool large, struct err *e)
{
    if (large)
        x->large = mem_new(n, sizeof *x->large, "places of the entries", e);
    else
        x->small = mem_new(n, sizeof *x->small, "places of the entries", e);
    return x->small || x->large;
}

static void indices_free(struct indices *x)
{
    mem_free(x->small);
    mem_free(x->large);
}

static inline int64_t index_at(const struct indices *x, int64_t i)
{
    return x->small ? x->small[i] : x->large[i];
}

static inline void set_index(struct indices *x, int64_t i, int64_t value)
{
    if (x->small)
        x->small[i] = (int)value;
    else
        x->large[i] = value;
}

struct placing {
    struct csr *A;
    struct entries *t;
    int64_t n;
    enum symmetry symmetry;
    int threads;
    const struct block *blocks;
    /* number of shares into which the rows are divided: one per band of 1 << shift rows, or one per thread */
    int shares, shift;
    bool banded;
    struct indices to;     /* [n]: index in A of each entry */
    struct indices mirror; /* [n]: index in A of the entry's mirror image, or -1; only for files with a symmetry */
};

/* The entries [i, end) of block k that may be in the rows of a share: the entries of the share's band, or all entries
   if the block has no bands. */
struct stretch {
    int64_t i, end;
};
static struct stretch stretch_of(const struct block *k, int share)
{
    if (!k->band) return (struct stretch){k->entry0, k->entry0 + k->n};
    return (struct stretch){k->entry0 + k->band[share], k->entry0 + k->band[share + 1]};
}

static bool mirrored(const struct placing *p, int64_t i)
{
    return p->symmetry != GENERAL && p->t->row[i] != p->t->col[i];
}

/* Returns rowptr[row + 1], and increments it. */
static inline int64_t next_of(struct csr *A, int64_t row)
{
    return A->rowptr ? A->rowptr[row + 1]++ : A->rowptr64[row + 1]++;
}

/* Count the entries of each row r of a share, rows [low, high), in rowptr[r + 1]. One thread visits all entries of a
   share in order, so the result does not depend on the number of threads. */
static void count_rows(struct placing *p, int share, int64_t low, int64_t high, struct loop *l)
{
    const int *row = p->t->row, *col = p->t->col;
    struct csr *A = p->A;
    for (const struct block *k = p->blocks; k; k = k->next)
        for (struct stretch r = stretch_of(k, share); r.i < r.end && loop_goes(l, r.i); r.i++) {
            if (row[r.i] >= low && row[r.i] < high) next_of(A, row[r.i]);
            if (mirrored(p, r.i) && col[r.i] >= low && col[r.i] < high) next_of(A, col[r.i]);
        }
}

/* Set the indices in A of all entries and mirror images that are in rows [low, high). rowptr[r + 1] is the start of row
   r on entry and the end of row r on return. */
static void place_rows(struct placing *p, int share, int64_t low, int64_t high, struct loop *l)
{
    const int *row = p->t->row, *col = p->t->col;
    struct csr *A = p->A;
    for (const struct block *k = p->blocks; k; k = k->next)
        for (struct stretch s = stretch_of(k, share); s.i < s.end && loop_goes(l, s.i); s.i++) {
            int64_t i = s.i;
            int r = row[i], c = col[i];
            bool twice = mirrored(p, i);
            if (r >= low && r < high) {
                int64_t at = next_of(A, r);
                A->col[at] = c;
                set_index(&p->to, i, at);
                if (p->symmetry != GENERAL && !twice) set_index(&p->mirror, i, -1);
            }
            if (twice && c >= low && c < high) {
                int64_t at = next_of(A, c);
                A->col[at] = r;
                set_index(&p->mirror, i, at);
            }
        }
}

/* The first row of share t for counting. If there are bands, a share is a band; otherwise all shares have about
   the same number of rows. */
static int64_t share_rows(const struct placing *p, int t)
{
    int64_t rows = p->A->rows;
    if (!p->banded) return rows * t / p->threads;
    return (int64_t)t << p->shift < rows ? (int64_t)t << p->shift : rows;
}

/* The first row of share t for placing. If there are bands, a share is a band; otherwise all shares have about
   the same number of entries. rowptr[r + 1] is the start of row r. */
static int64_t share_entries(const struct placing *p, int t)
{
    const struct csr *A = p->A;
    int64_t low = 0, high = A->rows, from = A->nnz * t / p->threads;
    if (p->banded) return share_rows(p, t);
    if (t == p->threads) return A->rows;
    while (low < high) {
        int64_t mid = low + (high - low) / 2;
        if (csr_start(A, mid + 1) < from)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static bool place_columns(struct placing *p, struct err *e)
{
    struct csr *A = p->A;
    struct loop l = loop_of("sorting rows", p->n);
    int64_t *from = mem_new(p->shares + 1, sizeof *from, "shares of the rows", e);
    if (!from || !csr_pointers_new(A, e) || !csr_pointers_zero(A, e) ||
        !(A->col = mem_new(A->nnz, sizeof *A->col, "column indices", e)) ||
        !indices_new(&p->to, p->n, csr_is_large(A), e) ||
        (p->symmetry != GENERAL && !indices_new(&p->mirror, p->n, csr_is_large(A), e))) {
        mem_free(from);
        return false;
    }
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads)
    for (int t = 0; t < p->shares; t++) count_rows(p, t, share_rows(p, t), share_rows(p, t + 1), &l);
    csr_counts_to_offsets(A);
    if (!loop_tick("sorting rows", 0, 0, e)) {
        mem_free(from);
        return false;
    }
    for (int t = 0; t <= p->shares; t++) from[t] = share_entries(p, t);
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads)
    for (int t = 0; t < p->shares; t++) place_rows(p, t, from[t], from[t + 1], &l);
    mem_free(from);
    return loop_end(&l, e);
}

static void place_stretch(const struct placing *p, struct stretch r, const double *v, double sign, double *to,
                          struct loop *l)
{
    for (int64_t i = r.i; i < r.end && loop_goes(l, i); i++) {
        to[index_at(&p->to, i)] = v ? v[i] : 1;
        int64_t mirror = p->symmetry != GENERAL ? index_at(&p->mirror, i) : -1;
        if (mirror >= 0) to[mirror] = v ? sign * v[i] : 1;
    }
}

/* Copy the values to the same indices as their columns; mirror images are multiplied by `sign`. If the file has no
   values, each value is 1. */
static bool place_values(struct placing *p, double **values, double sign, double **out, struct err *e)
{
    const double *v = *values;
    struct loop l = loop_of("placing values", p->n);
    double *to = *out = mem_new(p->A->nnz, sizeof *to, "values", e);
    if (!to) return false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(p->threads)
    for (int t = 0; t < p->shares; t++) {
        if (!p->banded)
            place_stretch(p, (struct stretch){p->n * t / p->shares, p->n * (t + 1) / p->shares}, v, sign, to, &l);
        for (const struct block *k = p->blocks; p->banded && k; k = k->next)
            if (k->band || t == 0) place_stretch(p, stretch_of(k, t), v, sign, to, &l);
    }
    mem_free(*values);
    *values = NULL;
    return loop_end(&l, e);
}

/* Place all arrays. Each array of entries is freed before the next array of the matrix is allocated. */
static bool place_arrays(struct placing *p, struct watch *w, struct err *e)
{
    struct entries *t = p->t;
    bool skew = p->symmetry == SKEW, turned = skew || p->symmetry == HERMITIAN;
    if (!watch_tick(w, "sorting rows", 0, 2, e) || !place_columns(p, e)) return false;
    mem_free(t->row);
    mem_free(t->col);
    t->row = t->col = NULL;
    return watch_tick(w, "sorting rows", 1, 2, e) && place_values(p, &t->val, skew ? -1 : 1, &p->A->val, e) &&
           (!t->imag || place_values(p, &t->imag, turned ? -1 : 1, &p->A->imag, e));
}

/* ---- rows in order ---- */

struct sorter {
    int64_t room;
    /* [2 room]: keys, with the column in the upper half and the position in the row in the lower half; then work memory
       for sorting */
    uint64_t *key;
    double *val;
};

static bool sorter_room(struct sorter *s, int64_t n, struct err *e)
{
    if (n <= s->room) return true;
    mem_free(s->key);
    mem_free(s->val);
    s->room = 0;
    s->key = mem_new(4 * n, sizeof *s->key, "rows to sort", e);
    s->val = mem_new(2 * n, sizeof *s->val, "rows to sort", e);
    if (!s->key || !s->val) return false;
    s->room = 2 * n;
    return true;
}

static void sorter_free(struct sorter *s)
{
    mem_free(s->key);
    mem_free(s->val);
}

static void permute(const struct sorter *s, double *val, int64_t n)
{
    if (!val) return;
    memcpy(s->val, val, (size_t)n * sizeof *val);
    for (int64_t i = 0; i < n; i++) val[i] = s->val[(uint32_t)s->key[i]];
}

/* Sort one row by column; duplicates stay in the order of the file. */
static bool sort_row(struct csr *A, int64_t from, int64_t n, struct sorter *s, struct err *e)
{
    int *col = A->col + from;
    if (!sorter_room(s, n, e)) return false;
    for (int64_t i = 0; i < n; i++) s->key[i] = (uint64_t)col[i] << 32 | (uint64_t)i;
    csr_sort_keys(s->key, s->key + s->room, n, A->cols);
    for (int64_t i = 0; i < n; i++) col[i] = (int)(s->key[i] >> 32);
    permute(s, A->val + from, n);
    permute(s, A->imag ? A->imag + from : NULL, n);
    return true;
}

static int64_t repeats(const int *col, int64_t n)
{
    int64_t k = 0;
    for (int64_t i = 1; i < n; i++) k += col[i - 1] == col[i];
    return k;
}

/* Sort each row; *twice is the number of duplicates. */
static bool sort_rows(struct csr *A, int threads, int64_t *twice, struct err *e)
{
    struct err why = {0};
    struct loop l = loop_of("sorting columns", A->rows);
    int64_t found = 0;
#pragma omp parallel num_threads(threads) reduction(+ : found)
    {
        struct sorter s = {0};
        struct err mine = {0};
#pragma omp for schedule(dynamic, 1)
        for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
            for (int64_t r = from, end = loop_share(&l, from, A->rows); r < end; r++) {
                int64_t first = csr_start(A, r), n = csr_row_length(A, r);
                if (!mine.code && !ascends(A->col + first, n)) sort_row(A, first, n, &s, &mine);
                found += repeats(A->col + first, n);
            }
        sorter_free(&s);
#pragma omp critical(mtx_sort)
        if (mine.code) fail(&why, mine.code, "%s", mine.text);
    }
    *twice = found;
    if (!loop_end(&l, &why)) return fail(e, why.code, "%s", why.text);
    return !why.code || fail(e, why.code, "%s", why.text);
}

/* Sum duplicates in the order of the file and close the gaps. */
static bool sum_repeats(struct csr *A, struct err *e)
{
    struct loop l = loop_of("summing duplicates", A->rows);
    int64_t to = 0, i = 0;
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++) {
        int64_t first = to;
        for (int64_t end = csr_start(A, r + 1); i < end; i++) {
            bool again = to > first && A->col[to - 1] == A->col[i];
            int64_t at = again ? to - 1 : to++;
            A->col[at] = A->col[i];
            A->val[at] = again ? A->val[at] + A->val[i] : A->val[i];
            if (A->imag) A->imag[at] = again ? A->imag[at] + A->imag[i] : A->imag[i];
        }
        csr_set_start(A, r + 1, to);
    }
    A->nnz = to;
    return loop_end(&l, e) && csr_settle(A, e);
}

static bool spread(struct body *b, struct csr *A, int64_t n, int64_t *twice, struct err *e)
{
    struct placing p = {.A = A, .t = &b->all, .n = n, .symmetry = b->head->symmetry, .threads = b->threads};
    const struct block all = {.n = n};
    for (const struct block *k = b->first; k; k = k->next) p.banded |= k->band != NULL;
    p.blocks = p.banded ? b->first : &all;
    p.shares = p.banded ? BANDS : b->threads;
    p.shift = band_shift(b->head);
    bool ok = place_arrays(&p, b->watch, e);
    indices_free(&p.to);
    indices_free(&p.mirror);
    if (!ok || !sort_rows(A, b->threads, twice, e)) return false;
    return !*twice || sum_repeats(A, e);
}

/* The number of duplicates in the file. `duplicates` was counted after mirroring, so it counts duplicates off the
   diagonal twice. `diagonal` is the number of entries of the file on the diagonal. */
static int64_t file_duplicates(const struct csr *A, int64_t duplicates, int64_t diagonal)
{
    struct loop l = loop_of("counting duplicates", A->rows);
    int64_t kept = 0;
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) kept += csr_find(A, i, i) >= 0;
    return diagonal - kept + (duplicates - (diagonal - kept)) / 2;
}

bool body_build(struct body *b, struct csr *A, int64_t *duplicates, struct err *e)
{
    const struct head *h = b->head;
    struct entries *t = &b->all;
    int64_t more = 0, n = h->entries;
    *duplicates = 0;
    for (struct block *k = b->first; k; k = k->next) more += k->upper + k->lower;
    if (h->array && !place_array(t, h, &n, &more, e)) return false;
    if (!csr_limits_any(h->rows, h->cols, n + more, e)) return false;
    bool as_is = t->val && h->symmetry == GENERAL && in_order(t, n);
    if (!csr_fits(h->rows, n + more, as_is ? n : 0, t->imag, e)) return false;
    *A = (struct csr){.rows = h->rows, .cols = h->cols, .nnz = n + more};
    bool ok = as_is ? hand_over(A, t, e) : spread(b, A, n, duplicates, e);
    if (!ok) csr_free(A);
    if (ok && h->symmetry != GENERAL && *duplicates) *duplicates = file_duplicates(A, *duplicates, n - more);
    if (ok && !(ok = loop_tick("sorting rows", 0, 0, e))) csr_free(A);
    return ok;
}
