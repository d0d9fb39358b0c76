/* Report card: Cholesky factorisation by CHOLMOD. The library is loaded when it is first used, because loading it
   together with its BLAS and LAPACK would slow down every start of the program. */
#include "card.h"
#include "card_graph.h"
#include "base/err.h"
#include "base/shared.h"
#include "base/mem.h"
#include "base/worker.h"

#include <dlfcn.h>
#include <suitesparse/cholmod.h>

#define TEXT_OF(x) #x
#define NAME_OF(version) "libcholmod.so." TEXT_OF(version)

struct cholmod {
    void *library;
    bool tried;
    int (*version)(int version[3]);
    int (*start)(cholmod_common *);
    int (*finish)(cholmod_common *);
    cholmod_factor *(*analyze)(cholmod_sparse *, cholmod_common *);
    int (*factorize)(cholmod_sparse *, cholmod_factor *, cholmod_common *);
    int (*free_factor)(cholmod_factor **, cholmod_common *);
};
static struct cholmod cholmod;

static bool load_symbol(void *to, const char *name)
{
    void *at = dlsym(cholmod.library, name);
    *(void **)to = at;
    return at != NULL;
}

/* Returns true if the library has all functions that this file calls and its version matches the structs with which
   this file was compiled. */
static bool is_compatible(void)
{
    int version[3] = {0};
    if (!load_symbol(&cholmod.version, "cholmod_version") || !load_symbol(&cholmod.start, "cholmod_start") ||
        !load_symbol(&cholmod.finish, "cholmod_finish") || !load_symbol(&cholmod.analyze, "cholmod_analyze") ||
        !load_symbol(&cholmod.factorize, "cholmod_factorize") ||
        !load_symbol(&cholmod.free_factor, "cholmod_free_factor"))
        return false;
    cholmod.version(version);
    return version[0] == CHOLMOD_MAIN_VERSION && version[1] >= CHOLMOD_SUB_VERSION;
}

const char *card_cholmod_name = NAME_OF(CHOLMOD_MAIN_VERSION);

static bool open_library(struct err *e)
{
    static const char *opened;
    if (!cholmod.tried || opened != card_cholmod_name) {
        struct err why = {0};
        cholmod.library = shared_open(1, &card_cholmod_name, &why);
        if (why.code) return fail(e, why.code, "%s", why.text);
        cholmod.tried = true;
        opened = card_cholmod_name;
        if (cholmod.library && !is_compatible()) {
            dlclose(cholmod.library);
            cholmod.library = NULL;
        }
    }
    if (cholmod.library) return true;
    return fail(e, E_UNSUPPORTED, "Cholesky needs the library %s, which is not installed", card_cholmod_name);
}

struct cholesky_job {
    struct card_graph g;
    struct card_cholesky found;
    bool ok;
};

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

bool card_cholesky(struct card *c, struct card_cholesky *out, struct err *e)
{
    if (!open_library(e)) return false;
    struct cholesky_job *job = mem_zero(1, sizeof *job, "a Cholesky factor", e);
    if (!job) return false;
    if (!card_graph_new(&job->g, c->A, true, 32, "the Cholesky factorisation", e)) {
        mem_free(job);
        return false;
    }
    if (!worker_run(cholesky_work, cholesky_done, job, "Cholesky by CHOLMOD", c->watch, e)) return false;
    bool ok = job->ok;
    *out = job->found;
    cholesky_done(job);
    return ok || fail(e, E_MEMORY, "CHOLMOD could not factor the matrix: out of memory");
}
