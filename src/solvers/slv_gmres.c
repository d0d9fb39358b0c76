/* GMRES(m) (THESIS 3.3): x minimises the residual over a Krylov space of up to m vectors. After m iterations, GMRES
   restarts from this x. The small triangular system stays on the device, so that no iteration waits for the host. With
   `least host`, the host solves the least-squares problem of a cycle, as in the thesis.
   A flexible solver (slv_fgmres.c) shares all of it, but stores M^-1 times the columns of the basis as well. */
#include <stdio.h>

#include "base/base.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "hessenberg.h"
#include "machine/device.h"
#include "machine/gmres_work.h"
#include "machine/vec_ops.h"
#include "machine/vector_pitch.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <math.h>

enum { GMRES_Q = VEC_OWN, GMRES_BASIS, GMRES_SYSTEM, GMRES_Z };

/* The vectors that an iteration changes in place. Only a restart changes x and the first column of the basis. */
static const int changed[] = {GMRES_SYSTEM, VEC_X, GMRES_BASIS};

/* TRIAL: iterations of the cycle from which m is estimated. M_MIN, M_MAX: bounds of m. The estimate may be far too low:
   it takes the first iterations, which reduce the residual fast if A is badly scaled, for all. SHORT: of memory, not
   less */
enum { TRIAL = 5, M_MIN = 30, M_MAX = 200, SHORT = 5 };

static void *column_of(const struct solve *v, int basis, int64_t j)
{
    return (char *)v->vec[basis] + j * vector_pitch(v->n * (int64_t)type_size(v->real));
}

static void *column(const struct solve *v, int64_t j)
{
    return column_of(v, GMRES_BASIS, j);
}

/* Does column j of GMRES_Z hold M^-1 times column j of the basis? */
static bool stores_z(const struct solve *v)
{
    return v->solver->flexible && v->pre.method;
}

static void set_restart(struct solve *v, int64_t m)
{
    SCREEN_EDIT;
    v->set.m = m;
}

static bool make_room(struct solve *v, int64_t m, struct err *e)
{
    int64_t numbers = solve_complex_steps(v) ? 2 : 1;
    if (m > v->n / numbers) m = v->n / numbers; /* a basis has at most as many vectors as the space has dimensions */
    set_restart(v, m);
    if (v->set.sums_host && !device_sums_grow(v->dev, m * SUM_BLOCKS, e)) return false;
    return solve_vectors(v, GMRES_BASIS, m, v->real, "the Krylov space", e) &&
           (!stores_z(v) || solve_vectors(v, GMRES_Z, m, v->real, "the preconditioned Krylov space", e)) &&
           solve_alloc(v, GMRES_SYSTEM, numbers * GMRES_WORK(m) * (int64_t)sizeof(double), "the system of gmres", e);
}

static void free_room(struct solve *v)
{
    solve_dealloc(v, GMRES_BASIS);
    solve_dealloc(v, GMRES_Z);
    solve_dealloc(v, GMRES_SYSTEM);
}

/* Count a pass that computes n vector updates and, if `norm` is set, a norm. */
static void count_updates(struct solve *v, int64_t n, bool norm)
{
    work_count(v, OP_UPDATE, n);
    work_count(v, OP_NORM, norm);
    work_count(v, OP_PASS, 1);
}

static void count_one(struct solve *v, enum solve_operation op)
{
    work_count(v, op, 1);
    work_count(v, OP_PASS, 1);
}

/* q = b - A x */
static bool residual(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[GMRES_Q], e)) return false;
    count_updates(v, 1, true);
    return PASS(v, gmres, residual, e, VECTORS(v->vec[GMRES_SYSTEM], v->vec[VEC_B], v->vec[GMRES_Q]),
                NUMBERS((int)v->set.m));
}

/* Column j of the basis = q, normalised. */
static bool scale(struct solve *v, int64_t j, struct err *e)
{
    return PASS(v, gmres, scale, e, VECTORS(v->vec[GMRES_Q], column(v, j)));
}

/* Begin the first cycle and record the initial residual. */
static bool start(struct solve *v, struct err *e)
{
    if (!residual(v, e)) return false;
    v->ops.vec->record(v->dev, v->scalars);
    if (!scale(v, 0, e)) return false;
    work_restarted(v, false);
    return true;
}

/* Copy H, and g, whose norm is that of the residual before the cycle, to the host; copy y to the device. `room` has
   m + 2 rows of m + 1 numbers. */
static bool minimise_in(struct solve *v, double *room, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    int64_t m = v->set.m, ld = m + 1, row = ld * (int64_t)sizeof *room;
    double *w = v->vec[GMRES_SYSTEM], s[SCALARS], *g = room + m * ld, *y = g + ld, square = 0;
    if (!ops->get(v->dev, s, v->scalars, sizeof s, e) || !ops->get(v->dev, room, w + (GM_R + m) * ld, m * row, e) ||
        !ops->get(v->dev, g, w + GM_G * ld, row, e) || !ops->sync(v->dev, e))
        return false;
    int64_t columns = (int64_t)s[S_COLUMNS];
    for (int64_t i = 0; i <= columns; i++) square += g[i] * g[i];
    work_count(v, OP_LEAST_OPERATIONS, hessenberg_minimise(columns, room, ld, sqrt(square), g, y));
    return ops->put(v->dev, w + GM_Y * ld, y, columns * (int64_t)sizeof *y, e);
}

static bool minimise_on_host(struct solve *v, struct err *e)
{
    double *room = mem_new((v->set.m + 2) * (v->set.m + 1), sizeof *room, "the least-squares problem of gmres", e);
    bool ok = room && minimise_in(v, room, e);
    mem_free(room);
    return ok;
}

/* y minimises ||beta e_1 - H y||. */
static bool minimise(struct solve *v, struct err *e)
{
    work_count(v, OP_LEAST_SQUARES, 1);
    if (v->set.least_host) return minimise_on_host(v, e);
    work_count(v, OP_PASS, 1);
    return PASS(v, gmres, solve, e, VECTORS(v->vec[GMRES_SYSTEM]), NUMBERS((int)v->set.m));
}

/* x += V y, or Z y */
static bool improve(struct solve *v, struct err *e)
{
    int m = (int)v->set.m, basis = stores_z(v) ? GMRES_Z : GMRES_BASIS;
    if (!minimise(v, e)) return false;
    count_updates(v, 1, false);
    work_count(v, OP_BASIS, 1);
    return PASS(v, gmres, add, e, VECTORS(v->vec[GMRES_SYSTEM], v->vec[basis], v->vec[VEC_X]), NUMBERS(m));
}

/* `whole`: the cycle that ends here had m iterations. */
static bool restart(struct solve *v, bool whole, struct err *e)
{
    phase_begin(v, PHASE_RESTART);
    if (!improve(v, e) || !residual(v, e)) return false;
    count_one(v, OP_SCALE);
    if (!scale(v, 0, e)) return false;
    work_restarted(v, whole);
    return true;
}

/* Orthogonalise q against the columns [from, to); row `row` of the work memory receives the coefficients. With `norm`,
   also compute the norm of what is left of q. */
static bool orthogonalise(struct solve *v, int from, int to, int row, bool norm, struct err *e)
{
    void *w = v->vec[GMRES_SYSTEM], *V = v->vec[GMRES_BASIS], *q = v->vec[GMRES_Q];
    int m = (int)v->set.m;
    phase_begin(v, PHASE_DOTS);
    work_count(v, OP_DOT, to - from);
    work_count(v, OP_PASS, 1);
    if (!PASS(v, gmres, dots, e, VECTORS(w, V, q), NUMBERS(m, from, to, row))) return false;
    phase_begin(v, PHASE_SUBTRACT);
    count_updates(v, to - from, norm);
    return PASS(v, gmres, subtract, e, VECTORS(w, V, q), NUMBERS(m, from, to, row, norm));
}

/* Classical Gram-Schmidt orthogonalises q against all columns in one step. Classical Gram-Schmidt makes two passes,
   since a single pass leaves large rounding errors. Modified Gram-Schmidt orthogonalises q against the columns one by
   one. */
static bool gram_schmidt(struct solve *v, int k, struct err *e)
{
    for (int j = 0; j <= k && v->set.modified; j++)
        if (!orthogonalise(v, j, j + 1, GM_H, j == k, e)) return false;
    return v->set.modified ||
           (orthogonalise(v, 0, k + 1, GM_H, false, e) && orthogonalise(v, 0, k + 1, GM_H2, true, e));
}

/* q = A M^-1 times column k */
static bool product(struct solve *v, int k, struct err *e)
{
    void *z = stores_z(v) ? column_of(v, GMRES_Z, k) : NULL;
    if (z) phase_begin(v, PHASE_PRECOND);
    if (z && !solve_precondition(v, column(v, k), z, e)) return false;
    phase_begin(v, PHASE_SPMV);
    return solve_spmv(v, z ? z : column(v, k), v->vec[GMRES_Q], e);
}

/* Column k + 1 of the Krylov space: A times column k, orthogonalised against all columns before it. */
static bool extend(struct solve *v, int k, struct err *e)
{
    int m = (int)v->set.m;
    if (!product(v, k, e)) return false;
    if (!gram_schmidt(v, k, e)) return false;
    phase_begin(v, PHASE_ROTATE);
    if (!cut_hold(v, k + 1 < m ? 1 : COUNT(changed), changed, false, e)) return false;
    work_count(v, OP_PASS, 1);
    if (!PASS(v, gmres, column, e, VECTORS(v->vec[GMRES_SYSTEM]), NUMBERS(m, k, !v->set.modified))) return false;
    phase_begin(v, PHASE_SCALE);
    if (k + 1 == m) return true;
    count_one(v, OP_SCALE);
    return scale(v, k + 1, e);
}

bool gmres_step(struct solve *v, struct err *e)
{
    int64_t k = (v->schedule.queued - v->schedule.cycle_from) % v->set.m;
    return extend(v, (int)k, e) && (k + 1 < v->set.m || restart(v, true, e));
}

/* The operations of n iterations from column k of the cycle on, as `extend` counts them, in one launch. */
static void count_launch(struct solve *v, int64_t k, int64_t n)
{
    work_count(v, OP_PASS, 1);
    for (; n > 0; n--, k++) {
        work_count(v, OP_SPMV, 1);
        work_count(v, OP_DOT, 2 * (k + 1));
        work_count(v, OP_UPDATE, 2 * (k + 1));
        work_count(v, OP_NORM, 1);
        work_count(v, OP_SCALE, k + 1 < v->set.m);
    }
}

static bool steps(struct solve *v, int64_t n, struct err *e)
{
    static const int vectors[] = {GMRES_BASIS, GMRES_SYSTEM, VEC_X};
    int64_t k = (v->schedule.queued - v->schedule.cycle_from) % v->set.m;
    count_launch(v, k, n);
    return cluster_steps_of(v, cluster_ops_of(v->dev)->gmres, COUNT(vectors), vectors, n, e) &&
           (k + n < v->set.m || restart(v, true, e));
}

/* If m is not known yet, it will be at most M_MAX. */
static int64_t cluster_bytes(const struct solve *v)
{
    return GMRES_CLUSTER(v->set.m > 0 ? v->set.m : v->n < M_MAX ? v->n : M_MAX);
}

/* m = (1 + delta) (log eps / log tau - 1) - 3 - delta, where tau is the factor by which a first cycle reduced the
   residual, and delta is the mean number of entries per row (THESIS 3.3.3). */
static struct restart_estimate estimate(const struct solve *v, double tau)
{
    double eps = v->set.tol > 0 ? v->set.tol : 1e-8, delta = (double)v->matrix.csr->nnz / (double)v->n;
    double m = tau < 1 ? (1 + delta) * (log(eps) / log(tau) - 1) - 3 - delta : INFINITY;
    return (struct restart_estimate){.made = true, .tau = tau, .delta = delta, .m = m};
}

static int64_t within_bounds(const struct solve *v, double m)
{
    int64_t within = !(m > M_MIN) ? M_MIN : m < M_MAX ? (int64_t)m : M_MAX;
    return within < v->n ? within : v->n;
}

static void keep_estimate(struct solve *v, struct restart_estimate m)
{
    SCREEN_EDIT;
    v->estimate = m;
}

static bool take_scalars(struct solve *v, double *s, struct err *e)
{
    return v->dev->ops->get(v->dev, s, v->scalars, SCALARS * (int64_t)sizeof *s, e) && v->dev->ops->sync(v->dev, e);
}

/* Estimate m from the reduction of the residual in a short cycle, and discard the result of that cycle. */
static bool choose_m(struct solve *v, int64_t *m, struct err *e)
{
    double before[SCALARS], first[SCALARS], last[SCALARS];
    if (!make_room(v, v->n < TRIAL ? v->n : TRIAL, e)) return false;
    if (!take_scalars(v, before, e) || !start(v, e) || !take_scalars(v, first, e)) return false;
    for (int k = 0; k < v->set.m; k++)
        if (!extend(v, k, e) || !cut_release(v, 0, e)) return false;
    if (!take_scalars(v, last, e)) return false;
    keep_estimate(v, estimate(v, sqrt(last[S_RR] / first[S_RR])));
    *m = within_bounds(v, v->estimate.m);
    free_room(v);
    return v->dev->ops->put(v->dev, v->scalars, before, sizeof before, e);
}

/* If there is no memory for m vectors, take half as many. */
static bool make_some_room(struct solve *v, int64_t m, struct err *e)
{
    struct err why = {0};
    if (m <= SHORT) return make_room(v, m, e);
    if (make_room(v, m, &why)) return true;
    if (why.code != E_MEMORY) return fail_at(e, why.code, why.where, "%s", why.text);
    free_room(v);
    return make_some_room(v, m / 2 > SHORT ? m / 2 : SHORT, e);
}

bool gmres_init(struct solve *v, struct err *e)
{
    int64_t m = v->set.m;
    keep_estimate(v, (struct restart_estimate){0});
    if (m > 0) return make_room(v, m, e) && start(v, e);
    return choose_m(v, &m, e) && make_some_room(v, m, e) && start(v, e);
}

/* The rotated system shows convergence. Restart to compute the true residual, which decides whether the solve has
   converged. */
bool gmres_settle(struct solve *v, struct err *e)
{
    if (v->host_scalars[S_COLUMNS] == 0) return true;
    v->schedule.cycle_from = v->schedule.queued;
    return solve_set(v, S_DONE, RUNNING, e) && restart(v, false, e);
}

/* Update x with all columns of the current cycle. */
bool gmres_finish(struct solve *v, struct err *e)
{
    if (v->host_scalars[S_COLUMNS] == 0 || v->reason == NOT_A_NUMBER) return true;
    if (!solve_set(v, S_DONE, RUNNING, e)) return false;
    return improve(v, e) && v->dev->ops->sync(v->dev, e);
}

/* It reads the columns of the basis. */
double gmres_finish_bytes(const struct solve *v)
{
    return v->host_scalars[S_COLUMNS] * (double)v->n * (double)type_size(v->real);
}

bool solve_hessenberg(struct solve *v, double *to, int64_t *columns, struct err *e)
{
    if (v->reason != RUNNING || !v->solver->arnoldi || solve_complex_steps(v) || !v->vec[GMRES_SYSTEM] ||
        !solve_drain(v, e))
        return false;
    const double *H = (const double *)v->vec[GMRES_SYSTEM] + (GM_R + v->set.m) * (v->set.m + 1);
    /* at a restart, use the last complete cycle */
    bool whole = v->schedule.cycle_from == 0 && v->iterations - v->base >= v->set.m;
    *columns = v->host_scalars[S_COLUMNS] > 0 ? (int64_t)v->host_scalars[S_COLUMNS] : whole ? v->set.m : 0;
    int64_t n = v->set.m * (v->set.m + 1);
    if (!v->dev->ops->get(v->dev, to, H, n * (int64_t)sizeof *to, e)) return false;
    if (!v->pre.method) scale_by_power(n, to, v->matrix.exponents.a, to); /* A M^-1 does not change if A is scaled */
    return true;
}

void solve_copy_hessenberg(struct solve *v)
{
    struct solve_krylov now = {.fresh = true, .ld = v->set.m + 1};
    now.H = mem_new(v->set.m * now.ld, sizeof *now.H, "the Hessenberg matrix", NULL);
    if (!now.H || !solve_hessenberg(v, now.H, &now.columns, NULL) || !now.columns) {
        mem_free(now.H);
        return;
    }
    now.iterations = v->iterations;
    now.residual = v->residual;
    SCREEN_EDIT;
    mem_free(v->krylov.H);
    v->krylov = now;
}

static bool is_wanted(struct solve *v)
{
    SCREEN_EDIT;
    bool was = v->krylov.wanted;
    v->krylov.wanted = false;
    return was;
}

/* Copy the Hessenberg matrix if a view wants it. */
void gmres_publish(struct solve *v)
{
    if (is_wanted(v)) solve_copy_hessenberg(v);
}

void gmres_explain(const struct solve *v, char *out, size_t size)
{
    snprintf(
        out, size,
        "broke down after iteration %lld: up to rounding errors, A maps the Krylov space to a smaller space, which "
        "does not contain b; A is singular to %s (see `check only rank` and `lu`)",
        (long long)v->iterations, type_name(type_of_parts(v->real)));
}

double gmres_bytes(const struct csr *A, size_t real, int64_t m)
{
    double cycle = m > 0 ? (double)m : 1, vectors = 2 * cycle + 13 + (cycle + 8) / cycle;
    return (1 + 1 / cycle) * csr_bytes(A, real) + vectors * (double)real * (double)A->rows;
}

/* Of the Krylov basis, only the columns of the current cycle are in use. A cycle ends with the restart, which makes the
   first column of the next cycle. */
int64_t gmres_used_bytes(const struct solve *v, int i, int64_t queued)
{
    if (i != GMRES_BASIS && i != GMRES_Z) return v->vec_bytes[i];
    int64_t bytes = vectors_bytes(queued % v->set.m + 1, v->n * (int64_t)type_size(v->real));
    return bytes < v->vec_bytes[i] ? bytes : v->vec_bytes[i];
}

const struct solver solver_gmres = {
    .name = "gmres",
    .about = "minimises the residual over all directions of a cycle, for any matrix; restarts after m iterations",
    .source = "THESIS 3.3",
    .needs = "a square matrix, and memory for m + 3 vectors",
    .advice =
        "a larger m may help (see `help change`); restarted gmres stagnates if A is indefinite or far from normal",
    .cost = "one SpMV with A, one more per restart, and on average 2 m + 13 vectors read or written for "
            "orthogonalisation; memory for m + 3 vectors",
    .when = "for any square matrix, if other solvers break down or their residual jumps: within a cycle the residual "
            "of gmres never grows. A larger m needs fewer iterations, but each iteration costs more",
    .vectors = 1,
    .window = 100, /* a cycle may have as many iterations as A has rows, and may reduce the residual only at its end */
    .window_per_row = 1,
    .window_most = GM_MAX,
    .restarts = true,
    .used_bytes = gmres_used_bytes,
    .arnoldi = true,
    .publish = gmres_publish,
    .products_only = true,
    .several = true,
    .complex_steps = true,
    .products = 1,
    .bytes = gmres_bytes,
    .init = gmres_init,
    .step = gmres_step,
    .steps = steps,
    .cluster_vectors = 2,
    .cluster_bytes = cluster_bytes,
    .settle = gmres_settle,
    .finish = gmres_finish,
    .finish_bytes = gmres_finish_bytes,
    .explain = gmres_explain,
    .peers =
        {.petsc = "-ksp_type gmres -ksp_pc_side right",
         .hypre = "GMRES",
         .amgx = "\"solver\": \"FGMRES\"",
         .ginkgo = "\"type\": \"solver::Gmres\"",
         .scipy =
             "# SciPy counts cycles of m iterations, and applies M from the left.\n"
             "x, info = linalg.gmres(A, b, rtol=tol, atol=0, restart=m, maxiter=-(-maxit // m), M=M, callback=count,\n"
             "                       callback_type=\"pr_norm\")\n"},
};
