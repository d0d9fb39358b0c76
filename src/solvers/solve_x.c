/* The x of a solve: its value on the device, and its copy on the host. */
#include "base/mem.h"
#include "machine/device.h"
#include "machine/vec_ops.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

/* x = x0 + M^-1 u */
static bool undo_right(struct solve *v, struct err *e)
{
    void *u = v->vec[VEC_X], *x0 = v->vec[VEC_X0];
    if (!x0) return true;
    if (!solve_set(v, S_DONE, RUNNING, e) || !solve_precondition(v, u, v->vec[VEC_Z], e)) return false;
    v->ops.vec->copy(v->dev, v->n, x0, u);
    v->ops.vec->axpy(v->dev, v->n, v->scalars, S_ONE, 1, v->vec[VEC_Z], u);
    return v->dev->ops->sync(v->dev, e);
}

bool solve_x(struct solve *v, struct err *e)
{
    if (v->solver->finish && !v->solver->finish(v, e)) return false;
    return undo_right(v, e);
}

bool solve_get_x(struct solve *v, double *x, const void *from, struct err *e)
{
    if (!solve_get(v, x, from, e)) return false;
    if (!v->refine.on) return true;
    double *fine = mem_new(v->n, sizeof *fine, "a copy of x", e);
    bool ok = fine && v->dev->ops->get(v->dev, fine, v->vec[VEC_FINE_X], v->n * (int64_t)sizeof *fine, e);
    for (int64_t i = 0; ok && i < v->n; i++) x[i] += fine[i];
    mem_free(fine);
    return ok;
}
