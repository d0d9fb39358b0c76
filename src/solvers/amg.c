/* The hierarchy of multigrid: from the matrix of a level, aggregates, the prolongation P and the next matrix P' A P. */
#include "amg.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "machine/symmetrize.h"
#include "matrix/arithmetic.h"
#include "precond.h"

#include <string.h>

enum { INVERTED_ROWS = 400 };
static int64_t hooked;

int64_t amg_inverted_rows(void)
{
    return hooked ? hooked : INVERTED_ROWS;
}

void amg_hook(int64_t rows)
{
    hooked = rows;
}

static const char who[] = "the preconditioner amg";

/* All diagonal entries must have the sign of the first. */
static bool check_signs(struct amg *g, const struct amg_level *v, struct err *e)
{
    struct loop l = loop_of("the diagonal", v->A->rows);
    g->sign = v->A->rows && v->dinv[0] < 0 ? -1 : 1;
    int64_t i = 0;
    while (i < v->A->rows && loop_goes(&l, i) && g->sign * v->dinv[i] > 0) i++;
    if (!loop_end(&l, e)) return false;
    if (i == v->A->rows) return true;
    return fail(e, E_NUMERIC,
                "%s needs a positive definite matrix, but the diagonal is %s in row 0 and %s in row %lld (counted "
                "from 0)%s; use minres with precond jacobi",
                who, g->sign > 0 ? "positive" : "negative", g->sign > 0 ? "negative" : "positive", (long long)i,
                g->n ? " of a coarse matrix" : "");
}

static bool begin_level(struct amg *g, struct err *e)
{
    struct amg_level *v = &g->level[g->n];
    v->dinv = mem_new(v->A->rows, sizeof *v->dinv, "the inverted diagonal", e);
    bool ok = v->dinv && diagonal_inverse(v->A, who, 1, v->dinv, e) && check_signs(g, v, e) &&
              amg_bound(v->A, v->dinv, &v->bound, e);
    g->n += ok;
    return ok;
}

/* Rounding errors make the two triangles of a product differ slightly: copy the upper triangle to the lower one. */
static bool mirror(struct csr *A, struct err *e)
{
    struct loop l = loop_of("multigrid", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t from = 0; from < A->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, A->rows); i < end; i++)
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1] && A->col[k] < i; k++) {
                int64_t at = csr_find(A, A->col[k], i);
                if (at >= 0) A->val[k] = A->val[at];
            }
    return loop_end(&l, e);
}

/* The matrix of the next level, R A P. */
static bool galerkin(struct amg_level *v, struct amg_level *next, struct err *e)
{
    struct csr AP = {0};
    bool ok = sym_host_transpose(&v->R, &v->P, e) && csr_multiply(&AP, v->A, &v->P, e) &&
              csr_multiply(&next->own, &v->R, &AP, e) && mirror(&next->own, e);
    csr_free(&AP);
    next->A = &next->own;
    return ok;
}

/* Make the prolongation of the last level, unless its aggregates would not make the next level much smaller. */
static bool prolong_one(struct amg *g, struct amg_level *v, bool *deeper, struct err *e)
{
    struct amg_aggregates a = {0};
    double *coarse = NULL;
    bool ok = amg_aggregate(&a, v->A, v->dinv, amg_threshold(g->n - 1), e);
    *deeper = ok && amg_worthwhile(a.n, v->A->rows);
    if (*deeper) ok = amg_prolong(&v->P, v->A, &a, g->near, amg_damping / v->bound, &coarse, e);
    amg_aggregates_free(&a);
    if (coarse) {
        mem_free(g->near);
        g->near = coarse;
    }
    return ok;
}

/* Small aggregates have no room for all vectors: keep so many that the next level has at most half of the rows. Returns
   false if not even one would make it much smaller. */
static bool keep_some(struct amg *g, int64_t aggregates, int64_t rows)
{
    int64_t k = g->several.vectors, room = aggregates ? rows / (2 * aggregates) : 0;
    if (amg_worthwhile(aggregates * k, rows)) return true;
    if (!amg_worthwhile(aggregates, rows)) return false;
    amg_near_keep(&g->several, rows, room < 1 ? 1 : room < k ? room : k);
    if (g->several.vectors < g->fewest) g->fewest = g->several.vectors;
    return true;
}

/* The same with several near-null vectors. */
static bool prolong_several(struct amg *g, struct amg_level *v, bool *deeper, struct err *e)
{
    struct csr nodes = {0};
    struct amg_aggregates a = {0};
    struct amg_near coarse = {0};
    double *dinv = NULL;
    bool ok = amg_nodes_matrix(&nodes, &dinv, v->A, &g->several, e) &&
              amg_aggregate(&a, &nodes, dinv, amg_threshold(g->n - 1), e);
    *deeper = ok && amg_worthwhile(a.n, nodes.rows) && keep_some(g, a.n, v->A->rows);
    if (*deeper) ok = amg_prolong_near(&v->P, &coarse, v->A, v->dinv, &a, &g->several, amg_damping / v->bound, e);
    if (ok && *deeper) {
        amg_near_free(&g->several);
        g->several = coarse;
    }
    amg_aggregates_free(&a);
    csr_free(&nodes);
    mem_free(dinv);
    return ok;
}

/* Make the next level. *deeper receives false if there are no aggregates that would make it much smaller. */
static bool coarsen(struct amg *g, bool *deeper, struct err *e)
{
    struct amg_level *v = &g->level[g->n - 1];
    bool ok = (g->several.vectors ? prolong_several : prolong_one)(g, v, deeper, e);
    return ok && (!*deeper || (galerkin(v, v + 1, e) && begin_level(g, e)));
}

/* The near-null vector that is given, or ones. */
static bool begin_near(struct amg *g, int64_t rows, struct err *e)
{
    static const char what[] = "the near-null vector";
    if (!g->several.vectors) {
        g->near = g->several.value;
        g->several.value = NULL;
    }
    if (g->near) return true;
    struct loop l = loop_of(what, rows);
    g->near = mem_new(rows, sizeof *g->near, what, e);
    for (int64_t i = 0; g->near && i < rows && loop_goes(&l, i); i++) g->near[i] = 1;
    return g->near && loop_end(&l, e);
}

static bool make_levels(struct amg *g, const struct csr *A, struct err *e)
{
    bool deeper = true;
    g->level[0].A = A;
    if (!begin_near(g, A->rows, e) || !begin_level(g, e)) return false;
    while (deeper && g->n < AMG_LEVELS && g->level[g->n - 1].A->rows > amg_inverted_rows())
        if (!coarsen(g, &deeper, e)) return false;
    return true;
}

bool amg_make(struct amg *g, const struct csr *A, struct err *e)
{
    struct amg_near one = {0};
    return amg_make_near(g, A, &one, e);
}

bool amg_make_near(struct amg *g, const struct csr *A, struct amg_near *near, struct err *e)
{
    *g = (struct amg){.several = *near, .fewest = near->vectors};
    *near = (struct amg_near){0};
    bool ok = make_levels(g, A, e);
    const struct csr *last = ok ? g->level[g->n - 1].A : NULL;
    if (ok && last->rows <= amg_inverted_rows()) ok = amg_invert(last, g->sign, &g->inverse, &g->dropped, e);
    mem_free(g->near);
    g->near = NULL;
    amg_near_free(&g->several);
    if (!ok) amg_free(g);
    return ok;
}

void amg_free(struct amg *g)
{
    for (int k = 0; k < AMG_LEVELS; k++) {
        struct amg_level *v = &g->level[k];
        csr_free(&v->own);
        csr_free(&v->P);
        csr_free(&v->R);
        mem_free(v->dinv);
    }
    mem_free(g->inverse);
    mem_free(g->near);
    amg_near_free(&g->several);
    *g = (struct amg){0};
}

double amg_entries_ratio(const struct amg *g)
{
    double sum = 0;
    for (int k = 0; k < g->n; k++) sum += (double)g->level[k].A->nnz;
    return sum / (double)g->level[0].A->nnz;
}

double amg_rows_ratio(const struct amg *g)
{
    double sum = 0;
    for (int k = 0; k < g->n; k++) sum += (double)g->level[k].A->rows;
    return sum / (double)g->level[0].A->rows;
}

int64_t amg_level_bytes(const struct amg *g, int k)
{
    const struct amg_level *v = &g->level[k];
    return csr_memory(v->A) + (v->P.nnz ? csr_memory(&v->P) + csr_memory(&v->R) : 0);
}
