/* Shift and invert: A - shift I is factored once by a direct solver on the host. */
#include "inverse.h"
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "direct/direct_state.h"
#include "eigen_measure.h"
#include "machine/device.h"
#include "matrix/arithmetic.h"
#include "matrix/csr.h"
#include "matrix/random.h"

#include <math.h>
#include <string.h>

/* A substitution that took less time than this runs on the calling thread, because Ctrl-C need not wait for it. */
static const double AT_ONCE_US = 2000;
/* The distances by which a shift moves away from an eigenvalue, relative to ||A||_1: the first one at which the factors
   are stable. */
static const double aside[] = {1e-8, 1e-7, 1e-6, 1e-5};
/* The first of them for a matrix that is not symmetric: its vectors cannot be made orthogonal to those next to the
   shift, whose rounding errors the inverse lengthens most. */
enum { ASIDE_GENERAL = 2 };
/* L D L' exchanges no rows. Its factors are those of a matrix near A - shift I, and unstable if the relative distance,
   measured by the backward error before refinement, exceeds this. In the nearby matrix, the copies of a multiple
   eigenvalue differ; their differences, lengthened by the inverse, hide the other eigenvalues. */
static const double unstable = 2e-12;
/* If the inverse lengthens a random vector by more than this, relative to 1 / ||A||_1, an eigenvalue is so near to the
   shift that rounding errors in the direction of its vector would hide the others. */
static const double growth_most = 1e9;
/* For a shift that lies `away` from such an eigenvalue: relative to 1 / away. */
static const double growth_beside = 10;

static bool shifted(struct csr *out, const struct csr *A, double shift, struct err *e)
{
    struct csr I = {0};
    bool ok = csr_identity(&I, 1, A->rows, e) && csr_sum(out, 1, A, -shift, &I, e);
    csr_free(&I);
    return ok;
}

static void drop_factors(struct inverse *v)
{
    direct_free(v->factors);
    v->factors = NULL;
}

static int64_t numbers_of(const struct csr *A)
{
    return A->rows * (A->imag ? 2 : 1);
}

/* A right-hand side of n numbers, which the caller frees. */
static double *random_side(int64_t n, struct err *e)
{
    double *b = mem_new(n, sizeof *b, "the right-hand side", e);
    if (b) random_fill(b, n, 1);
    return b;
}

static bool is_stable(int64_t n, const struct direct_answer *a, const double *b, double norm)
{
    return a->residual * eigen_size(n, b) <= unstable * norm * eigen_size(n, a->x);
}

/* How to factor: at what distance from an eigenvalue, and by which method (NULL: chosen from the matrix). */
struct way {
    double norm, growth;
    bool force;
    const struct direct_method *method;
};

/* The factors are kept only if they solve a random system accurately, and x is not too long. */
static bool factor(struct inverse *v, const struct csr *B, const struct way *way, struct err *e)
{
    struct direct_answer *a = NULL;
    double *b = random_side(v->n, e);
    if (!b) return false;
    struct direct_options o = {.method = way->method,
                               .b = b,
                               .symmetric = v->hermitian,
                               .force = way->force,
                               .watch = v->watch,
                               .keep = &v->factors,
                               .regular = true};
    bool ok = direct_solve(&a, B, &o, e);
    if (ok && (!a->x || !v->factors)) ok = fail(e, E_UNSUPPORTED, "A - S I is singular");
    if (ok && eigen_size(v->n, a->x) * way->norm > way->growth * eigen_size(v->n, b)) {
        drop_factors(v);
        ok = fail(e, E_UNSUPPORTED, "S is an eigenvalue up to rounding: choose another number after `near`");
    }
    if (ok) {
        v->method = a->method->name;
        v->below = a->factors.negative;
        v->stable = is_stable(v->n, a, b, way->norm);
    }
    if (a) v->factor_us += a->us;
    direct_answer_free(a);
    mem_free(b);
    return ok;
}

static bool factor_at(struct inverse *v, const struct csr *A, double shift, const struct way *way, struct err *e)
{
    struct csr B = {0};
    bool ok = shifted(&B, A, shift, e) && factor(v, &B, way, e);
    csr_free(&B);
    v->shift = shift;
    return ok;
}

/* L D L' is unstable at this shift: L U, which exchanges rows, may be stable. Fails only after Ctrl-C. */
static bool exchange_rows(struct inverse *v, const struct csr *A, const struct way *way, struct err *e)
{
    for (int i = 0; directs[i] && !v->stable; i++) {
        struct way next = *way;
        struct inverse other = {.dev = v->dev, .watch = v->watch, .n = v->n, .hermitian = v->hermitian};
        struct err why = {0};
        next.method = directs[i];
        if (directs[i]->hermitian || directs[i]->rectangular || directs[i]->asked) continue;
        bool ok = factor_at(&other, A, v->shift, &next, &why);
        if (why.code == E_CANCELLED) return fail_at(e, why.code, why.where, "%s", why.text);
        other.factor_us += v->factor_us;
        v->factor_us = other.factor_us;
        if (!ok || !other.stable) {
            drop_factors(&other);
            continue;
        }
        drop_factors(v);
        *v = other;
    }
    return true;
}

/* Factor at shift - away or, if that is an eigenvalue too, at shift + away. */
static bool factor_beside(struct inverse *v, const struct csr *A, double shift, double away, const struct way *way,
                          struct err *e)
{
    struct err why = {0};
    if (factor_at(v, A, shift - away, way, &why)) return true;
    if (why.code == E_UNSUPPORTED) return factor_at(v, A, shift + away, way, e);
    return fail_at(e, why.code, why.where, "%s", why.text);
}

/* The shift is an eigenvalue: move it as little as stable factors allow. If none are stable, take those of the least
   move. */
static bool factor_aside(struct inverse *v, const struct csr *A, double shift, const struct way *way, struct err *e)
{
    struct inverse least = {0};
    struct err why = {0};
    double size = way->norm > 0 ? way->norm : 1;
    for (int i = v->hermitian ? 0 : ASIDE_GENERAL; i < COUNT(aside) && !why.code; i++) {
        if (!factor_beside(v, A, shift, aside[i] * size, way, &why) || v->stable) break;
        if (least.factors)
            drop_factors(v);
        else
            least = *v;
        v->factors = NULL;
    }
    if (why.code == E_CANCELLED || v->factors || !least.factors) {
        drop_factors(&least);
        return !why.code || fail_at(e, why.code, why.where, "%s", why.text);
    }
    least.factor_us = v->factor_us;
    *v = least;
    return exchange_rows(v, A, way, e);
}

static struct inverse empty_inverse(const struct inverse_matrix *A, struct device *d, struct watch *w)
{
    return (struct inverse){.dev = d, .watch = w, .n = numbers_of(A->csr), .hermitian = A->hermitian};
}

bool inverse_new(struct inverse *v, const struct inverse_matrix *A, double shift, struct device *d, struct watch *w,
                 struct err *e)
{
    struct err why = {0};
    struct way way = {.norm = A->norm, .growth = growth_most, .force = A->force};
    *v = empty_inverse(A, d, w);
    if (factor_at(v, A->csr, shift, &way, &why)) return true;
    if (why.code == E_UNSUPPORTED) return factor_aside(v, A->csr, shift, &way, e);
    return fail_at(e, why.code, why.where, "%s", why.text);
}

bool inverse_beside(struct inverse *v, const struct inverse_matrix *A, double shift, double away, struct device *d,
                    struct watch *w, struct err *e)
{
    struct way way = {.norm = A->norm, .growth = growth_beside * A->norm / away, .force = A->force};
    *v = empty_inverse(A, d, w);
    if (!factor_beside(v, A->csr, shift, away, &way, e)) return false;
    if (exchange_rows(v, A->csr, &way, e)) return true;
    drop_factors(v);
    return false;
}

/* v->factors->to = (A - shift I)^-1 v->factors->from */
static bool substitute(struct inverse *v, struct err *e)
{
    if (v->factors->us < AT_ONCE_US && v->factors->call == direct_call_solve) return direct_call_solve(v->factors, e);
    return direct_run(&v->factors, direct_call_solve, "", v->watch, e);
}

bool inverse_multiply(struct inverse *v, double scale, const void *x, void *y, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    int64_t bytes = v->n * (int64_t)sizeof(double);
    if (!ops->get(v->dev, v->factors->from, x, bytes, e) || !substitute(v, e)) return false;
    struct loop l = loop_of("", v->n);
    for (int64_t i = 0; i < v->n && loop_goes(&l, i); i++) v->factors->to[i] *= scale;
    return loop_end(&l, e) && ops->put(v->dev, y, v->factors->to, bytes, e);
}

bool inverse_apply(struct inverse *v, const double *x, double *y, struct err *e)
{
    size_t bytes = (size_t)v->n * sizeof *x;
    memcpy(v->factors->from, x, bytes);
    if (!substitute(v, e)) return false;
    memcpy(y, v->factors->to, bytes);
    return true;
}

void inverse_free(struct inverse *v)
{
    drop_factors(v);
}

/* ---- counting eigenvalues ---- */

/* The direct method whose factors give the signs of the eigenvalues. */
static const struct direct_method *counting_method(void)
{
    for (int i = 0; directs[i]; i++)
        if (directs[i]->hermitian) return directs[i];
    return NULL;
}

static bool count_of(const struct csr *B, double at, bool force, struct watch *w, int64_t *below, struct err *e)
{
    struct direct_answer *a = NULL;
    double *b = random_side(numbers_of(B), e);
    if (!b) return false;
    struct direct_options o = {.method = counting_method(), .b = b, .symmetric = true, .force = force, .watch = w};
    bool ok = direct_solve(&a, B, &o, e);
    if (ok && (!a->accurate || a->factors.negative < 0))
        ok = fail(e, E_UNSUPPORTED, "the signs of the pivots at %.15g are not reliable: L D L' exchanges no rows", at);
    if (ok) *below = a->factors.negative;
    direct_answer_free(a);
    mem_free(b);
    return ok;
}

bool inverse_count(const struct csr *A, double at, bool force, struct watch *w, int64_t *below, struct err *e)
{
    struct csr B = {0};
    bool ok = shifted(&B, A, at, e) && count_of(&B, at, force, w, below, e);
    csr_free(&B);
    return ok;
}
