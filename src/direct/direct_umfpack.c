/* L U by UMFPACK, which updates dense blocks (the multifrontal method), for general square matrices. */
#include "base/err.h"
#include "base/shared.h"
#include "direct_state.h"

#include <math.h>
#include <suitesparse/umfpack.h>

#define TEXT_OF(x) #x
#define NAME_OF(version) "libumfpack.so." TEXT_OF(version)
#define PACKAGE_OF(version) "libumfpack" TEXT_OF(version)

typedef SuiteSparse_long whole;

/* A complex matrix is passed with its pairs in Ax and a null Az. */
static struct {
    void (*defaults)(double *);
    whole (*symbolic)(whole, whole, const whole *, const whole *, const double *, void **, const double *, double *);
    whole (*complex_symbolic)(whole, whole, const whole *, const whole *, const double *, const double *, void **,
                              const double *, double *);
    whole (*numeric)(const whole *, const whole *, const double *, void *, void **, const double *, double *);
    whole (*complex_numeric)(const whole *, const whole *, const double *, const double *, void *, void **,
                             const double *, double *);
    whole (*solve)(whole, const whole *, const whole *, const double *, double *, const double *, void *,
                   const double *, double *);
    whole (*complex_solve)(whole, const whole *, const whole *, const double *, const double *, double *, double *,
                           const double *, const double *, void *, const double *, double *);
    void (*free_symbolic)(void **);
    void (*free_numeric)(void **);
    void (*complex_free_numeric)(void **);
} umfpack;

static const struct shared_function functions[] = {{"umfpack_dl_defaults", &umfpack.defaults},
                                                   {"umfpack_dl_symbolic", &umfpack.symbolic},
                                                   {"umfpack_zl_symbolic", &umfpack.complex_symbolic},
                                                   {"umfpack_dl_numeric", &umfpack.numeric},
                                                   {"umfpack_zl_numeric", &umfpack.complex_numeric},
                                                   {"umfpack_dl_solve", &umfpack.solve},
                                                   {"umfpack_zl_solve", &umfpack.complex_solve},
                                                   {"umfpack_dl_free_symbolic", &umfpack.free_symbolic},
                                                   {"umfpack_dl_free_numeric", &umfpack.free_numeric},
                                                   {"umfpack_zl_free_numeric", &umfpack.complex_free_numeric},
                                                   {0}};

static struct shared_library library = {
    .file = NAME_OF(UMFPACK_MAIN_VERSION), .package = PACKAGE_OF(UMFPACK_MAIN_VERSION), .functions = functions};

struct state {
    double control[UMFPACK_CONTROL], info[UMFPACK_INFO];
    void *symbolic, *numeric;
};

static bool failed(whole status, struct err *e)
{
    if (status == UMFPACK_ERROR_out_of_memory) return fail(e, E_MEMORY, "UMFPACK ran out of memory");
    return fail(e, E_INTERNAL, "UMFPACK failed with status %lld", (long long)status);
}

/* The strategy for symmetric patterns prefers pivots on the diagonal. */
static const char *ordering_of(const double *info)
{
    if (info[UMFPACK_ORDERING_USED] == UMFPACK_ORDERING_METIS) return "METIS";
    return info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC ? "AMD" : "COLAMD";
}

/* The library counts the nonzeros of factors with pivots on the diagonal, which the symmetric strategy prefers, and an
   upper bound for all choices of pivots. The dense blocks take about as much room as the values. */
static void plan(struct direct *v, const double *info)
{
    double value = v->A.pairs ? 16 : 8;
    struct direct_plan *p = &v->plan;
    p->ordering = ordering_of(info);
    p->bound = info[UMFPACK_STRATEGY_USED] != UMFPACK_STRATEGY_SYMMETRIC;
    if (p->bound) {
        p->nnz = info[UMFPACK_LNZ_ESTIMATE] + info[UMFPACK_UNZ_ESTIMATE] - (double)v->A.cols;
        p->flops = info[UMFPACK_FLOPS_ESTIMATE];
        p->bytes = info[UMFPACK_PEAK_MEMORY_ESTIMATE] * info[UMFPACK_SIZE_OF_UNIT];
    } else {
        p->nnz = info[UMFPACK_SYMMETRIC_LUNZ];
        p->flops = info[UMFPACK_SYMMETRIC_FLOPS];
        p->bytes = 2 * (value + 4) * p->nnz + 100.0 * (double)v->A.cols;
    }
}

static bool analyse(struct direct *v, struct err *e)
{
    struct state *s = direct_state_new(v, sizeof *s, e);
    if (!s) return false;
    const struct direct_matrix *A = &v->A;
    umfpack.defaults(s->control);
    s->control[UMFPACK_IRSTEP] = 0; /* direct_answer.c refines x, with a more accurate residual */
    whole status =
        A->pairs ? umfpack.complex_symbolic(A->rows, A->cols, A->start, A->row, A->val, NULL, &s->symbolic, s->control,
                                            s->info)
                 : umfpack.symbolic(A->rows, A->cols, A->start, A->row, A->val, &s->symbolic, s->control, s->info);
    if (status < 0) return failed(status, e);
    plan(v, s->info);
    return true;
}

static void drop_numeric(struct direct *v)
{
    struct state *s = v->state;
    (v->A.pairs ? umfpack.complex_free_numeric : umfpack.free_numeric)(&s->numeric);
}

static bool factor(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    struct direct_factors *f = &v->factors;
    const struct direct_matrix *A = &v->A;
    drop_numeric(v);
    whole status = A->pairs ? umfpack.complex_numeric(A->start, A->row, A->val, NULL, s->symbolic, &s->numeric,
                                                      s->control, s->info)
                            : umfpack.numeric(A->start, A->row, A->val, s->symbolic, &s->numeric, s->control, s->info);
    if (status < 0) return failed(status, e);
    f->kind = "L U";
    f->nnz = s->info[UMFPACK_LNZ] + s->info[UMFPACK_UNZ] - (double)A->cols;
    f->flops = s->info[UMFPACK_FLOPS];
    f->bytes = s->info[UMFPACK_PEAK_MEMORY] * s->info[UMFPACK_SIZE_OF_UNIT];
    f->off_diagonal = (int64_t)s->info[UMFPACK_NOFF_DIAG];
    f->pivot_least = s->info[UMFPACK_UMIN];
    f->pivot_most = s->info[UMFPACK_UMAX];
    f->scaled = s->info[UMFPACK_WAS_SCALED] != UMFPACK_SCALE_NONE;
    if (status == UMFPACK_WARNING_singular_matrix)
        direct_unusable(v, "singular to fp64: %lld of %lld pivots are 0",
                        (long long)A->cols - (long long)s->info[UMFPACK_UDIAG_NZ], (long long)A->cols);
    else
        f->rank = A->cols;
    return true;
}

static bool solve(struct direct *v, bool conjugate, const double *b, double *x, struct err *e)
{
    struct state *s = v->state;
    const struct direct_matrix *A = &v->A;
    whole system = conjugate ? UMFPACK_At : UMFPACK_A;
    whole status = A->pairs ? umfpack.complex_solve(system, A->start, A->row, A->val, NULL, x, NULL, b, NULL,
                                                    s->numeric, s->control, s->info)
                            : umfpack.solve(system, A->start, A->row, A->val, x, b, s->numeric, s->control, s->info);
    return status >= 0 || failed(status, e);
}

static void drop(struct direct *v)
{
    struct state *s = v->state;
    umfpack.free_symbolic(&s->symbolic);
    drop_numeric(v);
}

const struct direct_method direct_umfpack = {
    .name = "umfpack",
    .title = "UMFPACK",
    .about = "sparse L U with partial pivoting on dense blocks (multifrontal)",
    .source = "Davis 2004",
    .needs = "a square matrix",
    .when = "A is square and not symmetric, and its factors fill in",
    .library = &library,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .drop = drop,
    .peers = {.petsc = "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type umfpack",
              .amgx = "\"solver\": \"DENSE_LU_SOLVER\"",
              .ginkgo = "\"type\": \"solver::Direct\", \"factorization\": {\"type\": \"factorization::Lu\"}",
              .scipy = "x = linalg.spsolve(A.tocsc(), b)  # by SuperLU\n"},
};
