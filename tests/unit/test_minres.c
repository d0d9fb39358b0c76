/* MINRES against a dense method that shares none of its recurrences, and on symmetric indefinite matrices of the
   collection. */
#include "files/load_info.h"
#include "kits/collection.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

enum { N = 8 };

static const double indefinite[N * N] = {
    4, 1, 0, 0, 0, 2, 0, 0, 1, -3, 2, 0, 0, 0, 0,  1, 0, 2, 1, -1, 0, 0,  0,  0, 0, 0, -1, -5, 3, 0, 0, 0,
    0, 0, 0, 3, 6, 1, 0, 0, 2, 0,  0, 0, 1, 2, -2, 0, 0, 0, 0, 0,  0, -2, -7, 1, 0, 1, 0,  0,  0, 0, 1, 0.5,
};
static const double right[N] = {1, -2, 3, 0.5, 0, 1, -1, 2};

static double inner(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < N; i++) sum += a[i] * b[i];
    return sum;
}

/* y = y - (q.y) q */
static void remove_from(const double *q, double *y)
{
    double part = inner(q, y);
    for (int i = 0; i < N; i++) y[i] -= part * q[i];
}

/* ||r_k|| / ||b|| for the r_k in b + span(A b, ..., A^k b) that is smallest in the norm of D^-1: with D = I, the
   smallest residual. The system is scaled to D^-1/2 A D^-1/2, and the images of the Krylov vectors are orthonormalised.
 */
static void smallest_residuals(const double *D, int iterations, double *residual)
{
    double Q[N][N], r[N], w[N];
    for (int i = 0; i < N; i++) r[i] = w[i] = right[i] / sqrt(D[i]);
    for (int k = 0; k < iterations; k++) {
        for (int i = 0; i < N; i++) {
            Q[k][i] = 0;
            for (int j = 0; j < N; j++) Q[k][i] += indefinite[N * i + j] / sqrt(D[i] * D[j]) * w[j];
        }
        for (int twice = 0; twice < 2; twice++)
            for (int j = 0; j < k; j++) remove_from(Q[j], Q[k]);
        double size = sqrt(inner(Q[k], Q[k])), rr = 0;
        for (int i = 0; i < N; i++) w[i] = Q[k][i] /= size;
        remove_from(Q[k], r);
        for (int i = 0; i < N; i++) rr += D[i] * r[i] * r[i];
        residual[k] = sqrt(rr / inner(right, right));
    }
}

static void compare(const char *device, const char *precond, bool sums_host)
{
    struct bed bed;
    double D[N], expected[N];
    struct solve_options o = {.solver = solver_find("minres"), .real = P_F64, .tol = 1e-10, .maxit = 50, .b = right};
    o.pre = precond ? precond_find(precond) : NULL;
    o.sums_host = sums_host;
    for (int i = 0; i < N; i++) D[i] = o.pre ? fabs(indefinite[(N + 1) * i]) : 1;
    smallest_residuals(D, N - 1, expected);
    bed_make(&bed, &(struct problem){N, N, .a = indefinite});
    bed_solve(&bed, o, device, 1e9);
    const struct solve *v = bed.s.solve;
    assert_int_equal(v->reason, CONVERGED);
    assert_int_equal(v->iterations, N);
    for (int k = 0; k < N - 1; k++)
        if (!(fabs(v->history.residual[k + 1] / expected[k] - 1) < 1e-8))
            fail_msg("%s on %s: residual %g after iteration %d, not %g", precond ? precond : "no precond", device,
                     v->history.residual[k + 1], k + 1, expected[k]);
    bed_free(&bed);
}

TEST(residuals_are_the_smallest)
{
    static const char *const devices[] = {"cpu", "emu"}, *const preconds_of[] = {NULL, "jacobi"};
    for (int d = 0; d < COUNT(devices); d++)
        for (int p = 0; p < COUNT(preconds_of); p++) {
            compare(devices[d], preconds_of[p], false);
            compare(devices[d], preconds_of[p], true);
        }
}

/* The diagonal 1, d, -1. Rounding errors of a step exceed the residual only if d is 0 up to rounding. */
TEST(nearly_singular_is_not_singular)
{
    static const double small[] = {1e-3, 1e-11, 1e-12, 3e-13, 1e-13, 3e-14, 0};
    static const int at[] = {0, 1, 2};
    for (int i = 0; i < COUNT(small); i++) {
        struct talk t;
        struct csr A;
        struct load_info info = {.file = "case"};
        const double val[] = {1, small[i], -1};
        talk_open(&t, OUT_TEXT);
        assert_true(csr_from_triplets(&A, 3, 3, 3, at, at, val, NULL, NULL, NULL));
        assert_true(session_add(&t.s, "A", &A, &info, NULL));
        talk_says(&t, "solve minres A b ones on cpu",
                  small[i] > 0 ? "converged      yes" : "null space     1 vector: of a row without entries");
        assert_true(small[i] == 0 || t.s.solve->result.residual_true <= 2e-8);
        talk_close(&t);
    }
}

/* The null space of [1 1; 1 1] is not found: minres notices it. */
TEST(singular_matrices_are_noticed)
{
    static const int row[] = {0, 0, 1, 1, 2}, col[] = {0, 1, 0, 1, 2};
    static const double val[] = {1, 1, 1, 1, -1};
    struct talk t;
    struct csr A;
    struct load_info info = {.file = "case"};
    talk_open(&t, OUT_TEXT);
    assert_true(csr_from_triplets(&A, 3, 3, 5, row, col, val, NULL, NULL, NULL));
    assert_true(session_add(&t.s, "A", &A, &info, NULL));
    talk_says(&t, "solve minres A b random on cpu", "A is singular up to rounding errors, and b is not in its range");
    talk_close(&t);
}

/* In f32, the rotations give smaller residuals than b - A x has. The solve starts again from its x, and the residual
   that it claims is that of its x; below what rounding allows, it claims nothing. */
TEST(claims_are_checked)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 60 as P; let A = P - 0.5*I"));
    static const char *const lines[][2] = {{"solve minres A on cpu f32 tol 1e-5", "\"converged\":true"},
                                           {"solve minres A on emu f32 tol 1e-5", "\"converged\":true"},
                                           {"solve minres A on cpu f32 tol 1e-7 maxit 3000", "\"converged\":false"}};
    for (int i = 0; i < COUNT(lines); i++) {
        talk_says(&t, lines[i][0], lines[i][1]);
        const struct solve *v = t.s.solve;
        assert_true(v->reason != CONVERGED || v->result.residual_true <= 2 * v->set.tol);
    }
    talk_close(&t);
}

/* 3 is an eigenvalue of P. The solve ends before x grows along the null vectors of A. */
TEST(a_singular_matrix_spoils_no_x)
{
    static const char *const devices[] = {"cpu", "emu"};
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 9 as P; let A = P - 3*I"));
    for (int i = 0; i < COUNT(devices); i++) {
        char line[80];
        snprintf(line, sizeof line, "solve minres A on %s b random seed 4", devices[i]);
        talk_says(&t, line, "\"converged\":false");
        const struct solve *v = t.s.solve;
        if (v->reason != BROKE_DOWN || !strstr(v->why, "b is not in its range")) fail_msg("%s", v->why);
        assert_true(v->result.residual_true < 1);
    }
    talk_close(&t);
}

/* The Laplacian of a path of 100 nodes, and of a grid with free edges, are singular, with the null vector of ones: for
   a b that is not orthogonal to it, no residual is smaller than |b . 1| / (sqrt(n) ||b||). */
TEST(an_inconsistent_system_ends_at_least_squares)
{
    static const char *const solves[] = {"on cpu", "on emu", "on cpu f32", "on cpu sums host", "on cpu precond jacobi"};
    static const int widths[] = {1, 12};
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int w = 0; w < COUNT(widths); w++) {
        enum { LENGTH = 100, MAX = LENGTH * 12 };
        static int row[5 * MAX], col[5 * MAX];
        static double val[5 * MAX];
        struct csr A = {0};
        struct err e = {0};
        struct load_info info = {.file = "case"};
        int wide = widths[w], n = LENGTH / wide * wide, k = 0;
        for (int i = 0; i < n; i++) {
            const int next[] = {i - wide, i % wide ? i - 1 : -1, (i + 1) % wide ? i + 1 : -1, i + wide};
            int degree = 0;
            for (int j = 0; j < COUNT(next); j++)
                if (next[j] >= 0 && next[j] < n) row[k] = i, col[k] = next[j], val[k++] = -1, degree++;
            row[k] = col[k] = i, val[k++] = degree;
        }
        assert_true(csr_from_triplets(&A, n, n, k, row, col, val, NULL, NULL, &e));
        assert_true(session_add(&t.s, wide > 1 ? "G" : "L", &A, &info, &e));
        for (int i = 0; i < COUNT(solves); i++) {
            char line[100];
            double sum = 0, square = 0, least;
            snprintf(line, sizeof line, "solve minres %s b random seed 4 nullspace none %s", wide > 1 ? "G" : "L",
                     solves[i]);
            talk_says(&t, line, "\"converged\":false");
            const struct solve *v = t.s.solve;
            for (int j = 0; j < n; j++) sum += v->b[j], square += v->b[j] * v->b[j];
            least = fabs(sum) / sqrt(n * square);
            if (!(v->result.residual_true < 1.1 * least) || v->reason != BROKE_DOWN)
                fail_msg("%s: residual %g, least %g: %s", line, v->result.residual_true, least, v->why);
        }
    }
    talk_close(&t);
}

/* b = (v, 0) is in the range of (0 v; 0 0): minres breaks down because the matrix is not symmetric. */
TEST(a_matrix_that_is_not_symmetric_is_named)
{
    static const int row[] = {0}, col[] = {1};
    static const double values[] = {1, -3, 1e-5};
    struct load_info info = {.file = "case"};
    struct talk t;
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(values); i++) {
        struct csr A;
        struct err e = {0};
        assert_true(csr_from_triplets(&A, 2, 2, 1, row, col, &values[i], NULL, NULL, &e));
        assert_true(session_add(&t.s, "S", &A, &info, &e));
        talk_says(&t, "solve minres S on cpu", "\"converged\":false");
        const struct solve *v = t.s.solve;
        if (v->reason != BROKE_DOWN || !strstr(v->why, "A is not symmetric") || strstr(v->why, "range"))
            fail_msg("%g: %s", values[i], v->why);
        assert_true(talk_line(&t, "drop S"));
    }
    talk_close(&t);
}

TEST(negative_diagonal_entries_are_named)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6 as P; let A = P - 5*I; let B = P - 4*I"));
    talk_says(&t, "solve minres A on cpu precond jacobi", "|a_ii| in place of 36 negative entries");
    talk_refuses(&t, "solve minres B on cpu precond jacobi", "jacobi divides by the diagonal, but row 0");
    talk_close(&t);
}

/* cg breaks down on these matrices, except on nos3, which is positive definite. */
TEST(indefinite_matrices_are_solved)
{
    static const char *const names[] = {"bcspwr03", "can_144", "dwt_992", "jagmesh7", "lshp_406",
                                        "laser",    "nos3",    "GD97_a",  "rail_371", "spaceStation_3"};
    struct talk t;
    const char *folder = collection_folder("minres on the collection");
    if (!folder) return;
    talk_open(&t, OUT_JSON);
    for (int i = 0; i < COUNT(names); i++) {
        char line[1024];
        snprintf(line, sizeof line, "load %s/%s.mtx.gz as A; solve minres A on cpu", folder, names[i]);
        talk_says(&t, line, "\"converged\":true");
        if (!(t.s.solve->result.residual_true <= 2e-8)) fail_msg("%s: %s", names[i], t.s.solve->why);
        assert_true(talk_line(&t, "drop all"));
    }
    talk_close(&t);
}
