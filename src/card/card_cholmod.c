/* Report card: Cholesky factorisation by CHOLMOD. The library is loaded when it is first used, because loading it
   together with its BLAS and LAPACK would slow down every start of the program. */
#include "base/err.h"
#include "base/library_thread.h"
#include "base/mem.h"
#include "base/shared.h"
#include "card.h"
#include "card_graph.h"
#include "matrix/csr.h"

#include <float.h>
#include <math.h>
#include <suitesparse/cholmod.h>

#define TEXT_OF(x) #x
#define NAME_OF(version) "libcholmod.so." TEXT_OF(version)
#define PACKAGE_OF(version) "libcholmod" TEXT_OF(version)

static struct {
    int (*version)(int version[3]);
    int (*start)(cholmod_common *);
    int (*finish)(cholmod_common *);
    cholmod_factor *(*analyze)(cholmod_sparse *, cholmod_common *);
    int (*factorize)(cholmod_sparse *, cholmod_factor *, cholmod_common *);
    int (*free_factor)(cholmod_factor **, cholmod_common *);
} cholmod;

static const struct shared_function functions[] = {{"cholmod_version", &cholmod.version},
                                                   {"cholmod_start", &cholmod.start},
                                                   {"cholmod_finish", &cholmod.finish},
                                                   {"cholmod_analyze", &cholmod.analyze},
                                                   {"cholmod_factorize", &cholmod.factorize},
                                                   {"cholmod_free_factor", &cholmod.free_factor},
                                                   {0}};

/* The structs of the library must be those with which this file was compiled. */
static bool is_compatible(void)
{
    int version[3] = {0};
    cholmod.version(version);
    return version[0] == CHOLMOD_MAIN_VERSION && version[1] >= CHOLMOD_SUB_VERSION;
}

const char *card_cholmod_name = NAME_OF(CHOLMOD_MAIN_VERSION);

static bool open_library(struct err *e)
{
    static struct shared_library library = {
        .package = PACKAGE_OF(CHOLMOD_MAIN_VERSION), .functions = functions, .is_compatible = is_compatible};
    library.file = card_cholmod_name;
    return shared_load(&library, "Cholesky", e);
}

struct cholesky_job {
    struct card_graph g;
    enum card_margin margin;
    double asymmetry; /* of a matrix that is symmetric up to rounding; see asymmetry_of */
    struct card_cholesky found;
    bool ok;
};

/* Each diagonal entry of A, which must be positive, becomes 1 to 4: rows and columns are multiplied by powers of 2,
   which change no digit. So nothing overflows, and what underflows is far below the margin. */
static void to_unit_diagonal(struct card_graph *g, int *half)
{
    for (int i = 0; i < g->rows; i++)
        for (int k = g->p[i]; k < g->p[i + 1]; k++)
            if (g->i[k] == i) half[i] = (int)floor(ilogb(g->x[k]) / 2.0);
    for (int i = 0; i < g->rows; i++)
        for (int k = g->p[i]; k < g->p[i + 1]; k++) {
            int by = -half[i] - half[g->i[k]];
            g->x[k] = ldexp(g->x[k], by);
            if (g->z) g->z[k] = ldexp(g->z[k], by);
        }
}

/* One triangle of A is factored. Its matrix differs from (A + A') / 2 by E with |x'E x| <= this times sum a_ii |x_i|^2:
   the sum of all |a_ij - a_ji| after scaling, which makes each a_ii at least 1. */
static double asymmetry_of(const struct csr *A, const int *half)
{
    double sum = 0;
    for (int64_t i = 0; i < A->rows; i++)
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
            int64_t j = A->col[k], at = csr_find(A, j, i);
            double re = A->val[k] - (at < 0 ? 0 : A->val[at]);
            double im = A->imag ? A->imag[k] + (at < 0 ? 0 : A->imag[at]) : 0;
            sum += ldexp(hypot(re, im), -half[i] - half[j]);
        }
    return sum;
}

/* The computed factors are those of A + E with |x'E x| <= t sum a_ii |x_i|^2, in whatever order sums are computed. Row
   i of L with s nonzeros contributes (s + 1) u / (1 - (s + 1) u) to t (Demmel 1989, Rump 2006); twice that, with some
   operations more, covers libraries that multiply by reciprocals. A complex product has up to 3 times the error. */
static double margin_of(double nnz, double n, bool complex_values)
{
    static const int MORE = 10, COMPLEX = 4;
    return (complex_values ? COMPLEX : 1) * DBL_EPSILON * (nnz + MORE * n);
}

static void add_margin(struct cholesky_job *job, double nnz)
{
    struct card_graph *g = &job->g;
    double t = margin_of(nnz, g->rows, g->z != NULL) + job->asymmetry,
           factor = job->margin == CARD_MARGIN_BELOW ? 1 - t : 1 + t;
    for (int i = 0; i < g->rows; i++)
        for (int k = g->p[i]; k < g->p[i + 1]; k++)
            if (g->i[k] == i) g->x[k] *= factor;
}

/* CHOLMOD reads the rows of A as columns. For a hermitian matrix, this gives the conjugate of A, which is positive
   definite if and only if A is. */
static cholmod_sparse sparse_of(const struct card_graph *g)
{
    return (cholmod_sparse){.nrow = (size_t)g->rows,
                            .ncol = (size_t)g->rows,
                            .nzmax = (size_t)g->p[g->rows],
                            .p = g->p,
                            .i = g->i,
                            .x = g->x,
                            .z = g->z,
                            .stype = 1,
                            .itype = CHOLMOD_INT,
                            .xtype = g->z ? CHOLMOD_ZOMPLEX : CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

static void cholesky_work(void *p)
{
    struct cholesky_job *job = p;
    cholmod_common common;
    cholmod.start(&common);
    common.print = 0;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_AMD;
    common.final_ll = 1; /* compute L L', because L D L' would also exist with a negative D */
    common.quick_return_if_not_posdef = 1;
    cholmod_sparse A = sparse_of(&job->g);
    cholmod_factor *L = cholmod.analyze(&A, &common);
    if (L) add_margin(job, common.lnz);
    job->ok = L && cholmod.factorize(&A, L, &common) && common.status >= CHOLMOD_OK;
    if (job->ok) {
        job->found.nnz = common.lnz;
        job->found.positive = L->minor >= L->n;
        job->found.failed = job->found.positive ? -1 : ((int *)L->Perm)[L->minor];
    }
    cholmod.free_factor(&L, &common);
    cholmod.finish(&common);
}

static void cholesky_done(void *p)
{
    struct cholesky_job *job = p;
    card_graph_free(&job->g);
    mem_free(job);
}

/* exact: A is symmetric without rounding errors */
static struct cholesky_job *job_new(const struct csr *A, bool exact, struct err *e)
{
    struct cholesky_job *job = mem_zero(1, sizeof *job, "a Cholesky factor", e);
    int *half = job ? mem_zero(A->rows, sizeof *half, "a Cholesky factor", e) : NULL;
    if (half && card_graph_new(&job->g, A, true, 32, "the Cholesky factorisation", e)) {
        to_unit_diagonal(&job->g, half);
        job->asymmetry = exact ? 0 : asymmetry_of(A, half);
        mem_free(half);
        return job;
    }
    mem_free(half);
    mem_free(job);
    return NULL;
}

bool card_cholesky(struct card *c, enum card_margin margin, struct card_cholesky *out, struct err *e)
{
    if (!open_library(e)) return false;
    struct cholesky_job *job = job_new(c->A, c->facts->symmetry.hermitian, e);
    if (!job) return false;
    job->margin = margin;
    if (!worker_run(cholesky_work, cholesky_done, job, "Cholesky by CHOLMOD", c->watch, e)) return false;
    bool ok = job->ok;
    *out = job->found;
    cholesky_done(job);
    return ok || fail(e, E_MEMORY, "CHOLMOD could not factor the matrix: out of memory");
}
