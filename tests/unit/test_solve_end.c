/* What a solve says at its end, and the bounds of its options. */
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "matrix/csr.h"
#include "session/matrix.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

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
    struct solve_options o = {.solver = solver_find("bicgstab"), .real = T_F64, .tol = 1e-8, .maxit = 10, .b = b};
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

SUITE(.teardown = tidy);
