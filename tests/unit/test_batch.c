/* Several right sides at the same time: the columns of a batch against numpy and against solves one after another, on
   cpu and emu; columns that end early; what a batch refuses. tests/files/batch/KIND*.npz hold ten systems with five
   right sides, and x by numpy.linalg.solve of numpy 2.4.6. */
#include "base/mem.h"
#include "files/matrix_market.h"
#include "gpu/emu/emu.h"
#include "kits/batch_kit.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/vec_ops.h"
#include "report/output.h"
#include "session/matrix.h"
#include "solvers/batch.h"
#include "solvers/solver.h"

#include <math.h>

static const char *text_file(const char *name, const char *text)
{
    return write_file(name, text, strlen(text));
}

/* ---- numpy ---- */

TEST(columns_are_those_of_numpy_on_cpu)
{
    check_batch("cpu");
}

TEST(columns_are_those_of_numpy_on_emu)
{
    check_batch("emu");
}

/* ---- one after another ---- */

/* The x of the columns, and how often they iterate, differ from those of solves by rounding only. */
static void check_alone(const char *matrix, const char *solver, const char *words, double differs, int iterations)
{
    struct talk t;
    char line[160];
    double together[COLUMNS_MAX], alone[COLUMNS_MAX], difference[COLUMNS_MAX];
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, matrix));
    snprintf(line, sizeof line, "batch %s b random compare %s", solver, words);
    batch_line(&t, line);
    int n = batch_numbers(&t, "iterations", together, COLUMNS_MAX) - 1;
    assert_int_equal(batch_numbers(&t, "iterations_alone", alone, COLUMNS_MAX), n);
    batch_numbers(&t, "difference", difference, COLUMNS_MAX);
    for (int c = 0; c < n; c++)
        if (fabs(together[c] - alone[c]) > iterations || !(difference[c] <= differs))
            fail_msg("%s: column %d: %g and %g iterations, x differs by %g", line, c, together[c], alone[c],
                     difference[c]);
    talk_close(&t);
}

TEST(columns_are_those_of_solves)
{
    check_alone("gen poisson2d 20", "cg", "k 7", 1e-13, 0);
    check_alone("gen poisson2d 20", "cg", "k 7 precond jacobi", 1e-13, 0);
    check_alone("load tests/files/batch/spd1.npz", "cg", "k 4 precond jacobi", 1e-12, 0);
    check_alone("load tests/files/batch/spd1.npz", "minres", "k 3 precond columns", 1e-12, 0);
    check_alone("gen poisson2d 20", "minres", "k 3", 1e-13, 0);
    check_alone("gen poisson2d 20", "minres", "k 33 width 33 precond jacobi", 1e-12, 0);
    check_alone("gen poisson2d 12", "cg", "k 9 on emu", 1e-13, 0);
    check_alone("gen poisson2d 12", "cg", "k 4 precond jacobi on emu f32", 1e-5, 1);
    check_alone("gen poisson2d 12", "minres", "k 1 precond jacobi on emu", 1e-12, 0);
    /* rounding errors grow in these */
    check_alone("gen poisson2d 12", "bicgstab", "k 6 x0 random tol 1e-10", 1e-7, 6);
    check_alone("gen poisson2d 12", "qmrcgstab", "k 5 on emu tol 1e-10", 1e-7, 6);
}

/* Both formats of the emulator besides csr, and long rows, which a kernel cuts into pieces. */
TEST(every_format_multiplies)
{
    check_alone("gen poisson2d 12", "cg", "k 6 using sell on emu", 1e-13, 0);
    check_alone("gen poisson2d 12", "cg", "k 3 using bsr on emu", 1e-13, 0);
    check_alone("gen circuit 600 2", "bicgstab", "k 3 on emu", 1e-7, 2);
}

/* ---- groups, and the rows ---- */

TEST(more_columns_than_a_kernel_multiplies)
{
    enum { COLUMNS = COLUMNS_MAX + 3 };
    struct talk t;
    double column[COLUMNS + 1], iterations[COLUMNS + 1], sum = 0, most[2] = {0, 0};
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 8"));
    batch_line(&t, "batch cg b random k 67 width 64");
    assert_int_equal(batch_numbers(&t, "column", column, COLUMNS + 1), COLUMNS);
    assert_int_equal(batch_numbers(&t, "iterations", iterations, COLUMNS + 1), COLUMNS + 1);
    for (int c = 0; c < COLUMNS; c++) {
        assert_true(column[c] == c);
        sum += iterations[c];
        most[c >= COLUMNS_MAX] = fmax(most[c >= COLUMNS_MAX], iterations[c]);
    }
    assert_true(iterations[COLUMNS] == most[0] + most[1]);
    assert_non_null(strstr(t.out, "\"columns\":67,\"width\":64,\"columns_converged\":67"));
    double all;
    assert_true(batch_numbers(&t, "column_iterations", &all, 1) == 1 && all == sum);
    talk_close(&t);
}

/* On cpu, 8 columns advance together unless the line says otherwise; on emu, as many as there are. */
TEST(width_is_chosen_by_the_device)
{
    static const struct {
        const char *line;
        int width;
    } table[] = {{"batch cg b random k 9", 8},
                 {"batch cg b random k 3", 3},
                 {"batch cg b random k 9 on emu", 9},
                 {"batch cg b random k 9 width 2", 2}};
    struct talk t;
    double width;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5"));
    for (int i = 0; i < COUNT(table); i++) {
        batch_line(&t, table[i].line);
        assert_true(batch_numbers(&t, "width", &width, 1) == 1 && width == table[i].width);
    }
    talk_close(&t);
}

/* Column i of `b random k N seed S` is `b random seed S + i`. */
TEST(random_columns_are_those_of_seeds)
{
    struct talk t;
    double together[4], one[2];
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 9"));
    batch_line(&t, "batch cg b random k 3 seed 5");
    assert_int_equal(batch_numbers(&t, "residual_recursive", together, 4), 3);
    for (int c = 0; c < 3; c++) {
        char line[80];
        snprintf(line, sizeof line, "batch cg b random seed %d", 5 + c);
        batch_line(&t, line);
        assert_int_equal(batch_numbers(&t, "residual_recursive", one, 2), 1);
        assert_true(fabs(one[0] - together[c]) <= 1e-9 * one[0]);
    }
    talk_close(&t);
}

/* The bytes by hand: 8-byte values and 4-byte columns, 4 bytes per row; cg goes over 9 vectors (see its `bytes`). */
TEST(bytes_count_A_once)
{
    struct talk t;
    double bytes, alone;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 10"));
    batch_line(&t, "batch cg b random k 5");
    assert_true(batch_numbers(&t, "bytes_per_iteration", &bytes, 1) == 1 &&
                batch_numbers(&t, "bytes_alone", &alone, 1) == 1);
    assert_true(bytes == 460 * 12 + 100 * 4 + 5 * 9 * 8 * 100);
    assert_true(alone == 5 * (460 * 12 + 100 * 4 + 9 * 8 * 100));
    talk_close(&t);
}

TEST(x_is_saved)
{
    struct talk t;
    double *x;
    int64_t rows, columns;
    struct err e = {0};
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "load tests/files/batch/spd3.npz as A"));
    const char *file = write_file("x.mtx", "", 0);
    char line[200];
    snprintf(line, sizeof line, "batch cg tol 1e-12 save %s", file);
    talk_refuses(&t, line, "force");
    snprintf(line, sizeof line, "batch cg tol 1e-12 force save %s", file);
    talk_says(&t, line, "the 5 columns of x were written");
    assert_true(columns_load(file, &x, &rows, &columns, &e));
    assert_true(rows == 20 && columns == BATCH_SIDES);
    for (int64_t i = 0; i < rows * columns; i++) {
        double truth = t.s.current->sides.x[i], size = i / rows == 4 ? 1e6 : 1;
        assert_true(fabs(x[i] - truth) <= 1e-9 * size);
    }
    mem_free(x);
    talk_close(&t);
}

/* ---- columns that end early ---- */

/* A column that is done at once, one that needs more iterations than there may be, and one with b = 0. */
TEST(each_column_ends_for_itself)
{
    static const char text[] = "%%MatrixMarket matrix array real general\n4 3\n1\n0\n0\n0\n0\n0\n0\n0\n1\n1\n1\n1\n";
    static const char diagonal[] =
        "%%MatrixMarket matrix coordinate real symmetric\n4 4 4\n1 1 1\n2 2 2\n3 3 3\n4 4 4\n";
    struct talk t;
    char line[200];
    talk_open(&t, OUT_JSON);
    snprintf(line, sizeof line, "load %s as A", text_file("A.mtx", diagonal));
    assert_true(talk_line(&t, line));
    snprintf(line, sizeof line, "batch cg maxit 3 b %s", text_file("b.mtx", text));
    talk_says(&t, line, "columns");
    double iterations[4], residual[4];
    assert_int_equal(batch_numbers(&t, "iterations", iterations, 4), 4);
    assert_int_equal(batch_numbers(&t, "residual_true", residual, 4), 3);
    assert_true(iterations[0] == 1 && iterations[1] == 0 && iterations[2] == 3 && iterations[3] == 3);
    assert_true(residual[0] == 0 && residual[1] == 0 && residual[2] > 1e-8);
    assert_non_null(strstr(t.out, "\"status\":\"iteration-limit\""));
    snprintf(line, sizeof line, "batch cg maxit 1 b %s", text_file("b.mtx", text));
    talk_says(&t, line, "\"columns_converged\":2");
    talk_close(&t);
}

/* The recursive residual meets a tol that fp32 cannot reach, but b - A x does not. */
TEST(convergence_needs_the_true_residual)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "load tests/files/batch/spd0.npz as A"));
    talk_says(&t, "batch cg f32 tol 1e-9", "\"converged\":false,\"status\":\"drifted\"");
    assert_non_null(strstr(t.out, "\"columns_converged\":0"));
    talk_close(&t);
}

/* ---- refusals ---- */

TEST(what_a_batch_does_not_take_is_refused)
{
    struct talk t;
    char line[80];
    talk_open(&t, OUT_TEXT);
    assert_true(
        talk_line(&t, "load tests/golden/complex.mtx as C; load tests/files/laplacian3.mtx as L; gen poisson2d 4"));
    for (int k = 0; solvers[k]; k++) {
        if (solvers[k]->columns || solvers[k]->least_squares) continue;
        snprintf(line, sizeof line, "batch %s", solvers[k]->name);
        talk_refuses(&t, line, "does not advance several columns at a time; cg, ");
    }
    talk_refuses(&t, "batch cg precond ic0", "ic0 is applied to one column at a time");
    talk_refuses(&t, "batch cg C", "complex");
    talk_refuses(&t, "batch cg L", "singular");
    talk_refuses(&t, "batch cg width 65", "64");
    talk_refuses(&t, "batch cg k 3", "`b random k 8`");
    talk_refuses(&t, "batch cg using dia", "no kernel multiplies dia by several vectors");
    talk_refuses(&t, "batch cg on emu*2", "emu*2");
    talk_refuses(&t, "batch", "a solver is missing");
    talk_refuses(&t, "batch cg tol 1e-130", "below what");
    static const char huge[] = "1e200\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n1\n";
    snprintf(line, sizeof line, "batch cg b %s", text_file("h.mtx", huge));
    talk_refuses(&t, line, "column 0 of b are so large or small");
    talk_close(&t);
}

/* ---- operations by column ---- */

TEST(operations_go_by_column)
{
    static const int widths[] = {1, 2, 3, 5, 7, 8, 31, 33, 63, COLUMNS_MAX};
    static const int64_t rows[] = {1, 2, 70, 1500};
    emu_races(true);
    for (int w = 0; w < COUNT(widths); w++)
        for (int k = 0; k < COUNT(rows); k++)
            for (int type = 0; type < 2; type++) {
                check_columns("cpu", type ? T_F64 : T_F32, rows[k], widths[w]);
                if (rows[k] * widths[w] < 20000) check_columns("emu", type ? T_F64 : T_F32, rows[k], widths[w]);
            }
    emu_races(false);
}

/* ---- races ---- */

TEST(solvers_have_no_races)
{
    static const char *const words[] = {"", " precond jacobi", " f32"};
    struct talk t;
    char line[80];
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 9; device emu"));
    emu_races(true);
    for (int round = 0; round < 3; round++) {
        emu_order((uint64_t)round * 77);
        for (int k = 0; solvers[k]; k++)
            for (int w = 0; solvers[k]->columns && w < COUNT(words); w++) {
                snprintf(line, sizeof line, "batch %s b random k 3 maxit 8%s", solvers[k]->name, words[w]);
                talk_says(&t, line, "iteration");
            }
    }
    emu_order(0);
    emu_races(false);
    talk_close(&t);
}

TEST(a_direct_solver_is_refused)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 4 as P"));
    talk_refuses(&t, "batch direct P", "a batch iterates; `solve direct b FILE`");
    talk_close(&t);
}
