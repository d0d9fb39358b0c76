/* The reference SpMV (sparse matrix-vector product), in double-double arithmetic, with an error bound per row. */
#include "reference.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/precision.h"
#include "base/threads.h"
#include "csr.h"
#include "row_slices.h"

#include <float.h>
#include <math.h>

/* A value stored as the unevaluated sum hi + lo. */
struct double_double {
    double hi, lo;
};

/* Add v to s; the rounding error is added to lo (Knuth's two-sum). */
static inline struct double_double add(struct double_double s, double v)
{
    double sum = s.hi + v, part = sum - s.hi;
    return (struct double_double){sum, s.lo + ((s.hi - (sum - part)) + (v - part))};
}

/* Add a b to s; both rounding errors are added to lo. */
static inline struct double_double add_product(struct double_double s, double a, double b)
{
    double p = a * b, error = fma(a, b, -p);
    s = add(s, p);
    s.lo += error;
    return s;
}

/* If hi is infinite or NaN, lo is NaN and must be ignored. */
static inline double value_of(struct double_double s)
{
    return isfinite(s.hi) && isfinite(s.lo) ? s.hi + s.lo : s.hi;
}

struct limits {
    double eps, smallest_normal, smallest;
    bool narrow;      /* are values stored in a smaller type? */
    enum type stored; /* then: that type */
};

static struct limits limits_of(enum precision real)
{
    bool narrow = precisions[real].narrow;
    enum type stored = precisions[real].stored;
    if (precisions[real].part == T_F32) return (struct limits){FLT_EPSILON, FLT_MIN, FLT_TRUE_MIN, narrow, stored};
    return (struct limits){DBL_EPSILON, DBL_MIN, DBL_TRUE_MIN, narrow, stored};
}

/* The error that underflow may add to the product a b. The error is nonzero only if a, b or a b is subnormal in the
   type whose limits are l. */
static double underflow(double a, double b, const struct limits *l)
{
    if (a == 0 || b == 0 || (a >= l->smallest_normal && b >= l->smallest_normal && a * b >= l->smallest_normal))
        return 0;
    return l->smallest * (1 + a + b);
}

/* The bound for scale times a sum of n products plus `offset`; sum: the sum of the products' absolute values, lost: the
   error that underflow may add to it. */
static double sum_bound(int64_t n, double scale, double sum, double lost, double offset, const struct limits *l)
{
    double terms = (double)n + 2;
    lost = scale * lost + underflow(scale, sum, l) + (offset > 0 && offset < l->smallest_normal ? l->smallest : 0);
    return terms * l->eps * (scale * sum + offset) + lost;
}

static double row_bound(const struct csr *A, int64_t row, double alpha, const double *x, double offset,
                        const struct limits *l)
{
    double sum = 0, lost = 0, scale = fabs(alpha);
    for (int64_t k = csr_start(A, row), end = csr_start(A, row + 1); k < end; k++) {
        double a = fabs(A->val[k]), b = fabs(x[A->col[k]]);
        sum += a * b;
        lost += underflow(a, b, l);
        if (l->narrow) lost += fabs(a - type_rounded(l->stored, a)) * b;
    }
    return sum_bound(csr_row_length(A, row), scale, sum, lost, offset, l);
}

/* alpha sum + beta old */
static inline double scaled(struct double_double sum, double alpha, double beta, double old)
{
    if (alpha == 1 && beta == 0) return value_of(sum);
    struct double_double y = add_product((struct double_double){0, 0}, alpha, sum.hi);
    y.lo += alpha * sum.lo;
    if (beta != 0) y = add_product(y, beta, old);
    return value_of(y);
}

static inline double row_value(const struct csr *A, int64_t row, double alpha, const double *x, double beta, double old)
{
    struct double_double sum = {0, 0};
    for (int64_t k = csr_start(A, row), end = csr_start(A, row + 1); k < end; k++)
        sum = add_product(sum, A->val[k], x[A->col[k]]);
    return scaled(sum, alpha, beta, old);
}

/* ---- a complex row: its real and its imaginary part are sums of twice as many real products ---- */

/* Term number t of the real part (part 0) or the imaginary part (part 1) of the product of entry k and x. */
static inline void complex_term(const struct csr *A, int64_t k, const double *x, int part, int t, double *a, double *b)
{
    *a = t == 0 ? A->val[k] : part == 0 ? -A->imag[k] : A->imag[k];
    *b = x[2 * (int64_t)A->col[k] + (t ^ part)];
}

static double complex_bound(const struct csr *A, int64_t row, double alpha, const double *x, int part, double offset,
                            const struct limits *l)
{
    double sum = 0, lost = 0, scale = fabs(alpha);
    for (int64_t k = csr_start(A, row), end = csr_start(A, row + 1); k < end; k++)
        for (int t = 0; t < 2; t++) {
            double a, b;
            complex_term(A, k, x, part, t, &a, &b);
            sum += fabs(a) * fabs(b);
            lost += underflow(fabs(a), fabs(b), l);
        }
    return sum_bound(2 * csr_row_length(A, row), scale, sum, lost, offset, l);
}

static inline double complex_value(const struct csr *A, int64_t row, double alpha, const double *x, int part,
                                   double beta, double old)
{
    struct double_double sum = {0, 0};
    for (int64_t k = csr_start(A, row), end = csr_start(A, row + 1); k < end; k++)
        for (int t = 0; t < 2; t++) {
            double a, b;
            complex_term(A, k, x, part, t, &a, &b);
            sum = add_product(sum, a, b);
        }
    return scaled(sum, alpha, beta, old);
}

struct reference {
    const struct csr *A;
    double alpha, beta;
    const double *x;
    enum precision real;
    struct limits limits;
    double *y, *bound; /* bound may be NULL */
};

static void complex_rows(const struct reference *q, int64_t from, int64_t to)
{
    for (int64_t i = 2 * from; i < 2 * to; i++) {
        int64_t row = i / 2;
        int part = (int)(i % 2);
        double old = q->beta == 0 ? 0 : q->y[i];
        if (q->bound) q->bound[i] = complex_bound(q->A, row, q->alpha, q->x, part, fabs(q->beta * old), &q->limits);
        q->y[i] = complex_value(q->A, row, q->alpha, q->x, part, q->beta, old);
    }
}

static void reference_rows(const struct reference *q, int64_t from, int64_t to)
{
    if (q->A->imag) return complex_rows(q, from, to);
    for (int64_t r = from; r < to; r++) {
        double old = q->beta == 0 ? 0 : q->y[r];
        if (q->bound) q->bound[r] = row_bound(q->A, r, q->alpha, q->x, fabs(q->beta * old), &q->limits);
        q->y[r] = row_value(q->A, r, q->alpha, q->x, q->beta, old);
    }
}

/* The same function, compiled for processors with an FMA instruction; in the function above, each fma() is a call to
   libm. Both functions give bit-identical results. */
#ifdef __x86_64__
__attribute__((target("fma"), flatten)) static void reference_rows_fma(const struct reference *q, int64_t from,
                                                                       int64_t to)
{
    reference_rows(q, from, to);
}

static bool has_fma(void)
{
    return __builtin_cpu_supports("fma");
}
#else
static void reference_rows_fma(const struct reference *q, int64_t from, int64_t to)
{
    reference_rows(q, from, to);
}

static bool has_fma(void)
{
    return false;
}
#endif

void reference_spmv(const struct csr *A, double alpha, const double *x, double beta, double *y, enum precision real,
                    double *bound)
{
    struct reference q = {A, alpha, beta, x, real, limits_of(real), y, bound};
    void (*rows)(const struct reference *, int64_t, int64_t) = has_fma() ? reference_rows_fma : reference_rows;
    struct loop l = loop_of("the reference", A->rows);
#pragma omp parallel for schedule(dynamic) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        if (loop_goes(&l, from)) rows(&q, from, from + LOOP_EVERY < A->rows ? from + LOOP_EVERY : A->rows);
}

static bool product_of_slice(void *user, const struct csr *slice, int64_t first, struct err *e)
{
    const struct reference *q = user;
    reference_spmv(slice, q->alpha, q->x, q->beta, q->y + first, q->real, q->bound ? q->bound + first : NULL);
    return true;
}

bool reference_product(const struct csr *A, double alpha, const double *x, double beta, double *y, enum precision real,
                       double *bound, struct err *e)
{
    struct reference q = {.alpha = alpha, .beta = beta, .x = x, .real = real, .y = y, .bound = bound};
    return csr_visit_all(A, product_of_slice, &q, e) && loop_tick("the reference", 0, 0, e);
}

static bool same_kind(double y, double ref)
{
    return isnan(ref) ? isnan(y) : y == ref;
}

/* |y - ref| / bound. The result is 0 if y equals ref. If y and ref differ, the result is infinite if y or ref is not
   finite or if the bound is 0. */
static double excess(double y, double ref, double bound)
{
    if (same_kind(y, ref)) return 0;
    if (!isfinite(y) || !isfinite(ref) || !(bound > 0)) return INFINITY;
    return fabs(y - ref) / bound;
}

/* Vectors are compared in pieces, which GROUPS groups process in turn, so that sums do not depend on the threads. */
enum { PIECE = 1 << 16, GROUPS = 64 };

struct comparison {
    int64_t n;
    const double *y, *ref, *bound; /* bound NULL: 0 */
    double gap, size;              /* by which y - ref and ref are divided before they are squared */
    struct loop loop;
};

/* The result of a group: the largest excess and its first place, -1 if none is above 0; the largest finite |y - ref|
   and |ref|; the sums of the squares of the finite values of both; and whether values that are not finite agree. */
struct found {
    double worst, gap, size, gap_squares, size_squares;
    int64_t at;
    bool not_finite, unlike;
};

typedef void compare_piece(const struct comparison *c, int64_t from, int64_t to, struct found *out);

static void take_largest(double *most, double v)
{
    if (isfinite(v) && fabs(v) > *most) *most = fabs(v);
}

static void find_worst(const struct comparison *c, int64_t from, int64_t to, struct found *out)
{
    for (int64_t i = from; i < to; i++) {
        double y = c->y[i], ref = c->ref[i], w = excess(y, ref, c->bound ? c->bound[i] : 0);
        if (w > out->worst) out->worst = w, out->at = i;
        take_largest(&out->gap, y - ref);
        take_largest(&out->size, ref);
        if (isfinite(y) && isfinite(ref)) continue;
        out->not_finite = true;
        out->unlike |= !same_kind(y, ref);
    }
}

static void add_square(double *sum, double v, double scale)
{
    if (isfinite(v / scale)) *sum += v / scale * (v / scale);
}

static void add_squares(const struct comparison *c, int64_t from, int64_t to, struct found *out)
{
    for (int64_t i = from; i < to; i++) {
        add_square(&out->gap_squares, c->y[i] - c->ref[i], c->gap);
        add_square(&out->size_squares, c->ref[i], c->size);
    }
}

static void join_found(struct found *all, const struct found *one)
{
    bool worse = one->worst > all->worst || (one->worst == all->worst && one->at >= 0 && one->at < all->at);
    if (worse) all->worst = one->worst, all->at = one->at;
    all->gap = fmax(all->gap, one->gap);
    all->size = fmax(all->size, one->size);
    all->gap_squares += one->gap_squares;
    all->size_squares += one->size_squares;
    all->not_finite |= one->not_finite;
    all->unlike |= one->unlike;
}

static struct found compare(struct comparison *c, compare_piece *look)
{
    struct found group[GROUPS], all = {.at = -1};
#pragma omp parallel for schedule(dynamic) if (c->n > PIECE)
    for (int g = 0; g < GROUPS; g++) {
        group[g] = (struct found){.at = -1};
        for (int64_t from = (int64_t)g * PIECE; from < c->n && loop_check(&c->loop, from); from += GROUPS * PIECE)
            look(c, from, c->n - from < PIECE ? c->n : from + PIECE, &group[g]);
    }
    for (int g = 0; g < GROUPS; g++) join_found(&all, &group[g]);
    return all;
}

/* ||y - ref|| / ||ref||, 2-norms of the finite values, which are scaled so that no square overflows. */
static double relative_gap(struct comparison *c)
{
    if (c->gap == 0) return 0;
    if (c->size == 0) return INFINITY;
    struct found f = compare(c, add_squares);
    return c->gap * sqrt(f.gap_squares) / (c->size * sqrt(f.size_squares));
}

struct verdict verdict_of(int64_t n, const double *y, const double *ref, const double *bound)
{
    struct comparison c = {.n = n, .y = y, .ref = ref, .bound = bound, .loop = loop_of("the error", n)};
    struct found f = compare(&c, find_worst);
    c.gap = f.gap;
    c.size = f.size;
    struct verdict v = {.row = f.at, .at = f.at, .worst = f.worst, .relative = relative_gap(&c)};
    if (f.not_finite && !isinf(v.relative)) v.relative = f.unlike ? INFINITY : NAN;
    v.ok = v.worst <= 1;
    return v;
}

const char *const reads_y_text =
    "it was never written, or it was read; y must not be read if beta is 0, because it holds NaN";

bool verdict_reads_y(const struct verdict *v, double beta, const double *y, const double *ref)
{
    return beta == 0 && v->at >= 0 && isnan(y[v->at]) && !isnan(ref[v->at]);
}
