/* QMRCGSTAB (Chan, Gallopoulos, Simoncini, Szeto, Tong 1994): the steps of BiCGSTAB, each followed by a
   quasi-minimisation that smooths the residual. That of x is carried along, so that what is shown is no bound. */
#include "solver.h"

enum { X, B, R, SHADOW, P, V, T, DIR, ADIR, REST };

static bool init(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->v[X], v->v[V], e)) return false;
    v->bicg->begin(v->dev, v->n, v->s, v->v[B], v->v[V], v->v[R], v->v[SHADOW], v->v[P]);
    v->bicg->qmr_begin(v->dev, v->n, v->s, v->v[R], v->v[REST], v->v[DIR], v->v[ADIR]);
    v->ops->record(v->dev, v->s);
    return true;
}

static bool step(struct solve *v, struct err *e)
{
    const struct bicg_ops *ops = v->bicg;
    if (!bicg_half_step(v, v->v[P], v->v[V], v->v[SHADOW], v->v[R], e)) return false;
    if (!bicg_second_product(v, v->v[R], v->v[T], e)) return false;
    phase_begin(v, "update");
    ops->qmr_residual(v->dev, v->n, v->s, v->v[T], v->v[SHADOW], v->v[R]);
    phase_begin(v, "smooth");
    ops->qmr_update(v->dev, v->n, v->s, v->v[R], v->v[V], v->v[T], v->v[P], v->v[DIR], v->v[ADIR], v->v[X], v->v[REST]);
    return true;
}

/* 28 vectors in the passes and products as they are; three fewer were the sums taken in the products. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    (void)m;
    return 2 * csr_bytes(A, real) + 25.0 * (double)real * (double)A->rows;
}

const struct solver solver_qmrcgstab = {
    .name = "qmrcgstab",
    .about = "BiCGSTAB with a smoothed residual",
    .source = "THESIS 3; Chan et al. 1994",
    .needs = "a square matrix",
    .advice = "where qmrcgstab stands still, gmres with a large m may not",
    .cost = "two products with A (and two with a preconditioner), at least 25 vectors read or written; 10 vectors",
    .when = "as bicgstab, where that one's residual jumps: this one's falls smoothly, for three vectors more",
    .vectors = 8,
    .window = 100,
    .window_a_row = 3,
    .window_most = 2000,
    .probes = true,
    .products = 2,
    .bytes = bytes,
    .init = init,
    .step = step,
    .explain = bicg_explain,
};
