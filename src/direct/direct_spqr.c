/* Q R by SPQR: least squares, least norm, and matrices without full rank. */
#include "base/err.h"
#include "cholmod_calls.h"

#include <math.h>
#include <suitesparse/SuiteSparseQR_C.h>

#define TEXT_OF(x) #x
#define NAME_OF(version) "libspqr.so." TEXT_OF(version)
#define PACKAGE_OF(version) "libspqr" TEXT_OF(version)

typedef SuiteSparseQR_C_factorization factors;

static struct {
    factors *(*symbolic)(int, int, cholmod_sparse *, cholmod_common *);
    int (*numeric)(double, cholmod_sparse *, factors *, cholmod_common *);
    int (*free)(factors **, cholmod_common *);
    cholmod_dense *(*solve)(int, factors *, cholmod_dense *, cholmod_common *);
    cholmod_dense *(*qmult)(int, factors *, cholmod_dense *, cholmod_common *);
} spqr;

static const struct shared_function functions[] = {
    {"SuiteSparseQR_C_symbolic", &spqr.symbolic}, {"SuiteSparseQR_C_numeric", &spqr.numeric},
    {"SuiteSparseQR_C_free", &spqr.free},         {"SuiteSparseQR_C_solve", &spqr.solve},
    {"SuiteSparseQR_C_qmult", &spqr.qmult},       {0}};

static struct shared_library library = {
    .file = NAME_OF(SPQR_MAIN_VERSION), .package = PACKAGE_OF(SPQR_MAIN_VERSION), .functions = functions};

/* Indices of cholmod_common.SPQR_istat; the numbers of nonzeros are upper bounds. */
enum { NNZ_R, NNZ_H, RANK = 4, ORDERING = 7 };

struct state {
    cholmod_common common;
    factors *QR;
};

static bool symbolic(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    cholmod_sparse A = cholmod_matrix(&v->A, 0);
    spqr.free(&s->QR, &s->common);
    s->QR = spqr.symbolic(SPQR_ORDERING_DEFAULT, true, &A, &s->common);
    return s->QR || cholmod_failed(&s->common, "SPQR", e);
}

static bool analyse(struct direct *v, struct err *e)
{
    struct state *s = direct_state_new(v, sizeof *s, e);
    if (!s) return false;
    cholmod_calls.start(&s->common);
    s->common.print = 0;
    if (!symbolic(v, e)) return false;
    v->plan.nnz = (double)(s->common.SPQR_istat[NNZ_R] + s->common.SPQR_istat[NNZ_H]);
    v->plan.flops = s->common.SPQR_flopcount_bound * (v->A.pairs ? 4 : 1);
    v->plan.bytes = (v->A.pairs ? 16 : 8) * v->plan.nnz + 100.0 * (double)(v->A.rows + v->A.cols);
    v->plan.bound = true;
    v->plan.ordering = cholmod_ordering((int)s->common.SPQR_istat[ORDERING]);
    return true;
}

static bool numeric(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    cholmod_sparse A = cholmod_matrix(&v->A, 0);
    return spqr.numeric(SPQR_DEFAULT_TOL, &A, s->QR, &s->common) || cholmod_failed(&s->common, "SPQR", e);
}

/* A solution of least norm comes from the factors of A', but only if the rows of A are independent. Otherwise, the
   factors of A give a least-squares solution. */
static bool factor(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    struct direct_factors *f = &v->factors;
    if (!numeric(v, e)) return false;
    bool dependent = v->wide && s->common.SPQR_istat[RANK] < v->A.cols;
    if (dependent && !(direct_turn(v, e) && symbolic(v, e) && numeric(v, e))) return false;
    f->kind = "Q R";
    f->flops = s->common.SPQR_flopcount * (v->A.pairs ? 4 : 1);
    f->bytes = (double)s->common.memory_usage;
    f->rank = s->common.SPQR_istat[RANK];
    return true;
}

/* x = E R^-1 Q' b, or x = Q R^-H E' b, for A E = Q R. */
static bool solve(struct direct *v, bool conjugate, const double *b, double *x, struct err *e)
{
    struct state *s = v->state;
    bool adjoint = conjugate != v->wide;
    cholmod_dense B = cholmod_vector(adjoint ? v->A.cols : v->A.rows, v->A.pairs, b);
    cholmod_dense *Y =
        adjoint ? spqr.solve(SPQR_RTX_EQUALS_ETB, s->QR, &B, &s->common) : spqr.qmult(SPQR_QTX, s->QR, &B, &s->common);
    if (!Y) return cholmod_failed(&s->common, "SPQR", e);
    cholmod_dense *X =
        adjoint ? spqr.qmult(SPQR_QX, s->QR, Y, &s->common) : spqr.solve(SPQR_RETX_EQUALS_B, s->QR, Y, &s->common);
    cholmod_calls.free_dense(&Y, &s->common);
    return cholmod_take(&s->common, "SPQR", X, v->A.pairs, x, e);
}

static void drop(struct direct *v)
{
    struct state *s = v->state;
    spqr.free(&s->QR, &s->common);
    cholmod_calls.finish(&s->common);
}

const struct direct_method direct_spqr = {
    .name = "spqr",
    .title = "SPQR",
    .about = "sparse Q R: least squares, least norm, and the rank",
    .source = "Davis 2011",
    .needs = "any matrix",
    .when = "A is rectangular or singular",
    .library = &library,
    .also = &cholmod_library,
    .rectangular = true,
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .drop = drop,
    .peers = {.petsc = "-ksp_type preonly -pc_type qr -pc_factor_mat_solver_type spqr"},
};
