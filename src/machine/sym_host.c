/* Symmetrization and transposition by loops on the host, on all threads. */
#include "base/loop.h"
#include "base/mem.h"
#include "symmetrize.h"
#include "tools.h"

#include <omp.h>

enum { ENTRIES_A_THREAD = 1 << 15 };

/* The number of threads that n entries can keep busy. */
static int threads_for(int64_t n)
{
    int most = omp_get_max_threads();
    return n / ENTRIES_A_THREAD + 1 < most ? (int)(n / ENTRIES_A_THREAD) + 1 : most;
}

/* The first row of thread k of n, if the entries are divided evenly among the threads. */
static int64_t row_from(const struct csr *A, int k, int n)
{
    int64_t entry = A->nnz * k / n, low = 0, high = A->rows;
    if (k == n) return A->rows;
    while (low < high) {
        int64_t mid = (low + high) / 2;
        if (A->rowptr[mid] < entry)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void sym_host_fingerprint(const struct csr *A, uint64_t sums[2])
{
    uint64_t pattern = 0, values = 0;
    struct loop l = loop_of("the fingerprint", A->nnz);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) num_threads(threads_for(A->nnz)) reduction(+ : pattern, values)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++)
            for (int64_t at = A->rowptr[i]; at < A->rowptr[i + 1]; at++)
                sym_hash(i, A->col[at], A->val[at], &pattern, &values);
    sums[0] = pattern;
    sums[1] = values;
}

/* ---- transposition: each thread counts the entries per column in its rows; the counts determine where these entries
   are written ---- */

/* counts[n][cols] is, for each thread, the number of its entries per column of A. Replace each count by the position
   within the column at which the thread writes its first entry. */
static void count_columns(const struct csr *A, int n, int *counts, struct csr *T)
{
    struct loop l = loop_of("counting columns", A->nnz);
#pragma omp parallel for schedule(static, 1) num_threads(n)
    for (int k = 0; k < n; k++) {
        int *mine = counts + k * A->cols;
        int64_t at = A->rowptr[row_from(A, k, n)];
        for (int64_t end = A->rowptr[row_from(A, k + 1, n)]; at < end && loop_goes(&l, at); at++) mine[A->col[at]]++;
    }
#pragma omp parallel for num_threads(n)
    for (int64_t from = 0; from < A->cols; from += LOOP_EVERY)
        for (int64_t c = from, end = loop_share(&l, from, A->cols); c < end; c++) {
            int sum = 0;
            for (int k = 0; k < n; k++) {
                int count = counts[k * A->cols + c];
                counts[k * A->cols + c] = sum;
                sum += count;
            }
            T->rowptr[c + 1] = sum;
        }
    for (int64_t c = 0; c < A->cols && loop_goes(&l, c); c++) T->rowptr[c + 1] += T->rowptr[c];
}

static void scatter(const struct csr *A, int n, int *counts, struct csr *T)
{
    struct loop l = loop_of("transposing", A->nnz);
#pragma omp parallel for schedule(static, 1) num_threads(n)
    for (int k = 0; k < n; k++) {
        int *mine = counts + k * A->cols;
        for (int64_t i = row_from(A, k, n), end = row_from(A, k + 1, n); i < end && loop_runs(&l); i++)
            for (int64_t at = A->rowptr[i]; at < A->rowptr[i + 1] && loop_goes(&l, at); at++) {
                int64_t to = (int64_t)T->rowptr[A->col[at]] + mine[A->col[at]]++;
                T->col[to] = (int)i;
                T->val[to] = A->val[at];
            }
    }
}

bool sym_host_transpose(struct csr *out, const struct csr *A, struct err *e)
{
    struct csr T;
    /* Limit the number of threads so that their counts need at most twice the memory of A. */
    int n = threads_for(A->nnz), most = (int)(1 + (A->cols ? 6 * A->nnz / A->cols : 0) % INT32_MAX);
    if (n > most) n = most;
    if (!csr_new(&T, A->cols, A->rows, A->nnz, false, e)) return false;
    int *counts = mem_zero(n * A->cols, sizeof *counts, "column counts", e);
    if (!counts) {
        csr_free(&T);
        return false;
    }
    count_columns(A, n, counts, &T);
    if (loop_tick("transposing", 0, 0, e)) scatter(A, n, counts, &T);
    mem_free(counts);
    if (!loop_tick("transposing", A->nnz, A->nnz, e)) {
        csr_free(&T);
        return false;
    }
    *out = T;
    return true;
}

/* ---- sym ---- */

/* Merge row i of A and row i of its transpose T; returns the length of the result. If out is NULL, only count. */
static int64_t merge_row(const struct csr *A, const struct csr *T, int64_t i, int mode, struct csr *out)
{
    int64_t a = A->rowptr[i], a_end = A->rowptr[i + 1], t = T->rowptr[i], t_end = T->rowptr[i + 1];
    int64_t from = out ? out->rowptr[i] : 0, at = from;
    for (; a < a_end || t < t_end; at++) {
        bool own = t >= t_end || (a < a_end && A->col[a] <= T->col[t]);
        bool both = own && t < t_end && A->col[a] == T->col[t];
        if (out) {
            out->col[at] = own ? A->col[a] : T->col[t];
            out->val[at] = both ? sym_join(mode, A->val[a], T->val[t]) : sym_alone(mode, own ? A->val[a] : T->val[t]);
        }
        a += own;
        t += !own || both;
    }
    return at - from;
}

static bool count_rows(const struct csr *A, const struct csr *T, int64_t *at, struct err *e)
{
    struct loop l = loop_of("counting entries", A->rows);
    at[0] = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) num_threads(threads_for(2 * A->nnz))
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++)
            at[i + 1] = merge_row(A, T, i, 0, NULL);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) at[i + 1] += at[i];
    return loop_end(&l, e);
}

static bool merge(struct sym *v, const struct csr *T, struct err *e)
{
    const struct csr *A = v->of;
    int64_t *at = mem_new(A->rows + 1, sizeof *at, "row lengths", e);
    bool ok = at && sym_begin_step(v, SYM_COUNT, e) && count_rows(A, T, at, e) && sym_begin_step(v, SYM_FILL, e) &&
              csr_new(&v->result, A->rows, A->cols, at[A->rows], false, e);
    if (ok) {
        struct loop l = loop_of("merging rows", A->rows);
        for (int64_t i = 0; i <= A->rows && loop_goes(&l, i); i++) v->result.rowptr[i] = (int)at[i];
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) num_threads(threads_for(2 * A->nnz))
        for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
            for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++)
                merge_row(A, T, i, (int)v->o.mode, &v->result);
        ok = loop_end(&l, e);
    }
    mem_free(at);
    return ok && sym_begin_step(v, SYM_STEPS, e);
}

bool sym_host_sym(struct sym *v, struct err *e)
{
    struct csr T;
    if (!sym_begin_step(v, SYM_TRANSPOSE, e) || !sym_host_transpose(&T, v->of, e)) return false;
    bool ok = merge(v, &T, e);
    csr_free(&T);
    return ok;
}

/* ---- sym-paper ---- */

static void expand(struct sym *v)
{
    const struct csr *A = v->of;
    struct loop l = loop_of("expanding entries", A->nnz);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) num_threads(threads_for(A->nnz))
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from; i < A->rows && i < from + LOOP_EVERY && loop_runs(&l); i++)
            for (int64_t at = A->rowptr[i]; at < A->rowptr[i + 1] && loop_goes(&l, at); at++) {
                v->key[0][at] = sym_key(i, A->col[at]);
                v->key[0][A->nnz + at] = sym_key(A->col[at], i);
                v->payload[0][at] = v->payload[0][A->nnz + at] = A->val[at];
            }
}

static int64_t count_keys(const uint64_t *key, int64_t n)
{
    struct loop l = loop_of("counting entries", n);
    int64_t different = 0;
#pragma omp parallel for num_threads(threads_for(n)) reduction(+ : different)
    for (int64_t from = 0; from < n; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, n); k < end; k++) different += k == 0 || key[k] != key[k - 1];
    return different;
}

/* Write the sorted keys as CSR without duplicates. A row begins where the upper half of the keys changes. */
static void rebuild(struct sym *v, const uint64_t *key, const double *payload, struct csr *out)
{
    int64_t n = 2 * v->nnz, at = 0, row = 0;
    int mode = (int)v->o.mode;
    struct loop l = loop_of("merging entries", n);
    for (int64_t k = 0; k < n && loop_goes(&l, at); k++, at++) {
        bool both = k + 1 < n && key[k + 1] == key[k];
        while (row < (int64_t)(key[k] >> 32)) out->rowptr[++row] = (int)at;
        out->col[at] = (int)(uint32_t)key[k];
        out->val[at] = both ? sym_join(mode, payload[k], payload[k + 1]) : sym_alone(mode, payload[k]);
        k += both;
    }
    while (row < out->rows && loop_goes(&l, row)) out->rowptr[++row] = (int)at;
}

static bool sort_and_rebuild(struct sym *v, int bits, struct err *e)
{
    int k = 0;
    struct pairs pairs = {2 * v->nnz, {v->key[0], v->key[1]}, {v->payload[0], v->payload[1]}};
    if (!sym_begin_step(v, SYM_EXPAND, e)) return false;
    expand(v);
    if (!loop_tick("expanding entries", 0, 0, e)) return false;
    if (!sym_begin_step(v, SYM_SORT, e) || !host_tools.sort(v->o.dev, &pairs, 0, 32 + bits, &k, NULL, 0, e))
        return false;
    if (!sym_begin_step(v, SYM_COUNT, e)) return false;
    int64_t found = count_keys(v->key[k], 2 * v->nnz);
    if (!sym_begin_step(v, SYM_FILL, e) || !csr_new(&v->result, v->rows, v->cols, found, false, e)) return false;
    rebuild(v, v->key[k], v->payload[k], &v->result);
    if (!loop_tick("merging entries", found, found, e)) return false;
    return sym_begin_step(v, SYM_STEPS, e);
}

bool sym_host_paper(struct sym *v, struct err *e)
{
    bool ok = true;
    int bits = 1;
    while (v->rows >> bits) bits++;
    for (int k = 0; ok && k < 2; k++) {
        v->key[k] = mem_new(2 * v->nnz, sizeof *v->key[k], "keys", e);
        v->payload[k] = mem_new(2 * v->nnz, sizeof *v->payload[k], "values of keys", e);
        ok = v->key[k] && v->payload[k];
    }
    ok = ok && sort_and_rebuild(v, bits, e);
    for (int k = 0; k < 2; k++) {
        mem_free(v->key[k]);
        mem_free(v->payload[k]);
        v->key[k] = NULL;
        v->payload[k] = NULL;
    }
    return ok;
}
