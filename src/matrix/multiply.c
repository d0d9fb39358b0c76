/* The product of two matrices. CXSparse multiplies matrices stored by columns. The CSR arrays of a matrix are also its
   transpose, stored by columns. Therefore cs_multiply(B, A) returns B' A' = (A B)' by columns, which is A B by rows.
   The rows of A are processed in blocks, so that threads share the work and Ctrl-C takes effect between blocks. */
#include "arithmetic.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "csr.h"

#include <string.h>
#include <suitesparse/cs.h>

enum {
    BLOCK_FLOPS = 1 << 18, /* number of multiplications in a block; they take about a millisecond */
    /* maximum number of entries of both matrices, because cs_multiply computes 2 * entries + columns as an int */
    MAX = 1 << 29
};

struct multiply {
    const struct csr *A, *B;
    cs_complex_t *a, *b; /* the values of A and B, if the product is complex; owned */
    int64_t blocks, room;
    int64_t *begin; /* [blocks + 1]: first row of each block */
    bool no_memory; /* set by any thread; read and written atomically */
};

/* ---- blocks ---- */

static bool add_block(struct multiply *m, int64_t row, struct err *e)
{
    if (m->blocks + 2 > m->room) {
        int64_t room = m->room ? 2 * m->room : 64;
        int64_t *begin = mem_resize(m->begin, room, sizeof *begin, "blocks of rows", e);
        if (!begin) return false;
        m->begin = begin;
        m->room = room;
    }
    m->begin[m->blocks] = row;
    return true;
}

/* The number of multiplications for row i. */
static int64_t row_flops(const struct multiply *m, int64_t i)
{
    int64_t n = 0;
    for (int k = m->A->rowptr[i]; k < m->A->rowptr[i + 1]; k++) n += csr_row_length(m->B, m->A->col[k]);
    return n;
}

/* Divide the rows into blocks of about BLOCK_FLOPS multiplications; a block has at least one row. */
static bool find_blocks(struct multiply *m, struct err *e)
{
    int64_t flops = 0;
    struct loop l = loop_of("counting multiplications", m->A->rows);
    if (!add_block(m, 0, e)) return false;
    for (int64_t i = 0; i < m->A->rows && loop_goes(&l, i); i++) {
        flops += row_flops(m, i) + 1;
        if (flops < BLOCK_FLOPS && i + 1 < m->A->rows) continue;
        flops = 0;
        m->blocks++;
        if (!add_block(m, i + 1, e)) return false;
    }
    return loop_end(&l, e);
}

/* ---- one block ---- */

static void library_failed(struct multiply *m)
{
    __atomic_store_n(&m->no_memory, true, __ATOMIC_RELAXED);
}

/* Rows row0 .. row1-1 of A B, without sorted columns. The caller frees the result with cs_di_spfree. */
static cs_di *real_block(struct multiply *m, int64_t row0, int64_t row1, bool values)
{
    const struct csr *A = m->A, *B = m->B;
    cs_di right = {.m = (int)A->cols, .n = (int)(row1 - row0), .p = A->rowptr + row0, .i = A->col, .nz = -1};
    cs_di left = {.m = (int)B->cols, .n = (int)B->rows, .p = B->rowptr, .i = B->col, .nz = -1};
    right.nzmax = A->rowptr[row1];
    left.nzmax = (int)B->nnz;
    if (values) right.x = A->val, left.x = B->val;
    cs_di *C = cs_di_multiply(&left, &right);
    if (!C) library_failed(m);
    return C;
}

static cs_ci *complex_block(struct multiply *m, int64_t row0, int64_t row1)
{
    const struct csr *A = m->A, *B = m->B;
    cs_ci right = {.m = (int)A->cols, .n = (int)(row1 - row0), .p = A->rowptr + row0, .i = A->col, .nz = -1};
    cs_ci left = {.m = (int)B->cols, .n = (int)B->rows, .p = B->rowptr, .i = B->col, .nz = -1};
    right.nzmax = A->rowptr[row1];
    left.nzmax = (int)B->nnz;
    right.x = m->a;
    left.x = m->b;
    cs_ci *C = cs_ci_multiply(&left, &right);
    if (!C) library_failed(m);
    return C;
}

static void count_block(struct multiply *m, int64_t block, int *count)
{
    int64_t row0 = m->begin[block], row1 = m->begin[block + 1];
    cs_di *C = real_block(m, row0, row1, false);
    for (int64_t i = row0; C && i < row1; i++) count[i] = C->p[i - row0 + 1] - C->p[i - row0];
    cs_di_spfree(C);
}

/* Copy the n entries of a row, with ascending columns, to C, beginning at position `to`. Real values are in x,
   complex values in z; the other pointer is NULL. */
static void copy_sorted(struct csr *C, int64_t to, int64_t n, const int *col, const double *x, const cs_complex_t *z,
                        uint64_t *key)
{
    for (int64_t k = 0; k < n; k++) key[k] = (uint64_t)col[k] << 32 | (uint64_t)k;
    csr_sort_keys(key, key + n, n, C->cols);
    for (int64_t k = 0; k < n; k++) {
        uint32_t from = (uint32_t)key[k];
        C->col[to + k] = (int)(key[k] >> 32);
        C->val[to + k] = z ? creal(z[from]) : x[from];
        if (z) C->imag[to + k] = cimag(z[from]);
    }
}

static void fill_rows(struct multiply *m, int64_t block, struct csr *C, const int *p, const int *col, const double *x,
                      const cs_complex_t *z)
{
    int64_t row0 = m->begin[block], row1 = m->begin[block + 1], longest = 0;
    for (int64_t i = row0; i < row1; i++)
        if (csr_row_length(C, i) > longest) longest = csr_row_length(C, i);
    uint64_t *key = mem_new(2 * longest, sizeof *key, "sort keys", NULL);
    if (!key) library_failed(m);
    for (int64_t i = row0; key && i < row1; i++) {
        int from = p[i - row0];
        copy_sorted(C, C->rowptr[i], csr_row_length(C, i), col + from, x ? x + from : NULL, z ? z + from : NULL, key);
    }
    mem_free(key);
}

static void fill_block(struct multiply *m, int64_t block, struct csr *C)
{
    int64_t row0 = m->begin[block], row1 = m->begin[block + 1];
    if (C->imag) {
        cs_ci *P = complex_block(m, row0, row1);
        if (P) fill_rows(m, block, C, P->p, P->i, NULL, P->x);
        cs_ci_spfree(P);
    } else {
        cs_di *P = real_block(m, row0, row1, true);
        if (P) fill_rows(m, block, C, P->p, P->i, P->x, NULL);
        cs_di_spfree(P);
    }
}

/* ---- all blocks ---- */

/* Count the entries of each row in count[], or fill C. */
static bool run_blocks(struct multiply *m, const char *what, int *count, struct csr *C, struct err *e)
{
    struct loop l = loop_of(what, m->blocks);
#pragma omp parallel for schedule(dynamic, 1) if (m->blocks > 1)
    for (int64_t b = 0; b < m->blocks; b++) {
        if (__atomic_load_n(&m->no_memory, __ATOMIC_RELAXED) || !loop_check(&l, b)) continue;
        if (C)
            fill_block(m, b, C);
        else
            count_block(m, b, count);
    }
    if (!loop_end(&l, e)) return false;
    return !m->no_memory ||
           fail(e, E_MEMORY, "out of memory while %s; drop a matrix or multiply smaller matrices", what);
}

static cs_complex_t *complex_values(const struct csr *A, struct err *e)
{
    cs_complex_t *z = mem_new(A->nnz, sizeof *z, "complex values", e);
    struct loop l = loop_of("copying values", A->nnz);
    for (int64_t k = 0; z && k < A->nnz && loop_goes(&l, k); k++) z[k] = CMPLX(A->val[k], A->imag ? A->imag[k] : 0);
    if (z && loop_end(&l, e)) return z;
    mem_free(z);
    return NULL;
}

static bool begin_multiply(struct multiply *m, struct err *e)
{
    const struct csr *A = m->A, *B = m->B;
    if (A->nnz + B->nnz > MAX || B->cols > MAX / 2)
        return fail(e, E_LIMIT,
                    "the product is too large for CXSparse: at most %d entries in both matrices and %d columns", MAX,
                    MAX / 2);
    if ((A->imag || B->imag) && (!(m->a = complex_values(A, e)) || !(m->b = complex_values(B, e)))) return false;
    return find_blocks(m, e);
}

static bool multiply(struct multiply *m, struct csr *out, struct err *e)
{
    const struct csr *A = m->A, *B = m->B;
    int *count = begin_multiply(m, e) ? mem_zero(A->rows, sizeof *count, "the row lengths of a product", e) : NULL;
    bool ok = count && run_blocks(m, "counting entries of the product", count, NULL, e) &&
              csr_with_counts(out, A->rows, B->cols, count, A->imag || B->imag, "multiplying", e);
    mem_free(count);
    if (!ok) return false;
    if (run_blocks(m, "multiplying", NULL, out, e)) return true;
    csr_free(out);
    return false;
}

bool csr_multiply(struct csr *out, const struct csr *A, const struct csr *B, struct err *e)
{
    struct multiply m = {.A = A, .B = B};
    *out = (struct csr){0};
    bool ok = multiply(&m, out, e);
    mem_free(m.begin);
    mem_free(m.a);
    mem_free(m.b);
    return ok;
}
