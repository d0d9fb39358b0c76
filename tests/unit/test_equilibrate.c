/* Equilibrated matrices, and `solve scaled`. */
#include "base/base.h"
#include "base/mem.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "matrix/equilibrate.h"
#include "matrix/norms.h"
#include "matrix/random.h"
#include "matrix/reference.h"
#include "session/matrix.h"
#include "session/session.h"
#include "solvers/solve.h"

#include <float.h>
#include <math.h>

enum { N = 60, PER_ROW = 5 };

/* Diagonally dominant rows with 5 entries; then row i is multiplied by row[i], and column j by col[j]. With
   `symmetric`, entry (i, j) equals (j, i) before that. */
static const char *write_system(const char *name, const double *row, const double *col, bool symmetric)
{
    static char text[N * N * 40];
    uint64_t seed = 11;
    double a[N][N] = {{0}};
    for (int i = 0; i < N; i++)
        for (int k = 1; k < PER_ROW; k++) {
            int j = (int)(random_next(&seed) % N);
            double v = random_unit(&seed);
            if (j == i) continue;
            a[i][j] = v;
            if (symmetric) a[j][i] = v;
        }
    for (int i = 0; i < N; i++) {
        a[i][i] = 2;
        for (int j = 0; j < N; j++) a[i][i] += i == j ? 0 : fabs(a[i][j]);
    }
    int64_t nnz = 0;
    for (int i = 0; i < N * N; i++) nnz += a[i / N][i % N] != 0;
    size_t n = (size_t)snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real general\n%d %d %lld\n", N,
                                N, (long long)nnz);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (a[i][j] != 0)
                n += (size_t)snprintf(text + n, sizeof text - n, "%d %d %.17g\n", i + 1, j + 1,
                                      ldexp(a[i][j], (int)row[i] + (int)col[j]));
    return write_file(name, text, n);
}

/* Exponents of 2 between -range and range. */
static void exponents(double *to, int range, uint64_t seed)
{
    for (int i = 0; i < N; i++) to[i] = (double)(random_next(&seed) % (uint64_t)(2 * range + 1)) - range;
}

static void load(struct talk *t, const char *file)
{
    char line[300];
    snprintf(line, sizeof line, "drop all; load %s as A", file);
    if (!talk_line(t, line)) fail_msg("%s", t->err);
}

static double norm_of_row(const struct csr *A, int64_t i)
{
    double sum = 0;
    for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++) sum += A->val[k] * A->val[k];
    return sqrt(sum);
}

/* Rows and columns get norms near 1, whatever the scaling before, and each value is multiplied by a power of two. */
TEST(norms_become_1)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    for (int range = 0; range <= 60; range += 20) {
        double row[N], col[N];
        int r[N], c[N];
        struct csr B, T;
        exponents(row, range, 1);
        exponents(col, range, 2);
        load(&t, write_system("e.mtx", row, col, false));
        const struct csr *A = &t.s.current->csr;
        struct imbalance by;
        assert_true(csr_imbalance(A, &by, NULL));
        assert_true(range == 0 ? by.rows < 8 : by.rows > 1e6 && by.cols > 1e6);
        assert_true(csr_equilibrate(&B, A, r, c, NULL) && csr_transpose(&T, &B, NULL));
        for (int64_t i = 0; i < N; i++) {
            assert_true(norm_of_row(&B, i) > 0.4 && norm_of_row(&B, i) < 2.5);
            assert_true(norm_of_row(&T, i) > 0.4 && norm_of_row(&T, i) < 2.5);
            for (int k = A->rowptr[i]; k < A->rowptr[i + 1]; k++)
                assert_true(B.val[k] == ldexp(A->val[k], r[i] + c[A->col[k]]));
        }
        csr_free(&B);
        csr_free(&T);
    }
    talk_close(&t);
}

TEST(symmetric_matrices_stay_symmetric)
{
    double row[N];
    int r[N], c[N];
    struct csr B, T;
    struct talk t;
    talk_open(&t, OUT_TEXT);
    exponents(row, 30, 3);
    load(&t, write_system("e.mtx", row, row, true));
    assert_true(csr_equilibrate(&B, &t.s.current->csr, r, c, NULL) && csr_transpose(&T, &B, NULL));
    for (int i = 0; i < N; i++) assert_int_equal(r[i], c[i]);
    for (int64_t k = 0; k < B.nnz; k++) assert_true(B.val[k] == T.val[k] && B.col[k] == T.col[k]);
    csr_free(&B);
    csr_free(&T);
    talk_close(&t);
}

/* ||b - A x|| / ||b||, computed here */
static double residual_of(const struct matrix *m, const struct solve *v)
{
    double r[N];
    memcpy(r, v->b, sizeof r);
    reference_spmv(&m->csr, -1, v->result.x, 1, r, P_F64, NULL);
    return norm2(N, r) / norm2(N, v->b);
}

/* Badly scaled systems converge in 30 iterations, as the well scaled system does, but not without `scaled`. x and the
 * residual are those of A x = b. */
TEST(scaled_solves_of_badly_scaled_systems_converge)
{
    static const struct {
        const char *solver;
        int rows, cols;
        bool symmetric;
    } table[] = {{"bicgstab", 26, 0, false},   {"bicgstab", 0, 26, false}, {"gmres", 26, 26, false},
                 {"qmrcgstab", 20, 20, false}, {"cg", 26, 26, true},       {"minres", 20, 20, true}};
    struct talk t;
    char line[200];
    talk_open(&t, OUT_TEXT);
    for (int i = 0; i < COUNT(table); i++) {
        double row[N], col[N];
        exponents(row, table[i].rows, 5);
        exponents(col, table[i].cols, table[i].symmetric ? 5 : 6);
        load(&t, write_system("e.mtx", row, col, table[i].symmetric));
        snprintf(line, sizeof line, "solve %s A on cpu maxit 30", table[i].solver);
        assert_true(talk_line(&t, line));
        if (t.s.solve->reason == CONVERGED) fail_msg("%s: %s", line, t.s.solve->why);
        snprintf(line, sizeof line, "solve %s A on cpu maxit 30 scaled", table[i].solver);
        assert_true(talk_line(&t, line));
        const struct solve *v = t.s.solve;
        if (v->reason != CONVERGED) fail_msg("%s: %s", line, v->why);
        assert_true(v->matrix.csr == &t.s.current->csr);
        assert_true(v->result.residual_true <= 2e-8);
        assert_true(fabs(residual_of(t.s.current, v) - v->result.residual_true) <= 1e-3 * v->result.residual_true);
        assert_non_null(strstr(t.out, "scaled "));
        assert_true(talk_line(&t, "print x; print b; print r"));
    }
    talk_close(&t);
}

/* A paused solve shows x and b of A x = b, and `change` continues from the x at the end. */
TEST(paused_and_continued_solves_keep_x)
{
    double row[N], col[N];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    exponents(row, 20, 5);
    exponents(col, 0, 6);
    load(&t, write_system("e.mtx", row, col, false));
    assert_true(talk_line(&t, "solve bicgstab on cpu scaled tol 1e-3 step; step 2; print b"));
    char *before = strdup(t.out);
    assert_true(talk_line(&t, "stop; print b"));
    const char *from = strstr(before, "b of A"), *to = strstr(t.out, "b of A");
    assert_true(from && to && !strcmp(from, to));
    free(before);
    double first = t.s.solve->result.residual_true;
    assert_true(talk_line(&t, "change tol 1e-9; continue"));
    assert_true(t.s.solve->reason == CONVERGED && t.s.solve->result.residual_true < 2e-9 && first > 1e-9);
    assert_true(fabs(residual_of(t.s.current, t.s.solve) - t.s.solve->result.residual_true) < 1e-10);
    talk_close(&t);
}

/* Without a solver, `solve` scales by itself, and says so, but only a matrix that is badly scaled. */
TEST(solve_scales_by_itself)
{
    double row[N], col[N];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    exponents(row, 30, 5);
    exponents(col, 0, 6);
    load(&t, write_system("e.mtx", row, col, false));
    assert_true(talk_line(&t, "solve precond jacobi"));
    assert_true(t.s.solve->scaling.of && t.s.solve->reason == CONVERGED);
    assert_non_null(strstr(t.err, "scaled: the largest |a| of rows or columns of A differ by a factor of"));
    assert_true(talk_line(&t, "gen poisson2d 6 as P; solve precond jacobi"));
    assert_null(t.s.solve->scaling.of);
    assert_null(strstr(t.err, "scaled"));
    talk_refuses(&t, "solve direct scaled", "`scaled` is for iterative solvers");
    assert_true(talk_line(&t, "drop P; undo; solve cg P scaled; drop P"));
    talk_close(&t);
}

/* The trials of `advise solver` are those of the solve that it advises, also if b and x0 are given. */
TEST(advice_tries_the_solve_that_it_advises)
{
    static const char *const sides[] = {"", " b random x0 random tol 1e-10"};
    double row[N], col[N];
    struct talk t;
    talk_open(&t, OUT_TEXT);
    exponents(row, 10, 5);
    exponents(col, 5, 6);
    load(&t, write_system("e.mtx", row, col, false));
    for (int i = 0; i < COUNT(sides); i++) {
        char line[200], words[100] = "";
        int iterations = 0;
        snprintf(line, sizeof line, "advise solver precond jacobi%s", sides[i]);
        talk_says(&t, line, "Take `solve ");
        assert_non_null(strstr(t.err, "scaled: the largest |a| of rows or columns of A differ by a factor of"));
        const char *take = strstr(t.out, "Take `solve ");
        int found = sscanf(take, "Take `solve %99[^`]`: %*s %*s converged in %d iterations", words, &iterations);
        if (found != 2 || !strstr(words, " scaled")) fail_msg("%s", take);
        snprintf(line, sizeof line, "solve %s%s", words, sides[i]);
        if (!talk_line(&t, line)) fail_msg("%s: %s", line, t.err);
        assert_true(t.s.solve->scaling.of && t.s.solve->reason == CONVERGED);
        assert_int_equal(t.s.solve->iterations, iterations);
    }
    talk_close(&t);
}
