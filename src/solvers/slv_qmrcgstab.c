/* QMRCGSTAB (Chan, Gallopoulos, Simoncini, Szeto, Tong 1994): the steps of BiCGSTAB, each followed by a
   quasi-minimisation that smooths the residual. A recurrence also updates the residual of the smoothed x, so the record
   holds the norm of this residual, and not just a bound on the norm. */
#include "base/base.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

/* QMR_R to QMR_T are as in bicgstab; QMR_RESIDUAL is the smoothed residual, which is the residual of VEC_X. */
enum { QMR_R = VEC_OWN, QMR_SHADOW, QMR_P, QMR_V, QMR_T, QMR_DIRECTION, QMR_A_DIRECTION, QMR_RESIDUAL };

/* the vectors that the second half of an iteration changes in place */
static const int changed[] = {VEC_X, QMR_R, QMR_P, QMR_DIRECTION, QMR_A_DIRECTION, QMR_RESIDUAL};

static bool start(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[QMR_V], e)) return false;
    return PASS(v, bicgstab, begin, e,
                VECTORS(v->vec[VEC_B], v->vec[QMR_V], v->vec[QMR_R], v->vec[QMR_SHADOW], v->vec[QMR_P])) &&
           PASS(v, qmrcgstab, begin, e,
                VECTORS(v->vec[QMR_R], v->vec[QMR_RESIDUAL], v->vec[QMR_DIRECTION], v->vec[QMR_A_DIRECTION]));
}

static bool init(struct solve *v, struct err *e)
{
    if (!start(v, e)) return false;
    v->ops.vec->record(v->dev, v->scalars);
    return true;
}

static bool step(struct solve *v, struct err *e)
{
    if (!bicg_half_step(v, v->vec[QMR_P], v->vec[QMR_V], v->vec[QMR_SHADOW], QMR_R, e)) return false;
    if (!bicg_second_product(v, v->vec[QMR_R], v->vec[QMR_T], e)) return false;
    phase_begin(v, PHASE_UPDATE);
    if (!cut_hold(v, COUNT(changed), changed, false, e)) return false;
    if (!PASS(v, qmrcgstab, residual, e, VECTORS(v->vec[QMR_T], v->vec[QMR_SHADOW], v->vec[QMR_R]))) return false;
    phase_begin(v, PHASE_SMOOTH);
    return PASS(v, qmrcgstab, update, e,
                VECTORS(v->vec[QMR_R], v->vec[QMR_V], v->vec[QMR_T], v->vec[QMR_P], v->vec[QMR_DIRECTION],
                        v->vec[QMR_A_DIRECTION], v->vec[VEC_X], v->vec[QMR_RESIDUAL]));
}

/* The passes read or write 28 vectors. An SpMV that also computed the inner products would save three of these vectors,
   so the minimum is 25. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return 2 * csr_bytes(A, real) + 25.0 * (double)real * (double)A->rows;
}

const struct solver solver_qmrcgstab = {
    .name = "qmrcgstab",
    .aliases = "qmr",
    .about = "BiCGSTAB with a smoothed residual",
    .source = "THESIS 3; Chan et al. 1994",
    .needs = "a square matrix",
    .advice = "if qmrcgstab stagnates, try gmres with a large m",
    .cost =
        "two SpMVs with A (and two with a preconditioner), at least 25 vectors read or written; memory for 10 vectors",
    .when = "instead of bicgstab, if the residual of bicgstab jumps: the residual of qmrcgstab falls smoothly, at the "
            "cost of three more vectors",
    .vectors = 8,
    .window = 100,
    .window_per_row = 3,
    .window_most = 2000,
    .probes = true,
    .refines = true,
    .products_only = true,
    .several = true,
    .columns = true,
    .products = 2,
    .bytes = bytes,
    .init = init,
    .step = step,
    .recover = start,
    .divisor = bicg_quantity,
    .explain = bicg_explain,
    .peers = {.petsc = "-ksp_type qmrcgs -ksp_pc_side right"},
};
