/* Eigenpairs: the search, the check for multiple eigenvalues, and what Ctrl-C leaves. */
#include "eigen.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "base/watch.h"
#include "dense_symmetric.h"
#include "eigen_measure.h"
#include "eigen_verify.h"
#include "inverse.h"
#include "lanczos.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/csr.h"
#include "matrix/reference.h"
#include "matrix/symmetry.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* COLUMNS_MIN, COLUMNS_MORE: the basis has at least 40 columns, and 20 more than twice the wanted ones */
enum { COLUMNS_MIN = 40, COLUMNS_MORE = 20 };
/* Beside a shift that moved, this many further pairs show how far the search has seen to both sides of S. */
enum { FURTHER = 2 };
/* Rounding errors change ill-conditioned eigenvalues of a general matrix from one start vector to the next. */
enum { STARTS_MAX = 3 };
/* By Ctrl-C, vectors and residuals are only copied and measured if that takes a few milliseconds. */
enum { SOON = 1 << 20 };
/* The residual of a vector of the inverse, relative to its value: less than tol, because the result is measured with A.
 */
static const double inverse_share = 0.1;
/* A second start vector leaves the residuals of the pairs of a general matrix as they are, so that later rounds cannot
   make them smaller. */
static const double inverse_share_general = 1e-4;

static const char *const status_names[] = {
    [EIGEN_OPEN] = "open", [EIGEN_ROUNDED] = "rounding", [EIGEN_CONVERGED] = "converged"};

const char *eigen_status_name(enum eigen_status status)
{
    return status_names[status];
}

/* ---- checks ---- */

/* The basis needs more columns than pairs, unless it spans the whole space. */
static int64_t pairs_most(int64_t n)
{
    return n <= LANCZOS_COLUMNS_MAX ? n : EIGEN_PAIRS_MAX;
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
    if (first_not_finite(M->nnz, M->val) < M->nnz)
        return fail(e, E_NUMERIC, "%s has NaN or inf, so it has no eigenvalues; `check` names the row", A->name);
    if (!symmetric && M->imag) return symmetry_needed(M, "eigs of a complex matrix", "`symmetrize` makes A + A^H", e);
    if (o->pairs < 1) return fail(e, E_USAGE, "cannot find %lld eigenvalues: give 1 or more", (long long)o->pairs);
    if (o->pairs > n)
        return fail(e, E_USAGE, "%s has %s, so it has no %lld eigenvalues", A->name, how_many(n, "row").text,
                    (long long)o->pairs);
    if (o->pairs > most)
        return fail(e, E_LIMIT, "eigs finds at most %lld eigenvalues of a matrix of %lld rows, not %lld",
                    (long long)most, (long long)n, (long long)o->pairs);
    if (o->part == EIGEN_NEAR && !isfinite(o->shift)) return fail(e, E_USAGE, "`near` needs a finite number");
    if (!o->columns || (o->columns == n && n <= LANCZOS_COLUMNS_MAX)) return true;
    int64_t least = o->pairs + 2, limit = n < LANCZOS_COLUMNS_MAX ? n : LANCZOS_COLUMNS_MAX;
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
    double *host;   /* operands of a product with A on the host; NULL: not needed */
    int wanted;     /* pairs that the process finds: a few more than o.pairs beside a shift that moved */
    int64_t spent;  /* products of the processes before this one */
    bool whole;     /* near a shift, by a basis of the whole space in place of the inverse */
    bool second;    /* continued from a second start vector since the last change of the wanted pairs */
    int starts;     /* start vectors after the first */
    double *before; /* the wanted Ritz values, pairs of numbers, when the last start vector was taken */
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

/* A product with A on the host, for a process that needs no factors and for which no kernel has been chosen. */
static bool multiply_host(void *user, const void *x, void *y, struct err *e)
{
    struct search *s = user;
    const struct device_ops *ops = s->A->dev->ops;
    int64_t n = s->process->numbers, bytes = n * (int64_t)sizeof *s->host;
    if (!ops->get(s->A->dev, s->host, x, bytes, e)) return false;
    reference_spmv(s->out->A, s->scale, s->host, 0, s->host + n, P_F64, NULL);
    return ops->put(s->A->dev, y, s->host + n, bytes, e) &&
           loop_tick(s->text, s->process ? s->process->products : 0, 0, e);
}

static int columns_of(const struct eigen_options *o, int64_t n)
{
    int64_t m = 2 * o->pairs + COLUMNS_MORE;
    if (m < COLUMNS_MIN) m = COLUMNS_MIN;
    if (o->columns) m = o->columns;
    if (m > LANCZOS_COLUMNS_MAX) m = LANCZOS_COLUMNS_MAX;
    return (int)(m < n ? m : n);
}

/* Is the operator the inverse? */
static bool inverts(const struct search *s)
{
    return s->out->o.part == EIGEN_NEAR && !s->whole;
}

static enum wanted_end end_of(const struct search *s)
{
    static const enum wanted_end ends[] = {[EIGEN_LARGEST] = WANTED_LARGEST,
                                           [EIGEN_SMALLEST] = WANTED_SMALLEST,
                                           [EIGEN_NEAR] = WANTED_FARTHEST,
                                           [EIGEN_FARTHEST] = WANTED_FARTHEST};
    return s->whole ? WANTED_NEAREST : ends[s->out->o.part];
}

/* The power of 2 next to 1 / ||A||, or next to ||A|| for the inverse. */
static double scale_of(const struct search *s)
{
    const struct eigen *v = s->out;
    int power = v->norm > 0 ? ilogb(v->norm) : 0;
    if (power < -1000) power = -1000; /* the reciprocal is finite */
    return ldexp(1, inverts(s) ? power : -power);
}

/* How far the shift has moved. */
static double aside_of(const struct eigen *v)
{
    return fabs(v->shift - v->o.shift);
}

/* Beside S, the nearest to the moved shift are not the nearest to S, so a few more pairs are found. */
static int wanted_of(const struct search *s)
{
    const struct eigen *v = s->out;
    int64_t room = v->columns < v->A->rows ? v->columns - 2 : v->columns, wanted = v->o.pairs;
    if (!inverts(s) || !(aside_of(v) > 0) || wanted >= room) return (int)wanted;
    return (int)(wanted + FURTHER < room ? wanted + FURTHER : room);
}

/* Are the products those with A on the host? */
static bool on_host(const struct search *s)
{
    return s->whole || (!inverts(s) && !s->A->kernel);
}

static int64_t numbers_of(const struct eigen *v)
{
    return v->A->rows * (v->A->imag ? 2 : 1);
}

static bool begin_process(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    bool inverse = inverts(s);
    s->scale = scale_of(s);
    s->wanted = wanted_of(s);
    s->second = false;
    snprintf(s->text, sizeof s->text, "eigs: products");
    if (s->process) s->spent += s->process->products;
    lanczos_free(s->process);
    s->process = NULL;
    mem_free(v->vector);
    v->vector = NULL;
    if (on_host(s) && !s->host && !(s->host = mem_new(2 * numbers_of(v), sizeof *s->host, "a product", e)))
        return false;
    struct lanczos_options o = {.dev = s->A->dev,
                                .kind = v->kind,
                                .n = v->A->rows,
                                .wanted = s->wanted,
                                .columns = (int)v->columns,
                                .order = {end_of(s), s->scale * v->o.shift},
                                .tol = v->o.tol * (!inverse                   ? 1
                                                   : v->kind == EIGEN_GENERAL ? inverse_share_general
                                                                              : inverse_share),
                                .seed = v->o.seed,
                                .multiply = on_host(s) ? multiply_host
                                            : inverse  ? multiply_inverse
                                                       : multiply,
                                .user = s,
                                .watch = v->o.watch};
    return lanczos_begin(&s->process, &o, e);
}

static void note_inverse(struct search *s)
{
    struct eigen *v = s->out;
    v->shift = s->inverse.shift;
    v->factored_by = s->inverse.method;
    v->below = s->inverse.below;
    v->factor_us = s->inverse.factor_us;
}

/* A basis of the whole space needs no factors. */
static bool begin_whole(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    s->whole = true;
    v->columns = v->A->rows;
    v->shift = v->o.shift;
    v->factored_by = NULL;
    v->below = -1;
    v->factor_us = NAN;
    return begin_process(s, e);
}

/* The largest values of the inverse hide the smallest, so a list of most eigenvalues comes from A itself. So do those
   of a general matrix, whose vectors are not orthogonal: the step after the search (`improve`) cannot separate them. */
static bool wants_most(const struct eigen *v)
{
    bool most = v->kind == EIGEN_GENERAL || 2 * v->o.pairs >= v->A->rows;
    return v->o.part == EIGEN_NEAR && v->columns == v->A->rows && most;
}

/* May the basis span the whole space? */
static bool fits_whole(const struct eigen *v)
{
    return v->A->rows <= LANCZOS_COLUMNS_MAX && (!v->o.columns || v->o.columns == v->A->rows);
}

static struct inverse_matrix to_invert(const struct eigen *v)
{
    return (struct inverse_matrix){v->A, v->norm, v->kind != EIGEN_GENERAL, v->o.force};
}

static bool begin(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    if (wants_most(v)) return begin_whole(s, e);
    if (v->o.part != EIGEN_NEAR) return begin_process(s, e);
    snprintf(s->text, sizeof s->text, "eigs: factoring");
    struct inverse_matrix A = to_invert(v);
    struct err why = {0};
    bool ok = inverse_new(&s->inverse, &A, v->o.shift, s->A->dev, v->o.watch, &why);
    if (!ok && why.code == E_UNSUPPORTED && v->kind == EIGEN_GENERAL && fits_whole(v)) return begin_whole(s, e);
    if (!ok) return fail_at(e, why.code, why.where, "%s", why.text);
    note_inverse(s);
    return begin_process(s, e);
}

/* A number in the complex plane. */
struct point {
    double re, im;
};

static double distance(struct point a, struct point b)
{
    return hypot(a.re - b.re, a.im - b.im);
}

static double size_of(struct point a)
{
    return hypot(a.re, a.im);
}

static struct point ritz_of(const struct search *s, int i)
{
    return (struct point){s->process->value[i], s->process->imag[i]};
}

static struct point point_of(const struct eigen_pair *p)
{
    return (struct point){p->value, p->imag};
}

/* The eigenvalue of A for a Ritz value of the operator. */
static struct point value_of(const struct search *s, struct point ritz)
{
    double size = size_of(ritz);
    if (!inverts(s)) return (struct point){ritz.re / s->scale, ritz.im / s->scale};
    return (struct point){s->out->shift + s->scale / size * (ritz.re / size), -s->scale / size * (ritz.im / size)};
}

/* Only a basis of the whole space has the left eigenvectors of A. */
static double condition_of(const struct search *s, int i)
{
    if (s->out->kind != EIGEN_GENERAL) return 1;
    return lanczos_is_complete(s->process) ? 1 / s->process->share[i] : NAN;
}

/* Keep the Ritz pairs whose vectors are formed, in case Ctrl-C ends the next cycle. */
static void note_pairs(struct search *s)
{
    struct eigen *v = s->out;
    const struct lanczos *p = s->process;
    int open = 0;
    double worst = 0;
    v->found = s->wanted < p->found ? s->wanted : p->found;
    for (int i = 0; i < v->found; i++) {
        bool inverse = inverts(s), converged = lanczos_converged(p, i);
        double relative = p->estimate[i] / size_of(ritz_of(s, i));
        struct point value = value_of(s, ritz_of(s, i));
        v->pair[i] = (struct eigen_pair){.value = value.re,
                                         .imag = value.im,
                                         .residual = NAN,
                                         .estimate = inverse ? relative : p->estimate[i] / s->scale,
                                         .condition = condition_of(s, i),
                                         .status = converged ? EIGEN_CONVERGED : EIGEN_OPEN};
        open += !converged;
        if (!converged) worst = fmax(worst, relative);
    }
    v->products = s->spent + p->products;
    v->restarts = p->restarts;
    if (open)
        snprintf(s->text, sizeof s->text, "eigs: %d of %d, residual %.0e, products", (int)v->found - open, s->wanted,
                 worst);
    else
        snprintf(s->text, sizeof s->text, "eigs: all %d, looking for copies, products", s->wanted);
}

/* Does a change of a Ritz value of the inverse leave the eigenvalue of A unchanged up to tol? Near the shift, rounding
   errors change the large values of the inverse, and in a different way for each copy of a multiple eigenvalue. */
static bool is_within_tol(const struct search *s, struct point ritz, double change)
{
    const struct eigen_options *o = &s->out->o;
    double size = size_of(ritz);
    if (!inverts(s) || !(size > 0)) return false;
    return s->scale * change / (size * size) <= o->tol * size_of(value_of(s, ritz));
}

static bool all_converged(const struct search *s)
{
    for (int i = 0; i < s->wanted; i++)
        if (!lanczos_converged(s->process, i) && !is_within_tol(s, ritz_of(s, i), s->process->estimate[i]))
            return false;
    return true;
}

/* Have the wanted values changed since the last start vector was taken? */
static bool has_changed(const struct search *s)
{
    const struct lanczos *p = s->process;
    for (int i = 0; i < s->wanted; i++) {
        struct point before = {s->before[2 * i], s->before[2 * i + 1]};
        double change = distance(ritz_of(s, i), before);
        bool is_large = change > 4 * p->o.tol * size_of(before) + 1e-15 * p->largest;
        if (is_large && !is_within_tol(s, before, change)) return true;
    }
    return false;
}

/* The best Ritz value that is not wanted comes no nearer to the wanted ones than its residual allows. Of a general
   matrix, a residual allows for no such statement. */
static bool next_is_beyond(const struct search *s)
{
    const struct lanczos *p = s->process;
    int k = s->wanted;
    if (k >= p->size || p->o.kind == EIGEN_GENERAL) return true;
    double gap = lanczos_rank(p, k) - lanczos_rank(p, k - 1);
    return p->estimate[k] <= gap || lanczos_converged(p, k) || is_within_tol(s, ritz_of(s, k), p->estimate[k]);
}

static void note_values(struct search *s)
{
    for (int i = 0; i < s->wanted; i++) {
        s->before[2 * i] = s->process->value[i];
        s->before[2 * i + 1] = s->process->imag[i];
    }
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
    if (v->kind == EIGEN_GENERAL && s->starts == STARTS_MAX) return true;
    note_values(s);
    s->starts++;
    return !(s->second = *fresh = true);
}

/* How many values beyond the wanted pairs equal the last one? A pair whose residual exceeds its value shows nothing. */
static int64_t copies_beyond(const struct search *s)
{
    static const double NEAR = 1e-6;
    const struct lanczos *p = s->process;
    const struct eigen *v = s->out;
    if (v->found < v->o.pairs || p->size < s->wanted) return 0;
    const struct eigen_pair *last = &v->pair[v->o.pairs - 1];
    double most = NEAR * size_of(point_of(last));
    int64_t more = 0;
    if (!(last->residual <= size_of(point_of(last)))) return 0;
    for (int64_t i = v->o.pairs; i < v->found; i++) more += distance(point_of(&v->pair[i]), point_of(last)) <= most;
    for (int i = s->wanted; i < p->size; i++)
        more += distance(value_of(s, ritz_of(s, i)), point_of(last)) <= most &&
                p->estimate[i] <= NEAR * size_of(ritz_of(s, i));
    return more;
}

static bool search(struct search *s, struct err *e)
{
    bool fresh = false;
    for (;;) {
        if (!lanczos_cycle(s->process, e) || !lanczos_form(s->process, e)) return false;
        note_pairs(s);
        if (is_over(s, &fresh)) return true;
        if (!lanczos_restart(s->process, fresh, e)) return false;
    }
}

/* ---- the result ---- */

static struct eigen *eigen_new(const struct eigen_matrix *A, const struct eigen_options *o, struct err *e)
{
    struct eigen *v = mem_zero(1, sizeof *v, "eigs", e);
    if (!v) return NULL;
    *v = (struct eigen){.name = A->name, .A = A->csr, .dev = A->dev, .kernel = A->kernel, .o = *o, .kind = A->kind};
    v->columns = columns_of(o, A->csr->rows);
    v->shift = v->asked = o->shift;
    v->below = v->verified = v->counted = -1;
    v->from = v->to = NAN;
    v->factor_us = v->orthogonality = NAN;
    if (o->part == EIGEN_NEAR) v->kernel = NULL;
    v->pair = mem_zero(o->pairs + FURTHER, sizeof *v->pair, "the eigenvalues", e);
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

/* The vectors are complex if A or one of the values is. */
static bool copy_vectors(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    if (!s->process || s->process->found < v->found) return fail(e, E_CANCELLED, "there are no vectors yet");
    v->complex_vectors = v->kind == EIGEN_HERMITIAN;
    for (int64_t i = 0; i < v->found; i++) v->complex_vectors |= v->pair[i].imag != 0;
    v->vector = mem_new(eigen_numbers(v) * v->found, sizeof *v->vector, "the eigenvectors", e);
    if (!v->vector) return false;
    if (lanczos_vectors(s->process, (int)v->found, v->complex_vectors, v->vector, e)) return true;
    mem_free(v->vector);
    v->vector = NULL;
    return false;
}

/* x -= (to' x) to, for normalised vectors of n numbers: pairs, if `pairs` is set. */
static void subtract_component(int64_t n, bool pairs, const double *to, double *x)
{
    double re = 0, im = 0;
    for (int64_t i = 0; i < n; i++) re += to[i] * x[i];
    for (int64_t i = 0; pairs && i < n; i += 2) im += to[i] * x[i + 1] - to[i + 1] * x[i];
    for (int64_t i = 0; i < n; i++) x[i] -= re * to[i];
    for (int64_t i = 0; pairs && i < n; i += 2) {
        x[i] += im * to[i + 1];
        x[i + 1] -= im * to[i];
    }
}

/* y = (A - shift I)^-1 x. The vectors are pairs: of a real A, one part after the other. `room`: 2 n values */
static bool invert_pairs(struct search *s, const double *x, double *y, double *room, struct err *e)
{
    int64_t n = s->out->A->rows;
    if (s->out->A->imag) return inverse_apply(&s->inverse, x, y, e);
    for (int part = 0; part < 2; part++) {
        for (int64_t i = 0; i < n; i++) room[i] = x[2 * i + part];
        if (!inverse_apply(&s->inverse, room, room + n, e)) return false;
        for (int64_t i = 0; i < n; i++) y[2 * i + part] = room[n + i];
    }
    return true;
}

/* A step for the vector of pair i. y: room for three vectors. Vectors of a general matrix are not orthogonal. */
static bool improve_vector(struct search *s, int64_t i, double *y, struct err *e)
{
    struct eigen *v = s->out;
    int64_t numbers = eigen_numbers(v);
    double *x = v->vector + i * numbers;
    if (!(v->complex_vectors ? invert_pairs(s, x, y, y + numbers, e) : inverse_apply(&s->inverse, x, y, e)))
        return false;
    eigen_normalise(numbers, y);
    for (int64_t j = 0; j < i && v->kind != EIGEN_GENERAL; j++)
        subtract_component(numbers, v->complex_vectors, v->vector + j * numbers, y);
    eigen_normalise(numbers, y);
    memcpy(x, y, (size_t)numbers * sizeof *x);
    return true;
}

/* A step of inverse iteration makes the residual with A as small as that with the inverse. The step lengthens
   rounding errors in the directions of the nearest eigenvalues, which come first, so these are removed again. */
static bool improve(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    if (!inverts(s)) return true;
    double *y = mem_new(3 * eigen_numbers(v), sizeof *y, "an eigenvector", e);
    bool ok = y;
    for (int64_t i = 0; ok && i < v->found; i++)
        ok = improve_vector(s, i, y, e) && loop_tick(s->text, v->products++, 0, e);
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
    if (!search(s, e) || !result(s, e)) return false;
    for (int round = 0; round < ROUNDS && is_open(v) && !v->complete && v->restarts < v->o.restarts; round++) {
        s->process->o.tol *= TIGHTER;
        mem_free(v->vector);
        v->vector = NULL;
        if (!lanczos_restart(s->process, false, e) || !search(s, e) || !result(s, e)) return false;
    }
    return true;
}

/* The number of pairs that no other eigenvalue comes nearer to S than. The process has seen the eigenvalues within
   `seen` of the shift that it used:

        S - seen + aside      S        S + seen - aside
       ------[-----------|----+--------------]---------
                       shift                                                                                        */
static int64_t sure_pairs(const struct eigen *v)
{
    static const double TIE = 1e-6; /* two distances that differ by less are equal */
    double seen = 0, rounding = 128 * DBL_EPSILON * v->norm;
    int64_t most = v->found < v->o.pairs ? v->found : v->o.pairs, k = 0;
    if (v->complete) return most;
    for (int64_t i = 0; i < v->found; i++)
        seen = fmax(seen, distance(point_of(&v->pair[i]), (struct point){v->shift, 0}));
    for (; k < most; k++) {
        double from_S = distance(point_of(&v->pair[k]), (struct point){v->o.shift, 0});
        if (from_S > seen - aside_of(v) + rounding + TIE * from_S) break;
    }
    return k;
}

static bool is_sure(const struct eigen *v)
{
    return v->o.part != EIGEN_NEAR || !(aside_of(v) > 0) || sure_pairs(v) == v->o.pairs;
}

/* Factors so much nearer to S that the pairs found so far would be seen. *went: there are such factors. */
static bool go_nearer(struct search *s, bool *went, struct err *e)
{
    static const double MIN = 1e-15, SHARE = 1e-4, NEXT = 1e-2;
    struct eigen *v = s->out;
    struct inverse nearer = {0};
    struct err why = {0};
    double least = MIN * v->norm,
           farthest = distance(point_of(&v->pair[v->o.pairs - 1]), (struct point){v->o.shift, 0});
    double away = fmax(fmin(NEXT * aside_of(v), SHARE * farthest), least);
    *went = false;
    if (aside_of(v) < 2 * least) return true;
    snprintf(s->text, sizeof s->text, "eigs: factoring");
    struct inverse_matrix A = to_invert(v);
    if (!inverse_beside(&nearer, &A, v->o.shift, away, s->A->dev, v->o.watch, &why))
        return why.code == E_UNSUPPORTED || fail_at(e, why.code, why.where, "%s", why.text);
    nearer.factor_us += s->inverse.factor_us;
    inverse_free(&s->inverse);
    s->inverse = nearer;
    note_inverse(s);
    return *went = true;
}

/* If the shift moved so far that eigenvalues nearer to S may be missing, search again from a nearer one. A small matrix
   whose factors are not good enough has a basis of the whole space. */
static bool search_nearest(struct search *s, struct err *e)
{
    enum { TRIES = 8 };
    struct eigen *v = s->out;
    bool went = true;
    if (!begin(s, e) || !search_and_measure(s, e)) return false;
    for (int i = 0; i < TRIES && went && !is_sure(v) && v->restarts < v->o.restarts; i++) {
        if (!go_nearer(s, &went, e)) return false;
        if (went && (!begin_process(s, e) || !search_and_measure(s, e))) return false;
    }
    bool poor = inverts(s) && (is_open(v) || !is_sure(v)), fits = fits_whole(v);
    return !poor || !fits || v->restarts >= v->o.restarts || (begin_whole(s, e) && search_and_measure(s, e));
}

/* Keep the pairs that were asked for. Those that may not be the nearest ones have not converged. */
static void keep_wanted(struct search *s)
{
    struct eigen *v = s->out;
    v->more = s->process ? copies_beyond(s) : 0;
    v->sure = is_sure(v) ? v->o.pairs : sure_pairs(v);
    if (v->found > v->o.pairs) v->found = v->o.pairs;
    for (int64_t i = v->sure; i < v->found; i++) v->pair[i].status = EIGEN_OPEN;
}

/* All shifts beyond the eigenvalues have the same nearest ones. From a distant shift, rounding hides the differences
   between the eigenvalues, so the search starts from one that is as near as the norm allows. */
static void move_near(struct eigen *v)
{
    double beyond = 2 * v->norm;
    v->o.shift = fmin(fmax(v->o.shift, -beyond), beyond);
    v->shift = v->o.shift;
}

/* ---- the conditions of the eigenvalues of a general matrix ---- */

/* The search for left eigenvectors repeats the work; up to this number of multiplications, it takes about a second. */
static const double LEFT_WORK = 3e8;

static bool wants_left(const struct eigen *v)
{
    double of_product = (double)v->A->nnz + 2 * (double)v->columns * (double)v->A->rows;
    if (v->kind != EIGEN_GENERAL || v->complete || v->o.left) return false;
    return v->o.condition || (double)v->products * of_product <= LEFT_WORK;
}

/* The pair of `in`, other than pair i of v itself, whose value is nearest to that of pair i; -1: none. */
static int64_t nearest(const struct eigen *v, int64_t i, const struct eigen *in, double *far)
{
    int64_t at = -1;
    *far = INFINITY;
    for (int64_t j = 0; j < in->found; j++) {
        double d = distance(point_of(&v->pair[i]), point_of(&in->pair[j]));
        if ((in == v && j == i) || !(d < *far)) continue;
        *far = d;
        at = j;
    }
    return at;
}

/* A multiple value has many left vectors. Is that of pair i, of which there is one copy at least, multiple? */
static bool is_multiple(const struct eigen *v, int64_t i, const struct eigen *left)
{
    static const double SAME = 1e-6;
    double most = SAME * size_of(point_of(&v->pair[i]));
    int64_t copies = 0, left_copies = 0, last = v->found - 1;
    for (int64_t j = 0; j < v->found; j++) copies += distance(point_of(&v->pair[i]), point_of(&v->pair[j])) <= most;
    for (int64_t j = 0; j < left->found; j++)
        left_copies += distance(point_of(&v->pair[i]), point_of(&left->pair[j])) <= most;
    bool beyond = v->more && distance(point_of(&v->pair[i]), point_of(&v->pair[last])) <= most;
    return copies > 1 || left_copies > 1 || beyond;
}

/* |x'y| without conjugates. The vectors of one result may be real, and those of the other complex. */
static double size_of_product(const struct eigen *a, int64_t i, const struct eigen *b, int64_t j)
{
    int64_t n = a->A->rows, p = a->complex_vectors ? 2 : 1, q = b->complex_vectors ? 2 : 1;
    const double *x = a->vector + i * n * p, *y = b->vector + j * n * q;
    double re = 0, im = 0;
    for (int64_t k = 0; k < n; k++) {
        double xi = p == 2 ? x[2 * k + 1] : 0, yi = q == 2 ? y[2 * k + 1] : 0;
        re += x[p * k] * y[q * k] - xi * yi;
        im += x[p * k] * yi + xi * y[q * k];
    }
    return hypot(re, im);
}

/* A vector z of A' with the value of pair i gives its left vector: z'A = value z', without conjugates. It is accepted
   if the two values are much nearer to each other than to all others, and are not multiple. */
static void match_left(struct eigen *v, const struct eigen *left)
{
    static const double MUCH = 1e-3;
    for (int64_t i = 0; i < v->found; i++) {
        double apart, gap;
        int64_t j = nearest(v, i, left, &apart);
        nearest(v, i, v, &gap);
        if (j < 0 || apart > MUCH * gap || v->pair[i].status == EIGEN_OPEN || left->pair[j].status == EIGEN_OPEN)
            continue;
        if (is_multiple(v, i, left)) continue;
        v->pair[i].condition = 1 / size_of_product(v, i, left, j);
    }
}

/* The left eigenvectors are the eigenvectors of A', which a search on the host finds. If it fails, the conditions stay
   unknown. */
static bool find_left(struct eigen *v, struct err *e)
{
    struct csr At = {0};
    struct eigen *left = NULL;
    struct err why = {0};
    if (!wants_left(v)) return true;
    struct eigen_matrix M = {.name = v->name, .csr = &At, .kind = v->kind, .dev = device_open("cpu", e)};
    struct eigen_options o = v->o;
    o.quick = o.left = true;
    o.verify = false;
    bool ok = M.dev && csr_transpose(&At, v->A, &why) && eigen_find(&left, &M, &o, &why);
    bool cancelled = why.code == E_CANCELLED || (left && left->cancelled);
    if (ok && !cancelled) {
        match_left(v, left);
        v->left_products = left->products;
    }
    eigen_free(left);
    csr_free(&At);
    return !cancelled || fail(e, E_CANCELLED, "cancelled");
}

static bool find(struct search *s, struct err *e)
{
    struct eigen *v = s->out;
    struct err why = {0};
    s->before = mem_zero(2 * (v->o.pairs + FURTHER), sizeof *s->before, "the eigenvalues", e);
    if (!s->before || !eigen_norm(v, e)) return false;
    move_near(v);
    bool ok = search_nearest(s, &why);
    if (ok) keep_wanted(s);
    if (ok && (!v->o.verify || eigen_verify(v, &why)) && find_left(v, &why)) return true;
    if (why.code == E_CANCELLED && !v->found)
        return fail(e, E_CANCELLED, "cancelled before the first restart, so there are no pairs yet");
    if (why.code != E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
    salvage(s);
    if (!ok) keep_wanted(s);
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
    mem_free(s.host);
    if (ok) return *out = s.out, true;
    eigen_free(s.out);
    return false;
}
