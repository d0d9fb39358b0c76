/* Begin a solve and advance it slice by slice: each slice queues iterations on the device and reads their records. */
#include "solve.h"
#include "base/base.h"
#include "base/clock.h"
#include "base/loop.h"
#include "base/magnitude.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "matrix/norms.h"
#include "precond.h"
#include "solve_state.h"
#include "solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The batch of a slice is at most GROWTH times the batch of the previous slice. On a GPU, it is at most GROWTH_LATE
   times a batch of at least LATE_US: the iterations that are still queued when the solve ends have launches, too, which
   do nothing. If a launch does many iterations, it ends with the solve; the first batch is then CLUSTER_FIRST
   iterations, which take less than a millisecond. */
enum { GROWTH = 8, GROWTH_LATE = 2, LATE_US = 400, CLUSTER_FIRST = 128 };

double csr_bytes(const struct csr *A, size_t real)
{
    return (double)A->nnz * (double)(real + 4) + 4.0 * (double)A->rows;
}

/* The bytes of an iteration, for numbers of `size` bytes. */
static double bytes_of(const struct solve *v, size_t size)
{
    if (v->engine.runs) return NAN;
    double bytes = v->set.form_matrix ? v->solver->form_bytes(v) : v->solver->bytes(v->matrix.csr, size, v->set.m);
    double restart = v->solver->restarts && !v->solver->flexible && v->set.m > 0 ? 1 / (double)v->set.m : 0;
    if (v->solver->diagonal_vectors && v->pre.method && v->pre.method->diagonal && !v->matrix.csr->imag)
        return bytes + v->solver->diagonal_vectors * (double)type_size(v->real) * (double)v->n;
    return v->pre.method ? bytes + (v->solver->products + restart) * v->pre.bytes : bytes;
}

double solve_bytes(const struct solve *v)
{
    double bytes = bytes_of(v, type_size(solve_type(v)));
    size_t stored = type_size(precisions[v->precision].stored);
    if (!v->refine.on || v->matrix.csr->imag) return bytes;
    return bytes - (double)(v->solver->products * v->matrix.csr->nnz) * (double)(sizeof(float) - stored);
}

double solve_bytes_fp64(const struct solve *v)
{
    return bytes_of(v, type_size(type_of_numbers(T_F64, v->matrix.csr->imag != NULL)));
}

double solve_each_us(const struct solve *v)
{
    int64_t n = v->iterations - v->base;
    if (n < 1) return NAN;
    return v->solver->restarts ? (v->time.us - v->time.base_us) / (double)n : v->time.us_iteration;
}

double solve_refine_bytes(const struct solve *v)
{
    /* A, x and A x; b and A x for r; x, d and the next x; d = 0 */
    double fine = (double)sizeof(double), n = (double)v->n;
    return csr_bytes(v->matrix.csr, type_size(type_of_numbers(T_F64, v->matrix.csr->imag != NULL))) + 6 * fine * n +
           3 * (double)sizeof(float) * n;
}

/* ---- the beginning ---- */

static bool right_sided(const struct solve *v)
{
    return v->pre.method && !v->solver->own_precond && !v->solver->flexible;
}

static bool new_vectors(struct solve *v, struct err *e)
{
    for (int i = 0; i < 2 + v->solver->vectors; i++)
        if (!solve_vectors(v, i, 1, v->real, "a vector of the solver", e)) return false;
    if (v->pre.method && !solve_vectors(v, VEC_Z, 1, v->real, "a preconditioned vector", e)) return false;
    if (right_sided(v) && !solve_vectors(v, VEC_X0, 1, v->real, "the starting guess", e)) return false;
    if (!refine_new_vectors(v, e) || !null_put(v, e)) return false;
    return !v->solver->probes || v->refine.on || v->columns.n ||
           solve_vectors(v, VEC_PROBE, 1, v->real, "a vector for the true residual", e);
}

/* Ctrl-C does not end this restart, so that a solve that has converged is reported as converged. */
static bool settle(struct solve *v, struct err *e)
{
    struct watch *w = loop_enter(NULL);
    bool ok = v->solver->settle(v, e);
    loop_enter(w);
    return ok;
}

static bool recover(struct solve *v, struct err *e)
{
    v->recoveries = (struct solve_recoveries){v->recoveries.n + 1, v->iterations, (int)v->host_scalars[S_WHAT]};
    v->cut.stage = 0;
    struct watch *w = loop_enter(NULL);
    bool ok = solve_set(v, S_DONE, RUNNING, e) && v->solver->recover(v, e);
    loop_enter(w);
    v->schedule.lost = v->schedule.queued - (v->iterations - v->base);
    return ok && live_read(v, e);
}

bool solve_settle(struct solve *v, struct err *e)
{
    if (v->refine.on) return refine_settle(v, e);
    if (v->reason == BROKE_DOWN && v->solver->recover && v->iterations > v->recoveries.at) return recover(v, e);
    if (v->reason != CONVERGED || !v->solver->settle) return true;
    return settle(v, e) && live_reread(v, e); /* the solver may have replaced the residual in the last record */
}

/* The number of the last queued record. */
static int64_t last_queued(const struct solve *v)
{
    return v->base + v->schedule.queued - v->schedule.lost;
}

/* If b = 0 or the system is empty, the solution is x = 0, and the residual relative to ||b|| is not defined. */
static bool solve_trivially(struct solve *v, struct err *e)
{
    v->result.x = mem_zero(v->n, sizeof *v->result.x, "the solution", e);
    v->history.residual = mem_zero(1, sizeof *v->history.residual, "the history of residuals", e);
    if (!v->result.x || !v->history.residual) return false;
    v->iterations = 0;
    v->reason = CONVERGED;
    return true;
}

static bool take_b(struct solve *v, const struct solve_options *o, struct err *e)
{
    v->b = mem_new(v->n_b, sizeof *v->b, "the right-hand side", e);
    if (!v->b || !loop_copy(v->b, o->b, v->n_b * (int64_t)sizeof *v->b, "copying b", e)) return false;
    if (!null_begin(v, o, e)) return false;
    if (v->scaling.inside) scaling_map_b(&v->scaling, v->matrix.csr->imag, true, v->b);
    v->b_norm = norm2(v->n_b, v->b);
    return scaled_begin(v, e);
}

/* Allocate the scalars and the live record, and start the solver. If b = 0, the solve has ended already. */
static bool begin_on_device(struct solve *v, const struct solve_options *o, struct err *e)
{
    if (!take_b(v, o, e)) return false;
    if (v->b_norm == 0) return solve_trivially(v, e);
    solve_choose_ops(v);
    bool stores = v->set.form_matrix || v->matrix.exponents.a;
    bool lacks = v->solver->transposed_products && (!v->matrix.transposed_kernel || (!v->matrix.transposed && !stores));
    if (lacks || (!v->matrix.mat && !stores) || !v->matrix.kernel || (v->refine.on && !v->matrix.fine && !stores))
        return fail(e, E_INTERNAL, "the solve has no matrix on its device");
    v->host_scalars = mem_zero(SCALARS, sizeof *v->host_scalars, "the record of a solve", e);
    return v->host_scalars && live_new(v, e) && solve_start(v, o->x0, e);
}

static bool put_x(struct solve *v, const double *x0, struct err *e)
{
    if (x0) return solve_put(v, v->vec[VEC_X], x0, e);
    v->ops.vec->zero(v->dev, v->n, v->vec[VEC_X]);
    return true;
}

static bool put_system(struct solve *v, const double *x0, struct err *e)
{
    return solve_put_b(v, v->vec[VEC_B], v->system.b, e) && put_x(v, x0, e);
}

/* Turn A x = b into A M^-1 u = b - A x0, starting from u = 0. */
static bool shift_right(struct solve *v, struct err *e)
{
    if (!right_sided(v)) return true;
    void *x0 = v->vec[VEC_X0];
    v->ops.vec->copy(v->dev, v->n, v->vec[VEC_X], x0);
    if (!solve_multiply(v, x0, v->vec[VEC_Z], e)) return false;
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ONE, -1, v->vec[VEC_Z], v->vec[VEC_B]);
    return put_x(v, NULL, e);
}

static bool make_precond(struct solve *v, struct err *e)
{
    double start = now_us();
    if (!v->pre.method || v->pre.made) return true;
    if (!precond_takes(v->pre.method, v->matrix.csr, e) || !v->pre.method->make(v, e)) return false;
    double us = now_us() - start;
    SCREEN_EDIT;
    v->pre.us = us;
    v->pre.bytes = v->pre.method->bytes(v);
    v->pre.made = true;
    v->pre.held = precond_held(v);
    return true;
}

static int64_t memory_of(const struct solve *v)
{
    int64_t bytes = solve_vectors_bytes(v);
    const struct mat *const stored[] = {v->matrix.mat, v->matrix.fine, v->matrix.transposed};
    for (int i = 0; i < COUNT(stored); i++)
        for (int k = 0; stored[i] && k < stored[i]->of->narrays; k++)
            bytes += stored[i]->of->a[k].n * (int64_t)type_size(stored[i]->of->a[k].type);
    if (v->matrix.mat && v->matrix.kernel) bytes += kernel_prepared_bytes(v->matrix.kernel, v->matrix.mat);
    if (v->matrix.transposed) bytes += kernel_prepared_bytes(v->matrix.transposed_kernel, v->matrix.transposed);
    if (v->solver->held) bytes += v->solver->held(v);
    return bytes + precond_held(v);
}

static void note_memory(struct solve *v)
{
    int64_t bytes = memory_of(v);
    SCREEN_EDIT;
    v->memory = bytes;
}

int64_t solve_memory(const struct solve *v)
{
    return v->memory;
}

/* Let the solver compute its vectors and the initial residual. After Ctrl-C, undo its changes. */
static bool init_solver(struct solve *v, struct err *e)
{
    if (v->solver->init(v, e) && cut_release(v, 0, e) && loop_unbroken(v->solver->name, e)) return true;
    cut_undo(v, NULL);
    return false;
}

/* Count from iteration v->base. */
static void reset_counts(struct solve *v)
{
    v->schedule.queued = v->schedule.probed_at = v->schedule.lost = v->schedule.cycle_from = v->schedule.batch = 0;
    v->cut.stage = 0;
    v->recoveries.at = v->base;
    v->work = (struct solve_work){0};
    SCREEN_EDIT;
    v->iterations = v->base - 1;
    v->time.base_us = v->time.us;
}

/* solve_start, with the x0 of the system that the solver iterates on. */
static bool start_scaled(struct solve *v, const double *x0, struct err *e)
{
    reset_counts(v);
    if (!scaled_put(v, e) || !new_vectors(v, e) || !solve_put_scalars(v, v->base, v->set.tol, e)) return false;
    if (!(v->refine.on ? refine_start(v, x0, e) : put_system(v, x0, e))) return false;
    null_project_left(v, v->vec[VEC_B]);
    if (!make_precond(v, e) || !cluster_choose(v, e) || !shift_right(v, e)) return false;
    if (!init_solver(v, e)) return false;
    note_memory(v);
    if (v->columns.n) return true;
    return live_read(v, e) && solve_settle(v, e);
}

bool solve_start(struct solve *v, const double *x0, struct err *e)
{
    int exponent = scaled_x_exponent(v);
    if (!x0 || !exponent) return start_scaled(v, x0, e);
    double *x = mem_new(v->n, sizeof *x, "the scaled x0", e);
    if (x) scale_by_power(v->n, x0, exponent, x);
    bool ok = x && start_scaled(v, x, e);
    mem_free(x);
    return ok;
}

static int64_t window_of(const struct solver *s, int64_t n)
{
    int64_t more = n * s->window_per_row < s->window_most ? n * s->window_per_row : s->window_most;
    return more > s->window ? more : s->window;
}

static struct solve_settings settings_of(const struct solve_options *o, int64_t n)
{
    return (struct solve_settings){
        .tol = o->tol,
        .eps = o->eps,
        .conlim = o->conlim > 0 ? o->conlim : 0.1 / solve_rounding(precisions[o->real].vector),
        .omega = o->omega > 0 ? o->omega : o->solver->omega,
        .m = o->m < n ? o->m : n,
        .maxit = o->maxit,
        .window = window_of(o->solver, n),
        .modified = o->modified,
        .sums_host = o->sums_host,
        .least_host = o->least_host,
        .form_matrix = o->form_matrix,
        .force = o->force,
        .launches = o->launches,
        .kernel_chosen = o->kernel != NULL,
    };
}

static bool keep_truth(struct solve *v, const struct solve_options *o, struct err *e)
{
    if (o->known_ones || !o->truth) return true;
    v->result.known = true;
    v->result.truth_from = o->truth_from;
    v->result.truth_error = o->truth_error;
    v->result.up_to_constant = o->up_to_constant;
    v->result.truth = mem_new(v->n, sizeof *v->result.truth, "the known solution", e);
    return v->result.truth &&
           loop_copy(v->result.truth, o->truth, v->n * (int64_t)sizeof *o->truth, "copying the known solution", e);
}

bool near_copy(struct near_settings *to, const struct near_settings *from, struct err *e)
{
    *to = *from;
    if (!from->coordinates) return true;
    int64_t n = from->points * from->axes;
    to->coordinates = mem_new(n, sizeof *to->coordinates, "the coordinates of nodes", e);
    return to->coordinates &&
           loop_copy(to->coordinates, from->coordinates, n * (int64_t)sizeof *to->coordinates, "coordinates", e);
}

static bool keep_mass(struct solve *v, const struct solve_options *o, struct err *e)
{
    struct csr *mass = o->schur.mass ? mem_zero(1, sizeof *mass, "the mass matrix", e) : NULL;
    if (!o->schur.mass) return true;
    v->pre.schur.mass = mass;
    return mass && csr_copy(mass, o->schur.mass, e);
}

static void free_mass(struct solve *v)
{
    struct csr *mass = (struct csr *)v->pre.schur.mass;
    if (mass) csr_free(mass);
    mem_free(mass);
}

/* A solve with its settings, before it has vectors. */
static struct solve *new_solve(const struct solve_matrix *A, const struct solve_options *o, struct err *e)
{
    struct solve *v = mem_zero(1, sizeof *v, "a solve", e);
    if (!v) return NULL;
    v->solver = o->solver;
    v->matrix = *A;
    if (!v->matrix.facts) v->matrix.facts = &v->own_facts;
    v->dev = o->dev;
    v->real = precisions[o->real].part;
    v->precision = o->refine ? o->stored : o->real;
    if (o->same) v->same = *o->same;
    v->n = solve_numbers(A->csr);
    v->n_b = solve_numbers_of_b(A->csr);
    v->from_zero = !o->x0 || norm2(v->n, o->x0) == 0;
    v->right = o->right;
    v->set = settings_of(o, v->n);
    v->scaling = o->scaling;
    v->scaling.scaled = A->csr;
    v->scaling.inside = o->scaling.of != NULL;
    v->scaling.tol = o->tol;
    v->refine = (struct solve_refine){.on = o->refine};
    v->pre = (struct solve_precond){
        .method = o->pre, .block = o->pre_block, .triangles = o->triangles, .schur = o->schur, .bytes = NAN};
    v->pre.schur.mass = NULL;
    if (!near_copy(&v->pre.near, &o->near, e)) return solve_free(v), NULL;
    v->checkpoints.wanted = o->keeps;
    v->result = (struct solve_result){
        .residual_true = NAN, .least = {NAN, NAN, NAN}, .error_known = NAN, .known = o->known_ones};
    if (keep_truth(v, o, e) && keep_mass(v, o, e)) return v;
    solve_free(v);
    return NULL;
}

bool solve_begin(struct solve **out, const struct solve_matrix *A, const struct solve_options *o, struct err *e)
{
    struct solve *v = solve_check(A->csr, o, e) ? new_solve(A, o, e) : NULL;
    bool ok = v && begin_on_device(v, o, e);
    if (ok)
        *out = v;
    else
        solve_free(v);
    return ok;
}

/* Allocate the scalars of the columns and the work memory of the products, and start the solver. */
static bool start_columns(struct solve *v, const struct solve_columns *c, const struct solve_options *o, struct err *e)
{
    int64_t bytes = COLUMNS_WORK * (int64_t)sizeof *v->scalars;
    v->columns = *c;
    v->columns.launch = (struct spmm){.A = v->matrix.mat, .vectors = c->n};
    v->n *= c->n;
    v->n_b *= c->n;
    v->system.A = v->matrix.csr;
    v->system.b = o->b;
    solve_choose_ops(v);
    v->scalars = v->dev->ops->alloc(v->dev, bytes, "the scalars of the columns", e);
    return v->scalars && spmm_begin(c->kernel, &v->columns.launch, e) && solve_start(v, o->x0, e);
}

bool solve_begin_columns(struct solve **out, const struct solve_matrix *A, const struct solve_columns *c,
                         const struct solve_options *o, struct err *e)
{
    struct solve *v = new_solve(A, o, e);
    bool ok = v && start_columns(v, c, o, e);
    if (ok)
        *out = v;
    else
        solve_free(v);
    return ok;
}

bool solve_begin_engine(struct solve **out, const struct solve_matrix *A, const struct solve_options *o, struct err *e)
{
    struct solve *v = new_solve(A, o, e);
    bool ok = v && take_b(v, o, e) && (v->b_norm > 0 || solve_trivially(v, e));
    if (ok)
        *out = v;
    else
        solve_free(v);
    return ok;
}

/* ---- slices ---- */

/* The number of iterations that take about `us` at the measured rate, but at most a few times the last batch. */
static int64_t batch_of(const struct solve *v, double us)
{
    bool queues = v->dev->ops->idle, late = (double)v->schedule.batch * v->time.rate_us >= LATE_US;
    int64_t first = queues && cluster_used(v) ? CLUSTER_FIRST : 1, last = v->schedule.batch;
    int64_t most = last ? (queues && late && !cluster_used(v) ? GROWTH_LATE : GROWTH) * last : first;
    int64_t left = v->set.maxit - last_queued(v);
    double fit = v->time.rate_us > 0 ? us / v->time.rate_us : us > 0 ? (double)first : 1;
    int64_t n = fit < 1 ? 1 : fit > (double)most ? most : (int64_t)fit;
    if (n > RECORDS / 4) n = RECORDS / 4; /* the records of the queued iterations must fit in the live record */
    if (v->steps_left && n > v->steps_left) n = v->steps_left;
    return n < left ? n : left;
}

static bool queue_each(struct solve *v, int64_t n, struct err *e)
{
    for (int64_t i = 0; i < n; i++, v->schedule.queued++)
        if (!v->solver->step(v, e) || !cut_release(v, 0, e)) return false;
    return true;
}

/* ---- graphs: on a GPU, a launch costs more than a short pass ---- */

enum { GRAPH_MIN = 16, GRAPH_MAX = 128 };

/* The number of iterations after which the launches repeat. */
static int64_t period(const struct solve *v)
{
    return v->solver->restarts ? v->set.m : v->solver->alternates || v->solver->swaps ? 2 : 1;
}

static bool record_graph(void *ctx, struct err *e)
{
    struct solve *v = ctx;
    return queue_each(v, v->schedule.graph_n, e);
}

static bool aligned(const struct solve *v)
{
    return (v->schedule.queued - v->schedule.cycle_from) % period(v) == 0;
}

/* The iterations of a graph: one period, if the preconditioner takes many launches, because a solve with it may end
   before a longer graph is used, and to record a launch takes as long as to launch it. */
static int64_t graph_iterations(const struct solve *v)
{
    bool many = v->pre.method && v->pre.method->long_apply;
    return many ? period(v) : (GRAPH_MIN + period(v) - 1) / period(v) * period(v);
}

/* Record a graph after all launches of one period have run one by one. */
static void record_graph_if_due(struct solve *v)
{
    const struct device_ops *ops = v->dev->ops;
    if (v->schedule.graph || v->schedule.no_graph || v->schedule.queued - v->schedule.cycle_from < period(v) ||
        !aligned(v))
        return;
    int64_t at = v->schedule.queued;
    v->schedule.graph_n = graph_iterations(v);
    v->schedule.no_graph = !ops->capture || v->set.sums_host || v->set.least_host || v->schedule.graph_n > GRAPH_MAX ||
                           v->matrix.kernel->remote; /* its launches cannot be recorded */
    if (!v->schedule.no_graph) v->schedule.graph = ops->capture(v->dev, record_graph, v);
    v->schedule.no_graph = !v->schedule.graph;
    v->schedule.queued = at;
}

/* Have the launches repeated twice, each time after several iterations? Slices seldom begin at such a moment. */
static bool repeats_late(const struct solve *v)
{
    return period(v) > 1 && v->schedule.queued - v->schedule.cycle_from >= 2 * period(v);
}

static bool queue(struct solve *v, int64_t n, struct err *e)
{
    if (cluster_used(v)) return cluster_queue(v, n, e);
    while (n > 0 && !solve_has_ended(v)) {
        if (repeats_late(v)) record_graph_if_due(v);
        bool whole = v->schedule.graph && n >= v->schedule.graph_n && aligned(v);
        if (!(whole ? v->dev->ops->replay(v->dev, v->schedule.graph, e) : queue_each(v, 1, e))) return false;
        if (whole) v->schedule.queued += v->schedule.graph_n;
        n -= whole ? v->schedule.graph_n : 1;
    }
    return true;
}

/* ---- a slice ---- */

/* in each of the first SAMPLE_FIRST slices, and in every SAMPLE_EVERY-th slice, the phases of one iteration are
   timed */
enum { SAMPLE_FIRST = 8, SAMPLE_EVERY = 16 };

static bool queue_sampled(struct solve *v, struct err *e)
{
    v->time.sampling = true;
    bool ok = queue_each(v, 1, e);
    phase_end(v);
    v->time.sampling = false;
    return ok;
}

bool solve_drain(struct solve *v, struct err *e)
{
    if (v->engine.runs && v->reason == RUNNING && v->paused) return v->engine.runs->slice(v, 0, e);
    if (!v->schedule.ahead) return true;
    v->schedule.ahead = false;
    return live_read(v, e) && solve_settle(v, e);
}

/* May the next batch be queued before the previous batch is done, so that neither the host nor the device waits? */
static bool may_run_ahead(const struct solve *v)
{
    return v->dev->ops->idle && !v->steps_left && last_queued(v) < v->set.maxit;
}

/* Queue a batch. If `sample`, time the phases of its first iteration; a launch of many iterations times its phases
   itself. Return when the previous batch is done or, if the host must not run ahead, when this batch is done. */
static bool advance(struct solve *v, double us, bool sample, struct err *e)
{
    int64_t before = last_queued(v), n = batch_of(v, us);
    sample = sample && !cluster_used(v);
    if (sample) record_graph_if_due(v);
    if (sample && !queue_sampled(v, e)) return false;
    if (!queue(v, n - sample, e) || !live_probe(v, e)) return false;
    v->schedule.batch = n;
    v->schedule.ahead = true;
    if (!may_run_ahead(v) || !live_wait(v, before)) return solve_drain(v, e);
    /* the kernel that wrote the last record may still be running */
    return live_take(v, (int64_t)v->live.record[LIVE_KNOWN] - 1, e);
}

static void account(struct solve *v, double start, int64_t iterations)
{
    double end = now_us();
    SCREEN_EDIT;
    v->time.us += end - start;
    v->time.returned_at = end;
    v->schedule.slices++;
    if (!v->time.free_n && iterations > 0) v->time.rate_us = (end - start) / (double)iterations;
    if (v->time.free_n)
        v->time.us_iteration = v->time.free_us / (double)v->time.free_n;
    else if (v->iterations > v->base)
        v->time.us_iteration = (v->time.us - v->time.base_us) / (double)(v->iterations - v->base);
    if (!v->steps_left) return;
    v->steps_left -= v->schedule.batch;
    v->paused = v->steps_left <= 0;
}

/* Ctrl-C ended the slice: keep the iterations that are complete. */
static bool take_cut(struct solve *v, int64_t queued, const struct err *why, struct err *e)
{
    if (why->code != E_CANCELLED) return fail_at(e, why->code, why->where, "%s", why->text);
    if (!cut_undo(v, e)) return false;
    v->cut.now = v->schedule.ahead = v->work.repeated = true;
    v->schedule.batch = v->schedule.queued - queued;
    return solve_drain(v, e);
}

bool solve_slice(struct solve *v, double us, struct err *e)
{
    if (v->reason != RUNNING) return true;
    if (v->engine.runs) return v->engine.runs->slice(v, us, e);
    struct err why = {0};
    int64_t before = v->iterations, queued;
    v->cut.now = false;
    loop_enter(loop_watch());                                          /* let loops run again after an earlier Ctrl-C */
    double start = v->schedule.ahead ? v->time.returned_at : now_us(); /* the device kept working between the slices */
    bool sample = v->steps_left || v->schedule.slices < SAMPLE_FIRST || v->schedule.slices % SAMPLE_EVERY == 0;
    if (sample && (!solve_drain(v, e) || (v->reason == RUNNING && !checkpoint_maybe(v, e)))) return false;
    queued = v->schedule.queued;
    if (v->reason == RUNNING && !advance(v, us, sample, &why) && !take_cut(v, queued, &why, e)) return false;
    account(v, start, v->iterations - before);
    note_memory(v);
    solve_publish(v);
    return true;
}

void solve_publish(struct solve *v)
{
    if (v->solver->publish) v->solver->publish(v);
}

/* ---- the end ---- */

void solve_release(struct solve *v)
{
    solve_set_later(v, false);
    checkpoints_free(v);
    cut_free(v);
    solve_forget(v);
    precond_drop(v);
    scaled_release(v);
    if (v->columns.n) spmm_end(v->columns.kernel, &v->columns.launch);
    if (v->scalars) v->dev->ops->free(v->dev, v->scalars);
    v->scalars = NULL;
    if (v->live.record) v->dev->ops->unshare(v->dev, (void *)v->live.record);
    v->live.record = NULL;
    if (v->holds_sums) device_sums_give(v->dev);
    v->holds_sums = false;
}

bool solve_uses(const struct solve *v, const struct mat *M)
{
    return v->matrix.mat == M || v->matrix.fine == M || v->matrix.transposed == M;
}

void solve_moved(struct solve *v, const struct mat *from, struct mat *to)
{
    struct mat **const all[] = {&v->matrix.mat, &v->matrix.fine, &v->matrix.transposed};
    SCREEN_EDIT;
    for (int i = 0; i < COUNT(all); i++)
        if (*all[i] == from) *all[i] = to;
}

void solve_free(struct solve *v)
{
    if (!v) return;
    solve_release(v);
    if (v->engine.runs) v->engine.runs->drop(v); /* solver and preconditioner are among its data */
    live_free(v);
    mem_free(v->host_scalars);
    mem_free(v->krylov.H);
    scaled_free(v);
    free_mass(v);
    mem_free(v->b);
    mem_free(v->result.x);
    mem_free(v->result.truth);
    null_space_free(&v->null.of);
    mem_free(v->pre.near.coordinates);
    mem_free(v);
}
