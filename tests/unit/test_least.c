/* The solvers of least squares against SciPy's lsqr and lsmr and NumPy's lstsq (kits/make_least_table.py), on
   rectangular, singular and degenerate matrices. */
#include "files/load_info.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/vec_ops.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <string.h>

static const char *const methods[] = {"lsqr", "lsmr", "cgls"};

/* ---- systems ---- */

/* The matrix `made` of make_least_table.py, times 2^exponent. */
static void add_scaled(struct session *s, int rows, int cols, int step, int kind, int exponent)
{
    enum { MOST = 4096 };
    static int at[2][MOST];
    static double val[MOST];
    int64_t n = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            int k = kind == 2 ? j % (cols / 2) : j;
            double a = (7 * i + 13 * k + i * k) % 19 - 9 + (i == k ? 4 : 0);
            if ((3 * i + 5 * k) % step || a == 0 || (kind == 3 && (i == 4 || k == 6))) continue;
            at[0][n] = i, at[1][n] = j;
            val[n++] = ldexp(a, exponent - (kind == 1 ? j % 11 : 0));
        }
    struct csr A;
    struct load_info info = {.file = "made"};
    assert_true(n <= MOST && csr_from_triplets(&A, rows, cols, n, at[0], at[1], val, NULL, NULL, NULL));
    assert_true(session_add(s, "A", &A, &info, NULL));
}

static void add_made(struct session *s, int rows, int cols, int step, int kind)
{
    add_scaled(s, rows, cols, step, kind, 0);
}

/* Add the system of this name as A; false: it is in the collection, which is not here. */
static bool add_system(struct talk *t, const char *name)
{
    int n[4];
    char line[1200];
    const char *folder = getenv("WARPSPY_MATRICES");
    if (sscanf(name, "%d %d %d %d", &n[0], &n[1], &n[2], &n[3]) == 4)
        return add_made(&t->s, n[0], n[1], n[2], n[3]), true;
    if (!folder) return false;
    snprintf(line, sizeof line, "load %s/%s.mtx.gz as A", folder, name);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    return true;
}

/* ---- against SciPy ---- */

struct row {
    char name[40], right[20];
    double norm, weighted, residual;
    int rank, iterations[2];
};

static bool near(double a, double b, double rounding)
{
    return fabs(a - b) <= rounding * (1 + fabs(b));
}

static double weighted_sum(const struct solve *v)
{
    double sum = 0;
    for (int64_t j = 0; j < v->n; j++) sum += cos((double)j) * v->result.x[j];
    return sum;
}

static void compare(struct talk *t, const struct row *r, int method, const char *words)
{
    static const double CLOSE = 2e-5;
    char line[200];
    snprintf(line, sizeof line, "solve %s A b %s tol 1e-10 conlim 1e300 maxit 20000 %s", methods[method],
             strcmp(r->right, "varied") ? r->right : "avaried", words);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    const struct solve *v = t->s.solve;
    double norm = 0;
    for (int64_t j = 0; j < v->n; j++) norm += v->result.x[j] * v->result.x[j];
    if (v->reason != CONVERGED) fail_msg("%s, %s: %s", r->name, line, v->why);
    if (!(fmin(v->result.least.normal, v->result.least.backward) <= 2e-10))
        fail_msg("%s, %s: normal equations %g, %g", r->name, line, v->result.least.normal, v->result.least.backward);
    if (!near(v->result.residual_true, r->residual, 1e-8) || !near(v->residual, r->residual, 1e-8))
        fail_msg("%s, %s: residual %.12g, not %.12g", r->name, line, v->result.residual_true, r->residual);
    if (!near(sqrt(norm), r->norm, CLOSE) || !near(weighted_sum(v), r->weighted, CLOSE))
        fail_msg("%s, %s: x has norm %.12g, not %.12g, and sum %.12g, not %.12g", r->name, line, sqrt(norm), r->norm,
                 weighted_sum(v), r->weighted);
    /* After more iterations than the rank, SciPy's estimate of the Frobenius norm is too large, and ours is the norm.
     */
    int of = r->iterations[method == 1];
    double most = of * (of > r->rank ? 1.2 : 1.03) + 2, least = of * 0.97 - 2;
    bool counts = !strstr(words, "columns") && method < 2;
    if (counts && !(least <= (double)v->iterations && (double)v->iterations <= most))
        fail_msg("%s, %s: %d iterations, not %d", r->name, line, (int)v->iterations, r->iterations[method == 1]);
}

/* D^-1 leaves x as it is only if no other x is as good. */
static void compare_all(struct talk *t, const struct row *r)
{
    const struct csr *A = &t->s.current->csr;
    bool is_small = A->nnz < 400, unique = r->rank == A->cols;
    for (int method = 0; method < COUNT(methods); method++) {
        compare(t, r, method, "on cpu");
        if (unique) compare(t, r, method, "on cpu precond columns");
        if (is_small) compare(t, r, method, "on emu");
        if (is_small && unique) compare(t, r, method, "on emu precond columns");
    }
}

TEST(x_is_that_of_scipy)
{
    struct row r;
    char head[200];
    int n = 0, skipped = 0;
    FILE *f = fopen("tests/kits/least_table.tsv", "r");
    assert_true(f && fgets(head, sizeof head, f));
    while (fscanf(f, " %39[^\t] %19s %lf %lf %lf %d %d %d", r.name, r.right, &r.norm, &r.weighted, &r.residual, &r.rank,
                  &r.iterations[0], &r.iterations[1]) == 8) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        bool here = add_system(&t, r.name);
        if (here) compare_all(&t, &r);
        here ? n++ : skipped++;
        talk_close(&t);
    }
    fclose(f);
    if (skipped) print_message("skip: %d systems, because WARPSPY_MATRICES is not set\n", skipped);
    assert_true(n + skipped == 46 && n >= 14);
}

/* scipy.sparse.linalg.lsqr and lsmr of `made(60, 30, 4, 1)` and ones: ||A' r|| / (||A|| ||r||) after 6 iterations, and
   the first estimate of the condition that reaches the limit. The iterates and estimates of cgls are those of lsqr. */
TEST(estimates_are_those_of_scipy)
{
    static const struct {
        double normal, conlim, condition;
        int iterations;
    } known[] = {{0.008797480862648718, 9.8, 9.834838892425193, 5},
                 {0.0058932137391142, 8, 8.576395129543416, 7},
                 {0.008797480862648718, 9.8, 9.834838892425193, 5}};
    char line[120];
    for (int method = 0; method < COUNT(methods); method++)
        for (int d = 0; d < 2; d++) {
            struct talk t;
            talk_open(&t, OUT_TEXT);
            add_made(&t.s, 60, 30, 4, 1);
            snprintf(line, sizeof line, "solve %s A b ones tol 1e-10 conlim %g on %s", methods[method],
                     known[method].conlim, d ? "emu" : "cpu");
            assert_true(talk_line(&t, line));
            const struct solve *v = t.s.solve;
            assert_int_equal(v->reason, BROKE_DOWN);
            assert_int_equal(v->iterations, known[method].iterations);
            assert_float_equal(v->host_scalars[S_PQ], known[method].condition, 1e-6);
            snprintf(line, sizeof line, "solve %s A b ones tol 1e-10 step on %s; step 6", methods[method],
                     d ? "emu" : "cpu");
            assert_true(talk_line(&t, line));
            assert_float_equal(solve_least_at(t.s.solve, 6).normal, known[method].normal, 1e-9);
            talk_close(&t);
        }
}

/* ---- degenerate systems ---- */

static void add_triplets(struct talk *t, int rows, int cols, int64_t n, const int *row, const int *col,
                         const double *val)
{
    struct csr A;
    struct load_info info = {.file = "case"};
    assert_true(csr_from_triplets(&A, rows, cols, n, row, col, val, NULL, NULL, NULL));
    assert_true(session_add(&t->s, "A", &A, &info, NULL));
}

TEST(degenerate_systems_have_x_0)
{
    static const int shapes[][2] = {{0, 0}, {0, 3}, {3, 0}, {4, 2}, {2, 4}};
    char line[100];
    for (int k = 0; k < COUNT(shapes); k++)
        for (int method = 0; method < COUNT(methods); method++)
            for (int d = 0; d < 2; d++) {
                struct talk t;
                talk_open(&t, OUT_TEXT);
                add_triplets(&t, shapes[k][0], shapes[k][1], 0, NULL, NULL, NULL);
                snprintf(line, sizeof line, "solve %s A b ones on %s", methods[method], d ? "emu" : "cpu");
                talk_says(&t, line, "converged");
                const struct solve *v = t.s.solve;
                assert_int_equal(v->reason, CONVERGED);
                assert_int_equal(v->n, shapes[k][1]);
                for (int64_t j = 0; j < v->n; j++) assert_true(v->result.x[j] == 0);
                talk_close(&t);
            }
}

TEST(b_of_zeros_has_x_0)
{
    struct talk t;
    char line[100];
    talk_open(&t, OUT_TEXT);
    add_made(&t.s, 12, 7, 3, 0);
    for (int method = 0; method < COUNT(methods); method++) {
        snprintf(line, sizeof line, "solve %s A b zero on cpu", methods[method]);
        talk_says(&t, line, "b = 0, so x = 0");
        assert_true(t.s.solve->reason == CONVERGED && t.s.solve->n == 7);
    }
    talk_close(&t);
}

/* A' b = 0, so x = 0 is the least-squares solution at once. */
TEST(b_orthogonal_to_the_range)
{
    static const int row[] = {0, 1}, col[] = {0, 1};
    static const double val[] = {2, 3};
    struct talk t;
    char line[100];
    FILE *f = fopen("build/least_b.mtx", "w");
    assert_true(f);
    fputs("%%MatrixMarket matrix array real general\n3 1\n0\n0\n5\n", f);
    fclose(f);
    talk_open(&t, OUT_TEXT);
    add_triplets(&t, 3, 2, 2, row, col, val);
    for (int method = 0; method < COUNT(methods); method++) {
        snprintf(line, sizeof line, "solve %s A b build/least_b.mtx on cpu", methods[method]);
        talk_says(&t, line, "x is the least-squares solution");
        assert_true(t.s.solve->iterations == 0 && t.s.solve->residual == 1);
    }
    talk_close(&t);
    remove("build/least_b.mtx");
}

/* Numbers whose squares overflow or vanish. */
TEST(scaled_by_powers_of_two)
{
    static const double sizes[] = {1e-200, 1e200, 1};
    static const int row[] = {0, 0, 1, 2, 2}, col[] = {0, 1, 1, 0, 1};
    struct talk t;
    char line[100];
    for (int k = 0; k < COUNT(sizes); k++)
        for (int method = 0; method < COUNT(methods); method++)
            for (int p = 0; p < 2; p++) {
                double val[] = {1, 2, 3, 4, -1};
                for (int i = 0; i < COUNT(val); i++) val[i] *= sizes[k];
                talk_open(&t, OUT_TEXT);
                add_triplets(&t, 3, 2, COUNT(val), row, col, val);
                snprintf(line, sizeof line, "solve %s A b ones on cpu%s", methods[method], p ? " precond columns" : "");
                if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
                const struct solve *v = t.s.solve;
                /* A'A = [17 -2; -2 14], A'1 = [5; 4] */
                double x0 = 78.0 / 234 / sizes[k], x1 = 78.0 / 234 / sizes[k];
                if (v->reason != CONVERGED || fabs(v->result.x[0] / x0 - 1) > 1e-7 ||
                    fabs(v->result.x[1] / x1 - 1) > 1e-7)
                    fail_msg("%s, %g: %g %g, %s", line, sizes[k], v->result.x[0], v->result.x[1], v->why);
                talk_close(&t);
            }
}

TEST(powers_of_two_change_no_iteration)
{
    static const int exponents[] = {0, -700, 700};
    char line[100];
    for (int method = 0; method < COUNT(methods); method++)
        for (int p = 0; p < 2; p++) {
            int64_t first = 0;
            for (int k = 0; k < COUNT(exponents); k++) {
                struct talk t;
                talk_open(&t, OUT_TEXT);
                add_scaled(&t.s, 60, 30, 4, 1, exponents[k]);
                snprintf(line, sizeof line, "solve %s A b ones on cpu%s", methods[method], p ? " precond columns" : "");
                assert_true(talk_line(&t, line));
                const struct solve *v = t.s.solve;
                if (!k) first = v->iterations;
                if (v->reason != CONVERGED || v->iterations != first)
                    fail_msg("%s, times 2^%d: %d iterations, not %d: %s", line, exponents[k], (int)v->iterations,
                             (int)first, v->why);
                talk_close(&t);
            }
        }
}

/* ---- words ---- */

TEST(reasons_are_sentences)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    add_made(&t.s, 40, 25, 3, 0);
    talk_says(&t, "solve lsqr A b ones on cpu", "x is the least-squares solution: ||A' r|| / (||A|| ||r||) = ");
    talk_says(&t, "solve lsqr A b avaried on cpu", "x solves A x = b: ||r|| / (||A|| ||x|| + ||b||) = ");
    talk_says(&t, "solve lsmr A b ones on cpu maxit 2", "stopped at the limit of 2 iterations");
    assert_non_null(strstr(t.s.solve->next, "change maxit"));
    talk_says(&t, "solve lsqr A b ones on cpu maxit 2000 tol 1e-14 conlim 2", "the estimate of its condition is ");
    talk_says(&t, "solve cgls A b ones on cpu", "A' times");
    assert_true(talk_line(&t, "drop A"));
    add_made(&t.s, 25, 40, 3, 0);
    talk_says(&t, "solve lsmr A b avaried on cpu", "x solves A x = b, of least norm: ");
    talk_says(&t, "solve lsmr A b avaried on cpu precond columns", "of least ||D x||");
    assert_true(talk_line(&t, "solve lsmr A b avaried on cpu x0 ones"));
    assert_null(strstr(t.s.solve->why, "least norm"));
    talk_close(&t);
}

TEST(what_does_not_suit_is_refused)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9 as P; load tests/golden/complex.mtx as Z"));
    add_made(&t.s, 12, 7, 3, 0);
    talk_refuses(&t, "solve cg A on cpu", "cg needs a square matrix, but this matrix has 12 rows and 7 columns");
    talk_refuses(&t, "solve lsqr P precond jacobi on cpu", "`precond columns` is for least squares");
    talk_refuses(&t, "solve lsqr P scaled on cpu", "gives the rows other weights");
    talk_refuses(&t, "solve lsqr P refine fp32 on cpu", "lsqr does not refine");
    talk_refuses(&t, "solve lsqr P on emu*2", "lsqr does not run on emu*2, which has 2 members");
    talk_refuses(&t, "solve cg P conlim 100 on cpu", "so it has no conlim");
    talk_refuses(&t, "solve lsqr P conlim 0.5 on cpu", "conlim is 0.5");
    talk_refuses(&t, "solve lsqr Z on cpu", "the matrix is complex, but lsqr takes real matrices only");
    talk_close(&t);
}

/* ---- steps ---- */

TEST(steps_go_back_to_the_same_residuals)
{
    static const char *const devices[] = {"cpu", "emu"}, *const words[] = {"", " precond columns"};
    char line[160];
    for (int i = 0; i < COUNT(methods) * COUNT(devices) * COUNT(words); i++) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        add_made(&t.s, 60, 30, 4, 1);
        snprintf(line, sizeof line, "solve %s A b ones tol 1e-10 on %s%s step; step 15", methods[i % 3],
                 devices[i / 3 % 2], words[i / 6]);
        assert_true(talk_line(&t, line));
        const struct solve *v = t.s.solve;
        struct least before = solve_least_at(v, 14);
        double residual = v->history.residual[14];
        assert_true(talk_line(&t, "back 6") && v->iterations == 9 && talk_line(&t, "step 5"));
        assert_true(v->history.residual[14] == residual && solve_least_at(v, 14).normal == before.normal &&
                    solve_least_at(v, 14).backward == before.backward);
        assert_true(talk_line(&t, "change tol 1e-8; continue"));
        assert_int_equal(v->reason, CONVERGED);
        assert_true(talk_line(&t, "change tol 1e-11; continue"));
        assert_int_equal(v->reason, CONVERGED);
        talk_close(&t);
    }
}

/* The preconditioner does what it is for. */
TEST(columns_of_one_size_take_fewer_iterations)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    add_made(&t.s, 60, 30, 4, 1);
    assert_true(talk_line(&t, "solve lsqr A b ones on cpu"));
    int64_t plain = t.s.solve->iterations;
    assert_true(talk_line(&t, "solve lsqr A b ones on cpu precond columns"));
    assert_true(2 * t.s.solve->iterations < plain);
    talk_close(&t);
}

TEST(vectors_have_the_lengths_of_rows_and_columns)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    add_made(&t.s, 12, 7, 3, 0);
    assert_true(talk_line(&t, "solve lsqr A b ones on cpu"));
    talk_says(&t, "print x", "7 elements");
    talk_says(&t, "print b", "12 elements");
    talk_says(&t, "print r", "12 elements");
    talk_says(&t, "race lsqr lsmr cgls b ones on cpu", "lsmr");
    assert_true(talk_line(&t, "solve A b ones on cpu"));
    assert_non_null(strstr(t.err, "`solve lsqr A"));
    talk_close(&t);
}
