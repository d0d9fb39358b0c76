/* Build CSR from triplets. Entries are copied, in input order, to buckets of neighbouring rows; a bucket fits in the
   cache. Then each bucket is sorted by row, each row is sorted by column, and duplicates are summed. A row is sorted by
   64-bit keys, with the column in the upper half and the position within the bucket in the lower half. Duplicates are
   summed in input order, so the result does not depend on the number of threads. */
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "base/watch.h"
#include "csr.h"

#include <omp.h>
#include <string.h>

enum { BUCKETS_MAX = 512, INSERTION_MAX = 48 };

struct build {
    struct csr *A;
    int64_t n;
    const int *row, *col;
    const double *val, *imag;
    int buckets, chunks, shift; /* row r is in bucket r >> shift */
    int64_t *at;                /* [chunks][buckets]: first counts, later the next index to which each chunk writes */
    int64_t *start;             /* [buckets + 1]: first entry of a bucket */
    int64_t *kept;              /* [buckets]: number of entries left after duplicates have been summed */
    /* [n], ordered by bucket: row in the upper half, column in the lower half; later work memory for sorting */
    uint64_t *key;
    double *re; /* [n]: the values, or their real parts, in the order of `key` */
    double *im; /* [n]: the imaginary parts; NULL for real values */
};

static int64_t chunk_begin(const struct build *b, int chunk)
{
    return (int64_t)((unsigned __int128)b->n * (unsigned)chunk / (unsigned)b->chunks);
}

static bool inside(const struct build *b, int64_t k)
{
    return b->row[k] >= 0 && b->row[k] < b->A->rows && b->col[k] >= 0 && b->col[k] < b->A->cols;
}

static bool build_new(struct build *b, struct err *e)
{
    b->chunks = b->n > THREADS_FROM ? omp_get_max_threads() : 1;
    while (b->A->rows >> b->shift >= BUCKETS_MAX) b->shift++;
    b->buckets = (int)(b->A->rows >> b->shift) + 1;
    b->at = mem_zero((int64_t)b->chunks * b->buckets, sizeof *b->at, "bucket counts", e);
    b->start = mem_zero(b->buckets + 1, sizeof *b->start, "bucket starts", e);
    b->kept = mem_zero(b->buckets, sizeof *b->kept, "bucket sizes", e);
    b->key = mem_new(b->n, sizeof *b->key, "sort keys", e);
    b->re = mem_new(b->n, sizeof *b->re, "values to sort", e);
    if (b->imag) b->im = mem_new(b->n, sizeof *b->im, "values to sort", e);
    return b->at && b->start && b->kept && b->key && b->re && (b->im || !b->imag);
}

static void build_free(struct build *b)
{
    mem_free(b->at);
    mem_free(b->start);
    mem_free(b->kept);
    mem_free(b->key);
    mem_free(b->re);
    mem_free(b->im);
}

static bool count_buckets(struct build *b, struct err *e)
{
    int64_t bad = b->n;
    struct loop l = loop_of("sorting entries", b->n);
#pragma omp parallel for schedule(static, 1) num_threads(b->chunks) reduction(min : bad)
    for (int c = 0; c < b->chunks; c++) {
        int64_t end = chunk_begin(b, c + 1), k = chunk_begin(b, c), *at = b->at + (int64_t)c * b->buckets;
        for (; k < end && loop_goes(&l, k) && inside(b, k); k++) at[b->row[k] >> b->shift]++;
        if (k < end && k < bad) bad = k;
    }
    if (!loop_end(&l, e)) return false;
    if (bad == b->n) return true;
    return fail(e, E_INPUT, "entry %lld: row %d, column %d (from 0) is outside the %lld x %lld matrix", (long long)bad,
                b->row[bad], b->col[bad], (long long)b->A->rows, (long long)b->A->cols);
}

static void deal_entries(struct build *b)
{
    int64_t sum = 0;
    for (int k = 0; k < b->buckets; k++) {
        b->start[k] = sum;
        for (int c = 0; c < b->chunks; c++) {
            int64_t count = b->at[(int64_t)c * b->buckets + k];
            b->at[(int64_t)c * b->buckets + k] = sum;
            sum += count;
        }
    }
    b->start[b->buckets] = sum;
    struct loop l = loop_of("sorting entries", b->n);
#pragma omp parallel for schedule(static, 1) num_threads(b->chunks)
    for (int c = 0; c < b->chunks; c++) {
        int64_t end = chunk_begin(b, c + 1), *at = b->at + (int64_t)c * b->buckets;
        for (int64_t k = chunk_begin(b, c); k < end && loop_goes(&l, k); k++) {
            int64_t to = at[b->row[k] >> b->shift]++;
            b->key[to] = (uint64_t)b->row[k] << 32 | (uint64_t)b->col[k];
            b->re[to] = b->val[k];
            if (b->im) b->im[to] = b->imag[k];
        }
    }
}

static bool is_sorted(const uint64_t *key, int64_t n)
{
    int64_t k = 1;
    while (k < n && key[k - 1] < key[k]) k++;
    return k >= n;
}

static void sort_short(uint64_t *key, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        uint64_t v = key[i];
        int64_t k = i;
        for (; k > 0 && key[k - 1] > v; k--) key[k] = key[k - 1];
        key[k] = v;
    }
}

/* Counting sort of a into b by the byte at bit `shift`; stable. */
static void sort_byte(const uint64_t *a, uint64_t *b, int64_t n, int shift)
{
    int64_t at[257] = {0};
    for (int64_t k = 0; k < n; k++) at[(a[k] >> shift & 255) + 1]++;
    for (int d = 0; d < 256; d++) at[d + 1] += at[d];
    for (int64_t k = 0; k < n; k++) b[at[a[k] >> shift & 255]++] = a[k];
}

void csr_sort_keys(uint64_t *key, uint64_t *spare, int64_t n, int64_t cols)
{
    if (is_sorted(key, n)) return;
    if (n <= INSERTION_MAX) {
        sort_short(key, n);
        return;
    }
    for (int shift = 32; shift < 64 && (cols - 1) >> (shift - 32); shift += 16) {
        sort_byte(key, spare, n, shift);
        sort_byte(spare, key, n, shift + 8);
    }
}

/* Count the entries of the rows of bucket k in rowptr[row + 1], then replace each count by the row's offset. */
static void row_starts(struct build *b, int k, int64_t row0, int64_t row1)
{
    int *rowptr = b->A->rowptr;
    for (int64_t i = b->start[k]; i < b->start[k + 1]; i++) rowptr[(b->key[i] >> 32) + 1]++;
    int64_t sum = b->start[k];
    for (int64_t r = row0; r < row1; r++) {
        int count = rowptr[r + 1];
        rowptr[r + 1] = (int)sum;
        sum += count;
    }
}

/* Turn the sorted keys of one row of bucket k into entries, which begin at index `to`; entries with equal columns are
   summed. Returns the index after the last entry. The keys are stored in A->val itself, but no value overwrites a key
   that has not been read. */
static int64_t emit_row(struct build *b, int k, const uint64_t *key, int64_t n, int64_t to)
{
    struct csr *A = b->A;
    int64_t first = to;
    for (int64_t i = 0; i < n; i++) {
        int col = (int)(key[i] >> 32);
        int64_t from = b->start[k] + (uint32_t)key[i];
        bool again = to > first && A->col[to - 1] == col;
        int64_t at = again ? to - 1 : to++;
        A->col[at] = col;
        A->val[at] = again ? A->val[at] + b->re[from] : b->re[from];
        if (A->imag) A->imag[at] = again ? A->imag[at] + b->im[from] : b->im[from];
    }
    return to;
}

/* Sort the rows of one bucket and sum their duplicates. The result is stored at the start of the bucket. Sets rowptr[r
   + 1] to the end of row r as if no other bucket had duplicates. */
static void build_bucket(struct build *b, int k)
{
    struct csr *A = b->A;
    int64_t row0 = (int64_t)k << b->shift, row1 = (int64_t)(k + 1) << b->shift;
    if (row1 > A->rows) row1 = A->rows;
    void *values = A->val; /* contains sort keys until emit_row writes the values */
    uint64_t *sorted = values, *spare = b->key + b->start[k];
    row_starts(b, k, row0, row1);
    for (int64_t i = b->start[k]; i < b->start[k + 1]; i++) {
        uint64_t key = b->key[i];
        sorted[A->rowptr[(key >> 32) + 1]++] = key << 32 | (uint64_t)(i - b->start[k]);
    }
    int64_t begin = b->start[k], to = begin;
    for (int64_t r = row0; r < row1; r++) {
        int64_t end = A->rowptr[r + 1];
        csr_sort_keys(sorted + begin, spare, end - begin, A->cols);
        to = emit_row(b, k, sorted + begin, end - begin, to);
        A->rowptr[r + 1] = (int)to;
        begin = end;
    }
    b->kept[k] = to - b->start[k];
}

/* Close the gaps that summing duplicates left at the ends of buckets. */
static void close_gaps(struct build *b)
{
    struct csr *A = b->A;
    int64_t to = 0;
    for (int k = 0; k < b->buckets; k++) {
        int64_t from = b->start[k], n = b->kept[k];
        int64_t row0 = (int64_t)k << b->shift, row1 = (int64_t)(k + 1) << b->shift;
        if (from != to) {
            memmove(A->col + to, A->col + from, (size_t)n * sizeof *A->col);
            memmove(A->val + to, A->val + from, (size_t)n * sizeof *A->val);
            if (A->imag) memmove(A->imag + to, A->imag + from, (size_t)n * sizeof *A->imag);
            for (int64_t r = row0; r < row1 && r < A->rows; r++) A->rowptr[r + 1] -= (int)(from - to);
        }
        to += n;
    }
    A->nnz = to;
}

enum { TICK_BUCKETS = 16 };

static bool build_buckets(struct build *b, struct watch *w, struct err *e)
{
    for (int from = 0; from < b->buckets; from += TICK_BUCKETS) {
        int to = b->buckets - from < TICK_BUCKETS ? b->buckets : from + TICK_BUCKETS;
        if (!watch_tick(w, "sorting rows", from, b->buckets, e) || !loop_tick("sorting rows", from, b->buckets, e))
            return false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->chunks)
        for (int k = from; k < to; k++) build_bucket(b, k);
    }
    return true;
}

bool csr_from_triplets(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                       const double *val, const double *imag, int64_t *duplicates, struct err *e)
{
    return csr_build(A, rows, cols, n, row, col, val, imag, duplicates, NULL, e);
}

bool csr_build(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col, const double *val,
               const double *imag, int64_t *duplicates, struct watch *w, struct err *e)
{
    struct build b = {.A = A, .n = n, .row = row, .col = col, .val = val, .imag = imag};
    bool ok = false;
    if (duplicates) *duplicates = 0;
    if (!csr_new(A, rows, cols, n, imag != NULL, e)) return false;
    if (!build_new(&b, e) || !count_buckets(&b, e)) goto out;
    deal_entries(&b);
    if (!loop_tick("sorting entries", n, n, e)) goto out;
    if (!build_buckets(&b, w, e)) goto out;
    close_gaps(&b);
    if (duplicates) *duplicates = n - A->nnz;
    ok = true;
out:
    build_free(&b);
    if (!ok) csr_free(A);
    return ok;
}
