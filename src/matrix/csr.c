/* The interchange form CSR: limits, invariants, copies, transposition and look-up. */
#include "csr.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"
#include "base/loop.h"
#include "base/threads.h"

#include <math.h>
#include <string.h>

enum { CHECK_MEMORY_FROM = 1 << 26 };

bool csr_limits(int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    const int64_t most = INT32_MAX;
    if (rows < 0 || cols < 0 || nnz < 0)
        return fail(e, E_INPUT, "%lld rows, %lld columns, %lld entries: none of them may be negative", (long long)rows,
                    (long long)cols, (long long)nnz);
    if (rows > most || cols > most)
        return fail(e, E_LIMIT, "%lld x %lld is too large: at most %lld rows and columns fit in 32-bit indices",
                    (long long)rows, (long long)cols, (long long)most);
    if (nnz > most)
        return fail(e, E_LIMIT,
                    "%lld entries are too many: at most %lld fit in 32-bit row pointers; choose a smaller matrix",
                    (long long)nnz, (long long)most);
    return true;
}

/* Linux grants large blocks before it has memory for them, so this function refuses a matrix that does not fit in
   memory. */
bool csr_fits(int64_t rows, int64_t nnz, int64_t held, bool complex_values, struct err *e)
{
    int64_t bytes = (rows + 1) * (int64_t)sizeof(int) + (nnz - held) * (int64_t)(sizeof(int) + sizeof(double));
    if (complex_values) bytes += (nnz - held) * (int64_t)sizeof(double);
    if (bytes < CHECK_MEMORY_FROM || bytes <= mem_available()) return true;
    if (mem_take_spare() && bytes <= mem_available()) return true;
    char need[32], have[32];
    return fail(e, E_MEMORY, "%s and %s need %s, but only about %s is available; drop a matrix or use a smaller one",
                how_many(rows, "row").text, how_many(nnz, "entry").text, show_bytes((double)bytes, need, sizeof need),
                show_bytes((double)mem_available(), have, sizeof have));
}

bool csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e)
{
    memset(A, 0, sizeof *A);
    if (!csr_limits(rows, cols, nnz, e) || !csr_fits(rows, nnz, 0, complex_values, e)) return false;
    struct csr B = {.rows = rows, .cols = cols, .nnz = nnz};
    B.rowptr = mem_new(rows + 1, sizeof *B.rowptr, "row pointers", e);
    B.col = mem_new(nnz, sizeof *B.col, "column indices", e);
    B.val = mem_new(nnz, sizeof *B.val, "values", e);
    if (complex_values) B.imag = mem_new(nnz, sizeof *B.imag, "imaginary values", e);
    if (!B.rowptr || !B.col || !B.val || (complex_values && !B.imag) ||
        !loop_fill(B.rowptr, rows + 1, 0, "making rows", e)) {
        csr_free(&B);
        return false;
    }
    *A = B;
    return true;
}

void csr_free(struct csr *A)
{
    mem_free(A->rowptr);
    mem_free(A->col);
    mem_free(A->val);
    mem_free(A->imag);
    memset(A, 0, sizeof *A);
}

/* ---- invariants ---- */

static bool check_rowptr(const struct csr *A, struct err *e)
{
    if (A->rowptr[0] != 0) return fail(e, E_INTERNAL, "the row pointers begin with %d instead of 0", A->rowptr[0]);
    struct loop l = loop_of("checking rows", A->rows);
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++)
        if (A->rowptr[r + 1] < A->rowptr[r])
            return fail(e, E_INTERNAL, "the row pointers decrease: row %lld begins at %d and ends at %d", (long long)r,
                        A->rowptr[r], A->rowptr[r + 1]);
    if (!loop_end(&l, e)) return false;
    if (A->rowptr[A->rows] != A->nnz)
        return fail(e, E_INTERNAL, "the row pointers end with %d, but there are %lld entries", A->rowptr[A->rows],
                    (long long)A->nnz);
    return true;
}

/* The first entry of row r whose column is out of range or not greater than the preceding column; -1 if there is no
   such entry. */
static int64_t bad_entry(const struct csr *A, int64_t r)
{
    int64_t before = -1;
    for (int k = A->rowptr[r]; k < A->rowptr[r + 1]; before = A->col[k++])
        if (A->col[k] <= before || A->col[k] >= A->cols) return k;
    return -1;
}

bool csr_check(const struct csr *A, struct err *e)
{
    if (!csr_limits(A->rows, A->cols, A->nnz, e)) return false;
    if (!A->rowptr || !A->col || !A->val)
        return fail(e, E_INTERNAL, "the matrix lacks row pointers, columns or values");
    if (!check_rowptr(A, e)) return false;
    struct loop l = loop_of("checking columns", A->rows);
    int64_t first = A->rows;
#pragma omp parallel for schedule(static) reduction(min : first) if (A->nnz > THREADS_FROM)
    for (int64_t r = 0; r < A->rows; r++)
        if (r < first && loop_goes(&l, r) && bad_entry(A, r) >= 0) first = r;
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

bool csr_copy(struct csr *out, const struct csr *A, struct err *e)
{
    if (!csr_new(out, A->rows, A->cols, A->nnz, A->imag != NULL, e)) return false;
    bool ok = loop_copy(out->rowptr, A->rowptr, (A->rows + 1) * (int64_t)sizeof *A->rowptr, "copying", e) &&
              loop_copy(out->col, A->col, A->nnz * (int64_t)sizeof *A->col, "copying", e) &&
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

/* Set ptr[j + 1] to the offset of the first row of column j. */
static void column_starts(const struct csr *A, int *ptr)
{
    struct loop l = loop_of("counting columns", A->nnz);
    memset(ptr, 0, (size_t)(A->cols + 1) * sizeof *ptr);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++) ptr[A->col[k] + 1]++;
    counts_to_offsets(A->cols, ptr);
}

void csr_pattern_transposed(const struct csr *A, int *ptr, int *row)
{
    column_starts(A, ptr);
    struct loop l = loop_of("transposing", A->nnz);
    for (int64_t r = 0; r < A->rows; r++)
        for (int k = A->rowptr[r]; k < A->rowptr[r + 1] && loop_goes(&l, k); k++) row[ptr[A->col[k] + 1]++] = (int)r;
}

/* The rows are visited in ascending order, so each column lists its rows in ascending order. */
bool csr_transpose(struct csr *out, const struct csr *A, struct err *e)
{
    struct csr T;
    if (!csr_new(&T, A->cols, A->rows, A->nnz, A->imag != NULL, e)) return false;
    column_starts(A, T.rowptr);
    struct loop l = loop_of("transposing", A->nnz);
    for (int64_t r = 0; r < A->rows; r++)
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

bool csr_equal(const struct csr *A, const struct csr *B)
{
    return A->rows == B->rows && A->cols == B->cols && A->nnz == B->nnz && !A->imag == !B->imag &&
           same(A->rowptr, B->rowptr, A->rows + 1, sizeof *A->rowptr) && same(A->col, B->col, A->nnz, sizeof *A->col) &&
           same(A->val, B->val, A->nnz, sizeof *A->val) &&
           (!A->imag || same(A->imag, B->imag, A->nnz, sizeof *A->imag));
}

int64_t csr_row_length(const struct csr *A, int64_t row)
{
    return A->rowptr[row + 1] - A->rowptr[row];
}

int64_t csr_longest_row(const struct csr *A)
{
    int64_t longest = 0;
#pragma omp parallel for schedule(static) reduction(max : longest) if (A->nnz > THREADS_FROM)
    for (int64_t i = 0; i < A->rows; i++) {
        int64_t n = csr_row_length(A, i);
        if (n > longest) longest = n;
    }
    return longest;
}

int64_t csr_lower(const struct csr *A, int64_t from, int64_t end, int64_t col)
{
    while (from < end) {
        int64_t mid = from + (end - from) / 2;
        if (A->col[mid] < col)
            from = mid + 1;
        else
            end = mid;
    }
    return from;
}

int64_t csr_find(const struct csr *A, int64_t row, int64_t col)
{
    int64_t end = A->rowptr[row + 1], k = csr_lower(A, A->rowptr[row], end, col);
    return k < end && A->col[k] == col ? k : -1;
}

int64_t first_not_finite(int64_t n, const double *x)
{
    int64_t at = n;
#pragma omp parallel for reduction(min : at) if (n > 1 << 16)
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(x[i]) && i < at) at = i;
    return at;
}

bool csr_finite(const struct csr *A, const char *verb, struct err *e)
{
    int64_t k = first_not_finite(A->nnz, A->val);
    if (k == A->nnz) return true;
    return fail(e, E_NUMERIC,
                "the matrix has %g in row %lld, column %d (counted from 0); add `force` to the command to %s it anyway",
                A->val[k], (long long)span_of(A->rowptr, A->rows, k), A->col[k], verb);
}
