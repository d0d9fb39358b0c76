/* A x = b, 1e200 A x = b and 1e-200 A x = b are solved in the same way: no square of a number overflows or underflows.
 */
#include "base/base.h"
#include "base/magnitude.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "solvers/ritz.h"
#include "solvers/solve.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The determinant of the matrix is 1, and its entries are known: messages show them, not those that are iterated on. */
TEST(messages_show_the_entries_of_the_matrix)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(
        talk_line(&t, "load tests/files/unimodular.mtx as U; let A = 1e200*U; let S = U + U'; let D = 1e200*S"));
    talk_refuses(&t, "solve bicgstab A on cpu precond ic0",
                 "entry (0, 1), counted from 0, is -1.54176e+207 and (1, 0)");
    talk_refuses(&t, "solve bicgstab A on cpu precond amg",
                 "entry (0, 1), counted from 0, is -1.54176e+207 and (1, 0)");
    talk_refuses(&t, "solve minres D on cpu precond amg", "the diagonal is negative in row 0 and positive in row 1");
    talk_close(&t);
}

TEST(magnitudes_pass_over_zeros_and_what_is_not_finite)
{
    const double x[] = {0, -3e200, INFINITY, 5e-310, NAN, 1, -0.0};
    struct magnitudes m = magnitudes_of(COUNT(x), x);
    assert_true(m.least == 5e-310 && m.most == 3e200);
    assert_true(magnitudes_of(1, x).most == 0);
    m = magnitudes_joined(m, magnitudes_of(1, x));
    assert_true(m.least == 5e-310 && m.most == 3e200);
}

TEST(exponents_keep_the_least_number_normal)
{
    static const struct {
        struct magnitudes m;
        int expected;
    } cases[] = {
        {{0, 0}, 0},
        {{1, 1000}, 0},
        {{1e-300, 1e20}, 0},
        {{1, 0x1p500}, 500},
        {{0x1p-300, 0x1p-300}, -300},
        {{0x1p-1074, 0x1p-1070}, -1070},
        {{0x1p-900, 0x1p500}, 122},
        {{0x1p-1040, 0x1p500}, 0},
    };
    for (int i = 0; i < COUNT(cases); i++)
        assert_int_equal(magnitude_exponent(cases[i].m, 100, -1022), cases[i].expected);
}

/* What a solve said. */
struct said {
    enum reason reason;
    int64_t iterations;
    char why[400];
};

static struct said solved(struct talk *t, const char *line)
{
    struct said s = {0};
    talk_forget(t);
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    const struct solve *v = t->s.solve;
    s.reason = v->reason;
    s.iterations = v->iterations;
    snprintf(s.why, sizeof s.why, "%s", v->why);
    return s;
}

static const char *const scales[] = {"1e-200", "1e-100", "1e100", "1e150", "1e200", "1e-300"};

/* The default b is A times ones, so it is scaled, too, and x is not; with `b ones`, x is scaled. */
TEST(scaled_systems_end_alike)
{
    static const char *const methods[] = {"cg",
                                          "minres",
                                          "gmres m 30",
                                          "bicgstab",
                                          "qmrcgstab",
                                          "jacobi",
                                          "jacobi form matrix",
                                          "wjacobi",
                                          "gs",
                                          "sor",
                                          "cg precond ic0",
                                          "cg precond amg",
                                          "gmres precond ilu0",
                                          "bicgstab precond jacobi",
                                          "minres precond bjacobi",
                                          "cg f32 tol 1e-5",
                                          "bicgstab f32 tol 1e-5",
                                          "cg refine fp32"};
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 9 as A"));
    for (int i = 0; i < COUNT(scales); i++) {
        char line[200];
        snprintf(line, sizeof line, "let B%d = %s*A", i, scales[i]);
        assert_true(talk_line(&t, line));
        for (int k = 0; k < 2 * COUNT(methods); k++) {
            const char *b = k % 2 ? " b ones" : "";
            snprintf(line, sizeof line, "solve %s A on cpu%s", methods[k / 2], b);
            struct said one = solved(&t, line);
            snprintf(line, sizeof line, "solve %s B%d on cpu%s", methods[k / 2], i, b);
            struct said other = solved(&t, line);
            /* rounding decides when fp32 is refined: after 3 A, there are 14 iterations, after 0.7 A 18 */
            int most = strstr(line, "refine") ? 6 : 2;
            if (one.reason != CONVERGED || other.reason != CONVERGED || llabs(one.iterations - other.iterations) > most)
                fail_msg("%s: %lld and %lld iterations: %s", line, (long long)one.iterations,
                         (long long)other.iterations, other.why);
            if (t.s.solve->result.known && !(t.s.solve->result.error_known < 1e-3)) fail_msg("%s: wrong x", line);
        }
    }
    talk_close(&t);
}

/* On a device that runs kernels: the scaled matrix is stored there. */
TEST(the_emulator_solves_scaled_systems)
{
    static const char *const methods[] = {"cg", "gmres", "bicgstab", "cg refine fp32", "jacobi form matrix"};
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 4 as A; let B = 3e170*A"));
    for (int k = 0; k < COUNT(methods); k++) {
        char line[100];
        snprintf(line, sizeof line, "solve %s B on emu b ones", methods[k]);
        struct said s = solved(&t, line);
        if (s.reason != CONVERGED) fail_msg("%s: %s", line, s.why);
    }
    talk_says(&t, "solve cg B on emu*2", "\"converged\":true");
    talk_close(&t);
}

/* Failures keep their words: a singular matrix, and one that is not definite. */
TEST(scaled_failures_are_called_by_the_same_names)
{
    static const char *const lines[] = {
        "gen poisson2d 3 as P; let A = P - 4*I; solve cg %s", "gen poisson2d 3 as P; let A = P - P; solve gmres %s",
        "gen poisson2d 9 as P; let A = P - 3*I; solve jacobi %s", "gen poisson2d 9 as A; solve cg %s maxit 3"};
    for (int i = 0; i < COUNT(lines); i++) {
        enum reason expected = RUNNING;
        for (int k = -1; k < COUNT(scales); k++) {
            struct talk t;
            char line[200];
            talk_open(&t, OUT_JSON);
            snprintf(line, sizeof line, lines[i], "A b ones");
            char *solve = strstr(line, "solve");
            *solve = 0;
            assert_true(talk_line(&t, line));
            *solve = 's';
            if (k >= 0) {
                char let[80];
                snprintf(let, sizeof let, "let C = %s*A; use C", scales[k]);
                assert_true(talk_line(&t, let));
                memcpy(strstr(solve, " A "), " C ", 3);
            }
            struct said s = solved(&t, solve);
            if (k < 0) expected = s.reason;
            if (s.reason != expected || s.reason == CONVERGED)
                fail_msg("%s times %s: %s", line, k < 0 ? "1" : scales[k], s.why);
            talk_close(&t);
        }
    }
}

TEST(x_and_figures_are_those_of_the_system_given)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 6 as A; let B = 1e200*A; let C = 1e-200*A"));
    struct ritz r = {0}, big = {0};
    assert_true(talk_line(&t, "solve cg A on cpu"));
    ritz_of(&r, t.s.solve, 0);
    assert_true(talk_line(&t, "solve cg B on cpu"));
    ritz_of(&big, t.s.solve, 0);
    assert_true(fabs(big.high / r.high / 1e200 - 1) < 1e-3 && fabs(big.low / r.low / 1e200 - 1) < 1e-3);
    double x[36];
    for (int i = 0; i < 3; i++) {
        static const char *const lines[] = {"solve gs A on cpu b ones", "solve gs B on cpu b ones",
                                            "solve gs C on cpu b ones"};
        static const double factor[] = {1, 1e200, 1e-200};
        assert_true(talk_line(&t, lines[i]));
        const double *y = t.s.solve->result.x;
        for (int k = 0; k < COUNT(x); k++) {
            if (i == 0) x[k] = y[k];
            assert_true(fabs(y[k] * factor[i] / x[k] - 1) < 1e-7);
        }
    }
    /* eps is a limit for the change of x, also for the x that the solver scales */
    assert_true(talk_line(&t, "solve jacobi A on cpu b ones tol 0 eps 1e-6"));
    int64_t n = t.s.solve->iterations;
    assert_true(talk_line(&t, "solve jacobi B on cpu b ones tol 0 eps 1e-206"));
    assert_true(llabs(t.s.solve->iterations - n) <= 1 && t.s.solve->max_diff < 1e-206);
    assert_true(t.s.solve->max_diff > 1e-207);
    talk_close(&t);
}

/* A paused solve shows its x, and continues from it after a change. */
TEST(scaled_solves_pause_and_change)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 6 as A; let B = 1e200*A; solve cg B on cpu step; step 3"));
    double before = t.s.solve->residual, x[36];
    assert_true(solve_read_x(t.s.solve, x, NULL) && fabs(x[0]) > 0.1 && fabs(x[0]) < 10);
    assert_true(talk_line(&t, "change precond jacobi; step 1"));
    assert_true(t.s.solve->residual < 2 * before);
    assert_true(talk_line(&t, "continue") && t.s.solve->reason == CONVERGED);
    assert_true(talk_line(&t, "solve cg B on cpu maxit 4") && t.s.solve->reason == MAX_ITERATIONS);
    before = t.s.solve->residual;
    assert_true(talk_line(&t, "change maxit 200; step 1"));
    assert_true(t.s.solve->residual < 2 * before);
    assert_true(talk_line(&t, "continue") && t.s.solve->reason == CONVERGED);
    talk_close(&t);
}

/* The x of 1e-310 A x = 1, which is 1e310 and more, exceeds fp64, but that of 1e-310 A x = 1e-300 does not. */
TEST(an_x_beyond_fp64_is_named)
{
    struct talk t;
    talk_open(&t, OUT_JSON);
    assert_true(talk_line(&t, "gen poisson2d 5 1 as A; let B = 1e-310*A"));
    talk_says(&t, "solve cg B on cpu b ones", "beyond the largest one that fp64 can store");
    assert_int_equal(t.s.solve->reason, NOT_A_NUMBER);
    talk_says(&t, "solve cg B on cpu", "\"converged\":true");
    talk_close(&t);
}

/* The Frobenius norm of numbers whose squares are 0 or infinite, the conditions by two programs, and a least-squares
   solution. */
TEST(figures_of_a_matrix_are_scaled)
{
    static const struct {
        const char *factor;
        double size;
    } cases[] = {{"1", 1}, {"1e-310", 1e-310}, {"4e-320", 4e-320}, {"1e-200", 1e-200}, {"1e300", 1e300}};
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        char line[120];
        double norm = NAN, condition = NAN;
        talk_open(&t, OUT_JSON);
        snprintf(line, sizeof line, "gen poisson2d 5 as A; let B = %s*A", cases[i].factor);
        assert_true(talk_line(&t, line));
        talk_says(&t, "check only norms", "\"norm_fro\":");
        sscanf(strstr(t.out, "\"norm_fro\":") + 11, "%lf", &norm);
        double rounding = DBL_TRUE_MIN / cases[i].size + 1e-12; /* of the entries of B */
        if (!(fabs(norm / cases[i].size / sqrt(480) - 1) < rounding)) fail_msg("%s: norm %g", cases[i].factor, norm);
        talk_says(&t, "check only condition", "\"condition_1\":");
        sscanf(strstr(t.out, "\"condition_1\":") + 14, "%lf", &condition);
        if (!(fabs(condition / (270 / 13.) - 1) < 1e-3 + rounding))
            fail_msg("%s: condition %g", cases[i].factor, condition);
        condition = NAN;
        talk_says(&t, "solve direct umfpack b ones", "\"condition\":");
        sscanf(strstr(t.out, "\"condition\":") + 12, "%lf", &condition);
        if (!(fabs(condition / (270 / 13.) - 1) < 1e-3 + rounding))
            fail_msg("%s: condition %g", cases[i].factor, condition);
        talk_close(&t);
    }
}

/* The eigenvalues of a Hessenberg matrix whose elements have no squares. */
TEST(ritz_values_are_scaled)
{
    static const double sizes[] = {1, 1e-300, 1e200, 1e300};
    for (int i = 0; i < COUNT(sizes); i++) {
        double s = sizes[i], H[] = {2 * s, s, 0, 0, s, 3 * s, s, 0, 0, s, 4 * s, s};
        double re[3], im[3], condition;
        assert_true(ritz_hessenberg(H, 4, 3, re, im, NULL));
        assert_true(ritz_condition(H, 4, 3, &condition, NULL));
        double sum = (re[0] + re[1] + re[2]) / s, product = re[0] / s * (re[1] / s) * (re[2] / s);
        assert_true(fabs(sum - 9) < 1e-12 && fabs(product - 18) < 1e-11);
        assert_true(condition > 3 && condition < 4);
    }
}
