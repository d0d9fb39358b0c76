/* The solver registry, and a solve as a state on a device that is begun and then advanced slice by slice. */
#include "precond.h"

#include <math.h>
#include <string.h>

#define SOLVER(id) extern const struct solver solver_##id;
#include "solvers.def"
#undef SOLVER
#define SOLVER(id) &solver_##id,
const struct solver *const solvers[] = {
#include "solvers.def"
    NULL};
#undef SOLVER

enum { GROWTH = 8 }; /* a slice queues at most so many times what the one before did */

static const double most_growth = 1e5; /* of the residual: beyond it the solve has diverged */

const struct solver *solver_find(const char *name)
{
    for (int i = 0; solvers[i]; i++)
        if (!strcmp(solvers[i]->name, name)) return solvers[i];
    return NULL;
}

/* ---- phases ---- */

static struct phase *phase_named(struct solve *v, const char *name)
{
    for (int i = 0; i < v->nphases; i++)
        if (!strcmp(v->phase[i].name, name)) return &v->phase[i];
    if (v->nphases == SOLVE_PHASES) return NULL;
    v->phase[v->nphases] = (struct phase){.name = name};
    return &v->phase[v->nphases++];
}

void phase_begin(struct solve *v, const char *name)
{
    if (!v->sampling) return;
    v->dev->ops->sync(v->dev, &v->trouble);
    double now = now_us();
    if (v->in_phase) {
        v->in_phase->us += now - v->phase_from;
        v->in_phase->n++;
    }
    v->in_phase = name ? phase_named(v, name) : NULL;
    v->phase_from = now;
}

static bool multiply(struct solve *v, const void *p, void *q, struct err *e)
{
    struct launch L = {.A = v->A, .alpha = 1, .beta = 0, .x = p, .y = q};
    return kernel_launch(v->kernel, &L, e);
}

bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e)
{
    if (!v->v[AT_START]) return multiply(v, p, q, e);
    phase_begin(v, "precond");
    if (!v->pre->apply(v, p, v->v[AT_Z], e)) return false;
    phase_begin(v, "spmv");
    return multiply(v, v->v[AT_Z], q, e);
}

double csr_bytes(const struct csr *A, size_t real)
{
    return (double)A->nnz * (double)(real + 4) + 4.0 * (double)A->rows;
}

double solve_bytes(const struct solve *v)
{
    double bytes = v->solver->bytes(&v->matrix->csr, type_size(v->real), v->m);
    double restart = v->solver->restarts && v->m > 0 ? 1 / (double)v->m : 0;
    return v->pre ? bytes + (v->solver->products + restart) * v->pre_bytes : bytes;
}

double solve_each_us(const struct solve *v)
{
    int64_t n = v->iterations - v->base;
    if (n < 1) return NAN;
    return v->solver->restarts ? (v->us - v->base_us) / (double)n : v->us_iteration;
}

/* ---- vectors between host and device ---- */

bool solve_put(struct solve *v, void *to, const double *from, struct err *e)
{
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    if (v->real == T_F64) return v->dev->ops->put(v->dev, to, from, bytes, e);
    float *f = mem_new(v->n, sizeof *f, "a vector in fp32", e);
    if (!f) return false;
    for (int64_t i = 0; i < v->n; i++) f[i] = (float)from[i];
    bool ok = v->dev->ops->put(v->dev, to, f, bytes, e);
    mem_free(f);
    return ok;
}

bool solve_get(struct solve *v, double *to, const void *from, struct err *e)
{
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    if (v->real == T_F64) return v->dev->ops->get(v->dev, to, from, bytes, e);
    float *f = mem_new(v->n, sizeof *f, "a vector in fp32", e);
    if (!f) return false;
    bool ok = v->dev->ops->get(v->dev, f, from, bytes, e);
    for (int64_t i = 0; ok && i < v->n; i++) to[i] = (double)f[i];
    mem_free(f);
    return ok;
}

/* ---- the beginning ---- */

/* The kernel asked for, or the usual one of the format asked for. */
static bool choose_kernel(struct solve *v, const struct solve_options *o, const struct format **format, struct err *e)
{
    const struct format *f = o->format ? o->format : format_find(o->kernel ? o->kernel->format : "csr");
    if (!f) return fail(e, E_INTERNAL, "kernel %s names a format that is not there", o->kernel->name);
    v->kernel = o->kernel ? o->kernel : kernel_usual(f, &v->matrix->csr, o->dev);
    *format = f;
    if (!v->kernel)
        return fail(e, E_UNSUPPORTED, "no kernel multiplies by a %s matrix on %s; `kernels` lists what does", f->name,
                    o->dev->name);
    if (strcmp(v->kernel->format, f->name))
        return fail(e, E_USAGE, "kernel %s works on format %s, not on %s", v->kernel->name, v->kernel->format, f->name);
    if (!kernel_runs_on(v->kernel, o->dev))
        return fail(e, E_UNSUPPORTED, "kernel %s does not run on %s; `kernels` lists what does", v->kernel->name,
                    o->dev->name);
    return true;
}

static bool put_matrix(struct solve *v, const struct solve_options *o, struct err *e)
{
    const struct format *f = NULL;
    if (!choose_kernel(v, o, &f, e)) return false;
    v->product = session_product(v->session, v->matrix, f, NULL, v->real, o->force, e);
    v->A = v->product ? session_mat(v->session, v->product, v->dev, e) : NULL;
    return v->A != NULL;
}

bool solve_alloc(struct solve *v, int i, int64_t bytes, const char *what, struct err *e)
{
    v->v[i] = v->dev->ops->alloc(v->dev, bytes, what, e);
    v->v_bytes[i] = v->v[i] ? bytes : 0;
    return v->v[i] != NULL;
}

void solve_dealloc(struct solve *v, int i)
{
    if (v->v[i]) v->dev->ops->free(v->dev, v->v[i]);
    v->v[i] = NULL;
    v->v_bytes[i] = 0;
}

static bool right_sided(const struct solve *v)
{
    return v->pre && !v->solver->own_precond;
}

static bool new_vectors(struct solve *v, struct err *e)
{
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    for (int i = 0; i < 2 + v->solver->vectors; i++)
        if (!solve_alloc(v, i, bytes, "a vector of the solver", e)) return false;
    if (v->pre && !solve_alloc(v, AT_Z, bytes, "a preconditioned vector", e)) return false;
    if (right_sided(v) && !solve_alloc(v, AT_START, bytes, "the starting guess", e)) return false;
    return !v->solver->probes || solve_alloc(v, AT_PROBE, bytes, "a vector for the true residual", e);
}

static bool put_scalars(struct solve *v, struct err *e)
{
    double s[SCALARS] = {[S_ONE] = 1, [S_EPS] = v->eps, [S_MAXDIFF] = INFINITY, [S_NEXT_DIFF] = INFINITY};
    s[S_ITER] = (double)v->base;
    s[S_TOL2] = pow(v->tol * v->b_norm, 2);
    s[S_LIMIT2] = v->force ? INFINITY : most_growth * most_growth;
    s[S_BEST] = INFINITY;
    s[S_BEST_AT] = (double)v->base;
    s[S_WINDOW] = v->force ? INFINITY : (double)v->window;
    memcpy(&s[S_LIVE], &v->live_there, sizeof v->live_there);
    return v->dev->ops->put(v->dev, v->s, s, sizeof s, e);
}

bool solve_set(struct solve *v, int i, double value, struct err *e)
{
    return v->dev->ops->put(v->dev, v->s + i, &value, sizeof value, e);
}

/* Let a solver look at the convergence that it recorded, and take over what it found. */
bool solve_settle(struct solve *v, struct err *e)
{
    if (v->reason != CONVERGED || !v->solver->settle) return true;
    if (!v->solver->settle(v, e)) return false;
    v->iterations--; /* its residual may be another now */
    bool ok = live_read(v, e);
    v->lost = v->queued - (v->iterations - v->base);
    return ok;
}

/* Number of the last record that is under way. */
static int64_t ordered(const struct solve *v)
{
    return v->base + v->queued - v->lost;
}

/* b = 0 (and an empty system): x = 0 is the solution, and no residual can be relative to ||b||. */
static bool solve_trivially(struct solve *v, struct err *e)
{
    v->x = mem_zero(v->n, sizeof *v->x, "the solution", e);
    v->hist = mem_zero(1, sizeof *v->hist, "the history of residuals", e);
    if (!v->x || !v->hist) return false;
    v->iterations = 0;
    v->reason = CONVERGED;
    return true;
}

static bool prepare(struct solve *v, const struct solve_options *o, struct err *e)
{
    v->b = mem_new(v->n, sizeof *v->b, "the right side", e);
    if (!v->b) return false;
    memcpy(v->b, o->b, (size_t)v->n * sizeof *v->b);
    v->b_norm = norm2(v->n, o->b);
    if (v->b_norm == 0) return solve_trivially(v, e);
    v->ops = vec_ops_of(v->dev, v->real);
    v->cg = cg_ops_of(v->dev, v->real);
    v->bicg = bicg_ops_of(v->dev, v->real);
    v->gmres = gmres_ops_of(v->dev, v->real);
    if (!put_matrix(v, o, e)) return false;
    v->mirror = mem_zero(SCALARS, sizeof *v->mirror, "the record of a solve", e);
    return v->mirror && live_new(v, e) && solve_start(v, o->x0, e);
}

static bool put_x(struct solve *v, const double *x0, struct err *e)
{
    if (x0) return solve_put(v, v->v[0], x0, e);
    double *zero = mem_zero(v->n, sizeof *zero, "a starting guess", e);
    bool ok = zero && solve_put(v, v->v[0], zero, e);
    mem_free(zero);
    return ok;
}

/* From A x = b to A M^-1 u = b - A x0, u = 0. */
static bool shift_right(struct solve *v, struct err *e)
{
    if (!right_sided(v)) return true;
    void *x0 = v->v[AT_START];
    v->ops->copy(v->dev, v->n, v->v[0], x0);
    if (!multiply(v, x0, v->v[AT_Z], e)) return false;
    v->ops->axpy(v->dev, v->n, v->s, S_ONE, -1, v->v[AT_Z], v->v[1]);
    return put_x(v, NULL, e);
}

static bool make_precond(struct solve *v, struct err *e)
{
    double start = now_us();
    if (!v->pre || v->pre_made) return true;
    if (!v->pre->make(v, e)) return false;
    v->pre_us = now_us() - start;
    v->pre_bytes = v->pre->bytes(v);
    return v->pre_made = true;
}

bool solve_start(struct solve *v, const double *x0, struct err *e)
{
    v->queued = v->probed = v->lost = v->cycle_from = v->batch = 0;
    v->iterations = v->base - 1;
    v->base_us = v->us;
    if (!new_vectors(v, e) || !put_scalars(v, e)) return false;
    if (!solve_put(v, v->v[1], v->b, e) || !put_x(v, x0, e)) return false;
    if (!make_precond(v, e) || !shift_right(v, e)) return false;
    return v->solver->init(v, e) && live_read(v, e) && solve_settle(v, e);
}

static int64_t window_of(const struct solver *s, int64_t n)
{
    int64_t more = n * s->window_a_row < s->window_most ? n * s->window_a_row : s->window_most;
    return more > s->window ? more : s->window;
}

bool solve_begin(struct solve **out, struct session *s, struct matrix *m, const struct solve_options *o, struct err *e)
{
    if (!solve_check(&m->csr, o, e)) return false;
    struct solve *v = mem_zero(1, sizeof *v, "a solve", e);
    if (!v) return false;
    v->solver = o->solver;
    v->session = s;
    v->matrix = m;
    v->dev = o->dev;
    v->real = o->real;
    v->n = m->csr.rows;
    v->maxit = o->maxit;
    v->window = window_of(o->solver, v->n);
    v->tol = o->tol;
    v->eps = o->eps;
    v->m = o->m < v->n ? o->m : v->n;
    v->omega = o->omega > 0 ? o->omega : o->solver->omega;
    v->known = o->known_ones;
    v->force = o->force;
    v->pre = o->pre;
    v->pre_block = o->pre_block;
    v->modified = o->modified;
    v->sums_host = o->sums_host;
    v->keeps = o->keeps;
    v->residual_true = v->error_known = v->pre_bytes = NAN;
    if (!prepare(v, o, e)) {
        solve_free(v);
        return false;
    }
    *out = v;
    return true;
}

/* ---- slices ---- */

/* How many iterations to queue so that they take about us: as fast as measured, growing with care. */
static int64_t batch_of(const struct solve *v, double us)
{
    int64_t most = v->batch ? GROWTH * v->batch : 1;
    int64_t left = v->maxit - ordered(v);
    double fit = v->rate_us > 0 ? us / v->rate_us : 1;
    int64_t n = fit < 1 ? 1 : fit > (double)most ? most : (int64_t)fit;
    if (n > RECORDS / 4) n = RECORDS / 4; /* what is under way fits the live record */
    if (v->steps_left && n > v->steps_left) n = v->steps_left;
    return n < left ? n : left;
}

static bool queue_each(struct solve *v, int64_t n, struct err *e)
{
    for (int64_t i = 0; i < n; i++, v->queued++)
        if (!v->solver->step(v, e)) return false;
    return true;
}

/* ---- graphs: on a GPU a launch costs more than many a pass ---- */

enum { GRAPH_LEAST = 16, GRAPH_MOST = 128 };

/* After so many iterations the launches are the same again. */
static int64_t period(const struct solve *v)
{
    return v->solver->restarts ? v->m : v->solver->turns ? 2 : 1;
}

static bool record_graph(void *ctx, struct err *e)
{
    struct solve *v = ctx;
    return queue_each(v, v->graph_n, e);
}

static bool aligned(const struct solve *v)
{
    return (v->queued - v->cycle_from) % period(v) == 0;
}

/* Made once all launches of a period were run one by one. */
static void want_graph(struct solve *v)
{
    const struct device_ops *ops = v->dev->ops;
    if (v->graph || v->no_graph || v->queued - v->cycle_from < period(v) || !aligned(v)) return;
    int64_t at = v->queued, periods = (GRAPH_LEAST + period(v) - 1) / period(v);
    v->graph_n = periods * period(v);
    v->no_graph = !ops->capture || v->sums_host || v->graph_n > GRAPH_MOST;
    if (!v->no_graph) v->graph = ops->capture(v->dev, record_graph, v);
    v->no_graph = !v->graph;
    v->queued = at;
}

static bool queue(struct solve *v, int64_t n, struct err *e)
{
    while (n > 0) {
        bool whole = v->graph && n >= v->graph_n && aligned(v);
        if (!(whole ? v->dev->ops->replay(v->dev, v->graph, e) : queue_each(v, 1, e))) return false;
        if (whole) v->queued += v->graph_n;
        n -= whole ? v->graph_n : 1;
    }
    return true;
}

/* ---- a slice ---- */

enum { SAMPLE_FIRST = 8, SAMPLE_EVERY = 16 }; /* slices with an iteration whose phases are timed */

static bool queue_sampled(struct solve *v, struct err *e)
{
    v->sampling = true;
    bool ok = queue_each(v, 1, e);
    phase_begin(v, NULL);
    v->sampling = false;
    return ok;
}

bool solve_drain(struct solve *v, struct err *e)
{
    if (!v->ahead) return true;
    v->ahead = false;
    return live_read(v, e) && solve_settle(v, e);
}

/* Nobody waits where the next batch is queued before the one before it is done. */
static bool may_run_ahead(const struct solve *v)
{
    return v->dev->ops->idle && !v->steps_left && ordered(v) < v->maxit;
}

/* Queue a batch; come back when the one before it is done, or this one where the device or the user waits for it. */
static bool advance(struct solve *v, double us, bool sample, struct err *e)
{
    int64_t before = ordered(v), n = batch_of(v, us);
    if (sample) want_graph(v);
    if (sample && !queue_sampled(v, e)) return false;
    if (!queue(v, n - sample, e) || !live_probe(v, e)) return false;
    v->batch = n;
    v->ahead = true;
    return may_run_ahead(v) ? live_poll(v, before, e) : solve_drain(v, e);
}

static void account(struct solve *v, double start, int64_t iterations)
{
    double end = now_us();
    v->us += end - start;
    v->left_us = end;
    v->slices++;
    if (!v->free_n && iterations > 0) v->rate_us = (end - start) / (double)iterations;
    if (v->free_n)
        v->us_iteration = v->free_us / (double)v->free_n;
    else if (v->iterations > v->base)
        v->us_iteration = (v->us - v->base_us) / (double)(v->iterations - v->base);
    if (!v->steps_left) return;
    v->steps_left -= v->batch;
    v->paused = v->steps_left <= 0;
}

bool solve_slice(struct solve *v, double us, struct err *e)
{
    if (v->reason != RUNNING) return true;
    int64_t before = v->iterations;
    double start = v->ahead ? v->left_us : now_us(); /* a device that went on while the host looked away was busy */
    bool sample = v->steps_left || v->slices < SAMPLE_FIRST || v->slices % SAMPLE_EVERY == 0;
    if (sample && (!solve_drain(v, e) || (v->reason == RUNNING && !checkpoint_maybe(v, e)))) return false;
    if (v->reason == RUNNING && !advance(v, us, sample, e)) return false;
    account(v, start, v->iterations - before);
    return true;
}

void solve_free(struct solve *v)
{
    if (!v) return;
    solve_release(v);
    live_free(v);
    mem_free(v->mirror);
    mem_free(v->b);
    mem_free(v->x);
    mem_free(v);
}
