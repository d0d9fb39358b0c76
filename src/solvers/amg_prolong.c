/* The prolongation of multigrid by smoothed aggregation: column j of T is the near-null vector on aggregate j and 0
   elsewhere; one step of Jacobi's method on its columns gives P. */
#include "amg.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "matrix/arithmetic.h"

#include <math.h>
#include <omp.h>

/* A row of P. */
struct row {
    int n, *col; /* ascending */
    double *val;
};

struct prolong {
    const struct csr *A;
    const struct amg_aggregates *g;
    const double *near;
    double *norm; /* [aggregates] */
    double omega;
};

/* ---- norms of the near-null vector over the aggregates ---- */

static bool find_norms(struct prolong *p, struct err *e)
{
    struct loop l = loop_of("aggregates", p->A->rows);
    for (int64_t i = 0; i < p->A->rows && loop_goes(&l, i); i++)
        if (p->g->of[i] != AMG_ALONE) p->norm[p->g->of[i]] += p->near[i] * p->near[i];
    for (int64_t j = 0; j < p->g->n && loop_goes(&l, j); j++) p->norm[j] = p->norm[j] > 0 ? sqrt(p->norm[j]) : 1;
    return loop_end(&l, e);
}

/* ---- rows ---- */

/* Add `value` to the element in this column; the columns stay sorted. */
static void add(struct row *r, int col, double value)
{
    int at = r->n;
    while (at > 0 && r->col[at - 1] > col) at--;
    if (at > 0 && r->col[at - 1] == col) {
        r->val[at - 1] += value;
        return;
    }
    for (int k = r->n++; k > at; k--) {
        r->col[k] = r->col[k - 1];
        r->val[k] = r->val[k - 1];
    }
    r->col[at] = col;
    r->val[at] = value;
}

/* The diagonal of F: weak entries a_ij near_j / near_i are added to a_ii, so that F maps `near` to what A maps it to,
   unless almost nothing would remain of a_ii. */
static double filtered_diagonal(const struct prolong *p, int64_t i)
{
    const struct csr *A = p->A;
    double diagonal = 0, sum = 0;
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
        if (A->col[k] == i) diagonal = A->val[k];
        if (!p->g->strong[k]) sum += A->val[k] * p->near[A->col[k]] / p->near[i];
    }
    return sum / diagonal > 0.1 ? sum : diagonal;
}

static void make_row(const struct prolong *p, int64_t i, struct row *r)
{
    const struct csr *A = p->A;
    const int *of = p->g->of;
    r->n = 0;
    if (of[i] == AMG_ALONE) return;
    double scale = p->omega / filtered_diagonal(p, i);
    add(r, of[i], (1 - p->omega) * p->near[i] / p->norm[of[i]]);
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
        int j = A->col[k];
        if (p->g->strong[k] && of[j] != AMG_ALONE) add(r, of[j], -scale * A->val[k] * p->near[j] / p->norm[of[j]]);
    }
}

/* Count the entries of the rows in count[], or fill P. */
static bool make_rows(const struct prolong *p, int64_t longest, int *count, struct csr *P, struct err *e)
{
    int threads = p->A->nnz > THREADS_FROM ? omp_get_max_threads() : 1;
    int *col = mem_new(threads * longest, sizeof *col, "rows of a prolongation", e);
    double *val = mem_new(threads * longest, sizeof *val, "rows of a prolongation", e);
    int64_t rows = col && val ? p->A->rows : 0;
    struct loop l = loop_of("prolongation", rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) num_threads(threads)
    for (int64_t from = 0; from < rows; from += LOOP_EVERY) {
        struct row r = {.col = col + omp_get_thread_num() * longest, .val = val + omp_get_thread_num() * longest};
        for (int64_t i = from, end = loop_share(&l, from, rows); i < end; i++) {
            make_row(p, i, &r);
            if (count) count[i] = r.n;
            for (int k = 0; P && k < r.n; k++) {
                P->col[P->rowptr[i] + k] = r.col[k];
                P->val[P->rowptr[i] + k] = r.val[k];
            }
        }
    }
    bool ok = col && val && loop_end(&l, e);
    mem_free(col);
    mem_free(val);
    return ok;
}

static bool make_all(struct prolong *p, struct csr *P, struct err *e)
{
    int64_t longest = csr_longest_row(p->A) + 1;
    int *count = mem_new(p->A->rows, sizeof *count, "the row lengths of a prolongation", e);
    bool ok = count && find_norms(p, e) && make_rows(p, longest, count, NULL, e) &&
              csr_with_counts(P, p->A->rows, p->g->n, count, false, "prolongation", e);
    if (ok && !make_rows(p, longest, NULL, P, e)) {
        csr_free(P);
        ok = false;
    }
    mem_free(count);
    return ok;
}

bool amg_prolong(struct csr *P, const struct csr *A, const struct amg_aggregates *g, const double *near, double omega,
                 double **coarse, struct err *e)
{
    struct prolong p = {.A = A, .g = g, .near = near, .omega = omega};
    p.norm = mem_zero(g->n, sizeof *p.norm, "the near-null vector", e);
    if (p.norm && make_all(&p, P, e)) {
        *coarse = p.norm;
        return true;
    }
    mem_free(p.norm);
    return false;
}
