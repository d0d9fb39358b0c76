/* Algebraic multigrid: M^-1 r is one V-cycle. On each level, a few steps of Chebyshev's method of the fourth kind
   smooth the error before and after the correction from the next level; the coarsest matrix is inverted. Both smoothers
   are the same polynomial in D^-1 A, so M is symmetric, and positive definite if A is. */
#include "amg.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "formats/fmt_dense.h"
#include "formats/format.h"
#include "machine/amg_ops.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <stdio.h>
#include <string.h>

enum { NOTE_LEVELS, NOTE_COARSEST, NOTE_RATIO }; /* NOTE_RATIO: of entries, in millionths */

/* A matrix on the device, with the kernel that multiplies by it. */
struct factor {
    struct stored S;
    struct mat M;
    const struct mat *mat; /* &M, or the matrix of the solve */
    const struct kernel *kernel;
};

/* A level on the device: x is the correction, r its residual, z the last change of x. */
struct cycle_level {
    struct factor A, P, R;
    void *dinv, *r, *z, *x;
};

struct cycle {
    struct amg hierarchy;
    struct factor inverse; /* of the coarsest matrix, or of its negative if A is negative definite */
    double sign;           /* -1: A is negative definite */
    double scale;          /* -1: M is that of -A, because cg and minres need a positive definite M */
    struct cycle_level level[AMG_LEVELS];
};

/* ---- on the device ---- */

static bool put_factor(struct solve *v, struct factor *f, const struct csr *A, const struct format *format,
                       struct err *e)
{
    f->mat = &f->M;
    f->kernel = kernel_default(format, A, v->dev);
    return format_pack(A, format, NULL, v->real, true, &f->S, e) && mat_put(&f->M, &f->S, v->dev, e);
}

/* A full matrix as CSR, whose arrays the caller frees. */
static bool put_inverse(struct solve *v, struct factor *f, const double *inverse, int64_t n, struct err *e)
{
    struct csr A;
    if (!csr_new(&A, n, n, n * n, false, e)) return false;
    for (int64_t i = 0; i < n; i++) A.rowptr[i + 1] = (int)((i + 1) * n);
    for (int64_t k = 0; k < n * n; k++) A.col[k] = (int)(k % n);
    memcpy(A.val, inverse, (size_t)(n * n) * sizeof *A.val);
    bool ok = put_factor(v, f, &A, &format_dense, e);
    csr_free(&A);
    return ok;
}

static bool put_vector(struct solve *v, void **to, const double *from, int64_t n, const char *what, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    *to = ops->alloc(v->dev, n * (int64_t)type_size(v->real), what, e);
    if (!*to || !from) return *to != NULL;
    if (v->real == T_F64) return ops->put(v->dev, *to, from, n * (int64_t)sizeof *from, e);
    float *f = mem_new(n, sizeof *f, what, e);
    for (int64_t i = 0; f && i < n; i++) f[i] = (float)from[i];
    bool ok = f && ops->put(v->dev, *to, f, n * (int64_t)sizeof *f, e);
    mem_free(f);
    return ok;
}

/* The vector x of the first level is the z of the solver. A level that is inverted needs neither dinv nor z. */
static bool put_vectors(struct solve *v, struct cycle_level *on, const struct amg_level *l, bool first, bool inverted,
                        struct err *e)
{
    static const char what[] = "a vector of multigrid";
    int64_t n = l->A->rows;
    if (!put_vector(v, &on->r, NULL, n, what, e) || (!first && !put_vector(v, &on->x, NULL, n, what, e))) return false;
    return inverted || (put_vector(v, &on->dinv, l->dinv, n, "the inverted diagonal", e) &&
                        put_vector(v, &on->z, NULL, n, what, e));
}

static bool put_level(struct solve *v, struct cycle *c, int k, struct err *e)
{
    const struct amg_level *l = &c->hierarchy.level[k];
    struct cycle_level *on = &c->level[k];
    bool last = k == c->hierarchy.n - 1, inverted = last && c->hierarchy.inverse;
    on->A.mat = v->matrix.mat;
    on->A.kernel = v->matrix.kernel;
    if (!put_vectors(v, on, l, k == 0, inverted, e)) return false;
    if (inverted) return put_inverse(v, &c->inverse, c->hierarchy.inverse, l->A->rows, e);
    return (k == 0 || put_factor(v, &on->A, l->A, &format_csr, e)) &&
           (last || (put_factor(v, &on->P, &l->P, &format_csr, e) && put_factor(v, &on->R, &l->R, &format_csr, e)));
}

static void free_factor(struct factor *f)
{
    if (f->M.dev) mat_free(&f->M);
    stored_free(&f->S);
}

static void free_cycle(struct device *d, struct cycle *c)
{
    for (int k = 0; k < AMG_LEVELS; k++) {
        struct cycle_level *on = &c->level[k];
        void *const vectors[] = {on->dinv, on->r, on->z, on->x};
        for (int i = 0; i < COUNT(vectors); i++)
            if (vectors[i]) d->ops->free(d, vectors[i]);
        free_factor(&on->A);
        free_factor(&on->P);
        free_factor(&on->R);
    }
    free_factor(&c->inverse);
    amg_free(&c->hierarchy);
    mem_free(c);
}

static void describe(struct solve *v, const struct amg *g)
{
    v->pre.note[NOTE_LEVELS] = g->n;
    v->pre.note[NOTE_COARSEST] = g->level[g->n - 1].A->rows;
    v->pre.note[NOTE_RATIO] = (int64_t)(1e6 * amg_entries_ratio(g));
}

/* v->pre.host is set only after all levels are complete, because the screen may show the solve in the meantime. */
static bool make(struct solve *v, struct err *e)
{
    struct cycle *c = mem_zero(1, sizeof *c, "multigrid", e);
    bool ok = c && amg_make(&c->hierarchy, v->matrix.csr, e);
    if (ok) c->sign = c->hierarchy.sign;
    if (ok) c->scale = v->solver->symmetric ? c->sign : 1;
    for (int k = 0; ok && k < c->hierarchy.n; k++) ok = put_level(v, c, k, e);
    if (ok) {
        describe(v, &c->hierarchy);
        v->pre.host = c;
    }
    if (c && !ok) free_cycle(v->dev, c);
    return ok;
}

static void drop(struct solve *v)
{
    struct cycle *c = v->pre.host;
    if (c) free_cycle(v->dev, c);
    v->pre.host = NULL;
}

/* ---- the cycle ---- */

static bool multiply(const struct factor *f, double alpha, const void *x, double beta, void *y, struct err *e)
{
    struct launch L = {.A = f->mat, .alpha = alpha, .beta = beta, .x = x, .y = y};
    return kernel_launch(f->kernel, &L, e);
}

/* The steps of the smoother after its first step, and the residual that they leave, unless it is not needed. */
static bool smooth_on(struct solve *v, const struct cycle_level *on, const struct amg_level *l, bool residual,
                      struct err *e)
{
    const struct amg_ops *ops = amg_ops_of(v->dev, v->real);
    for (int k = 2; k <= AMG_DEGREE; k++) {
        if (!multiply(&on->A, -1, on->z, 1, on->r, e)) return false;
        ops->smooth(v->dev, l->A->rows, v->scalars, amg_weight_of_z(k), amg_weight_of_r(k, l->bound), on->r, on->dinv,
                    on->z, on->x);
    }
    return !residual || multiply(&on->A, -1, on->z, 1, on->r, e);
}

/* The levels from the first to the coarsest: smooth, and restrict the residual. b is the right-hand side of the first
   level; the right-hand sides of the others are written to their r. */
static bool go_down(struct solve *v, struct cycle *c, const void *b, struct err *e)
{
    const struct amg_ops *ops = amg_ops_of(v->dev, v->real);
    const struct amg *g = &c->hierarchy;
    for (int k = 0; k < g->n; k++) {
        const struct amg_level *l = &g->level[k];
        struct cycle_level *on = &c->level[k];
        bool last = k == g->n - 1;
        if (last && g->inverse) break;
        ops->begin(v->dev, l->A->rows, v->scalars, k ? 1 : c->scale, amg_weight_of_r(1, l->bound), k ? on->r : b,
                   on->dinv, k ? NULL : on->r, on->z, on->x);
        if (!smooth_on(v, on, l, true, e)) return false;
        if (!last && !multiply(&on->R, 1, on->r, 0, c->level[k + 1].r, e)) return false;
    }
    return true;
}

/* The same levels in the opposite order: take the correction from the next level, and smooth. */
static bool go_up(struct solve *v, struct cycle *c, struct err *e)
{
    const struct amg_ops *ops = amg_ops_of(v->dev, v->real);
    const struct amg *g = &c->hierarchy;
    for (int k = g->n - 2; k >= 0; k--) {
        const struct amg_level *l = &g->level[k];
        struct cycle_level *on = &c->level[k];
        if (!multiply(&on->P, 1, c->level[k + 1].x, 0, on->z, e) || !multiply(&on->A, -1, on->z, 1, on->r, e))
            return false;
        ops->correct(v->dev, l->A->rows, v->scalars, amg_weight_of_r(1, l->bound), on->r, on->dinv, on->z, on->x);
        if (!smooth_on(v, on, l, false, e)) return false;
    }
    return true;
}

/* The correction of the coarsest level. */
static bool solve_coarsest(struct cycle *c, struct err *e)
{
    const struct cycle_level *on = &c->level[c->hierarchy.n - 1];
    return !c->hierarchy.inverse || multiply(&c->inverse, c->sign, on->r, 0, on->x, e);
}

/* A small matrix has only one level, and M is A. A product has an effect even if the solve is done, so its result is
   copied to z by a pass. */
static bool apply_inverse(struct solve *v, struct cycle *c, const void *r, void *z, struct err *e)
{
    void *q = c->level[0].r;
    if (!multiply(&c->inverse, c->sign, r, 0, q, e)) return false;
    amg_ops_of(v->dev, v->real)->scale(v->dev, v->n, v->scalars, c->scale, q, z);
    return true;
}

static bool apply(struct solve *v, const void *r, void *z, struct err *e)
{
    struct cycle *c = v->pre.host;
    if (c->hierarchy.n == 1 && c->hierarchy.inverse) return apply_inverse(v, c, r, z, e);
    c->level[0].x = z;
    bool ok = go_down(v, c, r, e) && solve_coarsest(c, e) && go_up(v, c, e);
    c->level[0].x = NULL;
    return ok;
}

/* ---- figures ---- */

static double factor_bytes(const struct factor *f)
{
    return f->S.format ? (double)stored_bytes(&f->S) : 0;
}

/* Each product reads its matrix and x, and reads and writes y. */
static double level_bytes(const struct solve *v, const struct cycle_level *on, const struct amg_level *l, bool first,
                          bool last)
{
    double vector = (double)type_size(v->real) * (double)l->A->rows;
    double matrix = first ? csr_bytes(l->A, type_size(v->real)) : factor_bytes(&on->A);
    double smoothers = 2 * AMG_DEGREE * (matrix + 3 * vector) + 2 * AMG_DEGREE * 5 * vector;
    return last ? smoothers / 2 : smoothers + factor_bytes(&on->P) + factor_bytes(&on->R) + 2 * vector;
}

static double bytes(const struct solve *v)
{
    const struct cycle *c = v->pre.host;
    if (!c) return 2.0 * (double)type_size(v->real) * (double)v->n;
    const struct amg *g = &c->hierarchy;
    double sum = factor_bytes(&c->inverse);
    for (int k = 0; k < g->n - (g->inverse != NULL); k++)
        sum += level_bytes(v, &c->level[k], &g->level[k], k == 0, k == g->n - 1);
    return sum;
}

static int64_t held(const struct solve *v)
{
    const struct cycle *c = v->pre.host;
    if (!c) return 0;
    double sum = factor_bytes(&c->inverse);
    for (int k = 0; k < c->hierarchy.n; k++) {
        const struct cycle_level *on = &c->level[k];
        int vectors = (on->dinv != NULL) + (on->r != NULL) + (on->z != NULL) + (k > 0);
        sum += factor_bytes(&on->A) + factor_bytes(&on->P) + factor_bytes(&on->R) +
               (double)vectors * (double)type_size(v->real) * (double)c->hierarchy.level[k].A->rows;
    }
    return (int64_t)sum;
}

static void note(const struct solve *v, char *out, size_t size)
{
    const int64_t *number = v->pre.note;
    *out = 0;
    if (number[NOTE_LEVELS])
        snprintf(out, size, "%s, with %.2f times the entries of A; %s in the coarsest",
                 how_many(number[NOTE_LEVELS], "level").text, (double)number[NOTE_RATIO] * 1e-6,
                 how_many(number[NOTE_COARSEST], "row").text);
}

const struct precond precond_amg = {
    .name = "amg",
    .aliases = "multigrid",
    .about =
        "algebraic multigrid: a V-cycle over smaller and smaller matrices; the iterations hardly grow with the size",
    .source = "Vanek, Mandel and Brezina 1996; Bell, Dalton and Olson 2012; Lottes 2023",
    .needs = "a symmetric positive definite matrix, best one of a diffusion problem",
    .symmetric = true,
    .long_apply = true,
    .by_products = true,
    .make = make,
    .apply = apply,
    .drop = drop,
    .bytes = bytes,
    .held = held,
    .note = note,
};
