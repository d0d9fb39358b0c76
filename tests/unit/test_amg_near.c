/* Multigrid with several near-null vectors: the nodes of a matrix, constants, rigid-body modes and relaxed vectors on
   them, and the prolongation that represents these vectors exactly. */
#include "base/mem.h"
#include "base/precision.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "matrix/facts.h"
#include "matrix/random.h"
#include "session/matrix.h"
#include "solvers/amg.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <omp.h>
#include <unistd.h>

static const char *const devices[] = {"cpu", "emu"};

static const struct csr *matrix_of(const struct bed *bed)
{
    return &bed->s.current->csr;
}

static void bed_elasticity(struct bed *bed, int64_t n, bool components)
{
    bed_make(bed, &(struct problem){.generator = "elasticity", .p = {n, components, 0}});
}

static void multiply(const struct csr *A, const double *x, double *y)
{
    for (int64_t i = 0; i < A->rows; i++) {
        y[i] = 0;
        for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) y[i] += A->val[k] * x[A->col[k]];
    }
}

/* ---- a truss: bars between points, of which rigid bodies know nothing ---- */

enum { POINTS = 40, BARS = 6 };

/* Bars from each point to the BARS points after it: K = the sum of d d' over the directions d of the bars, for the
   points of a bar with opposite signs. It maps rigid-body motions to 0. Unknown u of point p is row p * axes + u or, by
   components, u * POINTS + p. */
static void truss(struct csr *A, int axes, bool components, const double *points)
{
    static int row[POINTS * BARS * 36], col[POINTS * BARS * 36];
    static double val[POINTS * BARS * 36];
    static double K[3 * POINTS][3 * POINTS];
    struct err e = {0};
    int n = axes * POINTS, at = 0;
    memset(K, 0, sizeof K);
    for (int p = 0; p < POINTS; p++)
        for (int q = p + 1; q <= p + BARS && q < POINTS; q++) {
            double d[3], length = 0;
            for (int u = 0; u < axes; u++)
                d[u] = points[u * POINTS + q] - points[u * POINTS + p], length += d[u] * d[u];
            for (int a = 0; a < 2 * axes; a++)
                for (int b = 0; b < 2 * axes; b++) {
                    int i = a % axes, j = b % axes, from = a < axes ? p : q, to = b < axes ? p : q;
                    int r = components ? i * POINTS + from : from * axes + i;
                    int c = components ? j * POINTS + to : to * axes + j;
                    K[r][c] += (from == to ? 1 : -1) * d[i] * d[j] / length;
                }
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (K[i][j] != 0) row[at] = i, col[at] = j, val[at++] = K[i][j];
    assert_true(csr_from_triplets(A, n, n, at, row, col, val, NULL, NULL, &e));
}

static void random_points(double *points)
{
    random_fill(points, 3 * POINTS, 3);
    for (int i = 0; i < 3 * POINTS; i++) points[i] = 10 + 4 * points[i];
}

/* ---- nodes ---- */

TEST(test_nodes)
{
    enum { N = 4, NODES = N * N * N };
    for (int components = 0; components < 2; components++) {
        struct bed bed;
        struct amg_near near = {0};
        struct err e = {0};
        bed_elasticity(&bed, N, components);
        assert_int_equal(facts_block(&bed.s.current->facts, matrix_of(&bed)), 3);
        assert_true(amg_nodes(&near, matrix_of(&bed), 3, &e));
        assert_int_equal(near.nodes, NODES);
        for (int i = 0; i < 3 * NODES; i++) assert_int_equal(near.node[i], components ? i % NODES : i / 3);
        amg_near_free(&near);
        assert_false(amg_nodes(&near, matrix_of(&bed), 5, &e));
        assert_non_null(strstr(e.text, "block is 5, but the 192 rows"));
        amg_near_free(&near);
        bed_free(&bed);
    }
    struct bed bed;
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {6, 5}});
    assert_int_equal(facts_block(&bed.s.current->facts, matrix_of(&bed)), 1);
    bed_free(&bed);
}

/* Bars along an axis couple one unknown only, so that rows of a node differ in their columns. The sums of rows show the
   nodes. */
TEST(test_nodes_without_zeros)
{
    double points[3 * POINTS];
    for (int p = 0; p < POINTS; p++) points[p] = p % 7, points[POINTS + p] = p / 7, points[2 * POINTS + p] = p * p % 3;
    for (int way = 0; way < 4; way++) {
        int axes = 2 + way / 2, differ = 0;
        struct csr A;
        struct err e = {0};
        struct facts facts = {0};
        struct amg_near near = {0};
        truss(&A, axes, way % 2, points);
        assert_int_equal(facts_block(&facts, &A), axes);
        assert_true(amg_nodes(&near, &A, axes, &e));
        for (int i = 0; i < A.rows; i++) assert_int_equal(near.node[i], way % 2 ? i % POINTS : i / axes);
        for (int p = 0; p < POINTS; p++)
            differ +=
                csr_row_length(&A, way % 2 ? p : p * axes) != csr_row_length(&A, way % 2 ? POINTS + p : p * axes + 1);
        assert_true(differ > 10);
        amg_near_free(&near);
        csr_free(&A);
    }
}

/* The rigid-body modes of a truss are in its null space. */
TEST(test_rigid)
{
    double points[3 * POINTS];
    random_points(points);
    for (int axes = 2; axes <= 3; axes++)
        for (int components = 0; components < 2; components++) {
            struct csr A;
            struct err e = {0};
            struct amg_near near = {0};
            double x[3 * POINTS], y[3 * POINTS];
            truss(&A, axes, components, points);
            assert_true(amg_nodes(&near, &A, axes, &e) && amg_rigid(&near, &A, axes, points, &e));
            assert_int_equal(near.vectors, axes == 2 ? 3 : 6);
            for (int64_t j = 0; j < near.vectors; j++) {
                double size = 0;
                for (int64_t i = 0; i < A.rows; i++) x[i] = near.value[i * near.vectors + j], size += x[i] * x[i];
                multiply(&A, x, y);
                assert_true(size > 1);
                for (int64_t i = 0; i < A.rows; i++) assert_true(fabs(y[i]) < 1e-12);
            }
            amg_near_free(&near);
            csr_free(&A);
        }
}

/* ---- the prolongation ---- */

static void check_orthonormal(const struct csr *T, const int *node, const struct amg_aggregates *g)
{
    double *G = mem_zero(T->cols * T->cols, sizeof *G, "t", NULL);
    for (int64_t i = 0; i < T->rows; i++)
        for (int k = T->rowptr[i]; k < T->rowptr[i + 1]; k++)
            for (int l = T->rowptr[i]; l < T->rowptr[i + 1]; l++)
                G[T->col[k] * T->cols + T->col[l]] += T->val[k] * T->val[l];
    for (int64_t i = 0; i < T->cols; i++)
        for (int64_t j = 0; j < T->cols; j++) assert_true(fabs(G[i * T->cols + j] - (i == j)) < 1e-13);
    mem_free(G);
}

/* P times the coarse vectors is (I - omega D^-1 A) times the fine ones, in rows that have an aggregate; with omega 0, P
   is T, whose columns are orthonormal, so that their coefficients are T' B. */
static void check_prolong(const struct csr *A, struct amg_near *near, double omega)
{
    struct csr nodes = {0}, P = {0};
    struct amg_aggregates g = {0};
    struct amg_near coarse = {0};
    struct err e = {0};
    int64_t k = near->vectors, n = A->rows;
    double *dinv = NULL, *node_dinv = NULL, *x = mem_new(4 * n, sizeof *x, "t", NULL), *y = x + n, *c = y + n,
           *z = c + n;
    dinv = mem_new(n, sizeof *dinv, "t", NULL);
    for (int64_t i = 0; i < n; i++) dinv[i] = 1 / A->val[csr_find(A, i, i)];
    assert_true(amg_nodes_matrix(&nodes, &node_dinv, A, near, &e) && amg_aggregate(&g, &nodes, node_dinv, .08, &e));
    assert_true(g.n > 0 && g.n < near->nodes / 2);
    assert_true(amg_prolong_near(&P, &coarse, A, dinv, &g, near, omega, &e));
    assert_true(coarse.nodes == g.n && P.rows == n && P.cols <= g.n * k && P.cols > g.n);
    for (int64_t j = 0; j < k; j++) {
        for (int64_t i = 0; i < n; i++) x[i] = near->value[i * k + j];
        for (int64_t i = 0; i < P.cols; i++) c[i] = coarse.value[i * k + j];
        multiply(A, x, y);
        multiply(&P, c, z);
        for (int64_t i = 0; i < n; i++)
            if (g.of[near->node[i]] >= 0) assert_true(fabs(z[i] - (x[i] - omega * dinv[i] * y[i])) < 1e-11);
    }
    if (omega == 0) {
        struct csr T = P; /* without its zeros */
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++) {
            int from = T.rowptr[i], end = T.rowptr[i + 1];
            T.rowptr[i] = (int)at;
            for (int q = from; q < end; q++)
                if (T.val[q] != 0) {
                    assert_int_equal(coarse.node[T.col[q]], g.of[near->node[i]]);
                    T.col[at] = T.col[q], T.val[at++] = T.val[q];
                }
        }
        T.rowptr[n] = (int)at;
        check_orthonormal(&T, near->node, &g);
    }
    amg_aggregates_free(&g);
    amg_near_free(&coarse);
    csr_free(&nodes);
    csr_free(&P);
    mem_free(node_dinv);
    mem_free(dinv);
    mem_free(x);
}

TEST(test_prolongation)
{
    double points[3 * POINTS];
    random_points(points);
    for (int way = 0; way < 6; way++) {
        struct csr A;
        struct err e = {0};
        struct amg_near near = {0};
        truss(&A, 3, way % 2, points);
        assert_true(amg_nodes(&near, &A, 3, &e));
        assert_true(way / 2 == 0   ? amg_constants(&near, &A, &e)
                    : way / 2 == 1 ? amg_rigid(&near, &A, 3, points, &e)
                                   : amg_adaptive(&near, &A, 4, &e));
        check_prolong(&A, &near, 0);
        check_prolong(&A, &near, .6);
        amg_near_free(&near);
        csr_free(&A);
    }
}

/* The norms of the blocks of a matrix of two nodes whose rows are 0, 2 and 1, 3. */
TEST(test_nodes_matrix)
{
    static const int row[] = {0, 0, 1, 2, 2, 3, 3}, col[] = {0, 1, 1, 2, 3, 3, 2};
    static const double val[] = {3, 5, 6, 4, 12, 8, -2};
    struct csr A, nodes = {0};
    struct err e = {0};
    int node[] = {0, 1, 0, 1};
    double *dinv = NULL;
    struct amg_near near = {.vectors = 1, .nodes = 2, .node = node};
    assert_true(csr_from_triplets(&A, 4, 4, 7, row, col, val, NULL, NULL, &e));
    assert_true(amg_nodes_matrix(&nodes, &dinv, &A, &near, &e));
    assert_int_equal(nodes.nnz, 4);
    for (int i = 0; i < 2; i++)
        for (int k = nodes.rowptr[i]; k < nodes.rowptr[i + 1]; k++) {
            static const double norm[2][2] = {{5, -13}, {-2, 10}};
            assert_true(fabs(nodes.val[k] - norm[i][nodes.col[k]]) < 1e-14);
        }
    assert_true(fabs(dinv[0] - .2) < 1e-15 && fabs(dinv[1] - .1) < 1e-15);
    csr_free(&A);
    csr_free(&nodes);
    mem_free(dinv);
}

/* Sweeps leave smooth vectors: x'A x is small beside x'D x, and for random x it is about as large. */
TEST(test_adaptive)
{
    struct bed bed;
    struct err e = {0};
    struct amg_near near = {0};
    bed_make(&bed, &(struct problem){.generator = "poisson2d", .p = {20, 20}});
    const struct csr *A = matrix_of(&bed);
    assert_true(amg_nodes(&near, A, 1, &e) && amg_adaptive(&near, A, 2, &e));
    for (int j = 0; j < 2; j++) {
        double x[400], y[400], top = 0, bottom = 0;
        for (int i = 0; i < 400; i++) x[i] = near.value[i * 2 + j];
        multiply(A, x, y);
        for (int i = 0; i < 400; i++) top += x[i] * y[i], bottom += 4 * x[i] * x[i];
        assert_true(top < .05 * bottom && bottom > 1);
    }
    amg_near_free(&near);
    bed_free(&bed);
}

/* The levels do not depend on the number of threads. */
TEST(test_threads)
{
    struct bed bed;
    struct amg g[2];
    struct err e = {0};
    int threads = omp_get_max_threads();
    bed_elasticity(&bed, 8, true);
    for (int t = 0; t < 2; t++) {
        struct amg_near near = {0};
        omp_set_num_threads(t ? 4 : 1);
        assert_true(amg_nodes(&near, matrix_of(&bed), 3, &e) && amg_constants(&near, matrix_of(&bed), &e));
        assert_true(amg_make_near(&g[t], matrix_of(&bed), &near, &e) && !near.node);
    }
    omp_set_num_threads(threads);
    assert_true(g[0].n == 2 && g[1].n == 2 && g[0].level[1].A->nnz == g[1].level[1].A->nnz);
    assert_memory_equal(g[0].level[1].A->val, g[1].level[1].A->val,
                        (size_t)g[0].level[1].A->nnz * sizeof *g[0].level[1].A->val);
    for (int t = 0; t < 2; t++) amg_free(&g[t]);
    bed_free(&bed);
}

TEST(test_failing_allocations)
{
    struct bed bed;
    bool made = false;
    bed_elasticity(&bed, 6, true);
    for (int64_t nth = 1; !made; nth++) {
        struct amg g = {0};
        struct amg_near near = {0};
        struct err e = {0};
        mem_fail_at(nth);
        made = amg_nodes(&near, matrix_of(&bed), 3, &e) && amg_constants(&near, matrix_of(&bed), &e) &&
               amg_make_near(&g, matrix_of(&bed), &near, &e);
        mem_fail_at(0);
        if (!made) assert_int_equal(e.code, E_MEMORY);
        amg_near_free(&near);
        amg_free(&g);
        assert_true(nth < 1000);
    }
    bed_free(&bed);
}

/* ---- solves ---- */

static int64_t iterations_of(struct bed *bed, const char *device, int64_t block, enum near_kind kind,
                             const char *solver)
{
    static double b[3 * 12 * 12 * 12];
    struct solve_options o = {.solver = solver_find(solver), .real = P_F64, .tol = 1e-8, .maxit = 200, .b = b};
    random_fill(b, matrix_of(bed)->rows, 2);
    o.pre = precond_find("amg");
    o.pre_block = block;
    o.near.kind = kind;
    bed_solve(bed, o, device, 1e5);
    assert_int_equal(bed->s.solve->reason, CONVERGED);
    return bed->s.solve->iterations;
}

/* cg with PyAMG 5.4 (smoothed_aggregation_solver with these constants as B, symmetric strength .08, at most 400 coarse
   rows, and Chebyshev smoothers of degree 2) takes PYAMG iterations to 1e-8 on elasticity 12. */
enum { PYAMG = 14 };

TEST(test_iterations)
{
    for (int components = 0; components < 2; components++) {
        struct bed bed;
        bed_elasticity(&bed, 12, components);
        for (int d = 0; d < 2; d++) {
            int64_t plain = iterations_of(&bed, devices[d], 0, NEAR_DEFAULT, "cg");
            int64_t nodes = iterations_of(&bed, devices[d], 3, NEAR_DEFAULT, "cg");
            if (!(nodes <= PYAMG && 3 * nodes < 2 * plain)) fail_msg("%d of %d", (int)nodes, (int)plain);
            assert_int_equal(iterations_of(&bed, devices[d], 0, NEAR_CONSTANT, "cg"), nodes);
            assert_true(iterations_of(&bed, devices[d], 3, NEAR_ADAPTIVE, "gmres") < plain);
            assert_true(iterations_of(&bed, devices[d], 3, NEAR_CONSTANT, "minres") <= nodes + 2);
        }
        bed_free(&bed);
    }
}

/* ---- lines ---- */

static void write_points(const char *path, int n)
{
    static const double J[3][3] = {
        {1, 0.375, 0.125}, {0, 1, 0.25}, {0, 0, 1}}; /* as gen_elasticity.c shears the grid */
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix array real general\n%d 3\n", n * n * n);
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < n * n * n; i++) {
            double p[3], x[] = {i % n, i / n % n, i / (n * n)}; /* x = J' p */
            for (int a = 0; a < 3; a++) {
                p[a] = x[a];
                for (int b = 0; b < a; b++) p[a] -= J[b][a] * p[b];
            }
            fprintf(f, "%.17g\n", p[axis]);
        }
    fclose(f);
}

static const struct line {
    const char *line, *part;
} lines[] = {
    {"solve cg E precond amg near constant on cpu", "3 rows (found) per node, 3 constants"},
    {"solve cg E precond amg on cpu", "rows in the coarsest; A has 3 rows per node: try `near constant`"},
    {"solve cg E precond amg block 3 on emu", "3 rows per node, 3 constants; made on the host"},
    {"solve cg E precond amg near rigid coordinates x.mtx on cpu", "3 rows (found) per node, 6 rigid-body modes"},
    {"solve cg C precond amg near rigid coordinates x.mtx on cpu", "converged       yes"},
    {"solve cg E precond amg near adaptive vectors 5 on cpu", "3 rows (found) per node, 5 relaxed vectors"},
    {"solve cg P precond amg near constant on cpu", "no nodes of several rows were found"},
    {"solve cg P precond amg near adaptive on cpu", "1 row (found) per node, 4 relaxed vectors"},
    {"solve cg P precond amg near adaptive vectors 9 on cpu", "9 relaxed vectors, "},
    {"solve cg P precond amg near rigid coordinates x.mtx on cpu",
     "x.mtx has 512 points with 3 coordinates, but A has"},
    {"solve cg E precond amg near rigid coordinates x.mtx reorder rcm on cpu", "leave out `scaled` and `reorder`"},
    {"solve cg E precond amg block 7 on cpu", "block is 7, but the 1536 rows of A are no nodes of 7 rows"},
    {"solve cg E precond amg near rigid", "`near rigid` needs the coordinates of the nodes"},
    {"solve cg E precond amg near adaptive vectors 13", "13"},
    {"solve cg E precond amg near constant vectors 2", "`vectors` is the number of vectors of `near adaptive`"},
    {"solve cg E precond jacobi near constant", "`near` is for a preconditioner with near-null vectors; add"},
    {"solve cg E precond amg on cpu step", "iteration"},
    {"change near rigid coordinates x.mtx", "restarted from x at iteration"},
    {"continue", "6 rigid-body modes"},
    {"change precond amg block 1 tol 1e-11", "restarted"},
    {"continue", "converged       yes"},
    {"advise solver E on cpu", "cg, amg block 3"},
};

TEST(test_lines)
{
    char folder[] = "/tmp/warpspy-near-XXXXXX", before[4096];
    struct talk t;
    assert_true(getcwd(before, sizeof before) && mkdtemp(folder) && !chdir(folder));
    write_points("x.mtx", 8);
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen elasticity 8 as E") && talk_line(&t, "gen elasticity 8 components 1 as C") &&
                talk_line(&t, "gen poisson2d 30 as P"));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        talk_forget(&t);
        talk_line(&t, lines[i].line);
        if (!strstr(t.out, lines[i].part) && !strstr(t.err, lines[i].part))
            fail_msg("%s: %s%s", lines[i].line, t.out, t.err);
    }
    talk_close(&t);
    assert_true(!unlink("x.mtx") && !chdir(before) && !rmdir(folder));
}
