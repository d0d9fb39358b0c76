/* The interchange form CSR: memory, invariants, copies, transposition and look-up. */
#include "csr.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"
#include "base/threads.h"
#include "row_source.h"

#include <math.h>
#include <string.h>

enum { CHECK_MEMORY_FROM = 1 << 26 };

static int64_t pointer_size(int64_t rows, int64_t nnz)
{
    return csr_size_is_large(rows, nnz) ? sizeof(int64_t) : sizeof(int);
}

static int64_t bytes_of(int64_t rows, int64_t nnz, int64_t pointer, bool complex_values)
{
    int64_t entry = (int64_t)(sizeof(int) + (complex_values ? 2 : 1) * sizeof(double));
    return (rows + 1) * pointer + nnz * entry;
}

int64_t csr_memory(const struct csr *A)
{
    if (A->source) return row_source_memory(A->source);
    return bytes_of(A->rows, A->nnz, csr_is_large(A) ? sizeof *A->rowptr64 : sizeof *A->rowptr, A->imag != NULL);
}

/* Linux grants large blocks before it has memory for them, so this function refuses a matrix that does not fit in
   memory. */
bool csr_fits(int64_t rows, int64_t nnz, int64_t held, bool complex_values, struct err *e)
{
    int64_t bytes = bytes_of(rows, nnz - held, pointer_size(rows, nnz), complex_values);
    if (bytes < CHECK_MEMORY_FROM || bytes <= mem_available()) return true;
    if (mem_take_spare() && bytes <= mem_available()) return true;
    char need[32], have[32];
    return fail(e, E_MEMORY, "%s and %s need %s, but only about %s is available; drop a matrix or use a smaller one",
                how_many(rows, "row").text, how_many(nnz, "entry").text, show_bytes((double)bytes, need, sizeof need),
                show_bytes((double)mem_available(), have, sizeof have));
}

bool csr_pointers_new(struct csr *A, struct err *e)
{
    bool large = csr_size_is_large(A->rows, A->nnz);
    void *p = mem_new(A->rows + 1, large ? sizeof *A->rowptr64 : sizeof *A->rowptr, "row pointers", e);
    A->rowptr = large ? NULL : p;
    A->rowptr64 = large ? p : NULL;
    return p;
}

bool csr_pointers_zero(struct csr *A, struct err *e)
{
    if (A->rowptr) return loop_fill(A->rowptr, A->rows + 1, 0, "making rows", e);
    return loop_zero(A->rowptr64, (A->rows + 1) * (int64_t)sizeof *A->rowptr64, "making rows", e);
}

bool csr_settle(struct csr *A, struct err *e)
{
    struct csr small = {.rows = A->rows, .nnz = A->nnz};
    if (csr_is_large(A) == csr_size_is_large(A->rows, A->nnz)) return true;
    if (!csr_pointers_new(&small, e)) return false;
    struct loop l = loop_of("copying row pointers", A->rows);
    for (int64_t i = 0; i <= A->rows && loop_goes(&l, i); i++) csr_set_start(&small, i, csr_start(A, i));
    if (!loop_end(&l, e)) {
        mem_free(small.rowptr);
        return false;
    }
    mem_free(A->rowptr64);
    A->rowptr64 = NULL;
    A->rowptr = small.rowptr;
    return true;
}

bool csr_new_any(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e)
{
    memset(A, 0, sizeof *A);
    if (!csr_limits_any(rows, cols, nnz, e) || !csr_fits(rows, nnz, 0, complex_values, e)) return false;
    struct csr B = {.rows = rows, .cols = cols, .nnz = nnz};
    bool ok = csr_pointers_new(&B, e) && csr_pointers_zero(&B, e);
    if (ok) B.col = mem_new(nnz, sizeof *B.col, "column indices", e);
    if (B.col) B.val = mem_new(nnz, sizeof *B.val, "values", e);
    if (B.val && complex_values) B.imag = mem_new(nnz, sizeof *B.imag, "imaginary values", e);
    if (!B.val || (complex_values && !B.imag)) {
        csr_free(&B);
        return false;
    }
    *A = B;
    return true;
}

bool csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e)
{
    memset(A, 0, sizeof *A);
    return csr_limits(rows, cols, nnz, e) && csr_new_any(A, rows, cols, nnz, complex_values, e);
}

void csr_free(struct csr *A)
{
    mem_free(A->rowptr);
    mem_free(A->rowptr64);
    mem_free(A->col);
    mem_free(A->val);
    mem_free(A->imag);
    row_source_free(A->source);
    memset(A, 0, sizeof *A);
}

/* ---- invariants ---- */

static bool check_rowptr(const struct csr *A, struct err *e)
{
    if (csr_start(A, 0) != 0)
        return fail(e, E_INTERNAL, "the row pointers begin with %lld instead of 0", (long long)csr_start(A, 0));
    struct loop l = loop_of("checking rows", A->rows);
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++)
        if (csr_start(A, r + 1) < csr_start(A, r))
            return fail(e, E_INTERNAL, "the row pointers decrease: row %lld begins at %lld and ends at %lld",
                        (long long)r, (long long)csr_start(A, r), (long long)csr_start(A, r + 1));
    if (!loop_end(&l, e)) return false;
    if (csr_start(A, A->rows) != A->nnz)
        return fail(e, E_INTERNAL, "the row pointers end with %lld, but there are %lld entries",
                    (long long)csr_start(A, A->rows), (long long)A->nnz);
    return true;
}

/* The first entry of row r whose column is out of range or not greater than the preceding column; -1 if there is no
   such entry. */
static int64_t bad_entry(const struct csr *A, int64_t r)
{
    int64_t before = -1;
    for (int64_t k = csr_start(A, r), end = csr_start(A, r + 1); k < end; before = A->col[k++])
        if (A->col[k] <= before || A->col[k] >= A->cols) return k;
    return -1;
}

bool csr_check(const struct csr *A, struct err *e)
{
    if (!csr_limits_any(A->rows, A->cols, A->nnz, e)) return false;
    if (!A->rowptr == !A->rowptr64 || !A->col || !A->val)
        return fail(e, E_INTERNAL, "the matrix lacks row pointers, columns or values");
    if (!check_rowptr(A, e)) return false;
    struct loop l = loop_of("checking columns", A->rows);
    int64_t first = A->rows;
#pragma omp parallel for schedule(static) reduction(min : first) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t r = from, end = loop_share(&l, from, A->rows); r < end && r < first; r++)
            if (bad_entry(A, r) >= 0) first = r;
    if (!loop_end(&l, e)) return false;
    if (first == A->rows) return true;
    int64_t k = bad_entry(A, first);
    if (A->col[k] < 0 || A->col[k] >= A->cols)
        return fail(e, E_INTERNAL, "row %lld: column %d is outside 0 .. %lld", (long long)first, A->col[k],
                    (long long)A->cols - 1);
    return fail(e, E_INTERNAL, "row %lld: the columns do not ascend: %d follows %d", (long long)first, A->col[k],
                A->col[k - 1]);
}

/* ---- copies and look-up ---- */

static bool copy_pointers(struct csr *out, const struct csr *A, struct err *e)
{
    int64_t n = A->rows + 1;
    if (csr_is_large(A)) return loop_copy(out->rowptr64, A->rowptr64, n * (int64_t)sizeof *A->rowptr64, "copying", e);
    return loop_copy(out->rowptr, A->rowptr, n * (int64_t)sizeof *A->rowptr, "copying", e);
}

bool csr_copy(struct csr *out, const struct csr *A, struct err *e)
{
    if (!csr_new_any(out, A->rows, A->cols, A->nnz, A->imag != NULL, e)) return false;
    bool ok = copy_pointers(out, A, e) && loop_copy(out->col, A->col, A->nnz * (int64_t)sizeof *A->col, "copying", e) &&
              loop_copy(out->val, A->val, A->nnz * (int64_t)sizeof *A->val, "copying", e) &&
              (!A->imag || loop_copy(out->imag, A->imag, A->nnz * (int64_t)sizeof *A->imag, "copying", e));
    if (!ok) csr_free(out);
    return ok;
}

void counts_to_offsets(int64_t n, int *ptr)
{
    struct loop l = loop_of("counting rows", n);
    int sum = 0;
    for (int64_t i = 1; i <= n && loop_goes(&l, i); i++) {
        int count = ptr[i];
        ptr[i] = sum;
        sum += count;
    }
}

void csr_counts_to_offsets(struct csr *A)
{
    struct loop l = loop_of("counting rows", A->rows);
    int64_t sum = 0;
    if (A->rowptr) return counts_to_offsets(A->rows, A->rowptr);
    for (int64_t i = 1; i <= A->rows && loop_goes(&l, i); i++) {
        int64_t count = A->rowptr64[i];
        A->rowptr64[i] = sum;
        sum += count;
    }
}

/* Set ptr[j + 1] to the offset of the first row of column j. */
static void column_starts(const struct csr *A, int *ptr)
{
    loop_zero(ptr, (A->cols + 1) * (int64_t)sizeof *ptr, "counting columns", NULL);
    struct loop l = loop_of("counting columns", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) ptr[A->col[k] + 1]++;
    counts_to_offsets(A->cols, ptr);
}

void csr_pattern_transposed(const struct csr *A, int *ptr, int *row)
{
    column_starts(A, ptr);
    struct loop l = loop_of("transposing", A->nnz);
    for (int64_t r = 0; r < A->rows && loop_runs(&l); r++)
        for (int k = A->rowptr[r]; k < A->rowptr[r + 1] && loop_goes(&l, k); k++) row[ptr[A->col[k] + 1]++] = (int)r;
}

/* The rows are visited in ascending order, so each column lists its rows in ascending order. */
bool csr_transpose(struct csr *out, const struct csr *A, struct err *e)
{
    struct csr T;
    if (!csr_limits(A->rows, A->cols, A->nnz, e) || !csr_new(&T, A->cols, A->rows, A->nnz, A->imag != NULL, e))
        return false;
    column_starts(A, T.rowptr);
    struct loop l = loop_of("transposing", A->nnz);
    for (int64_t r = 0; r < A->rows && loop_runs(&l); r++)
        for (int k = A->rowptr[r]; k < A->rowptr[r + 1] && loop_goes(&l, k); k++) {
            int at = T.rowptr[A->col[k] + 1]++;
            T.col[at] = (int)r;
            T.val[at] = A->val[k];
            if (T.imag) T.imag[at] = A->imag[k];
        }
    if (!loop_end(&l, e)) {
        csr_free(&T);
        return false;
    }
    *out = T;
    return true;
}

static bool same(const void *a, const void *b, int64_t n, size_t size)
{
    return n == 0 || memcmp(a, b, (size_t)n * size) == 0;
}

static bool same_pointers(const struct csr *A, const struct csr *B)
{
    if (csr_is_large(A) != csr_is_large(B)) return false;
    return csr_is_large(A) ? same(A->rowptr64, B->rowptr64, A->rows + 1, sizeof *A->rowptr64)
                           : same(A->rowptr, B->rowptr, A->rows + 1, sizeof *A->rowptr);
}

bool csr_equal(const struct csr *A, const struct csr *B)
{
    return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && !A->imag == !B->imag &&
           same_pointers(A, B) && same(A->col, B->col, A->nnz, sizeof *A->col) &&
           same(A->val, B->val, A->nnz, sizeof *A->val) &&
           (!A->imag || same(A->imag, B->imag, A->nnz, sizeof *A->imag));
}

int64_t csr_row_of(const struct csr *A, int64_t k)
{
    return csr_is_large(A) ? span_of_wide(A->rowptr64, A->rows, k) : span_of(A->rowptr, A->rows, k);
}

int64_t csr_row_from(const struct csr *A, int64_t row, int64_t end, int64_t entry)
{
    while (row < end) {
        int64_t mid = row + (end - row) / 2;
        if (csr_start(A, mid) < entry)
            row = mid + 1;
        else
            end = mid;
    }
    return row;
}

int64_t csr_most_entries(const struct csr *A, int64_t rows)
{
    int64_t most = 0;
    for (int64_t i = 0; i < A->rows; i += rows) {
        int64_t n = csr_start(A, i + rows < A->rows ? i + rows : A->rows) - csr_start(A, i);
        if (n > most) most = n;
    }
    return most;
}

int64_t csr_row_length(const struct csr *A, int64_t row)
{
    if (A->source) return row_source_length(A->source, row);
    return csr_start(A, row + 1) - csr_start(A, row);
}

int64_t csr_longest_row(const struct csr *A)
{
    int64_t longest = 0;
    if (A->source) return A->source->longest;
#pragma omp parallel for schedule(static) reduction(max : longest) if (A->nnz > THREADS_FROM)
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t n = csr_row_length(A, i);
        if (n > longest) longest = n;
    }
    return longest;
}

bool csr_has_row_above(const struct csr *A, int64_t most)
{
    struct loop l = loop_of("looking at row lengths", A->rows);
    bool found = false;
    if (A->source) return A->source->longest > most;
#pragma omp parallel for schedule(static) reduction(|| : found) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = found ? from : loop_share(&l, from, A->rows); i < end; i++)
            found = found || csr_row_length(A, i) > most;
    return found;
}

int64_t csr_lower(const struct csr *A, int64_t from, int64_t end, int64_t col)
{
    return column_lower(A->col, from, end, col);
}

int64_t csr_find(const struct csr *A, int64_t row, int64_t col)
{
    int64_t end = csr_start(A, row + 1), k = csr_lower(A, csr_start(A, row), end, col);
    return k < end && A->col[k] == col ? k : -1;
}

bool csr_has_diagonal(const struct csr *A, int64_t i)
{
    int64_t k = csr_find(A, i, i);
    return k >= 0 && csr_abs(A, k) != 0;
}

int64_t csr_zero_diagonal(const struct csr *A)
{
    int64_t zeros = 0;
    struct loop l = loop_of("the diagonal", A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) zeros += !csr_has_diagonal(A, i);
    return zeros;
}

int64_t first_not_finite(int64_t n, const double *x)
{
    enum { SHARE = 1 << 16 };
    struct loop l = loop_of("looking for NaN and inf", n);
    int64_t at = n;
    if (n <= SHARE) { /* a parallel region costs a microsecond, even with one thread */
        for (at = 0; at < n && isfinite(x[at]);) at++;
        return at;
    }
#pragma omp parallel for schedule(static) reduction(min : at)
    for (int64_t from = 0; from < n; from += SHARE)
        if (loop_check(&l, from))
            for (int64_t i = from, end = n - from < SHARE ? n : from + SHARE; i < end && i < at; i++)
                if (!isfinite(x[i])) at = i;
    return loop_runs(&l) ? at : n;
}

bool csr_finite(const struct csr *A, const char *verb, struct err *e)
{
    if (A->source) return true; /* generators make finite values */
    int64_t k = first_not_finite(A->nnz, A->val);
    if (k == A->nnz) return loop_unbroken("looking for NaN and inf", e);
    return fail(e, E_NUMERIC,
                "the matrix has %g in row %lld, column %d (counted from 0); add `force` to the command to %s it anyway",
                A->val[k], (long long)csr_row_of(A, k), A->col[k], verb);
}
