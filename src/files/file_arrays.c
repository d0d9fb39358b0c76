/* Make a matrix from the arrays of a file: check ranges, mirror symmetric entries, sort rows, sum duplicates. */
#include "base/err.h"
#include "base/half.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "file.h"
#include "load_info.h"
#include "matrix/csr.h"

#include <math.h>
#include <string.h>

enum { TICK_EVERY = 1 << 18 };

/* ---- numbers of any type as double ---- */

/* Read an unsigned integer at an address of any alignment. GPUs and their hosts are little-endian, like the files. */
static uint64_t bits_at(const void *at, size_t bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    return bits;
}

static double number_f2(const void *at)
{
    return (double)fp16_value((uint16_t)bits_at(at, 2));
}
static double number_f4(const void *at)
{
    float v;
    memcpy(&v, at, sizeof v);
    return v;
}
static double number_f8(const void *at)
{
    double v;
    memcpy(&v, at, sizeof v);
    return v;
}
/* x87: 64 bits of mantissa, 15 of exponent, a sign, 48 of padding. Rounded once, to the nearest double. */
static double number_f16(const void *at)
{
    uint64_t mantissa = bits_at(at, 8), top = bits_at((const char *)at + 8, 2);
    int exponent = (int)(top & 0x7fff);
    double v = exponent < 0x7fff               ? (double)ldexpl((long double)mantissa, exponent - 16383 - 63)
               : mantissa == (uint64_t)1 << 63 ? INFINITY
                                               : NAN;
    return top & 0x8000 ? -v : v;
}
static double number_i1(const void *at)
{
    return (double)(int8_t)bits_at(at, 1);
}
static double number_i2(const void *at)
{
    return (double)(int16_t)bits_at(at, 2);
}
static double number_i4(const void *at)
{
    return (double)(int32_t)bits_at(at, 4);
}
static double number_i8(const void *at)
{
    return (double)(int64_t)bits_at(at, 8);
}
static double number_u1(const void *at)
{
    return (double)bits_at(at, 1);
}
static double number_u2(const void *at)
{
    return (double)bits_at(at, 2);
}
static double number_u4(const void *at)
{
    return (double)bits_at(at, 4);
}
static double number_u8(const void *at)
{
    return (double)bits_at(at, 8);
}
static double number_b1(const void *at)
{
    return bits_at(at, 1) != 0;
}

file_number *file_number_of(char kind, int bytes)
{
    static const struct {
        char kind;
        int bytes;
        file_number *number;
    } table[] = {
        {'f', 2, number_f2}, {'f', 4, number_f4}, {'f', 8, number_f8}, {'f', 16, number_f16}, {'i', 1, number_i1},
        {'i', 2, number_i2}, {'i', 4, number_i4}, {'i', 8, number_i8}, {'u', 1, number_u1},   {'u', 2, number_u2},
        {'u', 4, number_u4}, {'u', 8, number_u8}, {'b', 1, number_b1},
    };
    for (int i = 0; i < COUNT(table); i++)
        if (table[i].kind == kind && table[i].bytes == bytes) return table[i].number;
    return NULL;
}

/* ---- checks ---- */

static bool enough_memory(const struct source *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    double pointer = csr_size_is_large(rows, nnz) ? 8 : 4;
    double need = pointer * (double)rows + 4.0 * (double)cols + 12.0 * (double)nnz;
    if (need <= (double)mem_available()) return true;
    char text[32];
    return fail_at(e, E_MEMORY, s->where,
                   "%lld x %lld with %lld entries needs %s, which is more than the available memory", (long long)rows,
                   (long long)cols, (long long)nnz, show_bytes(need, text, sizeof text));
}

bool file_sizes(const struct source *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    struct err why = {0};
    if (!csr_limits(rows, cols, nnz, &why)) return file_at(s, &why, e);
    return enough_memory(s, rows, cols, nnz, e);
}

bool file_sizes_any(const struct source *s, int64_t rows, int64_t cols, int64_t nnz, struct err *e)
{
    struct err why = {0};
    if (!csr_limits_any(rows, cols, nnz, &why)) return file_at(s, &why, e);
    return enough_memory(s, rows, cols, nnz, e);
}

static bool check_pointers(const struct source *s, const struct csr *C, struct err *e)
{
    if (csr_start(C, 0) != 0)
        return file_bad(s, e, "the pointers begin with %lld instead of 0", (long long)csr_start(C, 0));
    struct loop l = loop_of("checking rows", C->rows);
    for (int64_t r = 0; r < C->rows && loop_goes(&l, r); r++)
        if (csr_start(C, r + 1) < csr_start(C, r))
            return file_bad(s, e, "the pointers decrease: %lld follows %lld", (long long)csr_start(C, r + 1),
                            (long long)csr_start(C, r));
    if (!loop_end(&l, e)) return false;
    return csr_start(C, C->rows) <= C->nnz || file_bad(s, e, "the pointers end with %lld, but there are %lld entries",
                                                       (long long)csr_start(C, C->rows), (long long)C->nnz);
}

static bool check_indices(const struct source *s, const struct csr *C, bool by_columns, struct err *e)
{
    struct loop l = loop_of("checking entries", C->nnz);
    int64_t bad = C->nnz;
#pragma omp parallel for reduction(min : bad) if (C->nnz > TICK_EVERY)
    for (int64_t from = 0; from < C->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, C->nnz); k < end; k++)
            if ((C->col[k] < 0 || C->col[k] >= C->cols) && k < bad) bad = k;
    if (!loop_end(&l, e)) return false;
    if (bad == C->nnz) return true;
    return file_bad(s, e, "entry %lld: %s index %d is outside 0 .. %lld", (long long)bad, by_columns ? "row" : "column",
                    C->col[bad], (long long)C->cols - 1);
}

static bool is_sorted(const struct csr *C)
{
    struct loop l = loop_of("checking rows", C->rows);
    bool sorted = true;
#pragma omp parallel for schedule(static) reduction(&& : sorted) if (C->nnz > TICK_EVERY)
    for (int64_t from = 0; from < C->rows; from += LOOP_EVERY)
        for (int64_t r = from, end = loop_share(&l, from, C->rows); r < end && sorted; r++)
            for (int64_t k = csr_start(C, r) + 1; sorted && k < csr_start(C, r + 1); k++)
                sorted = C->col[k - 1] < C->col[k];
    return sorted;
}

/* ---- transposing and mirroring, with counting sorts ---- */

static void put(struct csr *T, int64_t row, int64_t col, double re, double im)
{
    int at = T->rowptr[row + 1]++;
    T->col[at] = (int)col;
    T->val[at] = re;
    if (T->imag) T->imag[at] = im;
}

/* Replace C by its transpose. The rows of C need not be sorted; the rows of the result are sorted. */
static bool transpose(struct csr *C, struct watch *w, struct err *e)
{
    struct csr T = {0};
    bool ok = csr_limits(C->rows, C->cols, C->nnz, e) && csr_new(&T, C->cols, C->rows, C->nnz, C->imag != NULL, e);
    int64_t next = 0;
    if (ok) {
        struct loop l = loop_of("sorting rows", C->nnz);
        for (int64_t k = 0; k < C->nnz && loop_goes(&l, k); k++) T.rowptr[C->col[k] + 1]++;
        counts_to_offsets(T.rows, T.rowptr);
    }
    for (int64_t r = 0, k = 0; ok && r < C->rows; r++) {
        if (k >= next) ok = watch_tick(w, "sorting rows", k, C->nnz, e), next = k + TICK_EVERY;
        ok = ok && (r % TICK_EVERY || loop_tick("sorting rows", k, C->nnz, e));
        for (; ok && k < C->rowptr[r + 1]; k++) put(&T, C->col[k], r, C->val[k], C->imag ? C->imag[k] : 0);
    }
    csr_free(C);
    if (!ok) csr_free(&T);
    *C = T;
    return ok;
}

/* Does entry k have a value that is impossible on the diagonal of a matrix with this symmetry? */
static bool bad_diagonal(const struct csr *C, int64_t k, enum mirrored how)
{
    double im = C->imag ? C->imag[k] : 0;
    return (how == MIRROR_SKEW && (C->val[k] != 0 || im != 0)) || (how == MIRROR_HERMITIAN && im != 0);
}

/* Count the entries above and below the diagonal, and check that only one triangle is present and the diagonal is
   valid. */
static bool one_triangle(const struct source *s, const struct csr *C, enum mirrored how, int64_t *upper, int64_t *lower,
                         struct err *e)
{
    struct loop l = loop_of("checking the symmetry", C->rows);
    *upper = *lower = 0;
    for (int64_t r = 0; r < C->rows && loop_goes(&l, r); r++)
        for (int k = C->rowptr[r]; k < C->rowptr[r + 1]; k++) {
            *upper += C->col[k] < r;
            *lower += C->col[k] > r;
            if (C->col[k] == r && bad_diagonal(C, k, how))
                return file_bad(s, e, "column %lld: the diagonal entry is %g%+gi, but must be %s", (long long)r,
                                C->val[k], C->imag ? C->imag[k] : 0, how == MIRROR_SKEW ? "0" : "real");
        }
    if (!loop_end(&l, e)) return false;
    return !*upper || !*lower ||
           file_bad(s, e,
                    "a file with this symmetry must hold only one triangle, but this file holds both; "
                    "remove one, or let the header say that the matrix is general");
}

/* Copy the triangle C to both triangles of T. The row pointers of T are already set. */
static bool mirror_entries(const struct csr *C, struct csr *T, enum mirrored how, struct watch *w, struct err *e)
{
    int64_t next = 0;
    for (int64_t r = 0, k = 0; r < C->rows; r++) {
        if (k >= next && !watch_tick(w, "mirroring entries", k, C->nnz, e)) return false;
        if (r % TICK_EVERY == 0 && !loop_tick("mirroring entries", k, C->nnz, e)) return false;
        if (k >= next) next = k + TICK_EVERY;
        for (; k < C->rowptr[r + 1]; k++) {
            double re = C->val[k], im = C->imag ? C->imag[k] : 0;
            put(T, r, C->col[k], re, im);
            if (C->col[k] == r) continue;
            put(T, C->col[k], r, how == MIRROR_SKEW ? -re : re, how == MIRROR_SYMMETRIC ? im : -im);
        }
    }
    return true;
}

/* C is one triangle, stored by columns: replace C with the matrix that has both triangles. */
static bool mirror(const struct source *s, struct csr *C, enum mirrored how, struct watch *w, struct load_info *info,
                   struct err *e)
{
    struct csr T = {0};
    int64_t upper, lower;
    if (C->rows != C->cols)
        return file_bad(s, e, "the matrix is %lld x %lld, but a matrix with this symmetry must be square",
                        (long long)C->cols, (long long)C->rows);
    if (!one_triangle(s, C, how, &upper, &lower, e)) return false;
    if (upper)
        file_note(info, "%s above the diagonal %s mirrored", how_many(upper, "entry").text,
                  upper == 1 ? "was" : "were");
    int64_t n = C->nnz + upper + lower;
    if (!file_sizes(s, C->rows, C->cols, n, e) || !csr_new(&T, C->rows, C->cols, n, C->imag != NULL, e)) return false;
    struct loop l = loop_of("mirroring entries", C->rows);
    for (int64_t r = 0; r < C->rows && loop_goes(&l, r); r++)
        for (int k = C->rowptr[r]; k < C->rowptr[r + 1]; k++) {
            T.rowptr[r + 1]++;
            if (C->col[k] != r) T.rowptr[C->col[k] + 1]++;
        }
    counts_to_offsets(T.rows, T.rowptr);
    bool ok = mirror_entries(C, &T, how, w, e);
    csr_free(C);
    *C = T;
    return ok;
}

/* Sum duplicates in sorted rows; the arrays keep their length. */
static void sum_duplicates(struct csr *A)
{
    struct loop l = loop_of("summing duplicates", A->rows);
    int64_t to = 0, k = 0;
    for (int64_t r = 0; r < A->rows && loop_goes(&l, r); r++) {
        int64_t begin = to;
        for (int64_t end = csr_start(A, r + 1); k < end; k++) {
            bool again = to > begin && A->col[to - 1] == A->col[k];
            int64_t at = again ? to - 1 : to++;
            A->col[at] = A->col[k];
            A->val[at] = again ? A->val[at] + A->val[k] : A->val[k];
            if (A->imag) A->imag[at] = again ? A->imag[at] + A->imag[k] : A->imag[k];
        }
        csr_set_start(A, r + 1, to);
    }
    A->nnz = to;
}

static void count_zeros(const struct csr *A, struct load_info *info)
{
    struct loop l = loop_of("counting zeros", A->nnz);
    int64_t n = 0;
#pragma omp parallel for reduction(+ : n) if (A->nnz > TICK_EVERY)
    for (int64_t from = 0; from < A->nnz; from += LOOP_EVERY)
        for (int64_t k = from, end = loop_share(&l, from, A->nnz); k < end; k++)
            n += A->val[k] == 0 && (!A->imag || A->imag[k] == 0);
    info->explicit_zeros = n;
}

const char *mirrored_word(enum mirrored mirrored)
{
    static const char *const symmetry[] = {"general", "symmetric", "skew-symmetric", "hermitian"};
    return symmetry[mirrored];
}

static void describe(struct load_info *info, enum mirrored mirrored)
{
    snprintf(info->object, sizeof info->object, "matrix");
    snprintf(info->symmetry, sizeof info->symmetry, "%s", mirrored_word(mirrored));
}

bool file_finish(const struct source *s, struct csr *arrays, bool by_columns, enum mirrored mirrored, struct watch *w,
                 struct csr *A, struct load_info *info, struct err *e)
{
    struct csr C = *arrays;
    memset(arrays, 0, sizeof *arrays);
    bool ok = check_pointers(s, &C, e);
    if (ok) info->nnz_stored = C.nnz = csr_start(&C, C.rows);
    ok = ok && check_indices(s, &C, by_columns, e) && (mirrored == MIRROR_NOT || mirror(s, &C, mirrored, w, info, e)) &&
         (!by_columns || transpose(&C, w, e));
    if (ok && !is_sorted(&C)) {
        int64_t before = C.nnz;
        if (!by_columns) ok = transpose(&C, w, e) && transpose(&C, w, e);
        if (ok) sum_duplicates(&C);
        info->duplicates = before - C.nnz;
    }
    ok = ok && loop_tick("sorting rows", 0, 0, e) && csr_settle(&C, e);
    if (!ok) {
        csr_free(&C);
        return false;
    }
    describe(info, mirrored);
    count_zeros(&C, info);
    *A = C;
    return true;
}

bool file_finish_triplets(const struct source *s, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                          const double *val, const double *imag, struct watch *w, struct csr *A, struct load_info *info,
                          struct err *e)
{
    struct err why = {0};
    if (!csr_build(A, rows, cols, n, row, col, val, imag, &info->duplicates, w, &why)) return file_at(s, &why, e);
    info->nnz_stored = n;
    describe(info, MIRROR_NOT);
    count_zeros(A, info);
    return true;
}
