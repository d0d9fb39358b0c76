/* Smoothed aggregation with several near-null vectors: aggregates of nodes, and a prolongation whose columns on each
   aggregate are an orthonormal basis of the vectors there. */
#include "amg.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/threads.h"
#include "matrix/arithmetic.h"

#include <math.h>
#include <string.h>

static const char what[] = "multigrid";

/* A vector of which less than this share is left, on an aggregate, depends on those before it there. */
static const double DEPENDENT = 1e-8;

/* Lists of rows: those of list c are row[start[c]] .. row[start[c + 1] - 1], ascending. */
struct lists {
    int64_t n;
    int *start, *row;
};

static void lists_free(struct lists *l)
{
    mem_free(l->start);
    mem_free(l->row);
}

/* of[i] is the list of row i; -1: none. */
static bool lists_of(struct lists *l, int64_t n, int64_t rows, const int *of, struct err *e)
{
    *l = (struct lists){.n = n, .start = mem_zero(n + 1, sizeof *l->start, what, e)};
    l->row = l->start ? mem_new(rows, sizeof *l->row, what, e) : NULL;
    if (!l->row) return false;
    struct loop pass = loop_of(what, rows);
    for (int64_t i = 0; i < rows && loop_goes(&pass, i); i++)
        if (of[i] >= 0) l->start[of[i]]++;
    for (int64_t c = 0; c < n && loop_goes(&pass, c); c++) l->start[c + 1] += l->start[c];
    for (int64_t i = rows - 1; i >= 0 && loop_goes(&pass, i); i--)
        if (of[i] >= 0) l->row[--l->start[of[i]]] = (int)i;
    return loop_end(&pass, e);
}

/* ---- the matrix of nodes ---- */

/* Write the columns of node c to col[], and the squares of the norms of its blocks to val[]; both NULL: only count.
   place[d]: the index of column d, plus `base`, if it is at least `base`. */
static int block_row(const struct csr *A, const int *node, const struct lists *l, int64_t c, int64_t *place,
                     int64_t base, int *col, double *val)
{
    int n = 0;
    for (int q = l->start[c]; q < l->start[c + 1]; q++)
        for (int k = A->rowptr[l->row[q]]; k < A->rowptr[l->row[q] + 1]; k++) {
            int d = node[A->col[k]];
            if (place[d] < base) {
                place[d] = base + n++;
                if (col) col[place[d] - base] = d, val[place[d] - base] = 0;
            }
            if (val) val[place[d] - base] += A->val[k] * A->val[k];
        }
    return n;
}

/* A node has no more neighbours than its rows have entries; `place` distinguishes nodes by multiples of `step`. */
static bool fill_nodes(struct csr *out, const struct csr *A, const struct amg_near *near, const struct lists *l,
                       struct err *e)
{
    int64_t step = near->nodes + 1, *place = mem_zero(near->nodes, sizeof *place, what, e);
    int *count = place ? mem_new(near->nodes, sizeof *count, what, e) : NULL;
    bool ok = count != NULL;
    struct loop pass = loop_of(what, 2 * near->nodes);
    for (int64_t c = 0; ok && c < near->nodes && loop_goes(&pass, c); c++)
        count[c] = block_row(A, near->node, l, c, place, (c + 1) * step, NULL, NULL);
    ok = ok && loop_end(&pass, e) && csr_with_counts(out, near->nodes, near->nodes, count, false, what, e);
    for (int64_t c = 0; ok && c < near->nodes && loop_goes(&pass, c); c++)
        block_row(A, near->node, l, c, place, (near->nodes + c + 1) * step, out->col + out->rowptr[c],
                  out->val + out->rowptr[c]);
    mem_free(place);
    mem_free(count);
    return ok && loop_end(&pass, e);
}

bool amg_nodes_matrix(struct csr *out, double **dinv, const struct csr *A, const struct amg_near *near, struct err *e)
{
    struct lists l = {0};
    *dinv = mem_zero(near->nodes, sizeof **dinv, what, e);
    bool ok = *dinv && lists_of(&l, near->nodes, A->rows, near->node, e) && fill_nodes(out, A, near, &l, e);
    for (int64_t c = 0; ok && c < near->nodes; c++)
        for (int k = out->rowptr[c]; k < out->rowptr[c + 1]; k++) {
            double norm = sqrt(out->val[k]);
            out->val[k] = out->col[k] == c ? norm : -norm;
            if (out->col[k] == c) (*dinv)[c] = 1 / norm;
        }
    lists_free(&l);
    return ok;
}

void amg_near_free(struct amg_near *b)
{
    mem_free(b->value);
    mem_free(b->node);
    *b = (struct amg_near){0};
}

void amg_near_keep(struct amg_near *near, int64_t rows, int64_t vectors)
{
    int64_t k = near->vectors;
    for (int64_t i = 0; i < rows; i++)
        memmove(near->value + i * vectors, near->value + i * k, (size_t)vectors * sizeof *near->value);
    near->vectors = vectors;
}

/* ---- the tentative prolongation ---- */

/* In construction: Q[row * k + r] is element `row` of basis vector r of its aggregate, where k is the number of
   near-null vectors; column c of aggregate a is the column first[a] + c of T. */
struct tentative {
    const struct amg_near *near;
    struct lists rows; /* of the aggregates */
    int *of;           /* [rows] the aggregate of each row, or -1 */
    double *Q, *R;     /* R[(a * k + r) * k + j]: vector j is the sum of R_rj times basis vector r */
    int *count;        /* [aggregates] basis vectors */
};

static double dot_rows(const struct tentative *t, int64_t a, const double *x, const double *y)
{
    int64_t k = t->near->vectors;
    double sum = 0;
    for (int q = t->rows.start[a]; q < t->rows.start[a + 1]; q++) sum += x[t->rows.row[q] * k] * y[t->rows.row[q] * k];
    return sum;
}

/* y -= by x, on the rows of aggregate a */
static void subtract_rows(const struct tentative *t, int64_t a, double by, const double *x, double *y)
{
    int64_t k = t->near->vectors;
    for (int q = t->rows.start[a]; q < t->rows.start[a + 1]; q++) y[t->rows.row[q] * k] -= by * x[t->rows.row[q] * k];
}

/* Gram-Schmidt, each vector twice. A vector that depends on those before it adds no basis vector. */
static void orthonormalise(struct tentative *t, int64_t a)
{
    int64_t k = t->near->vectors, n = 0;
    double *R = t->R + a * k * k;
    for (int64_t j = 0; j < k; j++) {
        double *x = t->Q + n;
        for (int q = t->rows.start[a]; q < t->rows.start[a + 1]; q++)
            x[t->rows.row[q] * k] = t->near->value[t->rows.row[q] * k + j];
        double before = sqrt(dot_rows(t, a, x, x));
        for (int twice = 0; twice < 2; twice++)
            for (int64_t r = 0; r < n; r++) {
                double by = dot_rows(t, a, t->Q + r, x);
                R[r * k + j] += by;
                subtract_rows(t, a, by, t->Q + r, x);
            }
        double left = sqrt(dot_rows(t, a, x, x));
        if (!(left > DEPENDENT * before)) continue;
        R[n * k + j] = left;
        subtract_rows(t, a, 1 - 1 / left, x, x);
        n++;
    }
    t->count[a] = (int)n;
}

static bool make_tentative(struct tentative *t, int64_t rows, const struct amg_aggregates *g, struct err *e)
{
    int64_t k = t->near->vectors;
    t->of = mem_new(rows, sizeof *t->of, what, e);
    for (int64_t i = 0; t->of && i < rows; i++) t->of[i] = g->of[t->near->node[i]];
    if (!t->of || !lists_of(&t->rows, g->n, rows, t->of, e)) return false;
    t->Q = mem_zero(rows * k, sizeof *t->Q, "the near-null vectors", e);
    t->R = t->Q ? mem_zero(g->n * k * k, sizeof *t->R, "the near-null vectors", e) : NULL;
    t->count = t->R ? mem_new(g->n, sizeof *t->count, what, e) : NULL;
    if (!t->count) return false;
    struct loop l = loop_of(what, g->n);
#pragma omp parallel for schedule(dynamic, 64) if (rows * k > THREADS_FROM)
    for (int64_t a = 0; a < g->n; a++)
        if (loop_check(&l, a)) orthonormalise(t, a);
    return loop_end(&l, e);
}

static void tentative_free(struct tentative *t)
{
    lists_free(&t->rows);
    mem_free(t->of);
    mem_free(t->Q);
    mem_free(t->R);
    mem_free(t->count);
}

/* first[a] = the first column of aggregate a in T; first[n] the number of columns */
static int *first_columns(const struct tentative *t, int64_t n, struct err *e)
{
    int *first = mem_new(n + 1, sizeof *first, what, e);
    if (!first) return NULL;
    first[0] = 0;
    for (int64_t a = 0; a < n; a++) first[a + 1] = first[a] + t->count[a];
    return first;
}

static bool tentative_matrix(const struct tentative *t, int64_t rows, int64_t aggregates, const int *first,
                             struct csr *T, struct err *e)
{
    int64_t k = t->near->vectors;
    int *count = mem_new(rows, sizeof *count, what, e);
    for (int64_t i = 0; count && i < rows; i++) count[i] = t->of[i] < 0 ? 0 : t->count[t->of[i]];
    bool ok = count && csr_with_counts(T, rows, first[aggregates], count, false, what, e);
    struct loop l = loop_of(what, rows);
    for (int64_t i = 0; ok && i < rows && loop_goes(&l, i); i++)
        for (int c = 0; c < count[i]; c++) {
            T->col[T->rowptr[i] + c] = first[t->of[i]] + c;
            T->val[T->rowptr[i] + c] = t->Q[i * k + c];
        }
    mem_free(count);
    return ok && loop_end(&l, e);
}

/* The vectors of the next level, and its nodes. */
static bool take_coarse(const struct tentative *t, int64_t aggregates, const int *first, struct amg_near *coarse,
                        struct err *e)
{
    int64_t k = t->near->vectors, rows = first[aggregates];
    *coarse = (struct amg_near){.vectors = k, .nodes = aggregates};
    coarse->value = mem_new(rows * k, sizeof *coarse->value, "the near-null vectors", e);
    coarse->node = coarse->value ? mem_new(rows, sizeof *coarse->node, what, e) : NULL;
    for (int64_t a = 0; coarse->node && a < aggregates; a++)
        for (int r = 0; r < t->count[a]; r++) {
            coarse->node[first[a] + r] = (int)a;
            memcpy(coarse->value + (first[a] + r) * k, t->R + (a * k + r) * k, (size_t)k * sizeof *coarse->value);
        }
    return coarse->node != NULL;
}

/* ---- the smoothed prolongation ---- */

/* P = T - omega D^-1 P, where P is A T at first. A row without an aggregate has no entries in P. */
static bool combine(struct csr *P, const struct csr *T, const int *of, const double *dinv, double omega, struct err *e)
{
    struct loop l = loop_of("prolongation", P->rows);
#pragma omp parallel for schedule(dynamic, LOOP_SHARES) if (P->nnz > THREADS_FROM)
    for (int64_t from = 0; from < P->rows; from += LOOP_EVERY)
        for (int64_t i = from, end = loop_share(&l, from, P->rows); i < end; i++) {
            double by = of[i] < 0 ? 0 : -omega * dinv[i];
            for (int k = P->rowptr[i]; k < P->rowptr[i + 1]; k++) P->val[k] *= by;
            for (int k = T->rowptr[i]; k < T->rowptr[i + 1]; k++) P->val[csr_find(P, i, T->col[k])] += T->val[k];
        }
    return loop_end(&l, e);
}

bool amg_prolong_near(struct csr *P, struct amg_near *coarse, const struct csr *A, const double *dinv,
                      const struct amg_aggregates *g, const struct amg_near *near, double omega, struct err *e)
{
    struct tentative t = {.near = near};
    struct csr T = {0};
    int *first = NULL;
    bool ok = make_tentative(&t, A->rows, g, e) && (first = first_columns(&t, g->n, e)) &&
              tentative_matrix(&t, A->rows, g->n, first, &T, e) && csr_multiply(P, A, &T, e) &&
              combine(P, &T, t.of, dinv, omega, e) && take_coarse(&t, g->n, first, coarse, e);
    if (!ok) amg_near_free(coarse);
    csr_free(&T);
    mem_free(first);
    tentative_free(&t);
    return ok;
}
