/* Sets up a race of solvers or kernels on a matrix of the session; race.c runs the turns. */
#include "race_begin.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/precision.h"
#include "base/screen_lock.h"
#include "formats/format.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "matrix/random.h"
#include "race.h"
#include "session/matrix.h"
#include "session/product.h"
#include "session/session.h"
#include "session/session_solve.h"
#include "session/spmv.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>

enum { WARM_UPS = 3 };
static const double WARM_UP_US = 50000; /* a solver whose set-up takes longer than this needs no warm-up */

/* Record why a racer is refused. Returns false if the error ends the whole race. */
static bool record_refusal(struct racer *x, const struct err *why, struct err *e)
{
    bool refused = why->code == E_UNSUPPORTED || why->code == E_NUMERIC || (x->kernel && why->code == E_LIMIT);
    if (!refused) return fail_at(e, why->code, why->where, "%s", why->text);
    SCREEN_EDIT;
    x->wrong = x->kernel && why->code == E_NUMERIC;
    snprintf(x->why, sizeof x->why, "%s", why->text);
    return true;
}

static bool some_take_part(const struct race *r, struct err *e)
{
    for (int i = 0; i < r->n; i++)
        if (!*r->racer[i].why) return true;
    bool wrong = r->racer[0].wrong;
    return fail(e, wrong ? E_NUMERIC : E_UNSUPPORTED, "%s: %s", r->racer[0].name, r->racer[0].why);
}

/* All racers are in memory at the same time. If memory does not suffice for all racers, the error message says so. */
static bool check_memory(const struct race *r, const struct err *why, struct err *e)
{
    if (r->n < 2 || (why->code != E_MEMORY && why->code != E_LIMIT)) return true;
    return fail(e, why->code,
                "%.300s; a race keeps all its %d racers in memory at the same time: use fewer racers or f32", why->text,
                r->n);
}

static void put_solve(struct racer *x, struct solve *v)
{
    SCREEN_EDIT;
    x->v = v;
}

/* The first iterations of a solver are slow, because code is loaded and threads wake up. A solver with a short set-up
   therefore does a few iterations that are not counted. */
static bool begin_solver(struct session *s, struct race *r, struct racer *x, const struct solve_options *o,
                         struct err *e)
{
    double start = now_us();
    struct solve *v = NULL;
    if (!session_solve(&v, s, r->matrix, o, e)) return false;
    put_solve(x, v);
    if (!race_timed(r) || now_us() - start > WARM_UP_US) return true;
    bool ok = true;
    for (int i = 0; ok && i < WARM_UPS; i++) ok = solve_slice(v, RACE_TURN_US / 10, e);
    ok = ok && solve_drain(v, e);
    put_solve(x, NULL);
    solve_free(v);
    if (!ok || !session_solve(&v, s, r->matrix, o, e)) return false;
    put_solve(x, v);
    return true;
}

bool race_solvers(struct session *s, struct race *r, const struct solve_options *o, struct err *e)
{
    for (int i = 0; i < r->n; i++) {
        struct racer *x = &r->racer[i];
        struct solve_options options = *o;
        struct err why = {0};
        options.solver = x->solver;
        options.m = x->m;
        options.omega = x->omega;
        options.form_matrix = o->form_matrix && x->solver->form_bytes;
        if (x->solver->no_precond) {
            options.pre_block = options.pre ? 0 : options.pre_block;
            if (options.pre)
                options.triangles = (struct triangle_settings){0}, options.schur = (struct schur_settings){0};
            options.pre = NULL;
        }
        if (!watch_tick(&s->watch, x->name, i, r->n, e)) return false;
        bool ok = begin_solver(s, r, x, &options, &why);
        if (!ok && (!check_memory(r, &why, e) || !record_refusal(x, &why, e))) return false;
        if (ok && !race_mark(x, 0, 0, e)) return false;
    }
    race_set_running(r, true);
    return some_take_part(r, e);
}

static bool make_vectors(struct race *r, struct err *e)
{
    const struct csr *A = &r->matrix->csr;
    int64_t size = (int64_t)type_size(precisions[r->real].vector);
    uint64_t state = 1;
    struct array x = {.type = precisions[r->real].part, .n = type_parts(precisions[r->real].vector) * A->cols};
    x.data = mem_new(A->cols, (size_t)size, "a vector to copy", e);
    r->x = x.data ? r->dev->ops->alloc(r->dev, A->cols * size, "the vector x", e) : NULL;
    r->y = r->x ? r->dev->ops->alloc(r->dev, A->rows * size, "the vector y", e) : NULL;
    for (int64_t i = 0; r->y && i < x.n; i++) put_real(&x, i, random_unit(&state));
    bool ok = r->y && r->dev->ops->put(r->dev, r->x, x.data, A->cols * size, e);
    mem_free(x.data);
    return ok;
}

static void put_run(struct racer *x, const struct run *run)
{
    SCREEN_EDIT;
    x->run = *run;
}

/* Nothing has been timed yet. */
static void forget_times(struct racer *x)
{
    SCREEN_EDIT;
    x->run.us = x->run.spread_us = x->run.gbs = x->run.gflops = x->run.share = x->best_us = NAN;
}

/* Check the kernel; the check also warms it up. */
static bool begin_kernel(struct session *s, struct race *r, struct racer *x, struct err *e)
{
    struct spmv_request w = {.matrix = r->matrix, .kernel = x->kernel, .dev = r->dev, .real = r->real, .reps = 1};
    if (!kernel_runs_on(x->kernel, r->dev))
        return fail(e, E_UNSUPPORTED, "does not run on %s; `kernels` shows where kernels run", r->dev->name);
    if (x->kernel->remote && r->dev->kind == DEV_CUDA)
        return fail(e, E_UNSUPPORTED, "is yours, and runs in a process of its own; `bench %s on %s` times it there",
                    x->kernel->name, r->dev->name);
    struct run run = x->run;
    bool measured = spmv_measure(s, &w, &run, e);
    put_run(x, &run);
    if (!measured) return false;
    struct form form = spmv_form(&w);
    form.there = false;
    struct product *p = session_product(s, form, e);
    x->M = p ? session_mat(s, p, r->dev, e) : NULL;
    return x->M != NULL;
}

bool race_kernels(struct session *s, struct race *r, struct err *e)
{
    for (int i = 0; i < r->n; i++) {
        struct racer *x = &r->racer[i];
        struct err why = {0};
        if (!watch_tick(&s->watch, x->name, i, r->n, e)) return false;
        bool ok = begin_kernel(s, r, x, &why);
        if (!ok && why.code == E_MEMORY && !check_memory(r, &why, e)) return false;
        if (!ok && !record_refusal(x, &why, e)) return false;
        forget_times(x);
    }
    race_set_running(r, race_timed(r));
    return some_take_part(r, e) && make_vectors(r, e);
}
