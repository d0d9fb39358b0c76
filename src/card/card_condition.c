/* Report card: two estimates of the condition number, neither of which exceeds the true number by more than rounding.
   The condition number bounds the number of digits that a solve loses. */
#include "card.h"
#include "base/loop.h"
#include "card_graph.h"
#include "card_lanczos.h"
#include "matrix/csr.h"
#include "base/err.h"
#include "base/mem.h"
#include "matrix/random.h"
#include "base/text.h"
#include "base/worker.h"

#include <math.h>
#include <string.h>

enum { STARTS = 8 }; /* starting vectors of Hager's method */
/* Lower bound on the speed of CXSparse's LU, and of the solves with its factors, on one core. */
enum { FLOPS_PER_US = 200 };
/* LU runs only if the Cholesky factorisation of A + A' needs no more operations than that of a full 2000 x 2000
   matrix. */
static const double flops_most = 2.7e9;

/* ---- || A^-1 ||_1 by the method of Hager 1984 and Higham 1988, with a sparse LU ---- */

struct hager {
    struct card_graph g;
    int width;      /* numbers per element of a vector: 2 if g is the equivalent of a complex matrix, otherwise 1 */
    bool singular;  /* LU met a zero pivot, or ran out of memory: cs_di_lu returns NULL in both cases */
    bool memory;    /* out of memory */
    double inverse; /* estimate of || A^-1 ||_1 */
    bool symmetric; /* A is real and symmetric: estimate || A^-1 ||_2 as well */
    double inverse_2;
};

/* The LU factors of A'. */
struct factors {
    cs_dis *S;    /* column permutation */
    cs_din *N;    /* L, U and the row permutation */
    double *work; /* [2 n] */
    int n, width; /* of a vector: n numbers, n / width elements */
};

/* x = A^-1 x. */
static void solve(const struct factors *f, double *x)
{
    cs_di_pvec(f->S->q, x, f->work, f->n);
    cs_di_utsolve(f->N->U, f->work);
    cs_di_ltsolve(f->N->L, f->work);
    cs_di_pvec(f->N->pinv, f->work, x, f->n);
}

/* x = A'^-1 x. */
static void solve_transposed(const struct factors *f, double *x)
{
    cs_di_ipvec(f->N->pinv, x, f->work, f->n);
    cs_di_lsolve(f->N->L, f->work);
    cs_di_usolve(f->N->U, f->work);
    cs_di_ipvec(f->S->q, f->work, x, f->n);
}

/* |x_i|: of a complex x, whose real and imaginary parts alternate, if the width is 2. */
static double modulus(const struct factors *f, const double *x, int i)
{
    return f->width == 2 ? hypot(x[2 * i], x[2 * i + 1]) : fabs(x[i]);
}

static double sum_of(const struct factors *f, const double *x)
{
    double sum = 0;
    for (int i = 0; i < f->n / f->width; i++) sum += modulus(f, x, i);
    return sum;
}

static int largest_of(const struct factors *f, const double *x)
{
    int at = 0;
    for (int i = 1; i < f->n / f->width; i++)
        if (modulus(f, x, i) > modulus(f, x, at)) at = i;
    return at;
}

/* x_i = x_i / |x_i|, and 1 where x_i is 0. */
static void to_signs(const struct factors *f, double *x)
{
    for (int i = 0; i < f->n / f->width; i++) {
        double size = modulus(f, x, i), *at = x + i * f->width;
        for (int k = 0; k < f->width; k++) at[k] = size > 0 ? at[k] / size : !k;
    }
}

/* x_i = a real number. */
static void put(const struct factors *f, double *x, int i, double value)
{
    x[i * f->width] = value;
    if (f->width == 2) x[2 * i + 1] = 0;
}

/* Hager's method: moves from the mean of all columns of A^-1 to a column with a large sum of |a|. Returns that sum.
   Start 0 takes the plain mean; the other starts give each column a random sign. With several starts, it is less likely
   that all of them end at a local maximum (Higham and Tisseur 2000, who also define the signs of complex numbers). */
static double climb(const struct factors *f, double *x, uint64_t start)
{
    double best = 0;
    int last = -1, n = f->n / f->width;
    for (int i = 0; i < n; i++) put(f, x, i, start && random_unit(&start) < 0 ? -1.0 / n : 1.0 / n);
    for (int turn = 0; turn < 5; turn++) {
        solve(f, x);
        double sum = sum_of(f, x);
        if (turn > 0 && !(sum > best)) break;
        best = sum;
        to_signs(f, x);
        solve_transposed(f, x);
        int at = largest_of(f, x);
        if (at == last) break;
        last = at;
        memset(x, 0, (size_t)f->n * sizeof *x);
        put(f, x, at, 1);
    }
    return best;
}

/* Higham's second estimate, for matrices that are constructed to mislead Hager's method. */
static double alternate(const struct factors *f, double *x)
{
    int n = f->n / f->width;
    for (int i = 0; i < n; i++) put(f, x, i, (i % 2 ? -1 : 1) * (1 + (n > 1 ? (double)i / (n - 1) : 0)));
    solve(f, x);
    return 2 * sum_of(f, x) / (3.0 * n);
}

/* || A^-1 ||_2 of a symmetric A, from below: inverse iteration, from a random vector. The Ritz values of A itself are
   no estimate of its smallest eigenvalues if A is ill-conditioned. */
static double inverse_norm_2(const struct factors *f, double *x)
{
    enum { TURNS = 20 };
    double size = 0;
    random_fill(x, f->n, 1);
    for (int turn = 0; turn <= TURNS; turn++) {
        if (turn > 0) solve(f, x);
        size = 0;
        for (int i = 0; i < f->n; i++) size += x[i] * x[i];
        size = sqrt(size);
        for (int i = 0; i < f->n; i++) x[i] /= size;
    }
    return size;
}

static void hager_work(void *p)
{
    struct hager *job = p;
    cs_di A = card_graph_cs(&job->g);
    struct factors f = {
        .S = cs_di_sqr(2, &A, 0), .n = A.n, .width = job->width, .work = cs_di_malloc(2 * A.n, sizeof(double))};
    if (f.S) f.N = cs_di_lu(&A, f.S, 1);
    job->memory = !f.S || !f.work;
    job->singular = !f.N;
    if (!job->memory && f.N) job->inverse = alternate(&f, f.work + f.n);
    for (uint64_t s = 0; !job->memory && f.N && s < STARTS; s++)
        job->inverse = fmax(job->inverse, climb(&f, f.work + f.n, s));
    if (!job->memory && f.N && job->symmetric) job->inverse_2 = inverse_norm_2(&f, f.work + f.n);
    cs_di_sfree(f.S);
    cs_di_nfree(f.N);
    cs_di_free(f.work);
}

static void hager_done(void *p)
{
    struct hager *job = p;
    card_graph_free(&job->g);
    mem_free(job);
}

/* The real matrix R that is equivalent to a complex A: entry p + i q becomes the block p -q, q p, and a vector has the
   real and the imaginary part of each element. R' is equivalent to the conjugate transpose of A. */
static bool equivalent(const struct csr *A, struct csr *R, struct err *e)
{
    if (!csr_new(R, 2 * A->rows, 2 * A->cols, 4 * A->nnz, false, e)) return false;
    struct loop l = loop_of("the equivalent real matrix", A->nnz);
    int64_t to = 0;
    for (int64_t i = 0; i < 2 * A->rows; i++) {
        bool lower = i % 2;
        for (int64_t k = A->rowptr[i / 2]; k < A->rowptr[i / 2 + 1] && loop_goes(&l, k); k++, to += 2) {
            R->col[to] = 2 * A->col[k];
            R->col[to + 1] = 2 * A->col[k] + 1;
            R->val[to] = lower ? A->imag[k] : A->val[k];
            R->val[to + 1] = lower ? A->val[k] : -A->imag[k];
        }
        R->rowptr[i + 1] = (int)to;
    }
    return loop_end(&l, e);
}

static bool graph_of(struct card_graph *g, const struct csr *A, struct err *e)
{
    struct csr R = {0};
    static const char what[] = "the condition estimate";
    if (!A->imag) return card_graph_new(g, A, true, 64, what, e);
    bool ok = equivalent(A, &R, e) && card_graph_new(g, &R, true, 64, what, e);
    csr_free(&R);
    return ok;
}

/* || A ||_1 * *scale. The scale is 1 or, if the sum of a column overflows or || A^-1 || might, another power of 2:
   multiplying all entries by it leaves the condition as it is. NaN: see e. */
static double scaled_norm(const struct csr *A, const struct card_columns *col, double *scale, struct err *e)
{
    double norm = 0;
    struct loop l = loop_of("columns", A->cols);
    for (int64_t j = 0; j < A->cols && loop_goes(&l, j); j++) norm = fmax(norm, col->sum[j]);
    if (!loop_end(&l, e)) return NAN;
    *scale = !isfinite(norm) ? 0x1p-64 : norm > 0 && norm < 0x1p-900 ? 0x1p1000 : 1;
    if (*scale == 1) return norm;
    double *sum = mem_zero(A->cols, sizeof *sum, "the sums of columns", e);
    if (!sum) return NAN;
    norm = 0;
    struct loop m = loop_of("columns", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&m, k); k++) {
        double z = A->imag ? A->imag[k] * *scale : 0;
        norm = fmax(norm, sum[A->col[k]] += hypot(A->val[k] * *scale, z));
    }
    mem_free(sum);
    return loop_end(&m, e) ? norm : NAN;
}

/* *condition is infinite if it exceeds the range of fp64. *singular: LU found no factors. *inverse_2: an estimate of
   || A^-1 ||_2 if A is `symmetric`; 0: none. */
static bool hager(struct card *c, bool symmetric, double *condition, bool *singular, double *inverse_2, struct err *e)
{
    const struct card_columns *col = card_columns(c, e);
    struct hager *job = col ? mem_zero(1, sizeof *job, "a condition estimate", e) : NULL;
    if (!job) return false;
    double scale = 1, norm = scaled_norm(c->A, col, &scale, e);
    job->symmetric = symmetric;
    job->width = c->A->imag ? 2 : 1;
    if (isnan(norm) || !graph_of(&job->g, c->A, e)) {
        mem_free(job);
        return false;
    }
    for (int64_t k = 0; scale != 1 && k < job->g.p[job->g.rows]; k++) job->g.x[k] *= scale;
    if (!worker_run(hager_work, hager_done, job, "condition by LU", c->watch, e)) return false;
    *singular = job->singular;
    *condition = job->singular || isnan(job->inverse) ? INFINITY : norm * job->inverse;
    *inverse_2 = scale != 1 || job->singular || !isfinite(job->inverse_2) ? 0 : job->inverse_2;
    bool memory = job->memory;
    hager_done(job);
    return !memory || fail(e, E_MEMORY, "out of memory: the LU of the condition estimate");
}

/* ---- the line ---- */

int card_digits_lost(double condition)
{
    return condition > 1 ? (int)fmin(CARD_DIGITS, round(log10(condition))) : 0;
}

static void advise_digits(struct card_row *r, double condition)
{
    int digits = card_digits_lost(condition);
    if (digits == CARD_DIGITS)
        card_advise(r, "singular to fp64");
    else
        card_advise(r, "%d of %d digits lost%s", digits, CARD_DIGITS, digits >= CARD_DIGITS_F32 ? ", not fp32" : "");
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_symmetry *s = card_symmetry(c, e);
    const struct card_fill *f = s ? card_fill(c, e) : NULL;
    double condition = NAN, inverse_2 = 0;
    bool singular = false;
    struct card_lanczos l = {.low = NAN};
    if (!f) return false;
    double flops = (c->A->imag ? 8 : 1) * f->flops; /* the equivalent real matrix has twice as many rows */
    bool direct = flops <= flops_most, krylov = !c->A->imag && s->values && c->sign == CARD_POSITIVE;
    if (direct && !card_affords(c, flops / FLOPS_PER_US, e)) return false;
    if (direct && !hager(c, krylov, &condition, &singular, &inverse_2, e)) return false;
    if (krylov && !card_lanczos(c, &l, e)) return false;
    c->singular = c->singular || singular;
    card_set(r, "singular", singular);
    card_set(r, "condition_1", condition);
    if (krylov && l.low > 0) card_set(r, "condition_2", l.high * fmax(1 / l.low, inverse_2));
    card_set(r, "ritz_low", l.low);
    card_set(r, "ritz_high", l.high);
    if (singular)
        card_say(r, "infinite: LU met a zero pivot (singular)");
    else if (isinf(condition))
        card_say(r, "beyond 1.8e308, the range of fp64");
    else if (direct)
        card_say(r, "about %.2g, 1-norm (Hager)", condition);
    else if (krylov && l.low > 0)
        card_say(r, "at least %.2g, 2-norm (Lanczos, %s)", condition = l.high / l.low, how_many(l.steps, "step").text);
    else
        card_say(r, "not estimated: too large for LU and not known to be definite");
    if (!singular && !isnan(condition)) advise_digits(r, condition);
    c->facts.condition = isnan(condition) ? 0 : condition;
    return true;
}

const struct card_line card_line_condition = {
    .name = "condition",
    .about = "||A|| ||A^-1||, estimated from below: in the 1-norm by the method of Hager and Higham with a sparse LU "
             "(of the equivalent real matrix, if the matrix is complex); "
             "in the "
             "2-norm by the Lanczos process, and by inverse iteration with that LU, if the matrix is known to be "
             "positive definite",
    .keys = {{"singular", CARD_BOOL},
             {"condition_1", CARD_NUM},
             {"condition_2", CARD_NUM},
             {"ritz_low", CARD_NUM},
             {"ritz_high", CARD_NUM}},
    .costly = true,
    .square = true,
    .finite = true,
    .run = run,
};
