/* Eigenpairs of a symmetric matrix: the search, the check for multiple eigenvalues, and what Ctrl-C leaves. */
#include "eigen.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/watch.h"
#include "eigen_measure.h"
#include "eigen_verify.h"
#include "inverse.h"
#include "lanczos.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "small.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* COLUMNS_LEAST, COLUMNS_MORE: the basis has at least 40 columns, and 20 more than twice the wanted ones */
enum { COLUMNS_LEAST = 40, COLUMNS_MORE = 20 };
/* By Ctrl-C, vectors and residuals are only copied and measured if that takes a few milliseconds. */
enum { SOON = 1 << 20 };
/* The residual of a vector of the inverse, relative to its value: less than tol, because the result is measured with A.
 */
static const double inverse_share = 0.1;

static const char *const status_names[] = {
    [EIGEN_OPEN] = "open", [EIGEN_ROUNDED] = "rounding", [EIGEN_CONVERGED] = "converged"};

const char *eigen_status_name(enum eigen_status status)
{
    return status_names[status];
}

/* ---- checks ---- */

/* The first entry that differs from its mirror image. */
static bool refuse_unsymmetric(const struct csr *A, const char *name, struct err *e)
{
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = csr_start(A, i); k < csr_start(A, i + 1); k++) {
            int64_t at = csr_find(A, A->col[k], i);
            double mirror = at < 0 ? 0 : A->val[at];
            if (mirror == A->val[k]) continue;
            return fail(e, E_UNSUPPORTED,
                        "eigs needs a symmetric matrix, but %s(%lld, %d) = %.6g and %s(%d, %lld) = %.6g; `symmetrize` "
                        "makes A + A'",
                        name, (long long)i, A->col[k], A->val[k], name, A->col[k], (long long)i, mirror);
        }
    return fail(e, E_UNSUPPORTED, "eigs needs a symmetric matrix, and %s is not; `symmetrize` makes A + A'", name);
}

/* The basis needs more columns than pairs, unless it spans the whole space. */
static int64_t pairs_most(int64_t n)
{
    return n <= LANCZOS_COLUMNS_MOST ? n : EIGEN_PAIRS_MOST;
}

bool eigen_check(const struct eigen_matrix *A, const struct eigen_options *o, bool symmetric, struct err *e)
{
    const struct csr *M = A->csr;
    int64_t n = M->rows, most = pairs_most(n);
    char rows[32], cols[32];
    if (M->rows != M->cols)
        return fail(e, E_UNSUPPORTED, "eigs needs a square matrix, but %s is %s x %s", A->name,
                    show_count(M->rows, rows, sizeof rows), show_count(M->cols, cols, sizeof cols));
    if (!n) return fail(e, E_UNSUPPORTED, "%s is empty: a matrix of 0 rows has no eigenvalues", A->name);
    if (M->imag)
        return fail(e, E_UNSUPPORTED,
                    "eigs takes real symmetric matrices, and %s is complex; hermitian matrices are "
                    "not supported",
                    A->name);
    if (first_not_finite(M->nnz, M->val) < M->nnz)
        return fail(e, E_NUMERIC, "%s has NaN or inf, so it has no eigenvalues; `check` names the row", A->name);
    if (!symmetric) return refuse_unsymmetric(M, A->name, e);
    if (o->pairs < 1) return fail(e, E_USAGE, "cannot find %lld eigenvalues: give 1 or more", (long long)o->pairs);
    if (o->pairs > n)
        return fail(e, E_USAGE, "%s has %s, so it has no %lld eigenvalues", A->name, how_many(n, "row").text,
                    (long long)o->pairs);
    if (o->pairs > most)
        return fail(e, E_LIMIT, "eigs finds at most %lld eigenvalues of a matrix of %lld rows, not %lld",
                    (long long)most, (long long)n, (long long)o->pairs);
    if (o->part == EIGEN_NEAR && !isfinite(o->shift)) return fail(e, E_USAGE, "`near` needs a finite number");
    if (!o->columns || (o->columns == n && n <= LANCZOS_COLUMNS_MOST)) return true;
    int64_t least = o->pairs + 2, limit = n < LANCZOS_COLUMNS_MOST ? n : LANCZOS_COLUMNS_MOST;
    return (o->columns >= least && o->columns <= limit) ||
           fail(e, E_USAGE, "m, the columns of the basis, is %lld; it must be %lld to %lld here", (long long)o->columns,
                (long long)(least < limit ? least : limit), (long long)limit);
}

/* ---- the search ---- */

struct search {
    struct eigen *out;
    const struct eigen_matrix *A;
    struct inverse inverse; /* EIGEN_NEAR */
    struct lanczos *process;
    bool second;    /* continued from a second start vector since the last change of the wanted pairs */
    double *before; /* [pairs] the wanted Ritz values when the last start vector was taken */
    double scale;   /* the operator is scale A or scale (A - shift I)^-1, so that squares neither overflow nor vanish */
    char text[80];  /* progress */
};

static bool multiply(void *user, const void *x, void *y, struct err *e)
{
    const struct search *s = user;
    struct launch L = {.A = s->A->mat, .alpha = s->scale, .x = x, .y = y};
    return kernel_launch(s->A->kernel, &L, e) && loop_tick(s->text, s->process ? s->process->products : 0, 0, e);
}

static bool multiply_inverse(void *user, const void *x, void *y, struct err *e)
{
    struct search *s = user;
    return inverse_multiply(&s->inverse, s->scale, x, y, e) &&
           loop_tick(s->text, s->process ? s->process->products : 0, 0, e);
}

static int columns_of(const struct eigen_options *o, int64_t n)
{
    int64_t m = 2 * o->pairs + COLUMNS_MORE;
    if (m < COLUMNS_LEAST) m = COLUMNS_LEAST;
    if (o->columns) m = o->columns;
    if (m > LANCZOS_COLUMNS_MOST) m = LANCZOS_COLUMNS_MOST;
    return (int)(m < n ? m : n);
}

static enum lanczos_end end_of(const struct eigen_options *o)
{
    return o->part == EIGEN_NEAR ? LANCZOS_FARTHEST : o->part == EIGEN_SMALLEST ? LANCZOS_SMALLEST : LANCZOS_LARGEST;
}

/* The power of 2 next to 1 / ||A||, or next to ||A|| for the inverse. */
static double scale_of(const struct eigen *v)
{
    int power = v->norm > 0 ? ilogb(v->norm) : 0;
    if (power < -1000) power = -1000; /* the reciprocal is finite */
    return ldexp(1, v->o.part == EIGEN_NEAR ? power : -power);
}

static bool begin(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    bool near = v->o.part == EIGEN_NEAR;
    s->scale = scale_of(v);
    snprintf(s->text, sizeof s->text, near ? "eigs: factoring" : "eigs: products");
    if (near && !inverse_new(&s->inverse, v->A, v->o.shift, v->norm, v->o.force, s->A->dev, v->o.watch, e))
        return false;
    if (near) {
        v->shift = s->inverse.shift;
        v->factored_by = s->inverse.method;
        v->below = s->inverse.below;
        v->factor_us = s->inverse.factor_us;
    }
    snprintf(s->text, sizeof s->text, "eigs: products");
    struct lanczos_options o = {.dev = s->A->dev,
                                .n = v->A->rows,
                                .wanted = (int)v->o.pairs,
                                .columns = (int)v->columns,
                                .end = end_of(&v->o),
                                .tol = v->o.tol * (near ? inverse_share : 1),
                                .seed = v->o.seed,
                                .multiply = near ? multiply_inverse : multiply,
                                .user = s,
                                .watch = v->o.watch};
    return lanczos_begin(&s->process, &o, e);
}

/* The eigenvalue of A for a Ritz value of the operator. */
static double value_of(const struct search *s, double ritz)
{
    return s->out->o.part == EIGEN_NEAR ? s->out->shift + s->scale / ritz : ritz / s->scale;
}

/* Keep the Ritz pairs whose vectors are formed, in case Ctrl-C ends the next cycle. */
static void note_pairs(struct search *s)
{
    struct eigen *v = s->out;
    const struct lanczos *p = s->process;
    int open = 0;
    double worst = 0;
    v->found = v->o.pairs < p->found ? v->o.pairs : p->found;
    for (int i = 0; i < v->found; i++) {
        bool near = v->o.part == EIGEN_NEAR, converged = lanczos_converged(p, i);
        double relative = p->estimate[i] / fabs(p->value[i]);
        v->pair[i] = (struct eigen_pair){.value = value_of(s, p->value[i]),
                                         .residual = NAN,
                                         .estimate = near ? relative : p->estimate[i] / s->scale,
                                         .status = converged ? EIGEN_CONVERGED : EIGEN_OPEN};
        open += !converged;
        if (!converged) worst = fmax(worst, relative);
    }
    v->products = p->products;
    v->restarts = p->restarts;
    if (open)
        snprintf(s->text, sizeof s->text, "eigs: %d of %d, residual %.0e, products", (int)v->found - open,
                 (int)v->o.pairs, worst);
    else
        snprintf(s->text, sizeof s->text, "eigs: all %d, looking for copies, products", (int)v->o.pairs);
}

/* Does a change of a Ritz value of the inverse leave the eigenvalue of A unchanged up to tol? Near the shift, rounding
   errors change the large values of the inverse, and in a different way for each copy of a multiple eigenvalue. */
static bool is_within_tol(const struct search *s, double ritz, double change)
{
    const struct eigen_options *o = &s->out->o;
    if (o->part != EIGEN_NEAR || !(fabs(ritz) > 0)) return false;
    return s->scale * change / (ritz * ritz) <= o->tol * fabs(value_of(s, ritz));
}

static bool all_converged(const struct search *s)
{
    for (int i = 0; i < s->out->o.pairs; i++)
        if (!lanczos_converged(s->process, i) && !is_within_tol(s, s->process->value[i], s->process->estimate[i]))
            return false;
    return true;
}

/* Have the wanted values changed since the last start vector was taken? */
static bool has_changed(const struct search *s)
{
    const struct lanczos *p = s->process;
    for (int i = 0; i < s->out->o.pairs; i++) {
        double change = fabs(p->value[i] - s->before[i]);
        bool is_large = change > 4 * p->o.tol * fabs(s->before[i]) + 1e-15 * p->largest;
        if (is_large && !is_within_tol(s, s->before[i], change)) return true;
    }
    return false;
}

/* The best Ritz value that is not wanted comes no nearer to the wanted ones than its residual allows. */
static bool next_is_beyond(const struct search *s)
{
    const struct lanczos *p = s->process;
    int k = (int)s->out->o.pairs;
    if (k >= p->size) return true;
    double gap = lanczos_rank(p, p->value[k]) - lanczos_rank(p, p->value[k - 1]);
    return p->estimate[k] <= gap || lanczos_converged(p, k) || is_within_tol(s, p->value[k], p->estimate[k]);
}

/* Has the search ended? Sets *fresh if it continues from a new start vector: one start vector sees one vector of the
   eigenspace of a multiple eigenvalue, so a second one, orthogonal to the pairs found, looks for the others. */
static bool is_over(struct search *s, bool *fresh)
{
    struct eigen *v = s->out;
    *fresh = false;
    v->complete = lanczos_is_complete(s->process);
    if (v->complete) return true;
    if (s->process->restarts >= v->o.restarts) return true;
    if (!all_converged(s)) return false;
    if (v->o.quick) return true;
    if (s->second && !next_is_beyond(s)) return false;
    if (s->second && !has_changed(s)) return v->checked = true;
    for (int i = 0; i < v->o.pairs; i++) s->before[i] = s->process->value[i];
    return !(s->second = *fresh = true);
}

/* How many values beyond the wanted ones equal the last wanted value? */
static int64_t copies_beyond(const struct search *s)
{
    static const double NEAR = 1e-6;
    const struct lanczos *p = s->process;
    int k = (int)s->out->o.pairs, more = 0;
    if (k >= p->size) return 0;
    double last = p->value[k - 1], most = NEAR * fabs(last);
    for (int i = k; i < p->size; i++) more += fabs(p->value[i] - last) <= most && p->estimate[i] <= most;
    return more;
}

static bool search(struct search *s, struct err *e)
{
    bool fresh = false;
    for (;;) {
        if (!lanczos_cycle(s->process, e) || !lanczos_form(s->process, e)) return false;
        note_pairs(s);
        s->out->more = copies_beyond(s);
        if (is_over(s, &fresh)) return true;
        if (!lanczos_restart(s->process, fresh, e)) return false;
    }
}

/* ---- the result ---- */

static struct eigen *eigen_new(const struct eigen_matrix *A, const struct eigen_options *o, struct err *e)
{
    struct eigen *v = mem_zero(1, sizeof *v, "eigs", e);
    if (!v) return NULL;
    *v = (struct eigen){.name = A->name, .A = A->csr, .dev = A->dev, .kernel = A->kernel, .o = *o};
    v->columns = columns_of(o, A->csr->rows);
    v->shift = o->shift;
    v->below = v->verified = v->counted = -1;
    v->from = v->to = NAN;
    v->factor_us = v->orthogonality = NAN;
    if (o->part == EIGEN_NEAR) v->kernel = NULL;
    v->pair = mem_zero(o->pairs, sizeof *v->pair, "the eigenvalues", e);
    if (v->pair) return v;
    eigen_free(v);
    return NULL;
}

void eigen_free(struct eigen *v)
{
    if (!v) return;
    mem_free(v->pair);
    mem_free(v->vector);
    mem_free(v);
}

static bool copy_vectors(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    int64_t n = v->A->rows * v->found;
    v->vector = mem_new(n, sizeof *v->vector, "the eigenvectors", e);
    if (!v->vector) return false;
    if (s->A->dev->ops->get(s->A->dev, v->vector, s->process->vectors, n * (int64_t)sizeof *v->vector, e)) return true;
    mem_free(v->vector);
    v->vector = NULL;
    return false;
}

/* Make x orthogonal to the k normalised vectors at `to`. */
static void subtract_components(int64_t n, int64_t k, const double *to, double *x)
{
    for (int64_t j = 0; j < k; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += to[j * n + i] * x[i];
        for (int64_t i = 0; i < n; i++) x[i] -= sum * to[j * n + i];
    }
}

/* A step of inverse iteration makes the residual with A as small as that with the inverse. The step lengthens
   rounding errors in the directions of the nearest eigenvalues, which come first, so these are removed again. */
static bool improve(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    int64_t n = v->A->rows;
    if (v->o.part != EIGEN_NEAR) return true;
    double *y = mem_new(n, sizeof *y, "an eigenvector", e);
    bool ok = y;
    for (int64_t i = 0; ok && i < v->found; i++) {
        double *x = v->vector + i * n;
        ok = inverse_apply(&s->inverse, x, y, e) && loop_tick(s->text, v->products++, 0, e);
        if (!ok) break;
        eigen_normalise(n, y);
        subtract_components(n, i, v->vector, y);
        eigen_normalise(n, y);
        memcpy(x, y, (size_t)n * sizeof *x);
    }
    mem_free(y);
    return ok;
}

/* After Ctrl-C: clear the error that the emulator reports for launches that were ended, and keep what costs little. */
static void salvage(struct search *s)
{
    struct eigen *v = s->out;
    struct watch *w = loop_enter(NULL);
    struct err ignored = {0};
    s->A->dev->ops->sync(s->A->dev, &ignored);
    ignored = (struct err){0};
    v->cancelled = true;
    if (!v->vector && v->found * v->A->rows <= SOON) copy_vectors(s, &ignored);
    if (v->vector && v->found * (v->A->rows + v->A->nnz) <= SOON) eigen_measure(v, &ignored);
    loop_enter(w);
}

static bool result(struct search *s, struct err *e)
{
    return copy_vectors(s, e) && improve(s, e) && eigen_measure(s->out, e);
}

static bool is_open(const struct eigen *v)
{
    for (int64_t i = 0; i < v->found; i++)
        if (v->pair[i].status == EIGEN_OPEN) return true;
    return false;
}

/* The search ends by estimates, which for the inverse concern the inverse. If a measured residual exceeds tol all the
   same, the search goes on with a smaller tolerance. */
static bool search_and_measure(struct search *s, struct err *e)
{
    enum { ROUNDS = 4 };
    static const double TIGHTER = 0.1;
    struct eigen *v = s->out;
    if (!begin(s, e) || !search(s, e) || !result(s, e)) return false;
    for (int round = 0; round < ROUNDS && is_open(v) && !v->complete && v->restarts < v->o.restarts; round++) {
        s->process->o.tol *= TIGHTER;
        mem_free(v->vector);
        v->vector = NULL;
        if (!lanczos_restart(s->process, false, e) || !search(s, e) || !result(s, e)) return false;
    }
    return true;
}

static bool find(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    struct err why = {0};
    s->before = mem_zero(v->o.pairs, sizeof *s->before, "the eigenvalues", e);
    if (!s->before || !eigen_norm(v, e)) return false;
    if (search_and_measure(s, &why) && (!v->o.verify || eigen_verify(v, &why))) return true;
    if (why.code == E_CANCELLED && !v->found)
        return fail(e, E_CANCELLED, "cancelled before the first restart, so there are no pairs yet");
    if (why.code != E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
    salvage(s);
    return true;
}

bool eigen_find(struct eigen **out, const struct eigen_matrix *A, const struct eigen_options *o, struct err *e)
{
    double start = now_us();
    if (!small_ready(e)) return false;
    struct search s = {.out = eigen_new(A, o, e), .A = A};
    bool ok = s.out && find(&s, e);
    if (ok) s.out->us = now_us() - start;
    lanczos_free(s.process);
    inverse_free(&s.inverse);
    mem_free(s.before);
    if (ok) return *out = s.out, true;
    eigen_free(s.out);
    return false;
}
