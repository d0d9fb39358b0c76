/* Looks for the causes of a solve that did not converge: one function per cause, in the table at the end. */
#include "stagnation.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "base/text.h"
#include "card/card.h"
#include "direct/direct.h"
#include "machine/gmres_work.h"
#include "matrix/csr.h"
#include "matrix/equilibrate.h"
#include "matrix/norms.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/forecast.h"
#include "solvers/precond.h"
#include "solvers/ritz.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "solvers/suits.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double CARD_US = 5e5;             /* for the costly lines of the card */
enum { ARNOLDI_MAX = 40 };                     /* steps of the Arnoldi process on the host */
static const double ARNOLDI_NUMBERS = 1 << 23; /* in its basis: 64 MB */

struct inquiry {
    struct session *s;
    struct matrix *m;
    const struct solve *v;
    const struct csr *A;
    struct card card;
    double limit_us;
    /* The equilibrated matrix has the entries a_ij 2^(row[i] + col[j]); made at first need, owned. */
    struct csr equilibrated;
    int *row, *col;
    double *r, r_norm; /* [v->n] b - A x, and its 2-norm; r is NULL if x is not known */
    struct stagnation *out;
};

static struct evidence *add(struct inquiry *q, const char *cause, double value)
{
    if (q->out->n == EVIDENCE_MAX) return NULL;
    struct evidence *x = &q->out->at[q->out->n++];
    *x = (struct evidence){.cause = cause, .value = value};
    return x;
}

/* ---- rows that matter ---- */

/* The squares of a vector by their binary exponents. */
enum { EXPONENT_MIN = -1100, EXPONENTS = 2200 };
struct squares {
    double sum[EXPONENTS];
    int64_t count[EXPONENTS];
};

/* A vector of n * parts numbers, whose squares are those of x 2^-exponent, so that they stay in range. */
struct vector {
    const double *x;
    int64_t n, parts;
    int exponent;
};

static double square_at(const struct vector *v, int64_t i)
{
    double re = ldexp(v->x[v->parts * i], -v->exponent);
    double im = v->parts > 1 ? ldexp(v->x[2 * i + 1], -v->exponent) : 0;
    return re * re + im * im;
}

/* Insert row i into the list of the largest rows. */
static void insert(const struct vector *v, int64_t i, struct evidence *found)
{
    double size = square_at(v, i);
    int at = found->rows;
    while (at > 0 && square_at(v, found->row[at - 1]) < size) at--;
    if (at == EVIDENCE_ROWS) return;
    if (found->rows < EVIDENCE_ROWS) found->rows++;
    for (int k = found->rows - 1; k > at; k--) found->row[k] = found->row[k - 1];
    found->row[at] = i;
}

/* About how many of the largest elements hold 90% of the sum? */
static int64_t rows_of_most(const struct squares *q)
{
    double all = 0, left;
    int64_t rows = 0;
    for (int k = 0; k < EXPONENTS; k++) all += q->sum[k];
    left = 0.9 * all;
    for (int k = EXPONENTS - 1; k >= 0 && left > 0; k--) {
        if (!q->count[k]) continue;
        double mean = q->sum[k] / (double)q->count[k];
        rows += q->sum[k] <= left ? q->count[k] : (int64_t)ceil(left / mean * (1 - 1e-12));
        left -= q->sum[k];
    }
    return rows;
}

/* How many rows hold 90% of the squares of a vector x[n * parts]? The largest of these rows go to `found`. */
static bool concentrate(const double *x, int64_t n, int64_t parts, struct evidence *found, int64_t *rows, struct err *e)
{
    double most = magnitudes_of(n * parts, x).most;
    struct vector v = {x, n, parts, most > 0 ? ilogb(most) : 0};
    struct squares *q = mem_zero(1, sizeof *q, "the rows of a vector", e);
    struct loop l = loop_of("the rows of a vector", n);
    if (!q) return false;
    found->rows = 0;
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) {
        double size = square_at(&v, i);
        if (!(size > 0) || !isfinite(size)) continue;
        q->sum[ilogb(size) - EXPONENT_MIN] += size;
        q->count[ilogb(size) - EXPONENT_MIN]++;
        insert(&v, i, found);
    }
    *rows = rows_of_most(q);
    if (found->rows > *rows) found->rows = (int)*rows;
    mem_free(q);
    return loop_end(&l, e);
}

/* "row 7" or "rows 7, 9, 12 and 40 more" */
struct row_list {
    char text[200];
};
static struct row_list name_rows(const struct evidence *x, int64_t rows)
{
    struct row_list list;
    int n = snprintf(list.text, sizeof list.text, rows == 1 ? "row" : "rows"), shown = x->rows < 3 ? x->rows : 3;
    for (int i = 0; i < shown; i++)
        n += snprintf(list.text + n, sizeof list.text - (size_t)n, "%s %lld", i ? "," : "", (long long)x->row[i]);
    if (rows > shown)
        snprintf(list.text + n, sizeof list.text - (size_t)n, " and %s more", card_count(rows - shown).text);
    return list;
}

/* Where the rows are few, their entries may show the cause. Returns false if they are many. */
static bool point_to_row(const struct inquiry *q, struct evidence *x, int64_t rows)
{
    enum { FEW_MAX = 100, SHARE = 20 };
    if (rows > EVIDENCE_ROWS && (rows > FEW_MAX || rows > q->A->rows / SHARE)) return false;
    if (x->rows) snprintf(x->next, sizeof x->next, "print row %lld %s", (long long)x->row[0], q->m->name);
    return true;
}

static int64_t parts_of(const struct csr *A)
{
    return A->imag ? 2 : 1;
}

/* Would scaling and preconditioners not help, because A itself is singular or nearly so? */
static bool is_hopeless(const struct inquiry *q)
{
    return q->out->singular || q->out->nearly_singular;
}

/* ---- the history ---- */

/* The recursive and the true residual have separated. */
static bool find_accuracy(struct inquiry *q, const char *cause, struct err *e)
{
    const struct solve *v = q->v;
    double truth = v->result.residual_true;
    if (!(truth > 10 * v->residual) || isinf(truth)) return true; /* inf: x or A x has left the range of fp64 */
    struct evidence *x = add(q, cause, truth / v->residual);
    if (!x) return true;
    snprintf(x->text, sizeof x->text,
             "the recursive residual is %.1e, but b - A x is %.1e: rounding errors%s have separated them%s",
             v->residual, truth, v->real == T_F32 ? " of fp32" : "",
             truth < 1e4 * DBL_EPSILON && v->real == T_F64 ? "; no solver in fp64 gets much below this" : "");
    if (is_hopeless(q)) return true; /* neither more digits nor more iterations help */
    if (v->real == T_F32)
        snprintf(x->next, sizeof x->next, "solve %s %s%s f64", v->solver->name, q->m->name, same_but_precision(v).text);
    else if (solve_may_go_on(v))
        snprintf(x->next, sizeof x->next, "change maxit %lld; continue", (long long)solve_larger_limit(v));
    return true;
}

/* Six digits show a larger rate as 1. Its number of iterations would be that of rounding errors. */
static const double FLAT = 1 - 5e-7;

/* The rate at the end. The number of iterations that it predicts is the only one in the evidence. */
static bool find_slowness(struct inquiry *q, const char *cause, struct err *e)
{
    const struct solve *v = q->v;
    struct forecast f = solve_expected(v);
    if (v->reason == BROKE_DOWN || v->iterations == v->base) return true;
    struct evidence *x = add(q, cause, f.rate);
    if (!x) return true;
    if (isnan(f.rate))
        snprintf(x->text, sizeof x->text, "%s %s no rate yet; after %d or more, `why stagnates` estimates it",
                 how_many(v->iterations - v->base, "iteration").text, v->iterations - v->base == 1 ? "shows" : "show",
                 EXPECTED_MIN);
    else if (isfinite(f.iterations) && f.rate < FLAT)
        snprintf(x->text, sizeof x->text,
                 "the residual fell by the factor %.6g per iteration in the second half; at this rate, tol needs about "
                 "%s in all",
                 f.rate, how_many((int64_t)fmin(f.iterations, 9e15), "iteration").text);
    else
        snprintf(x->text, sizeof x->text, "the residual %s in the second half of %s",
                 isfinite(f.iterations) ? "hardly fell" : "did not fall",
                 how_many(v->iterations - v->base, "iteration").text);
    return true;
}

static bool find_restarts(struct inquiry *q, const char *cause, struct err *e)
{
    const struct solve *v = q->v;
    if (!v->solver->restarts || v->set.m >= v->n || v->iterations <= v->set.m) return true;
    struct evidence *x = add(q, cause, (double)v->set.m);
    if (!x) return true;
    snprintf(x->text, sizeof x->text, "%s restarted every %s and forgot its search directions %s", v->solver->name,
             how_many(v->set.m, "iteration").text, how_many(v->iterations / v->set.m, "time").text);
    int64_t m = 4 * v->set.m < v->n ? 4 * v->set.m : v->n;
    if (m <= GM_MAX)
        snprintf(x->next, sizeof x->next, "solve %s %s m %lld%s%s%s", v->solver->name, q->m->name, (long long)m,
                 v->pre.method ? " precond " : "", v->pre.method ? v->pre.method->name : "", same_all(v).text);
    return true;
}

/* ---- the matrix ---- */

static bool find_symmetry(struct inquiry *q, const char *cause, struct err *e)
{
    const struct card *c = &q->card;
    if (!q->v->solver->symmetric || fact_symmetric(c->facts) != FACT_NO || !c->facts->has_skew) return true;
    struct evidence *x = add(q, cause, c->facts->skew);
    if (!x) return true;
    snprintf(x->text, sizeof x->text, "A is not %s (||A - A'|| = %.2g ||A||), and %s needs %s",
             c->A->imag ? "hermitian" : "symmetric", c->facts->skew, q->v->solver->name, q->v->solver->needs);
    snprintf(x->next, sizeof x->next, "advise solver %s", q->m->name);
    return true;
}

static bool find_indefinite(struct inquiry *q, const char *cause, struct err *e)
{
    const struct card *c = &q->card;
    const struct card_row *r = card_row(c, "definite");
    if (fact_symmetric(c->facts) != FACT_YES || c->facts->definite != DEFINITE_NOT) return true;
    struct evidence *x = add(q, cause, NAN);
    if (!x) return true;
    snprintf(x->text, sizeof x->text, "%s; %s%s",
             r && r->state == CARD_FOUND ? r->finding : "A is not positive definite",
             q->v->solver->definite ? q->v->solver->name
                                    : "if its eigenvalues lie on both sides of 0, they slow the solver down",
             q->v->solver->definite ? " needs a definite matrix" : "");
    if (q->v->solver->definite) snprintf(x->next, sizeof x->next, "solve minres %s%s", q->m->name, same_all(q->v).text);
    return true;
}

/* Singular, but not indefinite. */
static bool find_semidefinite(struct inquiry *q, const char *cause, struct err *e)
{
    struct evidence *x =
        is_semidefinite(q->m->facts.definite) && !q->v->null.of.right.count ? add(q, cause, NAN) : NULL;
    if (!x) return true;
    bool proved = q->card.facts->definite == DEFINITE_SEMI;
    if (proved) q->out->singular = true;
    snprintf(x->text, sizeof x->text,
             proved
                 ? "no eigenvalue of %s is below 0, and one is 0: A is singular, and %s converges only if b is in the "
                   "range of A"
                 : "no eigenvalue of %s is below 0 by more than rounding errors, and one is 0 up to rounding errors: "
                   "if A is singular, %s converges only if b is in the range of A",
             diagonal_is_negative(q->A) ? "-A" : "A", q->v->solver->name);
    return true;
}

static bool find_scaling(struct inquiry *q, const char *cause, struct err *e)
{
    double ratio = q->card.facts->row_ratio;
    if (!(ratio > 1e3)) return true;
    struct evidence *x = add(q, cause, ratio);
    if (!x) return true;
    snprintf(
        x->text, sizeof x->text,
        "the largest |a| of a row is up to %.2g times that of another row: the residual of large rows hides that of "
        "small rows",
        ratio);
    snprintf(x->next, sizeof x->next, "scale %s", q->m->name);
    return true;
}

/* An order of the rows fills the diagonal, and the solve did without it. */
static bool find_diagonal(struct inquiry *q, const char *cause, struct err *e)
{
    const struct solve *v = q->v;
    int64_t zeros = q->card.facts->no_diagonal;
    if (!zeros || v->scaling.order || is_hopeless(q) || !suits_matching(&q->m->facts, q->A)) return true;
    struct evidence *x = add(q, cause, (double)zeros);
    if (!x) return true;
    snprintf(x->text, sizeof x->text,
             "%s missing or 0, so ilu0 and jacobi cannot run; A is not singular by its pattern: an order of the rows "
             "fills the diagonal",
             how_many(zeros, "diagonal entry").text);
    snprintf(x->next, sizeof x->next, "solve %s %s precond ilu0 scaled reorder matching%s",
             v->solver->no_precond || v->solver->symmetric ? "bicgstab" : v->solver->name, q->m->name,
             same_all(v).text);
    return true;
}

struct empties {
    int64_t rows, cols, with_b; /* empty rows; empty columns; empty rows with b_i != 0 */
    int64_t row, col;           /* the first */
};

static bool mark_columns(const struct csr *A, char *seen, struct err *e)
{
    struct loop l = loop_of("columns", A->nnz);
    for (int64_t k = 0; k < A->nnz && loop_goes(&l, k); k++)
        if (csr_abs(A, k) > 0) seen[A->col[k]] = 1;
    return loop_end(&l, e);
}

static struct empties empties_of(const struct inquiry *q, const char *seen)
{
    struct loop l = loop_of("empty rows", q->A->rows);
    const struct csr *A = q->A;
    struct empties z = {.row = -1, .col = -1};
    int64_t parts = parts_of(A);
    for (int64_t i = A->rows - 1; i >= 0 && loop_goes(&l, i); i--) {
        bool empty = true;
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) empty = empty && csr_abs(A, k) == 0;
        bool has_b = q->v->b[parts * i] != 0 || (parts > 1 && q->v->b[2 * i + 1] != 0);
        if (empty) z.rows++, z.with_b += has_b, z.row = i;
        if (!seen[i]) z.cols++, z.col = i;
    }
    return z;
}

static bool find_empty(struct inquiry *q, const char *cause, struct err *e)
{
    char *seen = mem_zero(q->A->cols, 1, "the columns of a matrix", e);
    bool ok = seen && mark_columns(q->A, seen, e);
    struct empties z = ok ? empties_of(q, seen) : (struct empties){0};
    ok = ok && loop_tick("empty rows", 0, 0, e);
    mem_free(seen);
    struct evidence *x = ok && (z.rows || z.cols) ? add(q, cause, (double)(z.rows + z.cols)) : NULL;
    if (!x) return ok;
    q->out->singular = true;
    int n = snprintf(x->text, sizeof x->text, "A is singular:");
    if (z.rows)
        n += snprintf(x->text + n, sizeof x->text - (size_t)n, " %s of zeros (first row %lld)",
                      how_many(z.rows, "row").text, (long long)z.row);
    if (z.cols)
        n += snprintf(x->text + n, sizeof x->text - (size_t)n, "%s %s of zeros (first column %lld)", z.rows ? "," : "",
                      how_many(z.cols, "column").text, (long long)z.col);
    if (z.with_b)
        snprintf(x->text + n, sizeof x->text - (size_t)n,
                 "; b is not 0 in %s of them, so no x satisfies these equations", card_count(z.with_b).text);
    if (z.rows) x->row[x->rows++] = z.row;
    snprintf(x->next, sizeof x->next, z.rows ? "find rows max = 0 of %s" : "solve direct spqr %s", q->m->name);
    return true;
}

static bool find_rank(struct inquiry *q, const char *cause, struct err *e)
{
    const struct card *c = &q->card;
    if (!c->has_dm || c->dm.rank >= q->A->rows) return true;
    struct evidence *x = add(q, cause, (double)c->dm.rank);
    q->out->singular = true;
    if (!x) return true;
    snprintf(x->text, sizeof x->text, "the structural rank is %s of %s: A is singular for any values of its entries",
             card_count(c->dm.rank).text, card_count(q->A->rows).text);
    snprintf(x->next, sizeof x->next, "solve direct spqr %s", q->m->name);
    return true;
}

/* ---- blocks ---- */

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* parent[i] becomes the first row of the block of row i. */
static bool blocks_of(const struct csr *A, int *parent, struct err *e)
{
    struct loop l = loop_of("independent blocks", A->nnz);
    for (int64_t i = 0; i < A->rows; i++) parent[i] = (int)i;
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = A->rowptr[i]; k < A->rowptr[i + 1] && loop_goes(&l, k); k++) {
            int a = root_of(parent, (int)i), b = root_of(parent, A->col[k]);
            if (a != b) parent[a > b ? a : b] = a > b ? b : a;
        }
    for (int64_t i = 0; i < A->rows; i++) parent[i] = root_of(parent, (int)i);
    return loop_end(&l, e);
}

struct block {
    int64_t blocks, first, rows;
    double share; /* of the squares of the residual */
};

/* The block with the largest part of the residual. */
static bool worst_block(const struct inquiry *q, struct block *out, struct err *e)
{
    int64_t n = q->A->rows, parts = parts_of(q->A);
    int *parent = mem_new(n, sizeof *parent, "independent blocks", e);
    double *sum = mem_zero(n, sizeof *sum, "independent blocks", e);
    bool ok = parent && sum && blocks_of(q->A, parent, e);
    *out = (struct block){.share = -1};
    for (int64_t i = 0; ok && i < n * parts && q->r; i++) sum[parent[i / parts]] += q->r[i] * q->r[i];
    for (int64_t i = 0; ok && i < n; i++) {
        out->blocks += parent[i] == i;
        if (parent[i] == i && sum[i] > out->share) out->first = i, out->share = sum[i];
    }
    for (int64_t i = 0; ok && i < n; i++) out->rows += parent[i] == out->first;
    out->share = q->r_norm > 0 ? out->share / (q->r_norm * q->r_norm) : NAN;
    mem_free(parent);
    mem_free(sum);
    return ok;
}

static bool find_blocks(struct inquiry *q, const char *cause, struct err *e)
{
    struct block b;
    if (!(q->card.facts->systems > 1)) return true;
    if (!worst_block(q, &b, e)) return false;
    struct evidence *x = add(q, cause, (double)b.blocks);
    if (!x) return true;
    int n = snprintf(x->text, sizeof x->text, "A consists of %s that couple to nothing else",
                     how_many(b.blocks, "independent block").text);
    if (q->r)
        snprintf(x->text + n, sizeof x->text - (size_t)n,
                 "; %.3g%% of the residual is in one of them, of %s from row %lld on", 100 * sqrt(b.share),
                 how_many(b.rows, "row").text, (long long)b.first);
    x->row[x->rows++] = b.first;
    snprintf(x->next, sizeof x->next, "check %s only weak", q->m->name);
    return true;
}

/* ---- the residual ---- */

static bool find_residual(struct inquiry *q, const char *cause, struct err *e)
{
    int64_t rows;
    if (!q->r || !(q->r_norm > 0) || isinf(q->r_norm)) return true;
    struct evidence *x = add(q, cause, q->r_norm / (q->v->b_norm > 0 ? q->v->b_norm : 1));
    if (!x) return true;
    if (!concentrate(q->r, q->A->rows, parts_of(q->A), x, &rows, e)) return false;
    bool few = point_to_row(q, x, rows);
    snprintf(x->text, sizeof x->text, "90%% of ||b - A x||^2 is in %s of %s: %s%s", how_many(rows, "row").text,
             card_count(q->A->rows).text, name_rows(x, rows).text, few ? "" : "; no single row is the cause");
    return true;
}

/* ---- Ritz values ---- */

struct spectrum {
    int64_t values;
    double low, high;   /* least and largest real part */
    double near0, most; /* least and largest absolute value */
    int64_t negative;   /* values whose real part is below 0 by more than rounding errors */
};

static void take_value(struct spectrum *s, double re, double im)
{
    double size = hypot(re, im);
    s->low = s->values ? fmin(s->low, re) : re;
    s->high = s->values ? fmax(s->high, re) : re;
    s->near0 = s->values ? fmin(s->near0, size) : size;
    s->most = fmax(s->most, size);
    s->values++;
}

static void count_negative(struct spectrum *s, const double *re)
{
    static const double ROUNDING = 1e-13;
    for (int64_t i = 0; i < s->values; i++) s->negative += re[i] < -ROUNDING * s->most;
}

static double inner(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    struct loop l = loop_of("Arnoldi", n);
    for (int64_t i = 0; i < n && loop_goes(&l, i); i++) sum += a[i] * b[i];
    return sum;
}

/* V[k + 1] = A V[k], orthogonalised twice against V[0 .. k]; column k of H. Returns the norm of what is left. */
static double extend(const struct csr *A, double *V, double *H, int64_t ld, int64_t k)
{
    int64_t n = A->rows;
    double *w = V + (k + 1) * n;
    reference_spmv(A, 1, V + k * n, 0, w, P_F64, NULL);
    for (int twice = 0; twice < 2; twice++)
        for (int64_t j = 0; j <= k; j++) {
            double h = inner(n, V + j * n, w);
            H[k * ld + j] += h;
            for (int64_t i = 0; i < n; i++) w[i] -= h * V[j * n + i];
        }
    double norm = norm2(n, w);
    for (int64_t i = 0; i < n && norm > 0; i++) w[i] /= norm;
    return H[k * ld + k + 1] = norm;
}

/* The Ritz values of A in the Krylov space of the residual, which is the space that the next cycle of gmres would use.
 */
static bool arnoldi(const struct inquiry *q, struct spectrum *out, struct err *e)
{
    int64_t n = q->A->rows, steps = ARNOLDI_MAX, k = 0;
    if (steps > n) steps = n;
    if ((double)steps * (double)n > ARNOLDI_NUMBERS) steps = (int64_t)(ARNOLDI_NUMBERS / (double)n);
    if (steps < 4 || q->A->imag || !q->r || !(q->r_norm > 0)) return true;
    double *V = mem_new((steps + 1) * n, sizeof *V, "Arnoldi vectors", e);
    double *H = V ? mem_zero((steps + 1) * steps, sizeof *H, "a Hessenberg matrix", e) : NULL;
    double *re = H ? mem_new(2 * steps, sizeof *re, "Ritz values", e) : NULL;
    bool ok = re;
    for (int64_t i = 0; ok && i < n; i++) V[i] = q->r[i] / q->r_norm;
    for (double left = 1, first = 0; ok && k < steps && left > 1e-12 * first; k++) {
        left = extend(q->A, V, H, steps + 1, k);
        first = fmax(first, left);
        ok = loop_tick("Ritz values", k, steps, e);
    }
    ok = ok && ritz_hessenberg(H, steps + 1, k, re, re + steps, e);
    for (int64_t i = 0; ok && i < k; i++) take_value(out, re[i], re[steps + i]);
    count_negative(out, re);
    mem_free(V);
    mem_free(H);
    mem_free(re);
    return ok;
}

static void say_spectrum(struct inquiry *q, struct evidence *x, const struct spectrum *s)
{
    bool symmetric = fact_symmetric(&q->m->facts) == FACT_YES, both = s->negative && s->negative < s->values;
    int n = snprintf(x->text, sizeof x->text,
                     "%s of A in the Krylov space of the residual: ", how_many(s->values, "Ritz value").text);
    if (symmetric)
        n += snprintf(x->text + n, sizeof x->text - (size_t)n, "%.3g to %.3g, nearest to 0: %.3g", s->low, s->high,
                      s->near0);
    else
        n += snprintf(x->text + n, sizeof x->text - (size_t)n, "real parts %.3g to %.3g, absolute values %.3g to %.3g",
                      s->low, s->high, s->near0, s->most);
    if (both)
        snprintf(x->text + n, sizeof x->text - (size_t)n, "; %lld of them lie left of 0, the others right",
                 (long long)s->negative);
    x->value = s->near0 / s->most;
}

/* The tridiagonal matrix of cg's own coefficients if there is one, else the Arnoldi process. */
static bool find_ritz(struct inquiry *q, const char *cause, struct err *e)
{
    struct ritz r = {0};
    struct spectrum s = {0};
    struct err why = {0};
    ritz_of(&r, q->v, 0);
    if (!r.rows && !arnoldi(q, &s, &why)) {
        if (why.code != E_NUMERIC) return fail_at(e, why.code, why.where, "%s", why.text);
        struct evidence *none = add(q, cause, NAN);
        if (none) snprintf(none->text, sizeof none->text, "no Ritz values: %.*s", 200, why.text);
        return true;
    }
    struct evidence *x = r.rows || s.values ? add(q, cause, r.rows ? r.low / r.high : NAN) : NULL;
    if (!x) return true;
    if (!r.rows) {
        say_spectrum(q, x, &s);
        return true;
    }
    snprintf(x->text, sizeof x->text, "the %s of the solve %s from %.4g to %.4g: the condition of %s is at least %.3g",
             how_many(r.rows, "Ritz value").text, r.rows == 1 ? "lies" : "lie", r.low, r.high, ritz_matrix(q->v),
             r.high / r.low);
    return true;
}

/* ---- direct solves: near-null vectors, and the part of b outside the range of A ---- */

/* Would a factorisation of A end within the limit? */
static bool is_affordable(const struct inquiry *q)
{
    static const double FLOPS_PER_US = 500; /* of a QR factorisation, which takes several times as many operations */
    return q->card.has_fill && q->card.fill.flops / FLOPS_PER_US < q->limit_us;
}

/* A direct solve of A x = b. *answer stays NULL if the library is missing, or if memory does not suffice. */
static bool solve_directly(const struct inquiry *q, const struct direct_method *method, const double *b,
                           struct direct_answer **answer, struct err *e)
{
    struct err why = {0};
    struct direct_options o = {
        .method = method, .b = b, .symmetric = fact_symmetric(&q->m->facts) == FACT_YES, .watch = &q->s->watch};
    if (direct_solve(answer, q->A, &o, &why)) return true;
    *answer = NULL;
    return why.code != E_CANCELLED || fail_at(e, why.code, why.where, "%s", why.text);
}

/* Makes q->equilibrated, q->row and q->col. */
static bool equilibrated_of(struct inquiry *q, struct err *e)
{
    const struct csr *A = q->A;
    struct csr *E = &q->equilibrated;
    if (q->row) return true;
    q->row = mem_new(A->rows, sizeof *q->row, "the scales of rows", e);
    q->col = q->row ? mem_new(A->cols, sizeof *q->col, "the scales of columns", e) : NULL;
    return q->col && equilibrate(A, q->row, q->col, e) && csr_copy(E, A, e) &&
           csr_scale_by_powers(E, q->row, q->col, e);
}

/* r = b - A x; returns ||r|| / ||b||. */
static double residual_norm(const struct inquiry *q, const double *x, double *r)
{
    memcpy(r, q->v->b, (size_t)q->v->n * sizeof *r);
    reference_spmv(q->A, -1, x, 1, r, P_F64, NULL);
    return norm2(q->v->n, r) / norm2(q->v->n, q->v->b);
}

/* The relative residual of a least-squares solution of the equilibrated system; INFINITY: there is none. */
static bool equilibrated_residual(struct inquiry *q, double *residual, struct err *e)
{
    struct direct_answer *a = NULL;
    int64_t n = q->A->rows, parts = parts_of(q->A);
    double *b = mem_new(2 * n * parts, sizeof *b, "an equilibrated system", e);
    *residual = INFINITY;
    bool ok = b && equilibrated_of(q, e);
    struct inquiry scaled = *q;
    struct solve_scaling by = {.of = q->A, .row = q->row, .col = q->col};
    scaled.A = &q->equilibrated;
    if (ok) {
        memcpy(b, q->v->b, (size_t)(n * parts) * sizeof *b);
        scaling_map_b(&by, parts > 1, true, b);
        ok = solve_directly(&scaled, direct_rectangular(), b, &a, e);
    }
    if (ok && a && a->x) {
        scaling_map_x(&by, parts > 1, false, a->x);
        *residual = residual_norm(q, a->x, b + n * parts);
    }
    direct_answer_free(a);
    mem_free(b);
    return ok;
}

/* A bound on ||A' w||, rounding errors included; A' is the conjugate transpose. */
static double transposed_norm(const struct csr *A, const double *w, double *sum, double *sizes)
{
    int64_t parts = parts_of(A), n = A->cols * parts;
    for (int64_t j = 0; j < n; j++) sum[j] = sizes[j] = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            double re = A->val[k], im = A->imag ? A->imag[k] : 0, *to = sum + parts * A->col[k];
            double w_re = w[parts * i], w_im = parts > 1 ? w[2 * i + 1] : 0;
            to[0] += re * w_re + im * w_im;
            if (parts > 1) to[1] += re * w_im - im * w_re;
            for (int64_t p = 0; p < parts; p++) sizes[parts * A->col[k] + p] += hypot(re, im) * hypot(w_re, w_im);
        }
    return norm2(n, sum) + 2 * DBL_EPSILON * (double)(A->rows + 4) * norm2(n, sizes);
}

/* For every w, ||b - A x|| ||w|| >= w'(b - A x) >= w'b - ||A'w|| ||x||. With w = b - A x of the least-squares solution,
   this is the size that any x with half of its residual exceeds. */
static bool least_size(const struct inquiry *q, const struct direct_answer *a, double *size, struct err *e)
{
    int64_t n = q->v->n;
    double *w = mem_new(3 * n, sizeof *w, "a residual", e);
    if (!w) return false;
    residual_norm(q, a->x, w);
    double norm = norm2(n, w), with_b = inner(n, w, q->v->b);
    *size = (with_b - norm * norm / 2) / transposed_norm(q->A, w, w + n, w + 2 * n);
    mem_free(w);
    return true;
}

/* A least-squares solution leaves a residual, also after scaling: a smaller one needs a large x, or there is none. b =
   A x of a known x is in the range, even if the factorisation takes small singular values as 0. */
static bool find_inconsistency(struct inquiry *q, const char *cause, struct err *e)
{
    struct direct_answer *a = NULL;
    const struct direct_method *method = direct_rectangular();
    bool in_range = q->v->right.is_product || (q->v->result.known && !q->v->result.truth);
    double limit = 2 * fmax(q->v->set.tol, 1e-12), scaled = 0, size = 0;
    if (!method || !is_affordable(q) || in_range) return true;
    if (!solve_directly(q, method, q->v->b, &a, e)) return false;
    bool outside = a && a->x && a->accurate && a->residual_true > limit;
    bool ok = !outside || (equilibrated_residual(q, &scaled, e) && least_size(q, a, &size, e));
    struct evidence *x = ok && outside && scaled > limit ? add(q, cause, a->residual_true) : NULL;
    if (x) {
        q->out->nearly_singular = true;
        snprintf(
            x->text, sizeof x->text,
            "b is not in the range of A to fp64: with the rank %s of %s, a least-squares solution leaves a relative "
            "residual of %.3g, and no x with ||x|| below %.1e halves it (its ||x|| is %.1e)",
            card_count(a->factors.rank).text, card_count(q->A->rows).text, a->residual_true, size,
            norm2(q->v->n, a->x));
        snprintf(x->next, sizeof x->next, "solve direct %s %s%s", method->name, q->m->name, same_direct(q->v).text);
    }
    direct_answer_free(a);
    return ok;
}

/* Makes v = z - A^+ A z, which A maps to 0 if A has a null space, or v = A^-1 z, in which the singular vector of the
   smallest singular value dominates. */
static bool near_null(const struct inquiry *q, double *v, struct err *e)
{
    int64_t n = solve_numbers(q->A);
    double *z = mem_new(n, sizeof *z, "a random vector", e);
    struct direct_answer *a = NULL;
    if (!z) return false;
    random_fill(z, n, 1);
    reference_spmv(q->A, 1, z, 0, v, P_F64, NULL);
    bool ok = solve_directly(q, direct_rectangular(), v, &a, e), singular = a && a->factors.rank < q->A->rows;
    for (int64_t i = 0; i < n; i++) v[i] = a && a->x ? z[i] - a->x[i] : 0;
    if (ok && !singular) {
        direct_answer_free(a);
        a = NULL;
        ok = solve_directly(q, NULL, z, &a, e);
        for (int64_t i = 0; i < n; i++) v[i] = a && a->x ? a->x[i] : 0;
    }
    direct_answer_free(a);
    mem_free(z);
    return ok;
}

/* ||A v|| / (||A||_F ||v||) */
static double shrinks(const struct csr *A, const double *v, double *to)
{
    double norm = frobenius_norm(A), size = norm2(solve_numbers(A), v);
    reference_spmv(A, 1, v, 0, to, P_F64, NULL);
    return size > 0 && norm > 0 && isfinite(norm) ? norm2(solve_numbers(A), to) / norm / size : NAN;
}

/* A vector that is spread over many rows shows no row. Unless A v = 0, a method removes the error in its direction. */
static void point_to_method(const struct inquiry *q, struct evidence *x)
{
    const struct card *c = &q->card;
    bool symmetric = fact_symmetric(c->facts) == FACT_YES && !q->A->imag;
    bool definite = symmetric && c->facts->definite != DEFINITE_NOT;
    size_t n = strlen(x->text);
    n += (size_t)snprintf(x->text + n, sizeof x->text - n, "; no single row is the cause");
    if (is_hopeless(q) || n >= sizeof x->text) return;
    snprintf(x->text + n, sizeof x->text - n, "; %s",
             definite ? "multigrid reduces the error along v on a coarse grid"
                      : "a direct solver has no such slow direction");
    snprintf(x->next, sizeof x->next, "solve %s %s%s%s", definite ? "cg" : "direct", q->m->name,
             definite ? " precond amg" : "", definite ? same_all(q->v).text : same_direct(q->v).text);
}

/* The same ratio of the equilibrated matrix, which scaling does not change. */
static bool equilibrated_ratio(struct inquiry *q, double *v, double *ratio, struct err *e)
{
    struct inquiry scaled = *q;
    if (!equilibrated_of(q, e)) return false;
    scaled.A = &q->equilibrated;
    bool ok = near_null(&scaled, v, e);
    *ratio = ok ? shrinks(&q->equilibrated, v, v + solve_numbers(q->A)) : NAN;
    return ok;
}

static void say_near_null(struct inquiry *q, struct evidence *x, double ratio, double scaled, int64_t rows)
{
    static const double HELPS = 100;
    int n = snprintf(x->text, sizeof x->text,
                     "a vector v that A maps almost to 0: ||A v|| is %.1e of ||A|| ||v||; 90%% of ||v||^2 is in %s: %s",
                     ratio, how_many(rows, "row").text, name_rows(x, rows).text);
    if (scaled > HELPS * ratio) {
        snprintf(x->text + n, sizeof x->text - (size_t)n, "; equilibrated, the ratio is %.1e", scaled);
        snprintf(x->next, sizeof x->next, "scale %s", q->m->name);
    } else if (!point_to_row(q, x, rows)) {
        point_to_method(q, x);
    }
}

static bool find_near_null(struct inquiry *q, const char *cause, struct err *e)
{
    static const double SMALL = 1e-5, ZERO = 1e-14;
    int64_t n = solve_numbers(q->A), rows;
    double scaled = NAN;
    if (!is_affordable(q) || !direct_rectangular()) return true;
    double *v = mem_new(4 * n, sizeof *v, "near-null vectors", e);
    bool ok = v && near_null(q, v, e);
    double ratio = ok ? shrinks(q->A, v, v + n) : NAN;
    if (ratio < SMALL) ok = equilibrated_ratio(q, v + 2 * n, &scaled, e);
    if (ok && scaled < ZERO) ok = q->card.facts->singular || card_regularity(&q->card, true, e);
    struct evidence *x = ok && ratio < SMALL ? add(q, cause, ratio) : NULL;
    if (ok && scaled < ZERO) q->out->nearly_singular = true;
    if (ok && q->card.facts->singular) q->out->singular = true;
    if (x) ok = concentrate(v, q->A->rows, parts_of(q->A), x, &rows, e);
    if (ok && x) say_near_null(q, x, ratio, scaled, rows);
    mem_free(v);
    return ok;
}

/* ---- the table ---- */

static const struct {
    const char *cause;
    bool (*find)(struct inquiry *q, const char *cause, struct err *e);
} causes[] = {
    {"symmetry", find_symmetry},          /* the solver needs a symmetric matrix */
    {"indefinite", find_indefinite},      /* eigenvalues of both signs */
    {"semidefinite", find_semidefinite},  /* an eigenvalue is 0 */
    {"empty", find_empty},                /* a row or column of zeros */
    {"rank", find_rank},                  /* singular by the pattern */
    {"inconsistent", find_inconsistency}, /* b outside the range of A */
    {"near-null", find_near_null},        /* a vector that A maps almost to 0 */
    {"blocks", find_blocks},              /* blocks that couple to nothing */
    {"diagonal", find_diagonal},          /* zeros on the diagonal that an order of the rows would fill */
    {"scaling", find_scaling},            /* rows of different sizes */
    {"accuracy", find_accuracy},          /* recursive against true residual */
    {"restarts", find_restarts},          /* cycles too short */
    {"ritz", find_ritz},                  /* extreme eigenvalues */
    {"residual", find_residual},          /* where the residual is */
    {"rate", find_slowness},              /* how fast the residual fell */
};

static const struct named words[] = {{"stagnates", "why the last solve did not converge: `why stagnates`"}, {0}};
const struct registry stagnates_registry = {.entries = words, .size = sizeof *words};

const char *stagnation_cause(int i)
{
    return i < COUNT(causes) ? causes[i].cause : NULL;
}

/* r = b - A x */
static bool residual_of(struct inquiry *q, struct err *e)
{
    const struct solve *v = q->v;
    if (!v->result.x) return true;
    q->r = mem_new(v->n, sizeof *q->r, "the residual", e);
    if (!q->r) return false;
    memcpy(q->r, v->b, (size_t)v->n * sizeof *q->r);
    reference_spmv(q->A, -1, v->result.x, 1, q->r, P_F64, NULL);
    q->r_norm = norm2(v->n, q->r);
    return loop_tick("the residual", 0, 0, e);
}

/* What the solve itself proposed, unless A turned out to be singular: preconditioners and more iterations do not help
   then, but a least-squares solution exists. */
static void conclude(const struct inquiry *q)
{
    const struct direct_method *method = direct_rectangular();
    struct stagnation *out = q->out;
    bool solves = method && is_affordable(q);
    if (!is_hopeless(q)) {
        snprintf(out->next, sizeof out->next, "%s", q->v->next);
        return;
    }
    if (solves)
        out->next_why = out->singular ? "A is singular, and this finds a least-squares solution"
                                      : "A is nearly singular to fp64, and this finds a least-squares solution";
    else
        out->next_why = out->singular ? "A is singular" : "A is nearly singular to fp64";
    if (solves)
        snprintf(out->next, sizeof out->next, "solve direct %s %s%s", method->name, q->m->name, same_direct(q->v).text);
    else
        snprintf(out->next, sizeof out->next, "check %s only rank", q->m->name);
}

static bool inquire(struct inquiry *q, struct err *e)
{
    if (!card_for_solvers(&q->card, q->A, &q->m->facts, CARD_US, &q->s->watch, e)) return false;
    if (q->card.stopped) return loop_tick("the report card", 0, 0, e);
    struct err why = {0};
    q->card.until_us = worked_us() + q->limit_us;
    q->card.left_us = q->limit_us;
    if (!card_fill(&q->card, &why) && why.code == E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
    if (!residual_of(q, e)) return false;
    for (int i = 0; i < COUNT(causes); i++)
        if (!causes[i].find(q, causes[i].cause, e)) return false;
    conclude(q);
    return true;
}

bool stagnation_of(struct session *s, struct matrix *m, const struct solve *v, double limit_us, struct stagnation *out,
                   struct err *e)
{
    struct inquiry q = {.s = s, .m = m, .v = v, .A = &m->csr, .limit_us = limit_us, .out = out};
    *out = (struct stagnation){0};
    bool ok = inquire(&q, e);
    card_free(&q.card);
    csr_free(&q.equilibrated);
    mem_free(q.row);
    mem_free(q.col);
    mem_free(q.r);
    return ok;
}
