/* What a solve says at its end, and the bounds of its options. */
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "solvers/suits.h"

#include <math.h>

/* In fp32, the true residual of this system stays at about 5e-6. It may be up to twice tol. */
TEST(the_true_residual_may_be_twice_tol)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 60"));
    talk_says(&t, "solve cg f32 b random tol 4e-6 on cpu", "converged      yes");
    double truth = t.s.solve->result.residual_true;
    assert_true(truth > 4e-6 && truth < 8e-6);
    talk_says(&t, "solve cg f32 b random tol 1e-6 maxit 1000 on cpu", "but the true residual is ");
    truth = t.s.solve->result.residual_true;
    assert_true(t.s.solve->residual <= 1e-6 && truth > 2e-6 && truth < 1e-5);
    assert_non_null(strstr(t.out, "`change maxit 2100` restarts from this x")); /* 2 * 1000 + 100 */
    talk_close(&t);
}

/* A tol out of reach is the cause only if the residual has come near to what rounding allows. */
TEST(a_limit_that_came_too_early_is_said)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    talk_says(&t, "solve cg tol 1e-20 maxit 5 on cpu", "limit of 5 iterations, residual 2.37e-01; give a larger maxit");
    talk_says(&t, "solve cg tol 1e-20 maxit 300 on cpu", "tol 1.00e-20 is below what fp64 can reach");
    talk_close(&t);
}

TEST(bounds_of_options)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30"));
    talk_says(&t, "solve gmres m 500 on cpu", "converged       yes");
    talk_refuses(&t, "solve gmres m 501 on cpu", "m is 501, but gmres takes 1 to 500");
    talk_says(&t, "solve sor omega 1.99 maxit 1 on cpu", "stopped at the limit of 1 iteration");
    talk_refuses(&t, "solve sor omega 2 on cpu", "above 0 and below 2");
    talk_refuses(&t, "solve cg eps 1e-3 on cpu", "cg does not measure max |x' - x|");
    talk_refuses(&t, "solve cg eps 1e-3 tol 1e-3 on cpu", "cg does not measure max |x' - x|");
    talk_close(&t);
}

/* Row 2 of a complex vector has the numbers 4 and 5. */
TEST(rows_of_complex_vectors_are_named)
{
    struct talk t;
    struct err e = {0};
    double b[6] = {1, 0, 1, 0, 1, NAN};
    talk_open(&t, OUT_TEXT);
    const char file[] = "%%MatrixMarket matrix coordinate complex general\n3 3 3\n1 1 1 0\n2 2 1 0\n3 3 1 1\n";
    char line[300];
    snprintf(line, sizeof line, "load %s", write_file("diagonal.mtx", file, sizeof file - 1));
    assert_true(talk_line(&t, line));
    struct solve_options o = {.solver = solver_find("bicgstab"), .real = P_F64, .tol = 1e-8, .maxit = 10, .b = b};
    assert_false(solve_check(&t.s.current->csr, &o, &e));
    assert_non_null(strstr(e.text, "b has nan in row 2 "));
    talk_close(&t);
}

/* Rows of this hermitian matrix sum to 0, so x is known up to a constant: its error is that of x without its mean. */
TEST(a_complex_laplacian_has_an_error_up_to_a_constant)
{
    static const char file[] = "%%MatrixMarket matrix coordinate complex hermitian\n"
                               "3 3 6\n1 1 2 0\n2 1 -1 -1\n2 2 2 0\n3 1 -1 1\n3 2 -1 -1\n3 3 2 0\n";
    struct talk t;
    char line[300];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s; solve minres tol 1e-12 on cpu",
             write_file("laplacian.mtx", file, sizeof file - 1));
    talk_says(&t, line, "converged      yes");
    const struct solve *v = t.s.solve;
    assert_true(v->result.up_to_constant && v->b_norm > 0);
    if (!(v->result.error_known < 1e-10)) fail_msg("the error is %g", v->result.error_known);
    talk_says(&t, "solve minres tol 1e-12 x0 ones on cpu", "converged      yes");
    v = t.s.solve;
    if (!(v->result.error_known < 1e-10)) fail_msg("the error is %g from ones", v->result.error_known);
    talk_close(&t);
}

/* 460 nonzeros in 100 rows: B has 360 of 12 bytes, 100 row pointers, and 4 vectors are read or written; with omega 2/3,
   B has all 460. */
TEST(bytes_of_the_matrix_form)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 10"));
    talk_says(&t, "solve jacobi form matrix on cpu", "\"bytes_per_iteration\":7920,");
    talk_says(&t, "solve wjacobi form matrix on cpu", "\"bytes_per_iteration\":9120,");
    talk_close(&t);
}

/* cg solves -A x = -b if A is negative definite, and the Ritz values are those of -A or of -M^-1 A. */
TEST(ritz_values_name_their_matrix)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 as P; let N = -1*P"));
    talk_says(&t, "solve cg P on cpu", " of A, condition");
    talk_says(&t, "solve cg P precond jacobi on cpu", " of M^-1 A, condition");
    talk_says(&t, "solve cg N on cpu", " of -A, condition");
    talk_says(&t, "solve cg N precond jacobi on cpu", " of -M^-1 A, condition");
    talk_close(&t);
}

/* The Ritz values are those of A, not those of the scaled system that is solved. */
TEST(ritz_values_of_large_numbers)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 as P; let B = 1e200*P; let S = 1e-200*P"));
    talk_says(&t, "solve cg P on cpu", "Ritz values    0.162 to 7.365 of A, condition at least 45.46");
    talk_says(&t, "solve cg B on cpu", "1.62e+199 to 7.365e+200 of A, condition at least 45.46");
    talk_says(&t, "solve cg S on cpu", "1.62e-201 to 7.365e-200 of A, condition at least 45.46");
    talk_close(&t);
}

/* eps is a bound on the changes of x, which is about 1e-200 here, also after the solve was continued. */
TEST(eps_stops_a_continued_solve)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10 as P; let B = 1e200*P"));
    talk_says(&t, "solve jacobi B b ones tol 0 eps 1e-205 maxit 900 on cpu", "max |x' - x| = ");
    int64_t whole = t.s.solve->iterations;
    assert_true(whole > 100 && t.s.solve->max_diff <= 1e-205);
    talk_says(&t, "solve jacobi B b ones tol 0 eps 1e-205 maxit 9 on cpu; change maxit 900; continue",
              "max |x' - x| = ");
    if (llabs(t.s.solve->iterations - whole) > 1) fail_msg("%d, not %d", (int)t.s.solve->iterations, (int)whole);
    talk_close(&t);
}

/* What is known of the x of a solve that has ended is not known of the x of its continuation. */
TEST(a_continued_solve_forgets_its_errors)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 10"));
    assert_true(talk_line(&t, "solve cg tol 1e-2 on cpu"));
    assert_true(t.s.solve->result.error_known > 0 && t.s.solve->result.residual_true > 0);
    assert_true(talk_line(&t, "change tol 1e-9"));
    assert_true(isnan(t.s.solve->result.error_known) && isnan(t.s.solve->result.residual_true));
    talk_close(&t);
}

/* The two residuals separate at some iteration; before it, they had not. */
TEST(going_back_before_the_separation)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 40; solve cg f32 b random tol 1e-12 maxit 1000 on cpu step; step 130"));
    const struct solve *v = t.s.solve;
    int64_t at = v->history.separated_at;
    assert_true(at > 20 && at <= 130);
    char line[40];
    snprintf(line, sizeof line, "back %d", (int)(130 - at + 10));
    assert_true(talk_line(&t, line));
    assert_int_equal(v->iterations, at - 10);
    assert_int_equal(v->history.separated_at, 0);
    assert_true(talk_line(&t, "step 20"));
    assert_int_equal(v->history.separated_at, at);
    talk_close(&t);
}

/* A restart after 100 iterations was not enough, so 200 are proposed, and not 100 again. */
TEST(a_longer_cycle_is_proposed)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen random 300 5 as A"));
    talk_says(&t, "solve gmres A m 20 on cpu", "`solve gmres A m 100 on cpu`");
    talk_says(&t, "solve gmres A m 99 on cpu", "`solve gmres A m 100 on cpu`");
    talk_says(&t, "solve gmres A m 100 on cpu", "`solve gmres A m 200 on cpu`");
    talk_says(&t, "solve gmres A m 200 on cpu", "`solve direct A on cpu`");
    talk_close(&t);
}

/* 10 is far enough apart for a diagonal preconditioner to pay. */
TEST(a_diagonal_that_varies)
{
    static const double val[][3] = {{1, 2, 9.99}, {1, 2, 10}, {-1, 10, 3}, {5, 5, 0}};
    static const bool varies[] = {false, true, true, true};
    static const int at[] = {0, 1, 2};
    for (int i = 0; i < 4; i++) {
        struct csr A;
        assert_true(csr_from_triplets(&A, 3, 3, 3, at, at, val[i], NULL, NULL, NULL));
        assert_int_equal(diagonal_varies(&A), varies[i]);
        csr_free(&A);
    }
}

/* After 3 iterations, the residual of 3 different eigenvalues is 0 up to rounding. The true residual is far larger, but
   meets tol, so nothing is wrong. */
TEST(residuals_below_tol_do_not_separate)
{
    char file[4000], line[300];
    int n = snprintf(file, sizeof file, "%%%%MatrixMarket matrix coordinate real symmetric\n90 90 90\n");
    for (int i = 1; i <= 90; i++)
        n += snprintf(file + n, sizeof file - (size_t)n, "%d %d %g\n", i, i, i % 3 == 0 ? 1 : i % 3 == 1 ? 1.1 : 1.3);
    struct talk t;
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s; solve cg f32 b random tol 1e-5 on cpu",
             write_file("three.mtx", file, (size_t)n));
    talk_says(&t, line, "converged      yes");
    const struct solve *v = t.s.solve;
    assert_int_equal(v->iterations, 3);
    assert_true(v->result.residual_true > 10 * v->residual);
    assert_int_equal(v->history.separated_at, 0);
    talk_close(&t);
}

/* A stored zero at the first place of the matrix is not an entry that is missing. */
TEST(a_zero_on_the_diagonal_is_said)
{
    static const char zero[] = "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 0\n1 2 1\n2 1 1\n2 2 1\n",
                      none[] = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 2 1\n2 1 1\n2 2 1\n";
    struct talk t;
    char line[300];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as Z; solve jacobi on cpu", write_file("zero.mtx", zero, sizeof zero - 1));
    talk_refuses(&t, line, "row 0 (counted from 0) has a zero there");
    snprintf(line, sizeof line, "load %s as N; solve jacobi on cpu", write_file("none.mtx", none, sizeof none - 1));
    talk_refuses(&t, line, "row 0 (counted from 0) has no entry there");
    talk_close(&t);
}

/* Rows 0 and 1 depend on each other. By colours, the order of the rows is 0, 2, 4, 1, 3. */
TEST(a_zero_pivot_has_the_row_of_the_matrix)
{
    static const char file[] = "%%MatrixMarket matrix coordinate real general\n5 5 9\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n"
                               "3 3 2\n3 4 1\n4 3 1\n4 4 2\n5 5 3\n";
    struct talk t;
    char line[300];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s as Z; solve bicgstab Z b ones precond ilu0 shift 0 order colours on cpu",
             write_file("pivot.mtx", file, sizeof file - 1));
    talk_refuses(&t, line, "zero pivot in row 1 (counted from 0)");
    talk_close(&t);
}

/* 460 nonzeros in 100 rows: A in fp64 takes 460 12 + 400 bytes; 6 vectors of a refinement are in fp64, 3 in fp32. */
TEST(bytes_of_a_refinement)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    talk_says(&t, "gen poisson2d 10; solve cg refine fp32 on cpu", "\"bytes_per_refinement\":11920,");
    talk_close(&t);
}

/* 3 iterations per row, at least 100 and at most 2000, must gain 1 %. */
TEST(a_solve_is_given_time_to_fall)
{
    static const int sides[] = {3, 10, 30}, windows[] = {100, 300, 2000};
    for (int i = 0; i < 3; i++) {
        struct talk t;
        char line[80];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "gen poisson2d %d; solve bicgstab on cpu", sides[i]);
        assert_true(talk_line(&t, line));
        assert_int_equal(t.s.solve->set.window, windows[i]);
        talk_close(&t);
    }
}

/* A basis has at most as many vectors as the space has dimensions: 3, also if they are complex. */
TEST(cycles_are_not_longer_than_vectors)
{
    static const char file[] = "%%MatrixMarket matrix coordinate complex general\n3 3 3\n1 1 1 1\n2 2 2 0\n3 3 0 3\n";
    struct talk t;
    char line[300];
    talk_open(&t, OUT_TEXT);
    snprintf(line, sizeof line, "load %s; solve gmres m 50 on cpu", write_file("three.mtx", file, sizeof file - 1));
    talk_says(&t, line, "restarts after  3");
    talk_says(&t, "gen poisson2d 3 1; solve gmres m 50 on cpu", "restarts after  3");
    talk_close(&t);
}

/* At the end of a cycle, the Hessenberg matrix is that of the whole cycle. */
TEST(a_whole_cycle_has_ritz_values)
{
    static const int steps[] = {9, 10, 14}, columns[] = {9, 10, 4};
    for (int i = 0; i < 3; i++) {
        struct talk t;
        struct err e = {0};
        double H[10 * 11];
        int64_t n = -1;
        char line[100];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line, "gen poisson2d 20; solve gmres m 10 tol 1e-12 on cpu step; step %d", steps[i]);
        assert_true(talk_line(&t, line));
        assert_true(solve_hessenberg(t.s.solve, H, &n, &e));
        assert_int_equal(n, columns[i]);
        talk_close(&t);
    }
}

/* One launch of many iterations does the operations that single launches do. */
TEST(a_launch_of_many_iterations_has_their_operations)
{
    static const char *const ways[] = {"many", "one"};
    int64_t count[2][OPERATIONS_OF_CYCLE];
    for (int i = 0; i < 2; i++) {
        struct talk t;
        char line[120];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line,
                 "gen poisson2d 8; solve gmres m 7 tol 1e-12 orth classical launches %s on emu step; step 7", ways[i]);
        if (!talk_line(&t, line)) fail_msg("%s", t.err);
        memcpy(count[i], t.s.solve->work.cycle, sizeof count[i]);
        talk_close(&t);
    }
    assert_true(count[0][OP_SPMV] > 0);
    for (int op = 0; op < OPERATIONS_OF_CYCLE; op++)
        if (op != OP_PASS && count[0][op] != count[1][op])
            fail_msg("operation %d: %d and %d", op, (int)count[0][op], (int)count[1][op]);
}

/* A M^-1 is near I if M is near A, also if A is negative definite. */
TEST(preconditioned_systems_keep_their_sign)
{
    static const char *const pres[] = {"jacobi", "bjacobi", "ilu0"};
    for (int i = 0; i < 3; i++) {
        struct talk t;
        double H[30 * 31];
        int64_t n = 0;
        char line[160];
        talk_open(&t, OUT_TEXT);
        snprintf(line, sizeof line,
                 "gen poisson2d 10 as P; let N = -1*P; solve gmres N m 30 precond %s on cpu step; step 3", pres[i]);
        assert_true(talk_line(&t, line) && solve_hessenberg(t.s.solve, H, &n, NULL));
        assert_true(n == 3 && H[0] > 0.1 && H[0] < 2);
        talk_close(&t);
    }
}

SUITE(.teardown = tidy);
