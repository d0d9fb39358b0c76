/* Algebraic multigrid: M^-1 r is one V-cycle. On each level, a few steps of Chebyshev's method of the fourth kind
   smooth the error before and after the correction from the next level; the coarsest matrix is inverted. Both smoothers
   are the same polynomial in D^-1 A, so M is symmetric, and positive definite if A is. */
#include "amg.h"
#include "amg_device.h"
#include "amg_factor.h"
#include "base/base.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/text.h"
#include "formats/fmt_csr.h"
#include "machine/amg_ops.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/symmetry.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <stdio.h>
#include <string.h>

/* NOTE_RATIO: of entries, in millionths. NOTE_BLOCK: rows of a node, if there are several near-null vectors. NOTE_KIND:
   enum near_kind. NOTE_FEWEST: the near-null vectors of the level that has the fewest.
   NOTE_HINT: rows of a node that were found, but not made use of. NOTE_SCALED: the constants are those of A x = b. */
enum {
    NOTE_LEVELS,
    NOTE_COARSEST,
    NOTE_RATIO,
    NOTE_BLOCK,
    NOTE_VECTORS,
    NOTE_KIND,
    NOTE_FEWEST,
    NOTE_HINT,
    NOTE_SCALED
};

/* A matrix of the cycle: in CSR on the device, or, if csr.val is NULL, a factor. */
struct cycle_matrix {
    struct amg_csr csr;
    const struct amg_factor *factor;
    struct amg_factor own;
};

/* A level on the device: x is the correction, r its residual, z the last change of x, next the change after z. */
struct cycle_level {
    int64_t rows, nnz;
    double bound;
    struct cycle_matrix A, P, R;
    const void *dinv;
    void *own_dinv, *r, *z, *next, *x;
};

struct cycle {
    int n;
    enum type real;              /* of the levels and their vectors: that of the solve, or T_F32 */
    bool inverted;               /* the coarsest matrix; otherwise it is only smoothed */
    struct amg hierarchy;        /* the levels, if the host made them */
    struct amg_device device;    /* the levels, if the device made them */
    struct amg_factor A;         /* the matrix of the solve */
    struct csr full;             /* the inverse on the host, if the host made it */
    struct cycle_matrix inverse; /* of the coarsest matrix, or of its negative if A is negative definite */
    double sign;                 /* -1: A is negative definite */
    double scale;                /* -1: M is that of -A, because cg and minres need a positive definite M */
    void *vectors;               /* r, z and x of all levels */
    int64_t vectors_bytes;
    struct cycle_level level[AMG_LEVELS];
};

/* ---- the levels ---- */

/* A full matrix as CSR: every kernel of CSR takes it, and few of its rows keep a GPU busy. */
static bool put_inverse(struct solve *v, struct cycle *c, const double *inverse, int64_t n, struct err *e)
{
    struct csr A;
    if (!csr_new(&A, n, n, n * n, false, e)) return false;
    for (int64_t i = 0; i < n; i++) A.rowptr[i + 1] = (int)((i + 1) * n);
    for (int64_t k = 0; k < n * n; k++) A.col[k] = (int)(k % n);
    memcpy(A.val, inverse, (size_t)(n * n) * sizeof *A.val);
    c->full = A;
    c->inverse.factor = &c->inverse.own;
    return c->inverted = amg_factor_put(&c->inverse.own, v->dev, v->real, &c->full, e);
}

static bool put_diagonal(struct solve *v, struct cycle_level *on, const double *dinv, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    int64_t n = on->rows;
    on->dinv = on->own_dinv = ops->alloc(v->dev, n * (int64_t)type_size(v->real), "the inverted diagonal", e);
    if (!on->own_dinv) return false;
    if (v->real == T_F64) return ops->put(v->dev, on->own_dinv, dinv, n * (int64_t)sizeof *dinv, e);
    float *f = mem_new(n, sizeof *f, "the inverted diagonal", e);
    for (int64_t i = 0; f && i < n; i++) f[i] = (float)dinv[i];
    bool ok = f && ops->put(v->dev, on->own_dinv, f, n * (int64_t)sizeof *f, e);
    mem_free(f);
    return ok;
}

/* The steps of the smoother contain the product if A is in CSR. */
static void find_csr(struct cycle_matrix *m)
{
    const struct mat *M = m->factor->mat;
    if (M->of->format == &format_csr)
        m->csr = (struct amg_csr){M->of->rows,     M->of->cols,     M->of->nnz, M->ptr[CSR_PTR],
                                  M->ptr[CSR_COL], M->ptr[CSR_VAL], NULL};
}

static bool put_own(struct solve *v, struct cycle_matrix *m, const struct csr *A, struct err *e)
{
    m->factor = &m->own;
    return amg_factor_put(&m->own, v->dev, v->real, A, e);
}

static bool put_level(struct solve *v, struct cycle *c, int k, struct err *e)
{
    const struct amg_level *l = &c->hierarchy.level[k];
    struct cycle_level *on = &c->level[k];
    bool last = k == c->n - 1;
    on->rows = l->A->rows;
    on->nnz = l->A->nnz;
    on->bound = l->bound;
    if (last && c->hierarchy.inverse) return put_inverse(v, c, c->hierarchy.inverse, on->rows, e);
    on->A.factor = &c->A;
    if (!put_diagonal(v, on, l->dinv, e) || (k > 0 && !put_own(v, &on->A, l->A, e)) ||
        (!last && (!put_own(v, &on->P, &l->P, e) || !put_own(v, &on->R, &l->R, e))))
        return false;
    find_csr(&on->A);
    return true;
}

/* ---- several near-null vectors, for which the host makes the levels ---- */

/* The rows of a node: as the user says, or as they are found. */
static int64_t block_of(const struct solve *v)
{
    return v->pre.block ? v->pre.block : facts_block(v->matrix.facts, v->matrix.csr);
}

/* Constants of nodes of one row are the ones that a single vector has. */
static bool has_several(const struct solve *v)
{
    enum near_kind kind = v->pre.near.kind;
    if (kind == NEAR_RIGID || kind == NEAR_ADAPTIVE) return true;
    return (kind == NEAR_CONSTANT || v->pre.block) && block_of(v) > 1;
}

static bool make_rigid(const struct solve *v, struct amg_near *near, int64_t block, struct err *e)
{
    const struct near_settings *s = &v->pre.near;
    if (block != s->axes || s->points != near->nodes)
        return fail(e, E_USAGE,
                    "%s has %lld points with %lld coordinates, but A has %lld nodes of %s; `block %lld` sets the rows "
                    "of a node",
                    s->from, (long long)s->points, (long long)s->axes, (long long)near->nodes,
                    how_many(block, "row").text, (long long)s->axes);
    if (v->scaling.of)
        return fail(e, E_USAGE, "rigid-body modes are those of A x = b: leave out `scaled` and `reorder`");
    return amg_rigid(near, v->system.A, s->axes, s->coordinates, e);
}

static bool make_several(struct solve *v, struct amg_near *near, struct err *e)
{
    const struct near_settings *s = &v->pre.near;
    int64_t block = block_of(v), vectors = s->vectors ? s->vectors : NEAR_ADAPTIVE_DEFAULT;
    if (!amg_nodes(near, v->system.A, block, e)) return false;
    bool ok = s->kind == NEAR_RIGID      ? make_rigid(v, near, block, e)
              : s->kind == NEAR_ADAPTIVE ? amg_adaptive(near, v->system.A, vectors, e)
                                         : amg_constants(near, v->system.A, e);
    v->pre.note[NOTE_BLOCK] = block;
    v->pre.note[NOTE_VECTORS] = near->vectors;
    v->pre.note[NOTE_KIND] = s->kind;
    return ok;
}

/* The solve iterates on R A C y = R b, where x = C y. Constants x are C^-1 times ones there, which R A C maps closer to
   0 than ones, unless the user's A is what is badly scaled. */
static bool scale_constants(struct solve *v, struct amg_near *near, struct err *e)
{
    const struct solve_scaling *by = &v->scaling;
    bool nearer = false, constants = v->pre.near.kind == NEAR_DEFAULT || v->pre.near.kind == NEAR_CONSTANT;
    if (!by->of || !by->col || !constants) return true;
    double *x = mem_new(v->n, sizeof *x, "the near-null vector", e);
    for (int64_t i = 0; x && i < v->n; i++) x[i] = 1;
    if (x) scaling_map_x(by, false, true, x);
    bool ok = x && amg_is_nearer(v->system.A, x, &nearer, e) && (!nearer || amg_weigh(near, v->n, x, e));
    v->pre.note[NOTE_SCALED] = nearer;
    mem_free(x);
    return ok;
}

static bool make_near(struct solve *v, struct amg_near *near, struct err *e)
{
    v->pre.note[NOTE_BLOCK] = v->pre.note[NOTE_SCALED] = 0;
    return (!has_several(v) || make_several(v, near, e)) && scale_constants(v, near, e);
}

static bool make_on_host(struct solve *v, struct cycle *c, struct amg_near *near, struct err *e)
{
    bool plain = v->pre.near.kind == NEAR_DEFAULT && !v->pre.block && v->dev->kind == DEV_CPU;
    v->pre.note[NOTE_HINT] = plain ? block_of(v) : 0;
    if (!amg_make_near(&c->hierarchy, v->system.A, near, e)) return false;
    v->pre.note[NOTE_FEWEST] = c->hierarchy.fewest;
    c->n = c->hierarchy.n;
    c->sign = c->hierarchy.sign;
    for (int k = 0; k < c->n; k++)
        if (!put_level(v, c, k, e)) return false;
    return true;
}

/* cg, minres and fgmres in fp64 take a cycle in fp32, which moves half the bytes: they multiply A by what M^-1 has
   given, so that M need not be exact. Other solvers compute x = x0 + M^-1 u at the end, whose rounding errors would be
   those of fp32. Not if numbers might leave the range of fp32, and not for a matrix that is inverted as a whole. */
static enum type cycle_type(const struct solve *v)
{
    double b_norm = v->system.b_norm;
    bool small = b_norm <= AMG_SMALLEST || b_norm >= 1 / AMG_SMALLEST || v->n <= amg_inverted_rows();
    bool fits = !small && solve_exponents_of(v->system.A, v->system.b, T_F32).a == 0;
    return fits && (v->solver->own_precond || v->solver->flexible) ? T_F32 : v->real;
}

static void take_level(struct cycle *c, int k)
{
    const struct amg_device_level *l = &c->device.level[k];
    c->level[k] = (struct cycle_level){.rows = l->A.rows,
                                       .nnz = l->A.nnz,
                                       .bound = l->bound,
                                       .dinv = l->on_dinv,
                                       .A.csr = l->on_A,
                                       .P.csr = l->on_P,
                                       .R.csr = l->on_R};
}

/* The device knows only ones as a near-null vector. *made receives false if the host must make the levels. */
static bool make_on_device(struct solve *v, struct cycle *c, const struct amg_near *near, bool *made, struct err *e)
{
    struct amg_device *g = &c->device;
    bool fits = v->matrix.kernel->format == &format_csr && precisions[v->matrix.mat->of->real].stored == v->real;
    *made = fits && amg_device_has(v->dev, v->real) && !near->value;
    if (!*made) return true;
    if (!amg_device_make(g, v->dev, v->matrix.mat, cycle_type(v), made, e)) return false;
    if (!*made) return true;
    c->n = g->n;
    c->sign = g->sign;
    c->real = g->cycle;
    c->inverted = g->inverse.rows > 0;
    c->inverse.csr = g->on_inverse;
    for (int k = 0; k < g->n; k++) take_level(c, k);
    return true;
}

/* The bytes of a vector of level k, rounded up so that each vector is aligned. */
static int64_t vector_room(const struct cycle *c, int k)
{
    return device_rounded(c->level[k].rows * (int64_t)type_size(c->real));
}

/* One allocation for the vectors of all levels. The x of the first level is the z of the solver, unless its type
   differs. */
static bool new_vectors(struct solve *v, struct cycle *c, struct err *e)
{
    int64_t bytes = 0;
    for (int k = 0; k < c->n; k++) bytes += 4 * vector_room(c, k);
    c->vectors = v->dev->ops->alloc(v->dev, bytes, "vectors of multigrid", e);
    c->vectors_bytes = c->vectors ? bytes : 0;
    char *at = c->vectors;
    for (int k = 0; at && k < c->n; k++) {
        void **const of[] = {&c->level[k].r, &c->level[k].z, &c->level[k].next, &c->level[k].x};
        for (int i = 0; i < COUNT(of); i++, at += vector_room(c, k)) *of[i] = at;
    }
    return c->vectors != NULL;
}

static void free_cycle(struct device *d, struct cycle *c)
{
    for (int k = 0; k < AMG_LEVELS; k++) {
        if (c->level[k].own_dinv) d->ops->free(d, c->level[k].own_dinv);
        amg_factor_free(&c->level[k].A.own);
        amg_factor_free(&c->level[k].P.own);
        amg_factor_free(&c->level[k].R.own);
    }
    amg_factor_free(&c->inverse.own);
    csr_free(&c->full);
    if (c->vectors) d->ops->free(d, c->vectors);
    amg_device_free(&c->device);
    amg_free(&c->hierarchy);
    mem_free(c);
}

static void describe(struct solve *v, const struct cycle *c)
{
    int64_t entries = 0;
    for (int k = 0; k < c->n; k++) entries += c->level[k].nnz;
    v->pre.note[NOTE_LEVELS] = c->n;
    v->pre.note[NOTE_COARSEST] = c->level[c->n - 1].rows;
    v->pre.note[NOTE_RATIO] = (int64_t)(1e6 * (double)entries / (double)c->level[0].nnz);
}

static bool make_levels(struct solve *v, struct cycle *c, struct err *e)
{
    bool made;
    struct amg_near near = {0};
    c->real = v->real;
    c->A.mat = v->matrix.mat;
    c->A.kernel = v->matrix.kernel;
    if (fact_symmetric(v->matrix.facts) != FACT_YES &&
        !symmetry_needed(v->matrix.csr, "the preconditioner amg", "use bicgstab with precond ilu0", e))
        return false;
    bool ok = make_near(v, &near, e) && make_on_device(v, c, &near, &made, e) && (made || make_on_host(v, c, &near, e));
    amg_near_free(&near);
    if (!ok) return false;
    c->scale = v->solver->symmetric ? c->sign : 1;
    return new_vectors(v, c, e);
}

/* v->pre.host is set only after all levels are complete, because the screen may show the solve in the meantime. */
static bool make(struct solve *v, struct err *e)
{
    struct cycle *c = mem_zero(1, sizeof *c, "multigrid", e);
    bool ok = c && make_levels(v, c, e);
    if (ok) {
        describe(v, c);
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

/* y = alpha M x + beta y. The device cpu multiplies by its kernels, which divide the rows among threads by entries. */
static bool multiply(struct solve *v, const struct cycle *c, const struct cycle_matrix *m, double alpha, const void *x,
                     double beta, void *y, struct err *e)
{
    if (m->factor) return amg_factor_multiply(m->factor, alpha, x, beta, y, e);
    amg_ops_of(v->dev, c->real)->multiply(v->dev, &m->csr, v->scalars, alpha, x, beta, y);
    return true;
}

/* r -= A z, and a step of the smoother. last: no step follows. result: what receives x, if it is not x. */
static bool relax(struct solve *v, const struct cycle *c, struct cycle_level *on, double a, double weight,
                  bool corrects, bool last, void *result, struct err *e)
{
    const struct amg_ops *ops = amg_ops_of(v->dev, c->real);
    if (!on->A.csr.val) {
        if (!multiply(v, c, &on->A, -1, on->z, 1, on->r, e)) return false;
        if (corrects)
            ops->correct(v->dev, on->rows, v->scalars, weight, on->r, on->dinv, on->z, on->x);
        else
            ops->smooth(v->dev, on->rows, v->scalars, a, weight, on->r, on->dinv, on->z, on->x);
        if (last && result) ops->scale(v->dev, on->rows, v->scalars, 1, on->x, result);
        return true;
    }
    struct amg_relaxed step = {.a = a, .c = weight, .corrects = corrects, .z = on->z, .dinv = on->dinv};
    step.r = on->r;
    step.x = on->x;
    step.next = last ? NULL : on->next;
    step.result = last ? result : NULL;
    (c->real == v->real ? ops->relax : ops->relax_wide)(v->dev, &on->A.csr, v->scalars, &step);
    void *before = on->z;
    on->z = on->next;
    on->next = before;
    return true;
}

/* The steps of the smoother from step k on. */
static bool smooth_on(struct solve *v, const struct cycle *c, struct cycle_level *on, bool last, void *result,
                      struct err *e)
{
    for (int k = 2; k <= AMG_DEGREE; k++)
        if (!relax(v, c, on, amg_weight_of_z(k), amg_weight_of_r(k, on->bound), false, last && k == AMG_DEGREE, result,
                   e))
            return false;
    return true;
}

static void begin(struct solve *v, const struct cycle *c, int k, const void *b)
{
    const struct amg_ops *ops = amg_ops_of(v->dev, c->real);
    const struct cycle_level *on = &c->level[k];
    bool wide = k == 0 && c->real != v->real;
    (wide ? ops->begin_wide : ops->begin)(v->dev, on->rows, v->scalars, k ? 1 : c->scale, amg_weight_of_r(1, on->bound),
                                          k ? on->r : b, on->dinv, k ? NULL : on->r, on->z, on->x);
}

/* The levels from the first to the coarsest: smooth, and restrict the residual. b is the right-hand side of the first
   level, and z receives the result if there is no other level; the right-hand sides of the others are written to their
   r. */
static bool go_down(struct solve *v, struct cycle *c, const void *b, void *z, struct err *e)
{
    for (int k = 0; k < c->n - c->inverted; k++) {
        struct cycle_level *on = &c->level[k];
        bool last = k == c->n - 1;
        begin(v, c, k, b);
        if (!smooth_on(v, c, on, last, k ? NULL : z, e)) return false;
        if (!last &&
            (!multiply(v, c, &on->A, -1, on->z, 1, on->r, e) || !multiply(v, c, &on->R, 1, on->r, 0, on[1].r, e)))
            return false;
    }
    return true;
}

/* The same levels in the opposite order: take the correction from the next level, and smooth. */
static bool go_up(struct solve *v, struct cycle *c, void *z, struct err *e)
{
    for (int k = c->n - 2; k >= 0; k--) {
        struct cycle_level *on = &c->level[k];
        void *result = k ? NULL : z;
        if (!multiply(v, c, &on->P, 1, on[1].x, 0, on->z, e) ||
            !relax(v, c, on, 0, amg_weight_of_r(1, on->bound), true, AMG_DEGREE == 1, result, e) ||
            !smooth_on(v, c, on, true, result, e))
            return false;
    }
    return true;
}

/* The correction of the coarsest level. */
static bool solve_coarsest(struct solve *v, struct cycle *c, struct err *e)
{
    const struct cycle_level *on = &c->level[c->n - 1];
    return !c->inverted || multiply(v, c, &c->inverse, c->sign, on->r, 0, on->x, e);
}

/* A small matrix has only one level, and M is A. A product has an effect even if the solve is done, so its result is
   copied to z by a pass. */
static bool apply_inverse(struct solve *v, struct cycle *c, const void *r, void *z, struct err *e)
{
    void *q = c->level[0].r;
    if (!multiply(v, c, &c->inverse, c->sign, r, 0, q, e)) return false;
    amg_ops_of(v->dev, v->real)->scale(v->dev, v->n, v->scalars, c->scale, q, z);
    return true;
}

static bool apply(struct solve *v, const void *r, void *z, struct err *e)
{
    struct cycle *c = v->pre.host;
    if (c->n == 1 && c->inverted) return apply_inverse(v, c, r, z, e);
    return go_down(v, c, r, z, e) && solve_coarsest(v, c, e) && go_up(v, c, z, e);
}

/* ---- figures ---- */

static double matrix_bytes(const struct cycle *c, const struct cycle_matrix *m)
{
    if (m->factor) return amg_factor_bytes(m->factor);
    double entry = (double)type_size(c->real) + (double)(m->csr.near ? sizeof *m->csr.near : sizeof *m->csr.col);
    return (double)m->csr.nnz * entry + (double)(m->csr.rows + 1) * sizeof *m->csr.ptr;
}

/* Each product reads its matrix and x, and reads and writes y; a step without a product of its own has 5 vectors. */
static double level_bytes(const struct solve *v, const struct cycle *c, int k, bool last)
{
    const struct cycle_level *on = &c->level[k];
    double vector = (double)type_size(c->real) * (double)on->rows;
    double matrix = on->A.factor == &c->A ? csr_bytes(v->matrix.csr, type_size(v->real)) : matrix_bytes(c, &on->A);
    double smoothers = 2 * AMG_DEGREE * (matrix + 3 * vector) + 2 * AMG_DEGREE * 5 * vector;
    return last ? smoothers / 2 : smoothers + matrix_bytes(c, &on->P) + matrix_bytes(c, &on->R) + 2 * vector;
}

static double bytes(const struct solve *v)
{
    const struct cycle *c = v->pre.host;
    if (!c) return 2.0 * (double)type_size(v->real) * (double)v->n;
    double sum = c->inverted ? matrix_bytes(c, &c->inverse) : 0;
    for (int k = 0; k < c->n - c->inverted; k++) sum += level_bytes(v, c, k, k == c->n - 1);
    return sum;
}

static int64_t held(const struct solve *v)
{
    const struct cycle *c = v->pre.host;
    if (!c) return 0;
    int64_t sum = c->vectors_bytes + c->device.kept.bytes + amg_factor_held(&c->inverse.own);
    for (int k = 0; k < c->n; k++) {
        const struct cycle_level *on = &c->level[k];
        sum += amg_factor_held(&on->A.own) + amg_factor_held(&on->P.own) + amg_factor_held(&on->R.own);
        if (on->own_dinv) sum += (int64_t)type_size(v->real) * on->rows;
    }
    return sum;
}

static const char *const vectors_text[] = {[NEAR_DEFAULT] = "constants",
                                           [NEAR_CONSTANT] = "constants",
                                           [NEAR_RIGID] = "rigid-body modes",
                                           [NEAR_ADAPTIVE] = "relaxed vectors"};

static void note(const struct solve *v, char *out, size_t size)
{
    const int64_t *number = v->pre.note;
    *out = 0;
    if (number[NOTE_LEVELS])
        snprintf(out, size, "%s, with %.2f times the entries of A; %s in the coarsest",
                 how_many(number[NOTE_LEVELS], "level").text, (double)number[NOTE_RATIO] * 1e-6,
                 how_many(number[NOTE_COARSEST], "row").text);
    if (!number[NOTE_BLOCK] && v->pre.near.kind == NEAR_CONSTANT)
        text_append(out, size, "; no nodes of several rows were found");
    if (number[NOTE_HINT] > 1)
        text_append(out, size, "; A has %lld rows per node: try `near constant`", (long long)number[NOTE_HINT]);
    if (number[NOTE_SCALED]) text_append(out, size, "; constants of A x = b");
    if (!number[NOTE_LEVELS] || !number[NOTE_BLOCK]) return;
    text_append(out, size, "; %s%s per node, %lld %s", how_many(number[NOTE_BLOCK], "row").text,
                v->pre.block ? "" : " (found)", (long long)number[NOTE_VECTORS], vectors_text[number[NOTE_KIND]]);
    if (number[NOTE_FEWEST] < number[NOTE_VECTORS])
        text_append(out, size, ", %lld on small aggregates", (long long)number[NOTE_FEWEST]);
    if (v->dev->kind != DEV_CPU) text_append(out, size, "; made on the host");
}

const struct precond precond_amg = {
    .name = "amg",
    .aliases = "multigrid",
    .about = "algebraic multigrid: a V-cycle over smaller and smaller matrices; the number of iterations hardly grows "
             "with the size",
    .source = "Vanek, Mandel and Brezina 1996; Bell, Dalton and Olson 2012; Lottes 2023",
    .needs = "a symmetric positive definite matrix, preferably of a diffusion problem, or of elasticity with `near`",
    .symmetric = true,
    .blocks = true,
    .near = true,
    .long_apply = true,
    .by_products = true,
    .inexact = true,
    .making = 220,
    .make = make,
    .apply = apply,
    .drop = drop,
    .bytes = bytes,
    .held = held,
    .note = note,
    .peers =
        {.petsc = "-pc_type gamg -pc_gamg_type agg",
         .hypre = "HYPRE_BoomerAMGSolve",
         .hypre_setup = "HYPRE_BoomerAMGSetup",
         .amgx = "\"solver\": \"AMG\", \"algorithm\": \"AGGREGATION\", \"selector\": \"SIZE_4\", \"cycle\": "
                 "\"V\", \"smoother\": \"CHEBYSHEV_POLY\", \"max_iters\": 1",
         .ginkgo = "\"type\": \"solver::Multigrid\", \"mg_level\": [{\"type\": \"multigrid::Pgm\"}], "
                   "\"criteria\": [{\"type\": \"Iteration\", \"max_iters\": 1}]",
         .hypre_make = "HYPRE_BoomerAMGCreate(&precond);\n"
                       "HYPRE_BoomerAMGSetMaxIter(precond, 1);\n"
                       "HYPRE_BoomerAMGSetTol(precond, 0);\n",
         .scipy =
             "# Smoothed aggregation of PyAMG (pip install pyamg), whose coarse levels differ, so iterations differ.\n"
             "import pyamg\n"
             "M = pyamg.smoothed_aggregation_solver(sparse.csr_matrix(A)).aspreconditioner()\n"},
};
