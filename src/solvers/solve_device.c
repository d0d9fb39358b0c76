/* The part of a solve that works on its device: vectors, scalars, SpMVs, timed phases. The lowest layer of a solve: it
   calls no other file of src/solvers. */
#include "base/clock.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/screen_lock.h"
#include "base/threads.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/member_rows.h"
#include "machine/passes.h"
#include "machine/vec_ops.h"
#include "machine/vector_pitch.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <string.h>

/* ---- phases ---- */

static const char *const phase_names[PHASES] = {
    [PHASE_SPMV_TRANSPOSED] = "spmv'",
    [PHASE_PRECOND] = "precond",
    [PHASE_SPMV] = "spmv",
    [PHASE_DOT] = "dot",
    [PHASE_DOTS] = "dots",
    [PHASE_UPDATE] = "update",
    [PHASE_STEP] = "step",
    [PHASE_SUMS] = "sums",
    [PHASE_DIRECTION] = "direction",
    [PHASE_SMOOTH] = "smooth",
    [PHASE_SWEEP] = "sweep",
    [PHASE_RESIDUAL] = "residual",
    [PHASE_SUBTRACT] = "subtract",
    [PHASE_ROTATE] = "rotate",
    [PHASE_SCALE] = "scale",
    [PHASE_RESTART] = "restart",
};

const char *phase_name(enum solve_phase phase)
{
    return phase_names[phase];
}

/* The entry of this phase in v->time, which lists the phases in the order in which they were first sampled. */
static struct phase *phase_entry(struct solve *v, enum solve_phase id)
{
    for (int i = 0; i < v->time.nphases; i++)
        if (v->time.phase[i].id == id) return &v->time.phase[i];
    if (v->time.nphases == SOLVE_PHASES) return NULL;
    v->time.phase[v->time.nphases] = (struct phase){.id = id};
    return &v->time.phase[v->time.nphases++];
}

/* Wait for the device, and add the time since the start of the current phase to that phase. */
static void phase_close(struct solve *v)
{
    v->dev->ops->sync(v->dev, &v->time.error);
    double now = now_us();
    SCREEN_EDIT;
    if (v->time.in_phase) {
        v->time.in_phase->us += now - v->time.phase_from;
        v->time.in_phase->n++;
    }
    v->time.in_phase = NULL;
    v->time.phase_from = now;
}

void phase_begin(struct solve *v, enum solve_phase phase)
{
    if (!v->time.sampling) return;
    phase_close(v);
    SCREEN_EDIT;
    v->time.in_phase = phase_entry(v, phase);
}

void phase_end(struct solve *v)
{
    if (v->time.sampling) phase_close(v);
}

void phase_put(struct solve *v, const struct phase *p)
{
    SCREEN_EDIT;
    struct phase *of = phase_entry(v, p->id);
    if (of) *of = *p;
}

/* ---- counts ---- */

static const char *const operation_keys[OPERATIONS_OF_CYCLE] = {
    [OP_SPMV] = "cycle_spmvs",
    [OP_DOT] = "cycle_inner_products",
    [OP_NORM] = "cycle_norms",
    [OP_UPDATE] = "cycle_updates",
    [OP_SCALE] = "cycle_scalings",
    [OP_BASIS] = "cycle_basis_products",
    [OP_LEAST_SQUARES] = "cycle_least_squares",
    [OP_LEAST_OPERATIONS] = "cycle_least_operations",
    [OP_PASS] = "cycle_passes",
};

const char *operation_key(enum solve_operation op)
{
    return operation_keys[op];
}

void work_count(struct solve *v, enum solve_operation op, int64_t n)
{
    v->work.now[op] += n;
}

void work_restarted(struct solve *v, bool whole)
{
    if (whole && !v->work.repeated) memcpy(v->work.cycle, v->work.now, sizeof v->work.cycle);
    memset(v->work.now, 0, sizeof v->work.now);
    v->work.repeated = false;
}

/* ---- operations ---- */

bool solve_complex_steps(const struct solve *v)
{
    bool host_only_real = (v->set.sums_host || v->set.least_host || v->dev->members) && v->solver->arnoldi;
    return v->matrix.csr->imag && v->solver->complex_steps && !host_only_real;
}

enum type solve_type(const struct solve *v)
{
    return type_of_numbers(v->real, v->matrix.csr->imag != NULL);
}

void solve_choose_ops(struct solve *v)
{
    static const struct vec_ops *(*const ops_of[])(const struct device *d, enum type real) = {
        [SUMS_BY_DEVICE] = vec_ops_of, [SUMS_BY_HOST] = vec_ops_host_sums, [SUMS_BY_COLUMN] = vec_ops_by_column};
    v->ops.sums = v->columns.n ? SUMS_BY_COLUMN : v->set.sums_host ? SUMS_BY_HOST : SUMS_BY_DEVICE;
    v->ops.vec = ops_of[v->ops.sums](v->dev, solve_type(v));
    v->ops.type = type_of_numbers(v->real, solve_complex_steps(v));
}

/* ---- the null space ---- */

void *null_vector(const struct solve *v, void *first, int64_t j)
{
    return (char *)first + j * vector_pitch(v->n * (int64_t)type_size(v->real));
}

static void project(struct solve *v, void *basis, void *x)
{
    for (int64_t j = 0; basis && j < v->null.on_device; j++) {
        const void *n = null_vector(v, basis, j);
        v->ops.vec->dot(v->dev, v->n, v->scalars, n, x, S_NULL);
        v->ops.vec->axpy(v->dev, v->n, v->scalars, S_NULL, -1, n, x);
    }
}

void null_project(struct solve *v, void *x)
{
    project(v, v->null.right, x);
}

void null_project_left(struct solve *v, void *r)
{
    project(v, v->null.left, r);
}

void null_release(struct solve *v)
{
    struct solve_null *s = &v->null;
    if (s->left && s->left != s->right) v->dev->ops->free(v->dev, s->left);
    if (s->right) v->dev->ops->free(v->dev, s->right);
    s->left = s->right = NULL;
    s->on_device = 0;
}

/* ---- SpMV ---- */

static bool multiply_columns(struct solve *v, const void *p, void *q, struct err *e)
{
    struct spmm L = v->columns.launch;
    L.x = p;
    L.y = q;
    return spmm_launch(v->columns.kernel, &L, e);
}

bool solve_multiply(struct solve *v, const void *p, void *q, struct err *e)
{
    if (v->columns.n) return multiply_columns(v, p, q, e);
    struct launch L = {.A = v->matrix.mat, .alpha = 1, .beta = 0, .x = p, .y = q};
    work_count(v, OP_SPMV, 1);
    work_count(v, OP_PASS, 1);
    if (!kernel_launch(v->matrix.kernel, &L, e)) return false;
    null_project_left(v, q);
    return true;
}

bool solve_precondition(struct solve *v, const void *r, void *z, struct err *e)
{
    if (!v->pre.method->apply(v, r, z, e)) return false;
    null_project(v, z);
    return true;
}

bool solve_multiply_transposed(struct solve *v, const void *u, void *y, struct err *e)
{
    struct launch L = {.A = v->matrix.transposed, .alpha = 1, .beta = 0, .x = u, .y = y};
    work_count(v, OP_SPMV, 1);
    work_count(v, OP_PASS, 1);
    return kernel_launch(v->matrix.transposed_kernel, &L, e);
}

bool solve_spmv(struct solve *v, const void *p, void *q, struct err *e)
{
    if (!v->vec[VEC_X0]) return solve_multiply(v, p, q, e);
    phase_begin(v, PHASE_PRECOND);
    if (!solve_precondition(v, p, v->vec[VEC_Z], e)) return false;
    phase_begin(v, PHASE_SPMV);
    return solve_multiply(v, v->vec[VEC_Z], q, e);
}

/* ---- copies between host and device ---- */

/* Add what was copied since `before` to the copies of the solve. */
static void add_copy(struct solve *v, const struct copied *total, const struct copied *before)
{
    struct copied more = copied_since(total, before);
    v->time.copied.bytes += more.bytes;
    v->time.copied.us += more.us;
}

static bool put(struct solve *v, void *to, int64_t n, const double *from, struct err *e)
{
    int64_t bytes = n * (int64_t)type_size(v->real);
    if (v->real == T_F64) return v->dev->ops->put(v->dev, to, from, bytes, e);
    float *f = mem_new(n, sizeof *f, "a vector in fp32", e);
    if (!f) return false;
    struct loop l = loop_of("a vector in fp32", n);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (n > THREADS_FROM)
    for (int64_t at = 0; at < n; at += LOOP_EVERY)
        for (int64_t i = at, end = loop_share(&l, at, n); i < end; i++) f[i] = (float)from[i];
    bool ok = loop_end(&l, e) && v->dev->ops->put(v->dev, to, f, bytes, e);
    mem_free(f);
    return ok;
}

static bool put_counted(struct solve *v, void *to, int64_t n, const double *from, struct err *e)
{
    struct copied before = v->dev->put;
    bool ok = put(v, to, n, from, e);
    add_copy(v, &v->dev->put, &before);
    return ok;
}

bool solve_put(struct solve *v, void *to, const double *from, struct err *e)
{
    return put_counted(v, to, v->n, from, e);
}

bool solve_put_b(struct solve *v, void *to, const double *from, struct err *e)
{
    return put_counted(v, to, v->n_b, from, e);
}

static bool get(struct solve *v, double *to, const void *from, struct err *e)
{
    int64_t bytes = v->n * (int64_t)type_size(v->real);
    if (v->real == T_F64) return v->dev->ops->get(v->dev, to, from, bytes, e);
    float *f = mem_new(v->n, sizeof *f, "a vector in fp32", e);
    if (!f) return false;
    bool ok = v->dev->ops->get(v->dev, f, from, bytes, e);
    if (ok) {
#pragma omp parallel for schedule(static) if (v->n > THREADS_FROM)
        for (int64_t i = 0; i < v->n; i++) to[i] = (double)f[i];
    }
    mem_free(f);
    return ok;
}

bool solve_get(struct solve *v, double *to, const void *from, struct err *e)
{
    struct copied before = v->dev->got;
    bool ok = get(v, to, from, e);
    add_copy(v, &v->dev->got, &before);
    return ok;
}

bool solve_set(struct solve *v, int i, double value, struct err *e)
{
    bool ok = true;
    for (int c = 0; ok && (c == 0 || c < v->columns.n); c++)
        ok = v->dev->ops->put(v->dev, v->scalars + c * SCALARS + i, &value, sizeof value, e);
    return ok;
}

bool solve_has_ended(const struct solve *v)
{
    return !v->dev->ops->idle && v->scalars[S_DONE] != RUNNING;
}

/* ---- memory on the device ---- */

bool solve_alloc(struct solve *v, int i, int64_t bytes, const char *what, struct err *e)
{
    v->vec[i] = v->dev->ops->alloc(v->dev, bytes, what, e);
    v->vec_bytes[i] = v->vec[i] ? bytes : 0;
    v->vec_numbers[i] = 0;
    return v->vec[i] != NULL;
}

int64_t solve_length(const struct solve *v, int i)
{
    bool row =
        i == VEC_B || i == VEC_PROBE || (i >= VEC_OWN && i < VEC_FINE_X && v->solver->row_vectors >> (i - VEC_OWN) & 1);
    return row ? v->n_b : v->n;
}

/* n vectors of `length` numbers. The members of a device divide the elements like the rows of A, which is square. */
static void *room(const struct solve *v, int64_t n, int64_t length, size_t number, const char *what, struct err *e)
{
    int64_t rows = v->matrix.csr->rows, each = (int64_t)number * (rows ? length / rows : 1);
    return v->matrix.mat && v->dev->members
               ? mat_row_vectors(v->matrix.mat, n, each, what, e)
               : v->dev->ops->alloc(v->dev, vectors_bytes(n, length * (int64_t)number), what, e);
}

void *solve_room(const struct solve *v, int64_t n, size_t number, const char *what, struct err *e)
{
    return room(v, n, v->n, number, what, e);
}

bool solve_vectors(struct solve *v, int i, int64_t n, enum type real, const char *what, struct err *e)
{
    v->vec[i] = room(v, n, solve_length(v, i), type_size(real), what, e);
    v->vec_bytes[i] = v->vec[i] ? vectors_bytes(n, solve_length(v, i) * (int64_t)type_size(real)) : 0;
    v->vec_numbers[i] = type_size(real);
    return v->vec[i] != NULL;
}

void solve_dealloc(struct solve *v, int i)
{
    if (v->vec[i]) v->dev->ops->free(v->dev, v->vec[i]);
    v->vec[i] = NULL;
    v->vec_bytes[i] = 0;
}

void precond_drop(struct solve *v)
{
    if (v->pre.method && v->pre.method->drop) v->pre.method->drop(v);
    for (int i = 0; i < PRE_PARTS; i++) {
        if (v->pre.part[i]) v->dev->ops->free(v->dev, v->pre.part[i]);
        v->pre.part[i] = NULL;
    }
    SCREEN_EDIT;
    v->pre.made = false;
}

void solve_forget(struct solve *v)
{
    if (v->schedule.graph) v->dev->ops->forget(v->dev, v->schedule.graph);
    v->schedule.graph = NULL;
    v->schedule.no_graph = false;
    for (int i = 0; i < SOLVE_VECTORS; i++) solve_dealloc(v, i);
    null_release(v);
    if (v->solver_data && v->solver->drop) v->solver->drop(v);
    mem_free(v->solver_data);
    v->solver_data = NULL;
}
