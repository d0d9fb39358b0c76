/* Jacobi's method, x' = x + D^-1 (b - A x), and weighted Jacobi, x' = x + omega D^-1 (b - A x). Two vectors alternate
   as source and target (THESIS 3.2). In the matrix form, B = I - omega D^-1 A and f = omega D^-1 b are computed once,
   and an iteration is x' = B x + f. */
#include "base/base.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/precision.h"
#include "formats/format.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "precond.h"
#include "solve.h"
#include "solve_state.h"
#include "solver.h"

#include <complex.h>
#include <string.h>

/* X2 alternates with VEC_X; Q = A x; DINV = omega / a_ii. In the matrix form, Q = B x, and D and F replace DINV:
   D = a_ii / omega, F = f. */
enum { JACOBI_X2 = VEC_OWN, JACOBI_Q, JACOBI_DINV, JACOBI_D = JACOBI_DINV, JACOBI_F };

/* B in the format of the kernel, on the host and on the device. */
struct iteration_matrix {
    struct stored S;
    struct mat M;
};

static double omega_of(const struct solve *v)
{
    return v->set.omega > 0 ? v->set.omega : 1;
}

static bool put_diagonal(struct solve *v, struct err *e)
{
    double *dinv = mem_new(v->n, sizeof *dinv, "the inverted diagonal", e);
    bool ok = dinv && diagonal_inverse(v->system.A, v->solver->name, omega_of(v), dinv, e) &&
              solve_put(v, v->vec[JACOBI_DINV], dinv, e);
    mem_free(dinv);
    return ok;
}

/* ---- the matrix form ---- */

/* Divide *re + i *im by element i of d. im is NULL for real numbers; otherwise the elements of d are pairs. */
static void divide_by(const double *d, int64_t i, double *re, double *im)
{
    if (!im) {
        *re /= d[i];
        return;
    }
    double complex quotient = CMPLX(*re, *im) / ((const double complex *)d)[i];
    *re = creal(quotient);
    *im = cimag(quotient);
}

/* Row i of B = I - omega D^-1 A; the slots from k on receive its entries. Returns the slot after the row. With omega 1,
   B has no diagonal. */
static int row_of_b(const struct csr *A, int64_t i, double omega, const double *d, struct csr *B, int k)
{
    for (int j = A->rowptr[i]; j < A->rowptr[i + 1]; j++) {
        bool diagonal = A->col[j] == i;
        if (diagonal && omega == 1) continue;
        double *re = &B->val[k], *im = A->imag ? &B->imag[k] : NULL;
        B->col[k++] = A->col[j];
        *re = diagonal ? 1 - omega : -A->val[j];
        if (im) *im = diagonal ? 0 : -A->imag[j];
        if (!diagonal) divide_by(d, i, re, im);
    }
    return k;
}

/* d[i] = a_ii / omega */
static bool make_b(const struct solve *v, const double *d, struct csr *B, struct err *e)
{
    const struct csr *A = v->system.A;
    double omega = omega_of(v);
    int64_t rows = A->rows;
    struct loop l = loop_of("the iteration matrix", rows);
    int k = 0;
    if (!csr_new(B, rows, rows, A->nnz - (omega == 1 ? rows : 0), A->imag != NULL, e)) return false;
    for (int64_t i = 0; i < rows && loop_goes(&l, i); i++) {
        k = row_of_b(A, i, omega, d, B, k);
        B->rowptr[i + 1] = k;
    }
    return loop_end(&l, e);
}

/* Pack B in the format of the kernel, and copy it to the device. */
static bool put_b(struct solve *v, const double *d, struct err *e)
{
    const struct kernel *k = v->matrix.kernel;
    struct csr B = {0};
    struct iteration_matrix *own = v->solver_data = mem_zero(1, sizeof *own, "the iteration matrix", e);
    bool ok = own && make_b(v, d, &B, e) &&
              format_pack(&B, k->format, NULL, precision_of_type(v->real), v->set.force, &own->S, e) &&
              (!k->fits || k->fits(&own->S, e)) && mat_put(&own->M, &own->S, v->dev, e);
    csr_free(&B);
    return ok;
}

/* f = omega D^-1 b */
static bool put_f(struct solve *v, const double *d, struct err *e)
{
    double *f = mem_new(v->n, sizeof *f, "the vector f", e);
    bool pairs = v->matrix.csr->imag;
    int64_t parts = pairs ? 2 : 1;
    struct loop l = loop_of("the vector f", v->matrix.csr->rows);
    bool ok = f && loop_copy(f, v->system.b, v->n * (int64_t)sizeof *f, "the vector f", e);
    for (int64_t i = 0; ok && i < v->matrix.csr->rows && loop_goes(&l, i); i++)
        divide_by(d, i, &f[parts * i], pairs ? &f[2 * i + 1] : NULL);
    ok = ok && loop_end(&l, e) && solve_vectors(v, JACOBI_F, 1, v->real, "the vector f", e) &&
         solve_put(v, v->vec[JACOBI_F], f, e);
    mem_free(f);
    return ok;
}

static bool form(struct solve *v, struct err *e)
{
    double *d = mem_new(v->n, sizeof *d, "the diagonal", e);
    struct loop l = loop_of("the diagonal", v->n);
    bool ok = d && diagonal_of(v->system.A, v->solver->name, d, e);
    for (int64_t i = 0; ok && i < v->n && loop_goes(&l, i); i++) d[i] /= omega_of(v);
    ok = ok && loop_end(&l, e) && put_b(v, d, e) && put_f(v, d, e) && solve_put(v, v->vec[JACOBI_D], d, e);
    mem_free(d);
    return ok;
}

static void drop(struct solve *v)
{
    struct iteration_matrix *own = v->solver_data;
    if (own->M.dev) mat_free(&own->M);
    stored_free(&own->S);
}

static int64_t held(const struct solve *v)
{
    const struct iteration_matrix *own = v->solver_data;
    return own ? stored_bytes(&own->S) : 0;
}

static bool multiply_b(struct solve *v, const void *x, void *q, struct err *e)
{
    const struct iteration_matrix *own = v->solver_data;
    struct launch L = {.A = &own->M, .alpha = 1, .beta = 0, .x = x, .y = q};
    return kernel_launch(v->matrix.kernel, &L, e);
}

/* ---- an iteration ---- */

/* Record the residual of the x of iteration k, and write the x of iteration k + 1 to the other vector, which until then
   holds the x of the last record. */
static bool sweep(struct solve *v, int64_t k, struct err *e)
{
    const int changed = k % 2 ? VEC_X : JACOBI_X2;
    const void *from = v->vec[k % 2 ? JACOBI_X2 : VEC_X];
    void *to = v->vec[changed], *q = v->vec[JACOBI_Q];
    phase_begin(v, PHASE_SPMV);
    if (!(v->set.form_matrix ? multiply_b : solve_spmv)(v, from, q, e)) return false;
    phase_begin(v, PHASE_UPDATE);
    if (!cut_hold(v, 1, &changed, false, e)) return false;
    if (v->set.form_matrix)
        v->ops.vec->affine(v->dev, v->n, v->scalars, q, v->vec[JACOBI_F], v->vec[JACOBI_D], from, to);
    else
        v->ops.vec->jacobi(v->dev, v->n, v->scalars, v->vec[VEC_B], q, v->vec[JACOBI_DINV], from, to);
    return true;
}

static bool init(struct solve *v, struct err *e)
{
    return (v->set.form_matrix ? form : put_diagonal)(v, e) && sweep(v, 0, e);
}

static bool step(struct solve *v, struct err *e)
{
    return sweep(v, v->schedule.queued + 1, e);
}

static bool steps(struct solve *v, int64_t n, struct err *e)
{
    bool odd = (v->schedule.queued + 1) % 2;
    const int vectors[] = {odd ? JACOBI_X2 : VEC_X, odd ? VEC_X : JACOBI_X2, VEC_B, JACOBI_DINV};
    return cluster_steps_of(v, cluster_ops_of(v->dev)->jacobi, COUNT(vectors), vectors, n, e);
}

static bool finish(struct solve *v, struct err *e)
{
    if ((v->iterations - v->base) % 2 == 0) return true;
    void *x = v->vec[JACOBI_X2];
    v->vec[JACOBI_X2] = v->vec[VEC_X];
    v->vec[VEC_X] = x;
    return true;
}

static double bytes(const struct csr *A, size_t real, int64_t m)
{
    return csr_bytes(A, real) + 3.0 * (double)real * (double)A->rows;
}

/* B has one entry less per row than A, unless omega differs from 1. x, f and D are read, and x' is written. */
static double form_bytes(const struct solve *v)
{
    size_t value = type_size(solve_type(v));
    double rows = (double)v->matrix.csr->rows, entry = (double)(value + 4);
    return csr_bytes(v->matrix.csr, value) - (omega_of(v) == 1 ? entry * rows : 0) + 4.0 * (double)value * rows;
}

const struct solver solver_jacobi = {
    .name = "jacobi",
    .about = "solves every row for its own unknown; converges if A is diagonally dominant",
    .source = "THESIS 3.2",
    .needs = "a square matrix with no zero on the diagonal",
    .advice = "Jacobi is certain to converge only if every row is diagonally dominant (see `stats`); "
              "for a symmetric positive definite matrix, use cg",
    .cost = "one SpMV with A and one pass over the vectors; memory for 5 vectors",
    .when = "to see what the simplest method does, or if A is strongly diagonally dominant. All rows are updated at "
            "the same time, which suits a GPU, but on a grid the number of iterations grows with the square of the "
            "grid's width",
    .vectors = 3,
    .window = 1000, /* convergence may be slow, so a gain of 1% may take up to 1000 iterations */
    .diff = true,
    .alternates = true,
    .several = true,
    .no_precond = true,
    .complex_steps = true,
    .products = 1,
    .bytes = bytes,
    .form_bytes = form_bytes,
    .held = held,
    .drop = drop,
    .init = init,
    .step = step,
    .steps = steps,
    .cluster_vectors = 4,
    .finish = finish,
    .peers =
        {.petsc = "-ksp_type richardson -pc_type jacobi",
         .amgx = "\"solver\": \"BLOCK_JACOBI\", \"relaxation_factor\": 1",
         .ginkgo =
             "\"type\": \"solver::Ir\", \"solver\": {\"type\": \"preconditioner::Jacobi\", \"max_block_size\": 1}"},
};

const struct solver solver_wjacobi = {
    .name = "wjacobi",
    .aliases = "weighted-jacobi damped-jacobi",
    .about = "Jacobi with steps shortened by omega, which damps oscillating errors",
    .source = "textbook",
    .needs = "a square matrix with no zero on the diagonal",
    .advice = "a smaller omega damps more; for a symmetric positive definite matrix, use cg",
    .cost = "one SpMV with A and one pass over the vectors; memory for 5 vectors",
    .when =
        "as a smoother: with omega 2/3, oscillating errors vanish in a few iterations, but smooth errors hardly shrink",
    .vectors = 3,
    .window = 1000,
    .diff = true,
    .alternates = true,
    .several = true,
    .no_precond = true,
    .complex_steps = true,
    .omega = 2. / 3,
    .products = 1,
    .bytes = bytes,
    .form_bytes = form_bytes,
    .held = held,
    .drop = drop,
    .init = init,
    .step = step,
    .steps = steps,
    .cluster_vectors = 4,
    .finish = finish,
    .peers = {.petsc = "-ksp_type richardson -ksp_richardson_scale 0.6667 -pc_type jacobi",
              .amgx = "\"solver\": \"BLOCK_JACOBI\", \"relaxation_factor\": 0.6667",
              .ginkgo = "\"type\": \"solver::Ir\", \"relaxation_factor\": 0.6667, \"solver\": {\"type\": "
                        "\"preconditioner::Jacobi\", \"max_block_size\": 1}"},
};
