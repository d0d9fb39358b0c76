/* Aggregates for multigrid: rows that are at least three strong entries apart are roots; every other row joins the
   root next to it, or, at distance two, the aggregate of its strongest neighbour. */
#include "amg.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"

/* What is known about a row while the roots are being chosen. A mark consists of the state, a hash and the row, so that
   the largest mark of a neighbourhood names one row. */
enum state { COVERED, OPEN, ROOT };

static const char what[] = "aggregates";

static uint64_t mark_of(enum state state, int64_t row)
{
    uint64_t x = (uint64_t)row * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 31) * 0xbf58476d1ce4e5b9ull;
    return (uint64_t)state << 62 | (x >> 34) << 32 | (uint64_t)row;
}

static enum state state_of(uint64_t mark)
{
    return (enum state)(mark >> 62);
}

static int64_t row_of(uint64_t mark)
{
    return (int64_t)(uint32_t)mark;
}

/* ---- strong entries ---- */

static bool find_strong(struct amg_aggregates *g, const struct csr *A, const double *dinv, double theta, struct err *e)
{
    struct loop l = loop_of("strong entries", A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t share = 0; share < A->rows; share += LOOP_EVERY)
        for (int64_t i = share, end = loop_share(&l, share, A->rows); i < end; i++)
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) {
                int j = A->col[k];
                double a = A->val[k] * dinv[i];
                g->strong[k] = j != i && a < 0 && a * A->val[k] * dinv[j] > theta * theta;
            }
    return loop_end(&l, e);
}

/* ---- roots ---- */

/* to[i] = the largest mark of row i and its strong neighbours */
static bool spread(const struct amg_aggregates *g, const struct csr *A, const uint64_t *from, uint64_t *to,
                   struct err *e)
{
    struct loop l = loop_of(what, A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t share = 0; share < A->rows; share += LOOP_EVERY)
        for (int64_t i = share, end = loop_share(&l, share, A->rows); i < end; i++) {
            uint64_t most = from[i];
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
                if (g->strong[k] && from[A->col[k]] > most) most = from[A->col[k]];
            to[i] = most;
        }
    return loop_end(&l, e);
}

/* A row that has the largest mark within distance 2 becomes a root; a row within distance 2 of a root is covered.
   The number of rows that remain open is stored in *left. */
static bool decide(int64_t rows, uint64_t *mark, const uint64_t *most, int64_t *left, struct err *e)
{
    struct loop l = loop_of(what, rows);
    int64_t open = 0;
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) reduction(+ : open) if (rows > THREADS_FROM)
    for (int64_t share = 0; share < rows; share += LOOP_EVERY)
        for (int64_t i = share, end = loop_share(&l, share, rows); i < end; i++) {
            if (state_of(mark[i]) != OPEN) continue;
            if (row_of(most[i]) == i)
                mark[i] = mark_of(ROOT, i);
            else if (state_of(most[i]) == ROOT)
                mark[i] = mark_of(COVERED, i);
            else
                open++;
        }
    *left = open;
    return loop_end(&l, e);
}

static bool open_all(int64_t rows, uint64_t *mark, struct err *e)
{
    struct loop l = loop_of(what, rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (rows > THREADS_FROM)
    for (int64_t share = 0; share < rows; share += LOOP_EVERY)
        for (int64_t i = share, end = loop_share(&l, share, rows); i < end; i++) mark[i] = mark_of(OPEN, i);
    return loop_end(&l, e);
}

/* A row without strong entries is a root at first; form_aggregates makes it AMG_ALONE. */
static bool choose_roots(const struct amg_aggregates *g, const struct csr *A, uint64_t *mark, uint64_t *work,
                         struct err *e)
{
    uint64_t *once = work, *twice = work + A->rows;
    int64_t open = A->rows;
    if (!open_all(A->rows, mark, e)) return false;
    while (open)
        if (!spread(g, A, mark, once, e) || !spread(g, A, once, twice, e) || !decide(A->rows, mark, twice, &open, e))
            return false;
    return true;
}

/* ---- aggregates ---- */

static bool stands_alone(const struct amg_aggregates *g, const struct csr *A, int64_t i)
{
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
        if (g->strong[k]) return false;
    return true;
}

static bool number_roots(struct amg_aggregates *g, const struct csr *A, const uint64_t *mark, struct err *e)
{
    struct loop l = loop_of(what, A->rows);
    for (int64_t i = 0; i < A->rows && loop_goes(&l, i); i++) {
        bool root = state_of(mark[i]) == ROOT && !stands_alone(g, A, i);
        g->of[i] = root ? (int)g->n++ : AMG_ALONE;
    }
    return loop_end(&l, e);
}

/* Every row without an aggregate takes the aggregate of its strongest neighbour that has one in from[]. */
static bool join(const struct amg_aggregates *g, const struct csr *A, const double *dinv, const int *from, int *to,
                 struct err *e)
{
    struct loop l = loop_of(what, A->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (A->nnz > THREADS_FROM)
    for (int64_t share = 0; share < A->rows; share += LOOP_EVERY)
        for (int64_t i = share, end = loop_share(&l, share, A->rows); i < end; i++) {
            double most = 0;
            to[i] = from[i];
            for (int k = A->rowptr[i]; from[i] == AMG_ALONE && k < A->rowptr[i + 1]; k++) {
                int j = A->col[k];
                double strength = A->val[k] * A->val[k] * dinv[i] * dinv[j];
                if (!g->strong[k] || from[j] == AMG_ALONE || strength <= most) continue;
                most = strength;
                to[i] = from[j];
            }
        }
    return loop_end(&l, e);
}

static bool form(struct amg_aggregates *g, const struct csr *A, const double *dinv, struct err *e)
{
    uint64_t *mark = mem_new(3 * A->rows, sizeof *mark, "the marks of rows", e);
    int *near = mem_new(A->rows, sizeof *near, "aggregates", e);
    bool ok = mark && near && choose_roots(g, A, mark, mark + A->rows, e) && number_roots(g, A, mark, e) &&
              join(g, A, dinv, g->of, near, e) && join(g, A, dinv, near, g->of, e);
    mem_free(mark);
    mem_free(near);
    return ok;
}

bool amg_aggregate(struct amg_aggregates *g, const struct csr *A, const double *dinv, double theta, struct err *e)
{
    *g = (struct amg_aggregates){.strong = mem_new(A->nnz, 1, "strong entries", e),
                                 .of = mem_new(A->rows, sizeof *g->of, "aggregates", e)};
    return g->strong && g->of && find_strong(g, A, dinv, theta, e) && form(g, A, dinv, e);
}

void amg_aggregates_free(struct amg_aggregates *g)
{
    mem_free(g->strong);
    mem_free(g->of);
    *g = (struct amg_aggregates){0};
}
