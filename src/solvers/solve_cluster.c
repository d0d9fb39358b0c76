/* Launches that each do many iterations of a small system, which stays in the shared memory of one cluster of thread
   blocks (machine/cluster_ops.h). */
#include "base/precision.h"
#include "formats/fmt_csr.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

bool cluster_takes_diagonal(const struct solver *s)
{
    return !s->no_precond && (!s->own_precond || s->diagonal_vectors > 0);
}

/* A preconditioner that is applied from the right is a diagonal that scales the columns of A. */
static int vectors_of(const struct solve *v)
{
    return v->solver->cluster_vectors + (v->pre.method && v->solver->own_precond);
}

/* Can a launch of this solve do many iterations? */
static bool plan(const struct solve *v, struct cluster_plan *out, struct err *e)
{
    const struct mat *A = v->matrix.mat;
    if (!v->solver->steps) return fail(e, E_UNSUPPORTED, "%s has no such launch", v->solver->name);
    if (v->matrix.csr->imag) return fail(e, E_UNSUPPORTED, "the matrix is complex");
    if (v->matrix.kernel && v->matrix.kernel->remote)
        return fail(e, E_UNSUPPORTED, "each launch of %s is one product", v->matrix.kernel->name);
    if (v->set.kernel_chosen)
        return fail(e, E_UNSUPPORTED, "such a launch has products of its own; leave out `kernel %s`",
                    v->matrix.kernel->name);
    if (v->set.sums_host) return fail(e, E_UNSUPPORTED, "with `sums host`, an iteration has several launches");
    if (v->set.modified)
        return fail(e, E_UNSUPPORTED, "with `orth modified`, an iteration has a launch for each inner product");
    if (v->refine.on) return fail(e, E_UNSUPPORTED, "with `refine`, an iteration has several launches");
    if (v->set.form_matrix) return fail(e, E_UNSUPPORTED, "with `form matrix`, an iteration has several launches");
    if (v->pre.method && !cluster_takes_diagonal(v->solver))
        return fail(e, E_UNSUPPORTED, "with a preconditioner, an iteration of %s has several launches",
                    v->solver->name);
    if (v->pre.method && !precond_diagonal(v))
        return fail(e, E_UNSUPPORTED, "the preconditioner %s has launches of its own; jacobi has none",
                    v->pre.method->name);
    if (!A || A->of->format != &format_csr || precisions[A->of->real].stored != v->real)
        return fail(e, E_UNSUPPORTED, "the matrix must be in csr, in the precision of the vectors");
    int64_t more = v->solver->cluster_bytes ? v->solver->cluster_bytes(v) : 0;
    return cluster_plan_make(v->dev, v->system.A, v->real, vectors_of(v), more, out, e);
}

bool cluster_used(const struct solve *v)
{
    return v->schedule.cluster.blocks > 0;
}

/* If the user does not say how many launches to make, one launch does many iterations wherever that is possible and
   launches take time. Such launches do not project a null space out of their vectors; rounding errors in it stay small
   beside a residual that meets tol. */
bool cluster_choose(struct solve *v, struct err *e)
{
    struct cluster_plan found;
    struct err why = {0};
    v->schedule.cluster = (struct cluster_plan){0};
    if (v->set.launches == LAUNCHES_MANY) return true;
    bool can = plan(v, &found, &why);
    if (v->set.launches == LAUNCHES_ONE && !can) return fail(e, why.code, "launches one: %s", why.text);
    if (can && (v->set.launches == LAUNCHES_ONE || v->dev->ops->idle)) v->schedule.cluster = found;
    if (cluster_used(v)) null_leave(v);
    return true;
}

bool cluster_steps_of(struct solve *v, const struct cluster_kernel *kernel, int nvec, const int *vec, int64_t n,
                      struct err *e)
{
    struct cluster_system c = {v->matrix.mat, precond_diagonal(v), v->scalars, {NULL}, v->set.m};
    for (int i = 0; i < nvec; i++) c.vec[i] = v->vec[vec[i]];
    if (!cut_hold(v, nvec, vec, false, e)) return false;
    kernel->steps[v->real](v->dev, &v->schedule.cluster, &c, n);
    return true;
}

/* At most n iterations, up to the end of the cycle if the solver restarts. */
static int64_t iterations_of_launch(const struct solve *v, int64_t n)
{
    if (!v->solver->restarts) return n;
    int64_t left = v->set.m - (v->schedule.queued - v->schedule.cycle_from) % v->set.m;
    return n < left ? n : left;
}

bool cluster_queue(struct solve *v, int64_t n, struct err *e)
{
    while (n > 0 && !solve_has_ended(v)) {
        int64_t each = iterations_of_launch(v, n);
        bool ok = v->solver->steps(v, each, e) && cut_release(v, 0, e);
        if (!ok) return false;
        v->schedule.queued += each;
        n -= each;
    }
    return true;
}

/* A launch is not divided into the passes of other launches, so its phases have names of their own: the products with
   their sums in a block, the sums over all blocks with the scalars, and the updates of the vectors. A phase that the
   solver lacks has no time; the emulator times none. */
void cluster_take_phases(struct solve *v)
{
    static const struct {
        enum solve_phase id;
        int us;
    } parts[] = {{PHASE_SPMV, S_SPMV_US}, {PHASE_SUMS, S_DOTS_US}, {PHASE_UPDATE, S_STEP_US}};
    if (!cluster_used(v) || v->iterations <= v->base) return;
    for (int i = 0; i < COUNT(parts); i++) {
        double us = v->host_scalars[parts[i].us];
        if (us > 0 || v->dev->kind == DEV_EMU) phase_put(v, &(struct phase){parts[i].id, us, v->iterations - v->base});
    }
}
