/* Gauss-Seidel solves every row for its own unknown and uses the new values of earlier rows. Successive over-relaxation
   applies omega times the change. On cpu, the rows are processed in order. On a GPU, they are processed colour by
   colour, since the rows of one colour are independent and run in parallel. */
#include "base/mem.h"
#include "level_schedule.h"
#include "machine/device.h"
#include "matrix/colour.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

/* Q = A x; ROWS and VALUES: the two allocations of the level schedule. */
enum { GS_Q = VEC_OWN, GS_ROWS, GS_VALUES };

/* Sort the rows by colour. On cpu, keep the order of the rows. */
static bool order_rows(const struct solve *v, struct order *o, struct err *e)
{
    int n = 0, *colour;
    int64_t rows = v->matrix.csr->rows;
    if (v->dev->kind == DEV_CPU) return order_plain(o, rows, false, e);
    if (!(colour = mem_new(rows, sizeof *colour, "the colours of rows", e))) return false;
    bool ok = colour_of(v->matrix.csr, colour, &n, e) && order_by(o, rows, colour, n, false, e);
    mem_free(colour);
    return ok;
}

static bool put_rows(struct solve *v, const double *val, const double *dinv, struct err *e)
{
    const struct csr *A = v->system.A;
    struct order o = {0};
    struct level_source f = {.entries = {A->rowptr, A->rowptr + 1, 0, A->col, val}, .dinv = dinv};
    if (order_rows(v, &o, e)) v->solver_data = level_schedule_make(v->dev, solve_type(v), &o, &f, &v->vec[GS_ROWS], e);
    order_free(&o);
    return v->solver_data != NULL;
}

/* If A is complex, its values are first copied to pairs. */
static bool put_values(struct solve *v, const double *dinv, struct err *e)
{
    const struct csr *A = v->system.A;
    if (!A->imag) return put_rows(v, A->val, dinv, e);
    double *pairs = mem_new(2 * A->nnz, sizeof *pairs, "the values of A", e);
    bool ok = pairs && values_of(A, pairs, e) && put_rows(v, pairs, dinv, e);
    mem_free(pairs);
    return ok;
}

static bool make_rows(struct solve *v, struct err *e)
{
    double *dinv = mem_new(v->n, sizeof *dinv, "the inverted diagonal", e);
    bool ok = dinv && diagonal_inverse(v->system.A, v->solver->name, 1, dinv, e) && put_values(v, dinv, e);
    mem_free(dinv);
    return ok;
}

static const struct sweep_ops *sweep_ops(const struct solve *v)
{
    return (v->set.sums_host ? sweep_ops_host_sums : sweep_ops_of)(v->dev, solve_type(v));
}

static bool record(struct solve *v, struct err *e)
{
    phase_begin(v, PHASE_SPMV);
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[GS_Q], e)) return false;
    phase_begin(v, PHASE_RESIDUAL);
    sweep_ops(v)->record(v->dev, v->n, v->scalars, v->vec[VEC_B], v->vec[GS_Q]);
    return true;
}

static bool init(struct solve *v, struct err *e)
{
    return make_rows(v, e) && record(v, e);
}

static bool step(struct solve *v, struct err *e)
{
    double omega = v->set.omega > 0 ? v->set.omega : 1;
    const int changed = VEC_X;
    phase_begin(v, PHASE_SWEEP);
    if (!cut_hold(v, 1, &changed, true, e)) return false;
    sweep_ops(v)->sweep(v->dev, v->solver_data, v->scalars, omega, v->vec[VEC_B], v->vec[VEC_X]);
    return record(v, e);
}

/* A, b and x are read once for the sweep and once for the residual; x is written once. */
static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return 2 * csr_bytes(A, real) + 5.0 * (double)real * (double)A->rows;
}

/* The level schedule is a second copy of the matrix. */
static int64_t held(const struct solve *v)
{
    const struct level_schedule *rows = v->solver_data;
    return rows ? rows->bytes[0] + rows->bytes[1] : 0;
}

/* With the scale 1, PETSc does all max_it sweeps in one call of its preconditioner sor, without a test of the residual.
 */
#define TESTED "-ksp_richardson_scale 0.9999999999999999 -ksp_norm_type unpreconditioned"

const struct solver solver_gs = {
    .name = "gs",
    .aliases = "gauss-seidel",
    .about = "Gauss-Seidel: like Jacobi, but uses each new value immediately; on a GPU, it works colour by colour",
    .source = "THESIS 3",
    .needs = "a square matrix with no zero on the diagonal",
    .advice = "Gauss-Seidel is certain to converge if every row is diagonally dominant (see `stats`) or A is symmetric "
              "positive definite; if A is symmetric positive definite, cg is faster",
    .cost = "a sweep through A and an SpMV for the residual, so A is read twice; memory for 3 vectors and a second "
            "copy of A's rows",
    .when = "wherever jacobi converges, because gs takes about half as many iterations. On cpu, gs updates the rows in "
            "order. On a GPU, it updates all rows of a colour at the same time, so it is slow for a matrix that needs "
            "many colours",
    .vectors = 1,
    .window = 1000,
    .diff = true,
    .no_precond = true,
    .complex_steps = true,
    .products = 1,
    .bytes = bytes,
    .held = held,
    .init = init,
    .step = step,
    .peers = {.petsc = "-ksp_type richardson " TESTED " -pc_type sor -pc_sor_forward"},
};

const struct solver solver_sor = {
    .name = "sor",
    .aliases = "overrelaxation",
    .about = "Gauss-Seidel with steps extended by omega: far fewer iterations if omega suits the matrix",
    .source = "THESIS 3",
    .needs = "a square matrix with no zero on the diagonal",
    .advice = "an omega nearer 1 is safer; if A is symmetric positive definite, sor converges for every omega below "
              "2, and cg needs no omega",
    .cost = "a sweep through A and an SpMV for the residual, so A is read twice; memory for 3 vectors and a second "
            "copy of A's rows",
    .when = "if a good omega is known. On a grid, the number of iterations then grows with the width of the grid, not "
            "with the square of the width. With omega 1, sor is the same as gs",
    .vectors = 1,
    .window = 1000,
    .diff = true,
    .omega = 1.5,
    .no_precond = true,
    .complex_steps = true,
    .products = 1,
    .bytes = bytes,
    .held = held,
    .init = init,
    .step = step,
    .peers = {.petsc = "-ksp_type richardson " TESTED " -pc_type sor -pc_sor_forward -pc_sor_omega 1.5"},
};
