/* Report card: estimates of the condition number, none of which exceeds the true number by more than rounding. The
   condition number of the equilibrated matrix bounds the number of digits that a solve loses. */
#include "base/err.h"
#include "base/library_thread.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "card.h"
#include "card_graph.h"
#include "card_lanczos.h"
#include "matrix/csr.h"
#include "matrix/equilibrate.h"
#include "matrix/random.h"

#include <math.h>
#include <string.h>

/* Starting vectors of Hager's method; the equilibrated matrix gets few, so that its estimate takes little time. */
enum { STARTS = 8, EQUILIBRATED_STARTS = 2 };
/* Lower bound on the speed of CXSparse's LU, and of the solves with its factors, on one core. */
enum { FLOPS_PER_US = 200 };
/* LU runs only if the Cholesky factorisation of A + A' needs no more operations than that of a full 2000 x 2000
   matrix. */
static const double flops_most = 2.7e9;

/* ---- || A^-1 ||_1 by the method of Hager 1984 and Higham 1988, with a sparse LU ---- */

/* The equilibrated matrix B = R A C, with R and C of powers of 2, is factored in place of A. */
struct hager {
    struct card_graph g; /* B */
    int *row, *col;      /* [g.rows] the exponents in R and C; owned */
    int width;      /* numbers per element of a vector: 2 if g is the equivalent of a complex matrix, otherwise 1 */
    bool scales;    /* R or C is not the identity */
    bool no_pivot;  /* LU met a zero pivot, or ran out of memory: cs_di_lu returns NULL in both cases */
    bool memory;    /* out of memory */
    int unit;       /* || 2^unit A || and the norm of its inverse are within range */
    double inverse; /* estimate of || (2^unit A)^-1 ||_1 */
    double equilibrated; /* estimate of || B^-1 ||_1 */
    bool symmetric;      /* A is real and symmetric: estimate || A^-1 ||_2 as well */
    double inverse_2;
};

/* The LU factors of B'. */
struct factors {
    cs_dis *S;            /* column permutation */
    cs_din *N;            /* L, U and the row permutation */
    const int *row, *col; /* exponents in R and C; NULL: solve with B, not with A */
    double *work;         /* [2 n] */
    int n, width;         /* of a vector: n numbers, n / width elements */
};

static void scale(const int *exponent, int n, double *x)
{
    for (int i = 0; exponent && i < n; i++) x[i] = ldexp(x[i], exponent[i]);
}

/* x = A^-1 x = C B^-1 R x. */
static void solve(const struct factors *f, double *x)
{
    scale(f->row, f->n, x);
    cs_di_pvec(f->S->q, x, f->work, f->n);
    cs_di_utsolve(f->N->U, f->work);
    cs_di_ltsolve(f->N->L, f->work);
    cs_di_pvec(f->N->pinv, f->work, x, f->n);
    scale(f->col, f->n, x);
}

/* x = A'^-1 x. */
static void solve_transposed(const struct factors *f, double *x)
{
    scale(f->col, f->n, x);
    cs_di_ipvec(f->N->pinv, x, f->work, f->n);
    cs_di_lsolve(f->N->L, f->work);
    cs_di_usolve(f->N->U, f->work);
    cs_di_ipvec(f->S->q, f->work, x, f->n);
    scale(f->row, f->n, x);
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

/* || A^-1 ||_1, or || B^-1 ||_1. */
static double inverse_norm_1(const struct factors *f, int starts)
{
    double norm = alternate(f, f->work + f->n);
    for (int s = 0; s < starts; s++) norm = fmax(norm, climb(f, f->work + f->n, (uint64_t)s));
    return norm;
}

static void hager_work(void *p)
{
    struct hager *job = p;
    cs_di A = card_graph_cs(&job->g);
    struct factors f = {
        .S = cs_di_sqr(2, &A, 0), .n = A.n, .width = job->width, .work = cs_di_malloc(2 * A.n, sizeof(double))};
    if (f.S) f.N = cs_di_lu(&A, f.S, 1);
    job->memory = !f.S || !f.work;
    job->no_pivot = !f.N;
    if (!job->memory && f.N) {
        job->equilibrated = inverse_norm_1(&f, job->scales ? EQUILIBRATED_STARTS : STARTS);
        for (int i = 0; i < f.n; i++) job->row[i] -= job->unit;
        f.row = job->row;
        f.col = job->col;
        job->inverse = job->scales ? inverse_norm_1(&f, STARTS) : job->equilibrated;
        if (job->symmetric) job->inverse_2 = inverse_norm_2(&f, f.work + f.n);
    }
    cs_di_sfree(f.S);
    cs_di_nfree(f.N);
    cs_di_free(f.work);
}

static void hager_done(void *p)
{
    struct hager *job = p;
    card_graph_free(&job->g);
    mem_free(job->row);
    mem_free(job->col);
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

/* Replaces A in job->g by B. Returns || B ||_1, which is NaN after a failure. */
static double equilibrate_graph(struct hager *job, const struct csr *A, struct err *e)
{
    int n = job->g.rows, w = job->width;
    job->row = mem_new(n, sizeof *job->row, "the scales of rows", e);
    job->col = job->row ? mem_new(n, sizeof *job->col, "the scales of columns", e) : NULL;
    double *sum = job->col ? mem_zero(n, sizeof *sum, "the sums of columns", e) : NULL, norm = 0;
    if (!sum || !equilibrate(A, job->row, job->col, e)) return mem_free(sum), NAN;
    for (int i = n - 1; i >= 0; i--) job->row[i] = job->row[i / w], job->col[i] = job->col[i / w];
    for (int i = 0; i < n; i++)
        for (int k = job->g.p[i]; k < job->g.p[i + 1]; k++)
            job->g.x[k] = ldexp(job->g.x[k], job->row[i] + job->col[job->g.i[k]]);
    for (int i = 0; i < n; i += w) /* an element of a complex row is a pair of numbers */
        for (int k = job->g.p[i]; k < job->g.p[i + 1]; k += w) {
            int j = job->g.i[k];
            norm = fmax(norm, sum[j] += w == 2 ? hypot(job->g.x[k], job->g.x[k + 1]) : fabs(job->g.x[k]));
        }
    for (int i = 0; i < n; i++) job->scales = job->scales || job->row[i] || job->col[i];
    mem_free(sum);
    return norm;
}

static struct hager *hager_new(struct card *c, double *norm, struct err *e)
{
    struct hager *job = mem_zero(1, sizeof *job, "a condition estimate", e);
    if (!job) return NULL;
    job->width = c->A->imag ? 2 : 1;
    if (graph_of(&job->g, c->A, e) && !isnan(*norm = equilibrate_graph(job, c->A, e))) return job;
    hager_done(job);
    return NULL;
}

/* Estimates of condition numbers, and of || A^-1 ||_2. Infinite: LU found a zero pivot, or the number exceeds the range
   of fp64. */
struct conditions {
    bool no_pivot;
    double as_scaled, equilibrated;
    double inverse_2; /* 0: none */
};

static bool hager(struct card *c, bool symmetric, struct conditions *out, struct err *e)
{
    const struct card_columns *col = card_columns(c, e);
    double unit = 1, norm = col ? scaled_norm(c->A, col, &unit, e) : NAN, norm_b = 0;
    struct hager *job = isnan(norm) ? NULL : hager_new(c, &norm_b, e);
    if (!job) return false;
    job->symmetric = symmetric;
    job->unit = ilogb(unit);
    if (!worker_run(hager_work, hager_done, job, "condition by LU", c->watch, e)) return false;
    bool fails = job->no_pivot, memory = job->memory;
    out->no_pivot = fails;
    out->as_scaled = fails || isnan(job->inverse) ? INFINITY : norm * job->inverse;
    out->equilibrated = fails || isnan(job->equilibrated) ? INFINITY : norm_b * job->equilibrated;
    out->inverse_2 = unit != 1 || fails || !isfinite(job->inverse_2) ? 0 : job->inverse_2;
    hager_done(job);
    return !memory || fail(e, E_MEMORY, "out of memory: the LU of the condition estimate");
}

/* ---- the line ---- */

/* Is the difference between the two numbers worth a word? */
static bool scaling_matters(const struct conditions *n)
{
    return !(n->as_scaled <= 4 * n->equilibrated);
}

static void say_digits(struct card_row *r, const struct conditions *n)
{
    int digits = digits_lost(n->equilibrated);
    if (scaling_matters(n))
        card_say(r, "%.2g (1-norm, Hager), equilibrated %.2g", n->as_scaled, n->equilibrated);
    else
        card_say(r, "about %.2g, 1-norm (Hager)", n->as_scaled);
    card_advise(r, "%d of %d digits lost", digits, DIGITS_F64);
    if (digits >= DIGITS_F32) card_add_advice(r, ", not fp32");
}

/* What LU found. A proof that A is singular outweighs the number. */
static void say_conditions(const struct card *c, struct card_row *r, const struct conditions *n)
{
    bool near = digits_lost(n->as_scaled) == DIGITS_F64;
    if (c->facts->singular)
        card_say(r, "infinite: A is singular");
    else if (n->no_pivot)
        card_say(r, "LU meets a zero pivot: nearly singular to fp64, even equilibrated");
    else if (near && digits_lost(n->equilibrated) == DIGITS_F64)
        card_say(r, "%s: nearly singular to fp64; equilibrated: %s", card_size(n->as_scaled, "about %.2g").text,
                 card_size(n->equilibrated, "%.2g").text);
    else if (near && isinf(n->as_scaled))
        card_say(r, "beyond 1.8e308: nearly singular to fp64 as scaled; equilibrated: %.2g", n->equilibrated);
    else if (near)
        card_say(r, "nearly singular to fp64 as scaled (%.2g); equilibrated: %.2g", n->as_scaled, n->equilibrated);
    else
        say_digits(r, n);
}

/* What Lanczos found of a matrix that is too large for LU. */
static void say_lanczos(struct card_row *r, const struct card_lanczos *l)
{
    int digits = digits_lost(l->high / l->low);
    card_say(r, "at least %.2g, 2-norm (Lanczos, %s)", l->high / l->low, how_many(l->steps, "step").text);
    card_advise(r, "%d of %d digits lost", digits, DIGITS_F64);
}

static bool measure(struct card *c, bool krylov, struct conditions *n, struct card_lanczos *l, bool *direct,
                    struct err *e)
{
    const struct card_fill *f = card_fill(c, e);
    if (!f) return false;
    double flops = (c->A->imag ? 8 : 1) * f->flops; /* the equivalent real matrix has twice as many rows */
    *direct = flops <= flops_most;
    if (*direct && !card_affords(c, flops / FLOPS_PER_US, e)) return false;
    if (*direct && !hager(c, krylov, n, e)) return false;
    return !krylov || card_lanczos(c, l, e);
}

static bool run(struct card *c, struct card_row *r, struct err *e)
{
    const struct card_symmetry *s = card_symmetry(c, e);
    struct conditions n = {.as_scaled = NAN, .equilibrated = NAN};
    struct card_lanczos l = {.low = NAN};
    bool krylov = s && !c->A->imag && s->values && c->facts->definite == DEFINITE_POSITIVE, direct;
    if (!s || !measure(c, krylov, &n, &l, &direct, e)) return false;
    if (direct && digits_lost(n.equilibrated) == DIGITS_F64 && !card_regularity(c, true, e)) return false;
    if (!c->facts->singular) {
        card_set(r, "condition_1", n.as_scaled);
        card_set(r, "condition_equilibrated", n.equilibrated);
    }
    if (krylov && l.low > 0) card_set(r, "condition_2", l.high * fmax(1 / l.low, n.inverse_2));
    card_set(r, "ritz_low", l.low);
    card_set(r, "ritz_high", l.high);
    if (direct)
        say_conditions(c, r, &n);
    else if (krylov && l.low > 0)
        say_lanczos(r, &l);
    else
        card_say(r, "not estimated: too large for LU and not known to be definite");
    c->facts->condition = direct ? n.as_scaled : krylov && l.low > 0 ? l.high / l.low : 0;
    c->facts->equilibrated = direct ? n.equilibrated : 0;
    return true;
}

const struct card_line card_line_condition = {
    .name = "condition",
    .about =
        "||A|| ||A^-1||, estimated from below: in the 1-norm by the method of Hager and Higham with a sparse LU "
        "(of the equivalent real matrix, if the matrix is complex), also of the equilibrated matrix, whose rows "
        "and columns are multiplied by powers of 2; in the 2-norm by the Lanczos process, and by inverse iteration "
        "with that LU, if the matrix is known to be positive definite",
    .keys = {{"condition_1", CARD_NUM},
             {"condition_equilibrated", CARD_NUM},
             {"condition_2", CARD_NUM},
             {"ritz_low", CARD_NUM},
             {"ritz_high", CARD_NUM}},
    .costly = true,
    .square = true,
    .finite = true,
    .run = run,
};
