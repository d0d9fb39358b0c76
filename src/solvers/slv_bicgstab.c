/* Stabilised bi-conjugate gradients (van der Vorst 1992), in six launches per iteration. */
#include <stdio.h>

#include "base/base.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

enum { BICG_R = VEC_OWN, BICG_SHADOW, BICG_P, BICG_V, BICG_T };

/* the vectors that the second half of an iteration changes in place */
static const int changed[] = {VEC_X, BICG_R, BICG_P};

/* r = shadow = p = b - A x. After a breakdown, this starts a new Krylov space. */
static bool start(struct solve *v, struct err *e)
{
    if (!solve_spmv(v, v->vec[VEC_X], v->vec[BICG_V], e)) return false;
    return PASS(v, bicgstab, begin, e,
                VECTORS(v->vec[VEC_B], v->vec[BICG_V], v->vec[BICG_R], v->vec[BICG_SHADOW], v->vec[BICG_P]));
}

static bool init(struct solve *v, struct err *e)
{
    if (!start(v, e)) return false;
    v->ops.vec->record(v->dev, v->scalars);
    return true;
}

bool bicg_half_step(struct solve *v, const void *p, void *q, const void *shadow, int r, struct err *e)
{
    if (v->cut.stage) return true;
    phase_begin(v, PHASE_SPMV);
    if (!solve_spmv(v, p, q, e)) return false;
    phase_begin(v, PHASE_DOT);
    if (!PASS(v, bicgstab, alpha, e, VECTORS(shadow, q))) return false;
    phase_begin(v, PHASE_UPDATE);
    if (!cut_hold(v, 1, &r, false, e)) return false;
    return PASS(v, bicgstab, half, e, VECTORS(q, v->vec[r])) && cut_release(v, 1, e);
}

bool bicg_second_product(struct solve *v, const void *r, void *t, struct err *e)
{
    phase_begin(v, PHASE_SPMV);
    if (!solve_spmv(v, r, t, e)) return false;
    phase_begin(v, PHASE_DOT);
    return PASS(v, bicgstab, omega, e, VECTORS(t, r));
}

static bool step(struct solve *v, struct err *e)
{
    if (!bicg_half_step(v, v->vec[BICG_P], v->vec[BICG_V], v->vec[BICG_SHADOW], BICG_R, e)) return false;
    if (!bicg_second_product(v, v->vec[BICG_R], v->vec[BICG_T], e)) return false;
    phase_begin(v, PHASE_UPDATE);
    if (!cut_hold(v, COUNT(changed), changed, false, e)) return false;
    if (!PASS(v, bicgstab, update, e,
              VECTORS(v->vec[BICG_P], v->vec[BICG_T], v->vec[BICG_SHADOW], v->vec[BICG_R], v->vec[VEC_X])))
        return false;
    phase_begin(v, PHASE_DIRECTION);
    return PASS(v, bicgstab, direction, e, VECTORS(v->vec[BICG_R], v->vec[BICG_V], v->vec[BICG_P]));
}

static bool steps(struct solve *v, int64_t n, struct err *e)
{
    static const int vectors[] = {VEC_X, BICG_R, BICG_P, BICG_SHADOW};
    return cluster_steps_of(v, cluster_ops_of(v->dev)->bicgstab, COUNT(vectors), vectors, n, e);
}

const char *bicg_quantity(int what)
{
    static const char *const name[] = {"?", "rho = r0.r", "r0.Ap", "t.s of omega"};
    return name[what];
}

void bicg_explain(const struct solve *v, char *out, size_t size)
{
    snprintf(out, size,
             "broke down: %s = %.2e is 0 up to rounding errors, after iteration %lld; gmres does not divide by this "
             "quantity",
             bicg_quantity((int)v->host_scalars[S_WHAT]), v->host_scalars[S_PQ], (long long)v->iterations);
}

static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return 2 * csr_bytes(A, real) + 19.0 * (double)real * (double)A->rows;
}

const struct solver solver_bicgstab = {
    .name = "bicgstab",
    .aliases = "bcgs",
    .about = "stabilised bi-conjugate gradients: short recurrences for any matrix",
    .source = "van der Vorst 1992",
    .needs = "a square matrix",
    .advice = "bicgstab is erratic if eigenvalues lie near the imaginary axis or A is ill-conditioned",
    .cost = "two SpMVs with A (and two with a preconditioner), 19 vectors read or written; memory for 7 vectors",
    .when = "for a matrix that is not symmetric: the cost of bicgstab per iteration is constant. If the residual "
            "jumps, use qmrcgstab; if bicgstab breaks down, use gmres; precond ilu0 often helps",
    .vectors = 5,
    .window = 100,
    .window_per_row = 3,
    .window_most = 2000,
    .probes = true,
    .refines = true,
    .products_only = true,
    .several = true,
    .columns = true,
    .complex_steps = true,
    .products = 2,
    .bytes = bytes,
    .init = init,
    .step = step,
    .steps = steps,
    .cluster_vectors = 6,
    .recover = start,
    .divisor = bicg_quantity,
    .explain = bicg_explain,
    .peers = {.petsc = "-ksp_type bcgs -ksp_pc_side right",
              .hypre = "BiCGSTAB",
              .amgx = "\"solver\": \"PBICGSTAB\"",
              .ginkgo = "\"type\": \"solver::Bicgstab\"",
              .scipy = "x, info = linalg.bicgstab(A, b, rtol=tol, atol=0, maxiter=maxit, M=M, callback=count)\n",
              .cuda =
                  "    // BiCGStab, preconditioned from the right; r = b because x = 0\n"
                  "    double *v = on_device<double>(n), *p = on_device<double>(n), *t = on_device<double>(n);\n"
                  "    double *y = on_device<double>(n), *z = on_device<double>(n), rho = 1, alpha = 1, omega = 1;\n"
                  "    for (; iterations < maxit && sqrt(dot(r, r)) > limit; iterations++) {\n"
                  "        double before = rho;\n"
                  "        rho = dot(b, r);\n"
                  "        if (!rho || !omega) STOP(\"breakdown after %d iterations\", iterations);\n"
                  "        add(-omega, v, p);\n"
                  "        onto(r, rho / before * (alpha / omega), p);\n"
                  "        precondition(p, y);\n"
                  "        multiply(y, v);\n"
                  "        alpha = rho / dot(b, v);\n"
                  "        add(-alpha, v, r);\n"
                  "        precondition(r, z);\n"
                  "        multiply(z, t);\n"
                  "        double tt = dot(t, t);\n"
                  "        omega = tt ? dot(t, r) / tt : 0;\n"
                  "        add(alpha, y, x);\n"
                  "        add(omega, z, x);\n"
                  "        add(-omega, t, r);\n"
                  "    }\n"},
};
