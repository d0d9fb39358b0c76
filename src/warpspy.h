/* The shared structs: errors, memory, arrays, the CSR interchange form, stored matrices. */
#ifndef WARPSPY_H
#define WARPSPY_H

#include "role.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WARPSPY_VERSION "0.1.0"
#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* ---- err.c: what went wrong, where, in one line ---- */

enum code {
    E_NONE,
    E_USAGE,
    E_INPUT,
    E_IO,
    E_MEMORY,
    E_LIMIT,
    E_UNSUPPORTED,
    E_NUMERIC,
    E_DEVICE,
    E_CANCELLED,
    E_INTERNAL
};

struct err {
    enum code code;
    char where[256]; /* "file:line", or empty */
    char text[512];  /* what was expected, what was found, what to do */
};

/* Record the first failure in e (later ones are ignored; e may be NULL) and return false. */
bool fail(struct err *e, enum code code, const char *fmt, ...) PRINTF(3, 4);
bool fail_at(struct err *e, enum code code, const char *where, const char *fmt, ...) PRINTF(4, 5);
void err_clear(struct err *e);

/* ---- mem.c: allocation that tests can make fail ---- */

/* n items of `size` bytes, 256-byte aligned as cudaMalloc aligns, never NULL on success (n may be 0);
   NULL and E_MEMORY, naming `what`, on failure. mem_new does not clear, mem_zero does. Release with mem_free. */
void *mem_new(int64_t n, size_t size, const char *what, struct err *e);
void *mem_zero(int64_t n, size_t size, const char *what, struct err *e);
/* Grow or shrink; on failure the old block stays valid and NULL is returned. Alignment is not kept. */
void *mem_resize(void *p, int64_t n, size_t size, const char *what, struct err *e);
char *mem_str(const char *text, struct err *e);
void mem_free(void *p);
int64_t mem_available(void); /* bytes the system can still give, an estimate */
/* So many bytes are kept that nobody needs: give(user) frees them all when memory gets short; from any thread. */
void mem_spare(int64_t bytes, void (*give)(void *user), void *user);
bool mem_take_spare(void);     /* have them freed; false: there were none */
void mem_fail_at(int64_t nth); /* tests: the nth allocation from now fails, 0 = never */
int64_t mem_count(void);       /* tests: allocations made since start */

/* ---- watch: progress and cancellation of long work (job.c) ---- */

/* Long work calls watch_tick now and then (at least every 10 ms of work). `tick` may be NULL. */
struct watch {
    bool (*tick)(struct watch *w, const char *what, int64_t done, int64_t total); /* false: cancel */
    void *user;
};
/* false with E_CANCELLED when the user asked to stop. w may be NULL. total 0 = unknown. */
bool watch_tick(struct watch *w, const char *what, int64_t done, int64_t total, struct err *e);
/* Microseconds of a steady clock; tests replace the clock so that screens do not depend on time. */
double now_us(void);
void now_replace(double (*clock)(void));
/* The median of n >= 1 times, which are sorted by it, and half the distance between their quartiles; spread may be
 * NULL. */
double times_median(int64_t n, double *us, double *spread);

/* ---- text.c: foreign text made safe ---- */

/* Copy text to out[size], escaping C0, C1, DEL, bidi controls and invalid UTF-8; at most `most` bytes of
   input are quoted, then "..." follows. Returns out. Everything foreign passes here before it is printed. */
char *print_safe(const char *text, size_t n, size_t most, char *out, size_t size);
/* The same of whole lines: their ends stay as they are. */
char *print_lines(const char *text, char *out, size_t size);
/* Safe text for HTML, SVG or XML: marks and quotes become entities. */
void text_html(FILE *f, const char *text);
/* Length of the valid UTF-8 sequence at text (n > 0 bytes left) and its code point; 0 if it is not one. */
int utf8_decode(const char *text, size_t n, uint32_t *point);
/* Columns of a terminal that text takes. */
int text_width(const char *text);
/* The bytes of text that fit in so many columns, and their columns, which may be fewer, in *taken. */
size_t text_fit(const char *text, int columns, int *taken);
/* "1.23 MB", "417 B": SI bytes. Returns out. */
char *show_bytes(double bytes, char *out, size_t size);
/* 12345678 -> "12,345,678". Returns out. */
char *show_count(int64_t n, char *out, size_t size);
/* "1 row", "1,234 rows", "2 entries", "3 matrices": whatever counts things says it by this. noun: of one. */
struct counted {
    char text[80];
};
struct counted how_many(int64_t n, const char *noun);

/* ---- csr.c: the interchange form ---- */

/* Compressed rows: row i holds entries rowptr[i] .. rowptr[i+1]-1, columns ascending, no duplicates.
   Immutable once built. Limits, checked once in csr_limits: rows, cols < 2^31, nnz <= 2^31-1. */
struct csr {
    int64_t rows, cols, nnz;
    int *rowptr;  /* [rows+1] */
    int *col;     /* [nnz] */
    double *val;  /* [nnz] real part; always present */
    double *imag; /* [nnz] imaginary part, or NULL for a real matrix */
};

bool csr_limits(int64_t rows, int64_t cols, int64_t nnz, struct err *e);
/* There is memory for a matrix of this size, of which arrays for `held` entries are there already. */
bool csr_fits(int64_t rows, int64_t nnz, int64_t held, bool complex_values, struct err *e);
bool csr_new(struct csr *A, int64_t rows, int64_t cols, int64_t nnz, bool complex_values, struct err *e);
void csr_free(struct csr *A);
bool csr_check(const struct csr *A, struct err *e); /* the invariants above, naming the first broken one */
/* Build from triplets in any order; duplicates are summed, their number goes to *duplicates (may be NULL).
   n log n at worst, stable, parallel. row/col/val/imag are only read. */
bool csr_from_triplets(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col,
                       const double *val, const double *imag, int64_t *duplicates, struct err *e);
/* The same, watched: cancelled, A is empty. */
bool csr_build(struct csr *A, int64_t rows, int64_t cols, int64_t n, const int *row, const int *col, const double *val,
               const double *imag, int64_t *duplicates, struct watch *w, struct err *e);
/* Sort the keys of one row, column above 32 bits of position and in the order of these; spare has room for n. Linear
   for long rows. */
void csr_sort_keys(uint64_t *key, uint64_t *spare, int64_t n, int64_t cols);
bool csr_copy(struct csr *out, const struct csr *A, struct err *e);
bool csr_transpose(struct csr *out, const struct csr *A, struct err *e);
/* Sorting by counting. Counts in ptr[1 .. n] become where each of n rows begins, one place further on: filling row i at
   ptr[i + 1]++ then leaves ptr[i] .. ptr[i + 1] - 1 to it. */
void counts_to_offsets(int64_t n, int *ptr);
/* The pattern of the transpose: the rows of A that have column j are row[ptr[j] .. ptr[j + 1] - 1], ascending. ptr has
   room for cols + 1, row for nnz. The rows of A need not be sorted. */
void csr_pattern_transposed(const struct csr *A, int *ptr, int *row);
bool csr_equal(const struct csr *A, const struct csr *B); /* same shape, pattern and bits */
int64_t csr_row_length(const struct csr *A, int64_t row);
/* The first of entries from .. end-1 of one row whose column is not below col; end if there is none. */
int64_t csr_lower(const struct csr *A, int64_t from, int64_t end, int64_t col);
/* Index of entry (row, col) in A->val, or -1. */
int64_t csr_find(const struct csr *A, int64_t row, int64_t col);

/* Position of the first NaN or inf of x[n], or n. */
int64_t first_not_finite(int64_t n, const double *x);
/* No value of A is NaN or inf; else the error names its place, and says that `force` DOES all the same. */
bool csr_finite(const struct csr *A, const char *does, struct err *e);

/* ---- check.c: the reference every kernel is held against ---- */

/* y = alpha A x + beta y in double with compensated sums, and for each row the error bound
   bound[i] = (row length + 2) * eps(real) * (|alpha| sum |a||x| + |beta y|), and what underflow in `real` may
   lose where an operand or product is subnormal in it; bound may be NULL. beta 0: the old y is not read. */
enum type { T_I32, T_I64, T_F32, T_F64 };
void reference_spmv(const struct csr *A, double alpha, const double *x, double beta, double *y, enum type real,
                    double *bound);
struct verdict {
    bool ok;
    double relative; /* ||y - ref||_2 / ||ref||_2 (THESIS); NaN where ref has NaN or inf, and y the same */
    double worst;    /* max |y_i - ref_i| / bound_i; ok means <= 1 */
    int64_t row;     /* where the worst one is, or -1 */
};
struct verdict verdict_of(int64_t n, const double *y, const double *ref, const double *bound);

/* ---- stored matrices: a short list of named, typed arrays ---- */

enum { ARRAYS_MAX = 8, PARAMS_MAX = 5 };

struct array {
    const char *name;
    enum role role;
    enum type type;
    int64_t n;
    void *data;
};

size_t type_size(enum type t);
const char *type_name(enum type t); /* "int32", "fp64", ... */

struct format;
struct stored {
    const struct format *format;
    int64_t rows, cols, nnz;
    int64_t param[PARAMS_MAX]; /* resolved, in the order of format->params */
    enum type real;            /* T_F32 or T_F64: the type of the values */
    int narrays;
    struct array a[ARRAYS_MAX];
};

/* What one slot of an array stands for. */
enum slot_kind { SLOT_ENTRY, SLOT_PADDING, SLOT_POINTER };
struct place {
    enum slot_kind kind;
    int64_t row, col; /* of the entry; -1 where it has none. A pointer names the row (or block row...) it starts */
};

double array_real(const struct array *a, int64_t i); /* any slot as a number */

#ifdef __cplusplus
}
#endif
#endif
