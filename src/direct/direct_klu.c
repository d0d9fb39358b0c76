/* L U by KLU: a permutation to block triangular form, then columns without dense blocks, for circuit matrices. */
#include "base/err.h"
#include "base/shared.h"
#include "direct_state.h"

#include <math.h>
#include <string.h>
#include <suitesparse/klu.h>

#define TEXT_OF(x) #x
#define NAME_OF(version) "libklu.so." TEXT_OF(version)
#define PACKAGE_OF(version) "libklu" TEXT_OF(version)

/* Davis and Palamadai Natarajan 2010, section 5: below about this number of operations per nonzero of the factors, a
   method without dense blocks is the faster one. */
static const double flops_per_nonzero_most = 40;

typedef klu_l_numeric *factor_fn(SuiteSparse_long *, SuiteSparse_long *, double *, klu_l_symbolic *, klu_l_common *);
typedef SuiteSparse_long solve_fn(klu_l_symbolic *, klu_l_numeric *, SuiteSparse_long, SuiteSparse_long, double *,
                                  klu_l_common *);
typedef SuiteSparse_long flops_fn(klu_l_symbolic *, klu_l_numeric *, klu_l_common *);
typedef SuiteSparse_long free_fn(klu_l_numeric **, klu_l_common *);

static struct {
    SuiteSparse_long (*defaults)(klu_l_common *);
    klu_l_symbolic *(*analyze)(SuiteSparse_long, SuiteSparse_long *, SuiteSparse_long *, klu_l_common *);
    SuiteSparse_long (*free_symbolic)(klu_l_symbolic **, klu_l_common *);
    factor_fn *factor, *complex_factor;
    solve_fn *solve, *complex_solve, *tsolve;
    SuiteSparse_long (*complex_tsolve)(klu_l_symbolic *, klu_l_numeric *, SuiteSparse_long, SuiteSparse_long, double *,
                                       SuiteSparse_long, klu_l_common *);
    flops_fn *flops, *complex_flops;
    free_fn *free, *complex_free;
} klu;

static const struct shared_function functions[] = {
    {"klu_l_defaults", &klu.defaults},           {"klu_l_analyze", &klu.analyze},
    {"klu_l_free_symbolic", &klu.free_symbolic}, {"klu_l_factor", &klu.factor},
    {"klu_zl_factor", &klu.complex_factor},      {"klu_l_solve", &klu.solve},
    {"klu_zl_solve", &klu.complex_solve},        {"klu_l_tsolve", &klu.tsolve},
    {"klu_zl_tsolve", &klu.complex_tsolve},      {"klu_l_flops", &klu.flops},
    {"klu_zl_flops", &klu.complex_flops},        {"klu_l_free_numeric", &klu.free},
    {"klu_zl_free_numeric", &klu.complex_free},  {0}};

static struct shared_library library = {
    .file = NAME_OF(KLU_MAIN_VERSION), .package = PACKAGE_OF(KLU_MAIN_VERSION), .functions = functions};

struct state {
    klu_l_common common;
    klu_l_symbolic *symbolic;
    klu_l_numeric *numeric;
};

static bool failed(const klu_l_common *common, struct err *e)
{
    if (common->status == KLU_TOO_LARGE)
        return fail(e, E_LIMIT,
                    "the factors have more nonzeros than KLU can count; use an iterative solver (`solvers`)");
    if (common->status == KLU_OUT_OF_MEMORY) return fail(e, E_MEMORY, "KLU ran out of memory");
    return fail(e, E_INTERNAL, "KLU failed with status %lld", (long long)common->status);
}

static double value_bytes(const struct direct *v)
{
    return v->A.pairs ? 16 : 8;
}

static bool analyse(struct direct *v, struct err *e)
{
    struct state *s = direct_state_new(v, sizeof *s, e);
    if (!s) return false;
    klu.defaults(&s->common);
    s->symbolic = klu.analyze(v->A.cols, v->A.start, v->A.row, &s->common);
    if (!s->symbolic) return failed(&s->common, e);
    const klu_l_symbolic *y = s->symbolic;
    bool known = y->lnz >= 0 && y->unz >= 0;
    v->plan.nnz = known ? y->lnz + y->unz - (double)y->n + (double)y->nzoff : NAN;
    v->plan.flops = y->est_flops >= 0 ? y->est_flops * (v->A.pairs ? 4 : 1) : NAN;
    v->plan.bytes = (value_bytes(v) + 8) * v->plan.nnz + 100.0 * (double)v->A.cols;
    v->plan.ordering = y->ordering == 0 ? "block triangular, AMD" : "block triangular, COLAMD";
    return true;
}

static void pivots_of(const struct direct *v, const klu_l_numeric *numeric, struct direct_factors *f)
{
    const double *d = numeric->Udiag;
    for (int64_t i = 0; i < numeric->n; i++) direct_pivot(f, v->A.pairs ? hypot(d[2 * i], d[2 * i + 1]) : d[i]);
}

static void note_singular(struct direct *v, const klu_l_common *common)
{
    if (common->structural_rank >= 0 && common->structural_rank < v->A.cols)
        direct_unusable(v, "singular by its pattern: structural rank %lld of %lld", (long long)common->structural_rank,
                        (long long)v->A.cols);
    else
        direct_unusable(v, "singular to fp64: column %lld has no nonzero pivot", (long long)common->singular_col);
}

static void drop_numeric(struct direct *v)
{
    struct state *s = v->state;
    (v->A.pairs ? klu.complex_free : klu.free)(&s->numeric, &s->common);
}

static bool factor(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    struct direct_factors *f = &v->factors;
    f->kind = "L U";
    drop_numeric(v);
    s->numeric =
        (v->A.pairs ? klu.complex_factor : klu.factor)(v->A.start, v->A.row, v->A.val, s->symbolic, &s->common);
    f->bytes = (double)s->common.mempeak;
    if (s->common.status == KLU_SINGULAR) return note_singular(v, &s->common), true;
    if (!s->numeric) return failed(&s->common, e);
    (v->A.pairs ? klu.complex_flops : klu.flops)(s->symbolic, s->numeric, &s->common);
    f->nnz = (double)(s->numeric->lnz + s->numeric->unz - s->numeric->n + s->numeric->nzoff);
    f->flops = s->common.flops * (v->A.pairs ? 4 : 1);
    f->off_diagonal = s->common.noffdiag;
    f->rank = v->A.cols;
    f->scaled = s->numeric->Rs;
    pivots_of(v, s->numeric, f);
    return true;
}

static bool solve(struct direct *v, bool conjugate, const double *b, double *x, struct err *e)
{
    struct state *s = v->state;
    SuiteSparse_long n = v->A.cols, ok;
    memcpy(x, b, (size_t)n * sizeof *x * (v->A.pairs ? 2 : 1));
    if (conjugate && v->A.pairs)
        ok = klu.complex_tsolve(s->symbolic, s->numeric, n, 1, x, 1, &s->common);
    else
        ok = (conjugate    ? klu.tsolve
              : v->A.pairs ? klu.complex_solve
                           : klu.solve)(s->symbolic, s->numeric, n, 1, x, &s->common);
    return ok || failed(&s->common, e);
}

static void drop(struct direct *v)
{
    struct state *s = v->state;
    drop_numeric(v);
    klu.free_symbolic(&s->symbolic, &s->common);
}

static bool pays(const struct direct *v)
{
    return v->plan.flops < flops_per_nonzero_most * v->plan.nnz;
}

const struct direct_method direct_klu = {
    .name = "klu",
    .title = "KLU",
    .about = "sparse L U with partial pivoting on each block of a block triangular form",
    .source = "Davis and Palamadai Natarajan 2010",
    .needs = "a square matrix",
    .when = "the factors stay very sparse, as for circuits",
    .library = &library,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .drop = drop,
    .pays = pays,
    .peers = {.petsc = "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type klu",
              .amgx = "\"solver\": \"DENSE_LU_SOLVER\"",
              .ginkgo = "\"type\": \"solver::Direct\", \"factorization\": {\"type\": \"factorization::Lu\"}",
              .scipy = "x = linalg.spsolve(A.tocsc(), b)  # by SuperLU\n"},
};
