/* The vectors of the last solve and of the last SpMV. */
#include "vectors.h"
#include "base/base.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "direct/direct.h"
#include "eigen/eigen.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix.h"
#include "matrix/norms.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "product.h"
#include "session.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "spmv.h"

#include <string.h>

enum { CHECK_SEED = 1 }; /* the seed of the vectors with which `spmv` checks a kernel */

void vector_free(struct vector *v)
{
    mem_free(v->value);
    mem_free(v->imag);
    v->value = v->imag = NULL;
}

/* The numbers in `value`, while the vector is being made. */
static int64_t numbers_of(const struct vector *v)
{
    return v->pairs ? 2 * v->n : v->n;
}

/* The functions below fill `value`, for a complex matrix with pairs; vector_of then moves the imaginary parts. */
static bool vector_room(struct vector *v, const char *matrix, int64_t n, bool pairs, struct err *e)
{
    v->matrix = matrix;
    v->n = n;
    v->pairs = pairs;
    v->value = mem_new(numbers_of(v), sizeof *v->value, "a copy of a vector", e);
    return v->value != NULL;
}

static bool vector_new(struct vector *v, const char *matrix, int64_t n, const struct csr *A, struct err *e)
{
    return vector_room(v, matrix, n, A->imag != NULL, e);
}

static bool split_pairs(struct vector *v, struct err *e)
{
    if (!v->pairs) return true;
    v->imag = mem_new(v->n, sizeof *v->imag, "a copy of a vector", e);
    for (int64_t i = 0; v->imag && i < v->n; i++) {
        v->imag[i] = v->value[2 * i + 1];
        v->value[i] = v->value[2 * i];
    }
    return v->imag != NULL;
}

/* ---- the last solve ---- */

static bool solve_made_x(struct session *s, struct err *e)
{
    const struct solve *v = s->solve;
    if (!v) return fail(e, E_USAGE, "nothing has been solved yet; `solve cg` makes x, b and r");
    if (v->reason == RUNNING && !solve_shows_x(v))
        return fail(e, E_USAGE, "x of a paused %s is not available; `stop` ends the solve and keeps its x",
                    v->solver->name);
    return v->reason == RUNNING || solve_has_x(v) || fail(e, E_USAGE, "the last solve left no x");
}

/* n: the numbers in x */
static bool copy_x(struct session *s, double *x, int64_t n, struct err *e)
{
    struct solve *v = s->solve;
    if (v->reason == RUNNING) {
        if (!solve_read_x(v, x, e)) return false;
        if (v->scaling.inside) scaling_map_x(&v->scaling, v->matrix.csr->imag != NULL, false, x);
        return true;
    }
    return solve_fetch_x(v, e) && loop_copy(x, v->result.x, n * (int64_t)sizeof *x, "copying x", e);
}

static bool solve_x_of(struct session *s, struct vector *out, struct err *e)
{
    const struct solve *v = s->solve;
    if (!solve_made_x(s, e) || !vector_new(out, v->matrix.name, v->matrix.csr->cols, v->matrix.csr, e)) return false;
    snprintf(out->about, sizeof out->about, "the solution after %s of %s", how_many(v->iterations, "iteration").text,
             v->solver->name);
    return copy_x(s, out->value, numbers_of(out), e);
}

/* b of A x = b, also while the equilibrated system is solved */
static bool copy_b(const struct solve *v, struct vector *out, struct err *e)
{
    if (!loop_copy(out->value, v->b, numbers_of(out) * (int64_t)sizeof *v->b, "copying b", e)) return false;
    if (v->scaling.inside) scaling_map_b(&v->scaling, out->pairs, false, out->value);
    return true;
}

static bool solve_b_of(struct session *s, struct vector *out, struct err *e)
{
    const struct solve *v = s->solve;
    if (!v) return fail(e, E_USAGE, "nothing has been solved yet; `solve cg` makes x, b and r");
    snprintf(out->about, sizeof out->about, "the right-hand side of the last solve");
    return vector_new(out, v->matrix.name, v->matrix.csr->rows, v->matrix.csr, e) && copy_b(v, out, e);
}

/* r = b - A x in double precision. */
static bool solve_r_of(struct session *s, struct vector *out, struct err *e)
{
    const struct solve *v = s->solve;
    struct vector x = {0};
    bool ok = solve_x_of(s, &x, e) && vector_new(out, v->matrix.name, v->matrix.csr->rows, v->matrix.csr, e);
    if (ok) {
        const struct csr *A = v->scaling.inside ? v->scaling.of : v->matrix.csr;
        ok = copy_b(v, out, e) && reference_product(A, -1, x.value, 1, out->value, P_F64, NULL, e);
    }
    vector_free(&x);
    snprintf(out->about, sizeof out->about, "b - A x after %s", how_many(v ? v->iterations : 0, "iteration").text);
    if (ok && v->b_norm > 0 && !v->scaling.inside) {
        size_t n = strlen(out->about);
        snprintf(out->about + n, sizeof out->about - n, "; ||r|| / ||b|| = %.3e", norm2(v->n, out->value) / v->b_norm);
    }
    return ok;
}

/* ---- the last direct solve ---- */

static bool direct_new(struct vector *out, const struct session *s, const double *from, int64_t n, struct err *e)
{
    return vector_new(out, s->direct->name, n, s->direct->A, e) &&
           loop_copy(out->value, from, numbers_of(out) * (int64_t)sizeof *from, "copying a vector", e);
}

static bool direct_has_x(const struct session *s, struct err *e)
{
    return s->direct->x || fail(e, E_USAGE, "the last solve was direct and found no x: %s", s->direct->why);
}

static bool direct_x_of(struct session *s, struct vector *out, struct err *e)
{
    if (!direct_has_x(s, e)) return false;
    snprintf(out->about, sizeof out->about, "the solution of `solve direct` by %s", s->direct->method->name);
    return direct_new(out, s, s->direct->x, s->direct->A->cols, e);
}

static bool direct_b_of(struct session *s, struct vector *out, struct err *e)
{
    snprintf(out->about, sizeof out->about, "the right-hand side of the last solve");
    return direct_new(out, s, s->direct->b, s->direct->A->rows, e);
}

static bool direct_r_of(struct session *s, struct vector *out, struct err *e)
{
    const struct direct_answer *a = s->direct;
    if (!direct_has_x(s, e)) return false;
    snprintf(out->about, sizeof out->about, "b - A x of `solve direct`; ||r|| / ||b|| = %.3e", a->residual_true);
    if (!direct_new(out, s, a->b, a->A->rows, e)) return false;
    reference_spmv(a->A, -1, a->x, 1, out->value, P_F64, NULL);
    return loop_tick("the residual", 0, 0, e);
}

/* ---- the last SpMV ---- */

static bool spmv_was(const struct session *s, struct err *e)
{
    return (s->runs_of && s->nruns) || fail(e, E_USAGE, "no SpMV has been run yet; `spmv` makes x and y");
}

static bool spmv_x_of(struct session *s, struct vector *out, struct err *e)
{
    uint64_t state = CHECK_SEED;
    if (!spmv_was(s, e) || !vector_new(out, s->runs_of->name, s->runs_of->csr.cols, &s->runs_of->csr, e)) return false;
    struct loop l = loop_of("random numbers", numbers_of(out));
    for (int64_t i = 0; i < numbers_of(out) && loop_goes(&l, i); i++) {
        double v = random_unit(&state);
        out->value[i] = precisions[s->runs[0].real].part == T_F32 ? (double)(float)v : v;
    }
    snprintf(out->about, sizeof out->about, "the operand of the last SpMV (random, seed %d)", CHECK_SEED);
    return loop_end(&l, e);
}

/* The stored form that the run used; NULL if this form has been freed. */
static struct product *product_of(const struct matrix *m, const struct run *r)
{
    struct product *p = m->products;
    while (p && &p->S != r->of) p = p->next;
    return p;
}

static bool spmv_y_of(struct session *s, struct vector *out, struct err *e)
{
    struct verdict error;
    if (!spmv_was(s, e)) return false;
    const struct run *r = &s->runs[0];
    const struct operation op = {r->alpha, r->beta, s->runs_y0};
    char what[100];
    const struct matrix *m = s->runs_of;
    struct product *p = product_of(m, r);
    if (!p) return fail(e, E_USAGE, "the matrix of the last SpMV is no longer stored; `spmv` stores it again");
    struct device *d = session_device(s, r->dev->name, e);
    struct mat *M = d ? session_mat(s, p, d, e) : NULL;
    if (!M || !vector_new(out, m->name, m->csr.rows, &m->csr, e)) return false;
    operation_text(r->transposed, r->alpha, r->beta, r->y0, what, sizeof what);
    snprintf(out->about, sizeof out->about, "%s by %s on %.40s", what, r->kernel->name, d->name);
    return bench_result(r->kernel, &m->csr, M, &op, CHECK_SEED, out->value, &error, e);
}

/* ---- the last eigenpairs ---- */

static bool pair_of(struct session *s, int64_t pair, struct vector *out, struct err *e)
{
    const struct eigen *v = s->eigen;
    if (!v) return fail(e, E_USAGE, "no eigenvectors have been computed yet; `eigs` computes them");
    if (!v->vector) return fail(e, E_USAGE, "the last `eigs` was cancelled before its vectors could be copied");
    if (pair < 1 || pair > v->found)
        return fail(e, E_USAGE, "vector %lld is outside 1 .. %lld, the vectors of the last `eigs`", (long long)pair,
                    (long long)v->found);
    const struct eigen_pair *p = &v->pair[pair - 1];
    int64_t numbers = eigen_numbers(v);
    int length = snprintf(out->about, sizeof out->about, "the eigenvector of %.15g", p->value);
    if (p->imag != 0) snprintf(out->about + length, sizeof out->about - (size_t)length, " %+.15gi", p->imag);
    return vector_room(out, v->name, v->A->rows, v->complex_vectors, e) &&
           loop_copy(out->value, v->vector + (pair - 1) * numbers, numbers * (int64_t)sizeof *out->value,
                     "copying a vector", e);
}

bool vector_of_pair(struct session *s, int64_t pair, struct vector *out, struct err *e)
{
    *out = (struct vector){0};
    if (pair_of(s, pair, out, e) && split_pairs(out, e)) return true;
    vector_free(out);
    return false;
}

/* ---- by name ---- */

static bool x_of(struct session *s, struct vector *out, struct err *e)
{
    if (s->direct && s->direct_is_newer) return direct_x_of(s, out, e);
    if (!s->solve && s->nruns) return spmv_x_of(s, out, e);
    return solve_x_of(s, out, e);
}

static bool b_of(struct session *s, struct vector *out, struct err *e)
{
    return (s->direct && s->direct_is_newer ? direct_b_of : solve_b_of)(s, out, e);
}

static bool r_of(struct session *s, struct vector *out, struct err *e)
{
    return (s->direct && s->direct_is_newer ? direct_r_of : solve_r_of)(s, out, e);
}

static const struct {
    const char *name;
    bool (*of)(struct session *s, struct vector *out, struct err *e);
} vectors[] = {{"x", x_of}, {"b", b_of}, {"r", r_of}, {"y", spmv_y_of}};

const char *vector_name(int i)
{
    return i < COUNT(vectors) ? vectors[i].name : NULL;
}

bool vector_of(struct session *s, const char *name, struct vector *out, struct err *e)
{
    *out = (struct vector){0};
    for (int i = 0; i < COUNT(vectors); i++) {
        if (strcmp(vectors[i].name, name)) continue;
        if (vectors[i].of(s, out, e) && split_pairs(out, e)) return true;
        vector_free(out);
        return false;
    }
    return fail(e, E_USAGE, "no vector is called %s; the vectors are x, b, r and y", name);
}
