/* Cholesky by CHOLMOD: L L' of a positive definite matrix by supernodes, or L D L' without pivoting. A matrix with a
   negative diagonal is factored with the opposite sign. */
#include "base/err.h"
#include "cholmod_calls.h"

#include <math.h>
#include <string.h>

#define TEXT_OF(x) #x
#define NAME_OF(version) "libcholmod.so." TEXT_OF(version)
#define PACKAGE_OF(version) "libcholmod" TEXT_OF(version)

struct cholmod_calls cholmod_calls;

static const struct shared_function functions[] = {{"cholmod_l_start", &cholmod_calls.start},
                                                   {"cholmod_l_finish", &cholmod_calls.finish},
                                                   {"cholmod_l_version", &cholmod_calls.version},
                                                   {"cholmod_l_analyze", &cholmod_calls.analyze},
                                                   {"cholmod_l_factorize", &cholmod_calls.factorize},
                                                   {"cholmod_l_solve", &cholmod_calls.solve},
                                                   {"cholmod_l_free_factor", &cholmod_calls.free_factor},
                                                   {"cholmod_l_free_dense", &cholmod_calls.free_dense},
                                                   {0}};

/* The structs of the library must be those with which this file was compiled. */
static bool is_compatible(void)
{
    int version[3] = {0};
    cholmod_calls.version(version);
    return version[0] == CHOLMOD_MAIN_VERSION && version[1] >= CHOLMOD_SUB_VERSION;
}

struct shared_library cholmod_library = {.file = NAME_OF(CHOLMOD_MAIN_VERSION),
                                         .package = PACKAGE_OF(CHOLMOD_MAIN_VERSION),
                                         .functions = functions,
                                         .is_compatible = is_compatible};

struct state {
    cholmod_common common;
    cholmod_factor *L;
    bool negated; /* v->A holds -A, because A may be negative definite */
};

/* ---- shared with spqr ---- */

cholmod_sparse cholmod_matrix(const struct direct_matrix *M, int stype)
{
    return (cholmod_sparse){.nrow = (size_t)M->rows,
                            .ncol = (size_t)M->cols,
                            .nzmax = (size_t)M->start[M->cols],
                            .p = M->start,
                            .i = M->row,
                            .x = M->val,
                            .stype = stype,
                            .itype = CHOLMOD_LONG,
                            .xtype = M->pairs ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

cholmod_dense cholmod_vector(int64_t n, bool pairs, const double *x)
{
    return (cholmod_dense){.nrow = (size_t)n,
                           .ncol = 1,
                           .nzmax = (size_t)n,
                           .d = (size_t)n,
                           .x = (void *)(uintptr_t)x,
                           .xtype = pairs ? CHOLMOD_COMPLEX : CHOLMOD_REAL,
                           .dtype = CHOLMOD_DOUBLE};
}

bool cholmod_failed(const cholmod_common *common, const char *title, struct err *e)
{
    if (common->status == CHOLMOD_TOO_LARGE)
        return fail(e, E_LIMIT, "the factors have more nonzeros than %s can count; use an iterative solver (`solvers`)",
                    title);
    if (common->status == CHOLMOD_OUT_OF_MEMORY) return fail(e, E_MEMORY, "%s ran out of memory", title);
    return fail(e, E_INTERNAL, "%s failed with status %d", title, common->status);
}

bool cholmod_take(cholmod_common *common, const char *title, cholmod_dense *X, bool pairs, double *x, struct err *e)
{
    if (!X) return cholmod_failed(common, title, e);
    memcpy(x, X->x, X->nzmax * sizeof *x * (pairs ? 2 : 1));
    cholmod_calls.free_dense(&X, common);
    return true;
}

const char *cholmod_ordering(int ordering)
{
    static const char *const name[] = {
        [CHOLMOD_NATURAL] = "natural", [CHOLMOD_GIVEN] = "given",   [CHOLMOD_AMD] = "AMD",
        [CHOLMOD_METIS] = "METIS",     [CHOLMOD_NESDIS] = "NESDIS", [CHOLMOD_COLAMD] = "COLAMD"};
    return ordering >= 0 && ordering < COUNT(name) ? name[ordering] : NULL;
}

/* ---- analysis ---- */

static bool is_diagonal_negative(const struct direct_matrix *A)
{
    for (int64_t j = 0; j < A->cols; j++) {
        int64_t k = A->start[j];
        while (k < A->start[j + 1] && A->row[k] != j) k++;
        if (k == A->start[j + 1] || !(A->val[A->pairs ? 2 * k : k] < 0)) return false;
    }
    return true;
}

static void negate(int64_t n, double *x)
{
    for (int64_t i = 0; i < n; i++) x[i] = -x[i];
}

/* A negative diagonal: -A is factored. */
static void take_sign(struct direct *v)
{
    struct state *s = v->state;
    s->negated = is_diagonal_negative(&v->A);
    if (s->negated) negate(v->A.start[v->A.cols] * (v->A.pairs ? 2 : 1), v->A.val);
}

static bool renew(struct direct *v, struct err *e)
{
    (void)e;
    take_sign(v);
    return true;
}

/* Supernodes compute L L' only; columns compute L D L'. Without `supernodes`, always by columns. */
static bool analyse_by(struct direct *v, bool supernodes, struct err *e)
{
    struct state *s = v->state;
    cholmod_sparse A = cholmod_matrix(&v->A, 1);
    cholmod_calls.free_factor(&s->L, &s->common);
    s->common.supernodal = supernodes ? CHOLMOD_AUTO : CHOLMOD_SIMPLICIAL;
    s->L = cholmod_calls.analyze(&A, &s->common);
    return s->L || cholmod_failed(&s->common, "CHOLMOD", e);
}

static bool analyse(struct direct *v, struct err *e)
{
    struct state *s = direct_state_new(v, sizeof *s, e);
    if (!s) return false;
    cholmod_calls.start(&s->common);
    s->common.print = 0;
    s->common.quick_return_if_not_posdef = 1;
    take_sign(v);
    if (!analyse_by(v, true, e)) return false;
    v->plan.triangle = true;
    double value = v->A.pairs ? 16 : 8;
    v->plan.nnz = s->common.lnz;
    v->plan.flops = s->common.fl * (v->A.pairs ? 4 : 1);
    v->plan.bytes = s->L->is_super ? value * ((double)s->L->xsize + (double)s->L->maxcsize) + 8.0 * (double)s->L->ssize
                                   : (value + 8) * s->common.lnz;
    v->plan.bytes += 80.0 * (double)v->A.cols;
    v->plan.ordering = cholmod_ordering(s->L->ordering);
    return true;
}

/* ---- factorisation ---- */

static double real_at(const cholmod_factor *L, int64_t k)
{
    return ((const double *)L->x)[L->xtype == CHOLMOD_COMPLEX ? 2 * k : k];
}

/* The pivots of L L' are the squares of the diagonal of L. */
static void pivots_of_supernodes(const cholmod_factor *L, struct direct_factors *f)
{
    const int64_t *super = L->super, *pi = L->pi, *px = L->px;
    for (int64_t s = 0; s < (int64_t)L->nsuper; s++)
        for (int64_t j = 0; j < super[s + 1] - super[s]; j++) {
            double diagonal = real_at(L, px[s] + j * (pi[s + 1] - pi[s] + 1));
            direct_pivot(f, diagonal * diagonal);
        }
    f->positive = (int64_t)L->n;
    f->negative = 0;
}

/* The first entry of column j of L D L' is D_jj. */
static void pivots_of_columns(const cholmod_factor *L, struct direct_factors *f)
{
    const int64_t *p = L->p;
    f->positive = f->negative = 0;
    for (int64_t j = 0; j < (int64_t)L->n; j++) {
        double d = real_at(L, p[j]);
        direct_pivot(f, d);
        f->positive += d > 0;
        f->negative += d < 0;
    }
}

static bool factorise(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    cholmod_sparse A = cholmod_matrix(&v->A, 1);
    return (cholmod_calls.factorize(&A, s->L, &s->common) && s->common.status >= CHOLMOD_OK) ||
           cholmod_failed(&s->common, "CHOLMOD", e);
}

static long long failed_row(const cholmod_factor *L)
{
    return ((const int64_t *)L->Perm)[L->minor];
}

/* L D L' without row exchanges is unstable and, by columns, slow where L L' by supernodes pays. */
static void note_indefinite(struct direct *v)
{
    struct state *s = v->state;
    if (s->L->is_super)
        direct_unusable(v, "not %s definite (row %lld)", s->negated ? "negative" : "positive", failed_row(s->L));
    else
        direct_unusable(v, "pivot %lld of L D L' without row exchanges is 0 (row %lld)", (long long)s->L->minor,
                        failed_row(s->L));
}

static bool factor(struct direct *v, struct err *e)
{
    struct state *s = v->state;
    struct direct_factors *f = &v->factors;
    if (!factorise(v, e)) return false;
    bool retry = s->L->is_super && s->L->minor < s->L->n && !v->choosing;
    if (retry && (!analyse_by(v, false, e) || !factorise(v, e))) return false;
    f->kind = !s->L->is_super ? "L D L'" : s->negated ? "-L L'" : "L L'";
    f->nnz = s->common.lnz;
    f->flops = v->plan.flops;
    f->bytes = (double)s->common.memory_usage;
    if (s->L->minor < s->L->n) {
        note_indefinite(v);
        return true;
    }
    (s->L->is_super ? pivots_of_supernodes : pivots_of_columns)(s->L, f);
    if (s->negated) {
        int64_t positive = f->positive;
        f->positive = f->negative;
        f->negative = positive;
    }
    f->rank = (int64_t)s->L->n;
    return true;
}

static bool solve(struct direct *v, bool conjugate, const double *b, double *x, struct err *e)
{
    struct state *s = v->state;
    cholmod_dense B = cholmod_vector(v->A.rows, v->A.pairs, b);
    (void)conjugate; /* A is hermitian */
    cholmod_dense *X = cholmod_calls.solve(CHOLMOD_A, s->L, &B, &s->common);
    if (!cholmod_take(&s->common, "CHOLMOD", X, v->A.pairs, x, e)) return false;
    if (s->negated) negate(v->A.rows * (v->A.pairs ? 2 : 1), x);
    return true;
}

static void drop(struct direct *v)
{
    struct state *s = v->state;
    cholmod_calls.free_factor(&s->L, &s->common);
    cholmod_calls.finish(&s->common);
}

const struct direct_method direct_cholmod = {
    .name = "cholmod",
    .title = "CHOLMOD",
    .about = "sparse Cholesky, L L' by supernodes or L D L' by columns, for symmetric and hermitian matrices",
    .source = "Chen, Davis, Hager and Rajamanickam 2008",
    .needs = "a symmetric (hermitian) matrix",
    .when = "A is symmetric and definite, or indefinite with harmless pivots: L D L' exchanges no rows",
    .library = &cholmod_library,
    .hermitian = true,
    .analyse = analyse,
    .factor = factor,
    .renew = renew,
    .solve = solve,
    .drop = drop,
    .peers = {.petsc = "-ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type cholmod",
              .amgx = "\"solver\": \"DENSE_LU_SOLVER\"",
              .ginkgo = "\"type\": \"solver::Direct\", \"factorization\": {\"type\": \"factorization::Cholesky\"}",
              .scipy = "x = linalg.spsolve(A.tocsc(), b)  # by SuperLU\n"},
};
