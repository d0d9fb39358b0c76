/* The solver registry, and a solve as a state on a device that is begun and then advanced slice by slice. */
#include "solver.h"

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

bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e)
{
    struct launch L = {.A = v->A, .alpha = 1, .beta = 0, .x = p, .y = q};
    return kernel_launch(v->kernel, &L, e);
}

double csr_bytes(const struct csr *A, size_t real)
{
    return (double)A->nnz * (double)(real + 4) + 4.0 * (double)A->rows;
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

static void *device_vector(struct solve *v, int64_t bytes, const char *what, struct err *e)
{
    return v->dev->ops->alloc(v->dev, bytes, what, e);
}

static bool new_vectors(struct solve *v, struct err *e)
{
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    for (int i = 0; i < 2 + v->solver->vectors; i++)
        if (!(v->v[i] = device_vector(v, bytes, "a vector of the solver", e))) return false;
    v->s = device_vector(v, VEC_WORK * (int64_t)sizeof *v->s, "the scalars of the solver", e);
    v->mirror = mem_zero(SCALARS + RECORDS, sizeof *v->mirror, "the record of a solve", e);
    return v->s && v->mirror;
}

static bool put_scalars(struct solve *v, bool force, struct err *e)
{
    double s[SCALARS] = {[S_ONE] = 1, [S_EPS] = v->eps, [S_MAXDIFF] = INFINITY, [S_NEXT_DIFF] = INFINITY};
    s[S_TOL2] = pow(v->tol * v->b_norm, 2);
    s[S_LIMIT2] = force ? INFINITY : most_growth * most_growth;
    s[S_WINDOW] = force ? INFINITY : (double)v->window;
    return v->dev->ops->put(v->dev, v->s, s, sizeof s, e);
}

/* Room for `need` residuals. */
static bool grow_history(struct solve *v, int64_t need, struct err *e)
{
    if (need <= v->hist_room) return true;
    int64_t room = need > 2 * v->hist_room ? need + 64 : 2 * v->hist_room;
    double *hist = mem_resize(v->hist, room, sizeof *hist, "the history of residuals", e);
    if (!hist) return false;
    v->hist = hist;
    v->hist_room = room;
    return true;
}

/* Wait for the device; take over its scalars and the residuals recorded since the last time. */
static bool read_record(struct solve *v, struct err *e)
{
    const struct device_ops *ops = v->dev->ops;
    if (!v->trouble.code && ops->get(v->dev, v->mirror, v->s, (SCALARS + RECORDS) * (int64_t)sizeof *v->s, &v->trouble))
        ops->sync(v->dev, &v->trouble);
    if (v->trouble.code) return fail_at(e, v->trouble.code, v->trouble.where, "%s", v->trouble.text);
    int64_t known = (int64_t)v->mirror[S_ITER] - 1;
    if (!grow_history(v, known + 1, e)) return false;
    for (int64_t k = v->iterations + 1; k <= known; k++)
        v->hist[k] = sqrt(v->mirror[S_RECORD + k % RECORDS]) / v->b_norm;
    v->iterations = known;
    v->residual = v->hist[known];
    v->max_diff = v->mirror[S_MAXDIFF];
    v->reason = (enum reason)v->mirror[S_DONE];
    if (v->reason == RUNNING && known >= v->maxit) v->reason = MAX_ITERATIONS;
    return true;
}

/* Let a solver look at the convergence that it recorded, and take over what it found. */
static bool settle(struct solve *v, struct err *e)
{
    if (v->reason != CONVERGED || !v->solver->settle) return true;
    if (!v->solver->settle(v, e)) return false;
    v->iterations--; /* its residual may be another now */
    return read_record(v, e);
}

/* b = 0 (and an empty system): x = 0 is the solution, and no residual can be relative to ||b||. */
static bool solve_trivially(struct solve *v, struct err *e)
{
    v->x = mem_zero(v->n, sizeof *v->x, "the solution", e);
    if (!v->x || !grow_history(v, 1, e)) return false;
    v->hist[0] = 0;
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
    v->bicg = bicg_ops_of(v->dev, v->real);
    v->gmres = gmres_ops_of(v->dev, v->real);
    if (!put_matrix(v, o, e) || !new_vectors(v, e) || !put_scalars(v, o->force, e)) return false;
    if (!solve_put(v, v->v[1], v->b, e)) return false;
    if (o->x0 && !solve_put(v, v->v[0], o->x0, e)) return false;
    if (!o->x0) {
        double *zero = mem_zero(v->n, sizeof *zero, "a starting guess", e);
        bool ok = zero && solve_put(v, v->v[0], zero, e);
        mem_free(zero);
        if (!ok) return false;
    }
    if (!v->solver->init(v, e) || !read_record(v, e) || !settle(v, e)) return false;
    v->r0 = v->residual;
    return true;
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
    v->iterations = -1;
    v->residual_true = v->error_known = NAN;
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
    double fit = v->rate_us > 0 ? us / v->rate_us : 1;
    int64_t n = fit < 1 ? 1 : fit > (double)most ? most : (int64_t)fit;
    if (n > RECORDS) n = RECORDS;
    if (v->steps_left && n > v->steps_left) n = v->steps_left;
    return n < v->maxit - v->iterations ? n : v->maxit - v->iterations;
}

static bool queue(struct solve *v, int64_t n, struct err *e)
{
    for (int64_t i = 0; i < n; i++, v->queued++)
        if (!v->solver->step(v, e)) return false;
    return true;
}

static bool queue_sampled(struct solve *v, struct err *e)
{
    v->sampling = true;
    bool ok = queue(v, 1, e);
    phase_begin(v, NULL);
    v->sampling = false;
    return ok;
}

/* The time of an iteration counts where n were queued without waiting and all of them were needed. */
static void account(struct solve *v, int64_t n, int64_t done, double start, double from)
{
    double end = now_us();
    v->us += end - start;
    v->batch = n;
    v->rate_us = n > 1 ? (end - from) / (double)(n - 1) : end - start;
    if (done == n && n > 1) {
        v->free_us += end - from;
        v->free_n += n - 1;
    }
    if (v->free_n)
        v->us_iteration = v->free_us / (double)v->free_n;
    else if (v->iterations)
        v->us_iteration = v->us / (double)v->iterations;
    if (!v->steps_left) return;
    v->steps_left -= n;
    v->paused = v->steps_left == 0;
}

bool solve_slice(struct solve *v, double us, struct err *e)
{
    if (v->reason != RUNNING) return true;
    int64_t n = batch_of(v, us), before = v->iterations;
    double start = now_us();
    if (!queue_sampled(v, e)) return false;
    double from = now_us();
    if (!queue(v, n - 1, e) || !read_record(v, e) || !settle(v, e)) return false;
    account(v, n, v->iterations - before, start, from);
    return true;
}

void solve_free(struct solve *v)
{
    if (!v) return;
    solve_release(v);
    mem_free(v->hist);
    mem_free(v->mirror);
    mem_free(v->b);
    mem_free(v->x);
    mem_free(v);
}
