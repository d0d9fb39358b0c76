/* The nodes of a matrix, and near-null vectors on them. */
#include "amg.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "matrix/nodes.h"
#include "matrix/random.h"
#include "matrix/reorder.h"
#include "precond.h"

#include <math.h>
#include <string.h>

static const char what[] = "the near-null vectors";

/* A few sweeps leave what the smoother reduces slowly; each sweep is one smoother of the cycle. */
enum { SWEEPS = 16, SEED = 1 };

/* ---- nodes ---- */

/* *uniform receives whether all supervariables of A have `block` rows; then they are the nodes. */
static bool take_supervariables(struct amg_near *near, const struct csr *A, int64_t block, bool *uniform, struct err *e)
{
    int64_t found;
    int sets = 0;
    struct graph g = {0};
    if (!graph_new(&g, A, NULL, e)) return false;
    bool ok = reorder_supervariables(&g, near->node, &sets, NULL, e);
    graph_free(&g);
    found = ok ? reorder_rows_each(A->rows, near->node, sets) : 0;
    near->nodes = sets;
    *uniform = found == block;
    return ok;
}

bool amg_nodes(struct amg_near *near, const struct csr *A, int64_t block, struct err *e)
{
    bool uniform = false;
    if (block < 1 || A->rows % block)
        return fail(
            e, E_USAGE,
            "block is %lld, but the %lld rows of A are no nodes of %lld rows; give a block that divides the rows",
            (long long)block, (long long)A->rows, (long long)block);
    near->node = mem_new(A->rows, sizeof *near->node, what, e);
    if (!near->node || (block > 1 && !take_supervariables(near, A, block, &uniform, e))) return false;
    if (uniform) return true;
    bool by_unknown = block > 1 && block <= BLOCK_MOST && nodes_order(A, block) == NODES_BY_UNKNOWN;
    near->nodes = A->rows / block;
    for (int64_t i = 0; i < A->rows; i++) near->node[i] = (int)(by_unknown ? i % near->nodes : i / block);
    return true;
}

/* ---- vectors ---- */

/* unknown[i] = the number of rows of the node of row i that come before row i. *most receives the largest number of
   rows of a node. */
static int *unknowns(const struct amg_near *near, int64_t rows, int64_t *most, struct err *e)
{
    int *unknown = mem_new(rows, sizeof *unknown, what, e);
    int *seen = unknown ? mem_zero(near->nodes, sizeof *seen, what, e) : NULL;
    *most = 0;
    for (int64_t i = 0; seen && i < rows; i++) {
        unknown[i] = seen[near->node[i]]++;
        if (unknown[i] >= *most) *most = unknown[i] + 1;
    }
    if (!seen) mem_free(unknown);
    mem_free(seen);
    return seen ? unknown : NULL;
}

static bool new_vectors(struct amg_near *near, int64_t rows, int64_t vectors, struct err *e)
{
    near->vectors = vectors;
    near->value = mem_zero(rows * vectors, sizeof *near->value, what, e);
    return near->value != NULL;
}

bool amg_constants(struct amg_near *near, const struct csr *A, struct err *e)
{
    int64_t k;
    int *unknown = unknowns(near, A->rows, &k, e);
    bool ok = unknown && new_vectors(near, A->rows, k, e);
    for (int64_t i = 0; ok && i < A->rows; i++) near->value[i * k + unknown[i]] = 1;
    mem_free(unknown);
    return ok;
}

/* x' A x / x' x, for x[n]; y[n] receives A x. NaN or inf beyond the range of fp64. */
static bool quotient(const struct csr *A, const double *x, double *y, double *out, struct err *e)
{
    bool ok = amg_multiply(A, 1, x, 0, y, e);
    *out = ok ? fabs(amg_dot(A->rows, x, y, NULL)) / amg_dot(A->rows, x, x, NULL) : NAN;
    return ok;
}

bool amg_is_nearer(const struct csr *A, const double *x, bool *nearer, struct err *e)
{
    double of_x, of_ones, *work = mem_new(2 * A->rows, sizeof *work, what, e), *ones = work + A->rows;
    for (int64_t i = 0; work && i < A->rows; i++) ones[i] = 1;
    bool ok = work && quotient(A, x, work, &of_x, e) && quotient(A, ones, work, &of_ones, e);
    *nearer = ok && of_x < of_ones;
    mem_free(work);
    return ok;
}

bool amg_weigh(struct amg_near *near, int64_t rows, const double *x, struct err *e)
{
    int64_t k = near->vectors ? near->vectors : 1;
    if (!near->value) {
        near->value = mem_new(rows, sizeof *near->value, what, e);
        for (int64_t i = 0; near->value && i < rows; i++) near->value[i] = 1;
    }
    for (int64_t i = 0; near->value && i < rows * k; i++) near->value[i] *= x[i / k];
    return near->value != NULL;
}

/* The middle of the points on each axis, and the largest distance from it: coordinates between -1 and 1 keep the
   vectors of similar size. */
static double middle_of(int64_t n, const double *x, double *span)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < n; i++) low = fmin(low, x[i]), high = fmax(high, x[i]);
    *span = fmax(*span, (high - low) / 2);
    return (low + high) / 2;
}

/* Row u of the modes of a point p: a translation along each axis, and a rotation in the plane of each pair of axes. */
static void modes_of(int64_t axes, int u, const double p[3], double *row)
{
    row[u] = 1;
    if (axes == 2) {
        row[2] = u ? p[0] : -p[1];
        return;
    }
    static const int plane[3][2] = {{1, 2}, {2, 0}, {0, 1}};
    for (int r = 0; r < 3; r++) row[3 + r] = u == plane[r][0] ? -p[plane[r][1]] : u == plane[r][1] ? p[plane[r][0]] : 0;
}

bool amg_rigid(struct amg_near *near, const struct csr *A, int64_t axes, const double *points, struct err *e)
{
    int64_t most, k = axes == 2 ? 3 : 6;
    double middle[3], span = 0;
    for (int64_t d = 0; d < axes; d++) middle[d] = middle_of(near->nodes, points + d * near->nodes, &span);
    if (!isfinite(span)) return fail(e, E_NUMERIC, "the coordinates of nodes have NaN or inf");
    int *unknown = unknowns(near, A->rows, &most, e);
    bool ok = unknown && new_vectors(near, A->rows, k, e);
    for (int64_t i = 0; ok && i < A->rows; i++) {
        double p[3];
        for (int64_t d = 0; d < axes; d++)
            p[d] = (points[d * near->nodes + near->node[i]] - middle[d]) / (span > 0 ? span : 1);
        modes_of(axes, unknown[i], p, near->value + i * k);
    }
    mem_free(unknown);
    return ok;
}

/* One smoother on A x = 0: z is the change, r the residual -A x. */
static bool relax(const struct csr *A, const double *dinv, double bound, double *x, double *z, double *r, struct err *e)
{
    for (int k = 1; k <= AMG_DEGREE; k++) {
        double a = k > 1 ? amg_weight_of_z(k) : 0, c = amg_weight_of_r(k, bound);
        for (int64_t i = 0; i < A->rows; i++) {
            z[i] = (k > 1 ? a * z[i] : 0) + c * dinv[i] * r[i];
            x[i] += z[i];
        }
        if (!amg_multiply(A, -1, x, 0, r, e)) return false;
    }
    return true;
}

/* Vector j, from random numbers; work: 4 vectors. */
static bool relaxed(struct amg_near *near, const struct csr *A, int64_t j, double bound, double *work, struct err *e)
{
    int64_t n = A->rows;
    double *dinv = work, *x = work + n, *z = work + 2 * n, *r = work + 3 * n;
    random_fill(x, n, SEED + (uint64_t)j);
    bool ok = amg_multiply(A, -1, x, 0, r, e);
    for (int k = 0; ok && k < SWEEPS; k++) ok = relax(A, dinv, bound, x, z, r, e);
    double norm = ok ? sqrt(amg_dot(n, x, x, NULL)) : 0;
    for (int64_t i = 0; ok && i < n; i++) near->value[i * near->vectors + j] = norm > 0 ? x[i] / norm : 1;
    return ok && loop_tick(what, j, near->vectors, e);
}

bool amg_adaptive(struct amg_near *near, const struct csr *A, int64_t vectors, struct err *e)
{
    double bound, *work = mem_new(4 * A->rows, sizeof *work, what, e);
    bool ok = work && diagonal_inverse(A, "the preconditioner amg", 1, work, e) && amg_bound(A, work, &bound, e) &&
              new_vectors(near, A->rows, vectors, e);
    for (int64_t j = 0; ok && j < vectors; j++) ok = relaxed(near, A, j, bound, work, e);
    mem_free(work);
    return ok;
}
