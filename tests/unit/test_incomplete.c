/* Incomplete factors whose pivots are shifted, replaced or turned, and factors with fill. The right results were
   computed by numpy from the definitions, with dense matrices. */
#include "base/precision.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "session/matrix.h"
#include "solvers/precond.h"
#include "solvers/solve.h"
#include "solvers/solver.h"
#include "solvers/triangles.h"

#include <math.h>
#include <string.h>

enum { MOST = 6 };

static const struct applied {
    const char *precond, *solver;
    struct problem of;
    struct triangle_settings set;
    double z[MOST]; /* M^-1 (1, -2, 3, -4, 5, -6) */
    const char *note;
} cases[] = {
/* row 4 has no entry on the diagonal */
#define SIX                                                                                                            \
    DENSE(6, 4, -1, 0, 2, 0, 0, 1, 5, -2, 0, 0, 1, 0, 1, 3, 0, -1, 0, 2, 0, 0.5, 6, 0, -1, 0, 0, 1, -3, 0, 3, 1, 0, 0, \
          0.25, 2, 8)
    {"ilut",
     "bicgstab",
     SIX,
     {.drop = {true, 0}, .fill = {true, 6}},
     {-0.39065541855937735, -2.1473069435431542, -3.1083711875405591, 0.2076573653471776, -14.472420506164831,
      2.9104477611940305},
     "1.38 times the entries of A"},
    {"ilut",
     "bicgstab",
     SIX,
     {.drop = {true, 0}, .fill = {true, 0}},
     {0.26240972815334218, -1.3628201837798404, -1.6904437913031856, -0.70622954819660466, -9.143881389644104,
      1.5239183822377904},
     "1.05 times the entries of A"},
    {"ilut",
     "bicgstab",
     SIX,
     {.drop = {true, 0.05}, .fill = {true, 1}},
     {0.16628440366972469, -1.4541284403669728, -1.7844036697247714, -0.55963302752293564, -9.8073394495412867,
      1.7018348623853217},
     "0.905 times the entries of A"},
#define ZERO_PIVOT DENSE(3, 1, 1, 0, 1, 1, 2, 0, 3, 1)
    {"ilu0",
     "bicgstab",
     ZERO_PIVOT,
     {.shift = {true, 0.25}},
     {-0.63636363636363646, 1.6363636363636365, -1.9090909090909092},
     "1 pivot replaced by 0.25 of the largest entry of the row"},
    {"ilu0",
     "bicgstab",
     ZERO_PIVOT,
     {.shift = {false, 0}},
     {-0.50050016672224085, 1.5005001667222408, -1.5015005001667221},
     "1 pivot replaced by 0.001 of the largest entry of the row"},
    {"ilut",
     "bicgstab",
     ZERO_PIVOT,
     {.shift = {true, 0.25}, .drop = {true, 0}},
     {-0.63636363636363646, 1.6363636363636365, -1.9090909090909092},
     "1 times the entries of A, 1 pivot replaced by 0.25 of the largest entry of the row"},
/* tridiagonal and indefinite: the factors are exact, with the pivots 2, -3/2, 11/3, -25/11, 36/25, 119/36 */
#define INDEFINITE                                                                                                   \
    DENSE(6, 2, 1, 0, 0, 0, 0, 1, -1, 1, 0, 0, 0, 0, 1, 3, 1, 0, 0, 0, 0, 1, -2, 1, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, \
          1, 4)
    {"ilu0",
     "minres",
     INDEFINITE,
     {.shift = {false, 0}},
     {1.1915253374076902, -1.3830506748153806, 0.42542398777692897, -0.22655462184873928, 3.8487394957983194,
      -2.46218487394958},
     "|pivot| in place of 2 negative ones"},
    /* 2 (1 + 1/2) on the diagonal: L = diag(sqrt(3)) and -1/3 of it below */
    {"ic0", "cg", DENSE(2, 2, -1, -1, 2), {.shift = {true, 0.5}}, {0.125, -0.625}, "diagonal increased by 50%"},
};

static void check_case(const struct applied *k, const char *device)
{
    static const double r[MOST] = {1, -2, 3, -4, 5, -6};
    struct bed bed;
    struct err e = {0};
    double z[MOST];
    char note[160];
    bed_make(&bed, &k->of);
    bed_solver = k->solver;
    bed_triangles = k->set;
    if (!bed_begin(&bed, k->precond, 0, device, P_F64, &e)) fail_msg("%s: %s", k->precond, e.text);
    bed_triangles = (struct triangle_settings){0};
    bed_solver = NULL;
    bed_apply(bed.s.solve, r, z);
    for (int i = 0; i < bed.s.solve->n; i++)
        if (!(fabs(z[i] - k->z[i]) <= 1e-11 * fabs(k->z[i])))
            fail_msg("%s, case %d on %s: z[%d] is %.17g, not %.17g", k->precond, (int)(k - cases), device, i, z[i],
                     k->z[i]);
    bed.s.solve->pre.method->note(bed.s.solve, note, sizeof note);
    if (!strstr(note, k->note)) fail_msg("%s: \"%s\", not \"%s\"", k->precond, note, k->note);
    bed_free(&bed);
}

TEST(test_applied_as_defined)
{
    for (int i = 0; i < COUNT(cases); i++) {
        check_case(&cases[i], "cpu");
        check_case(&cases[i], "emu");
    }
}

static int64_t iterations_of(struct talk *t, const char *line)
{
    if (!talk_line(t, line)) fail_msg("%s: %s", line, t->err);
    if (t->s.solve->reason != CONVERGED) fail_msg("%s: %s", line, t->s.solve->why);
    return t->s.solve->iterations;
}

/* L |D| L' of exact factors has only the eigenvalues 1 and -1 with A: minres needs two iterations (Gill, Murray,
   Ponceleon and Saunders 1992). 2 is not enough with `shift 0`, because M is then indefinite. */
TEST(test_turned_pivots)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 60 1 as P; let A = P - 2.5*I"));
    assert_int_equal(iterations_of(&t, "solve minres A precond ilu0 b random tol 1e-9 on cpu"), 2);
    assert_int_equal(iterations_of(&t, "solve minres A precond ilu0 b random tol 1e-9 on emu"), 2);
    assert_true(talk_line(&t, "solve minres A precond ilu0 shift 0 b random tol 1e-9 on cpu"));
    assert_int_equal(t.s.solve->reason, BROKE_DOWN);
    talk_close(&t);
}

/* More fill needs fewer iterations; without drops, M is A. The same bits on cpu and emu, level by level. */
TEST(test_more_fill)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30 29 as A"));
    int64_t ilu0 = iterations_of(&t, "solve gmres A precond ilu0 b random on cpu");
    int64_t some = iterations_of(&t, "solve gmres A precond ilut drop 1e-2 fill 5 b random on cpu");
    double residual = t.s.solve->residual;
    int64_t emu = iterations_of(&t, "solve gmres A precond ilut drop 1e-2 fill 5 b random on emu triangles levels");
    assert_true(fabs(t.s.solve->residual - residual) <= 1e-6 * residual);
    int64_t most = iterations_of(&t, "solve gmres A precond ilut b random on cpu");
    if (!(most < some && some < ilu0)) fail_msg("%d, %d, %d iterations", (int)most, (int)some, (int)ilu0);
    assert_int_equal(some, emu);
    assert_int_equal(iterations_of(&t, "solve gmres A precond ilut drop 0 fill 1000 b random on cpu"), 1);
    talk_close(&t);
}

/* A solve is changed to other factors, and back; the words of factors are refused where there are none. */
TEST(test_changed_factors)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    assert_true(talk_line(&t, "gen poisson2d 30 29 as A; solve bicgstab A precond ilu0 b random on cpu step; step 3"));
    assert_true(talk_line(&t, "change precond ilut drop 0 fill 1000"));
    assert_true(talk_line(&t, "continue"));
    assert_int_equal(t.s.solve->reason, CONVERGED);
    assert_int_equal(t.s.solve->iterations, 4);
    assert_false(talk_line(&t, "solve bicgstab A precond ilu0 drop 1e-3 on cpu"));
    assert_non_null(strstr(t.err, "`drop` and `fill` are for a preconditioner that drops entries; add `precond ilut`"));
    assert_false(talk_line(&t, "solve bicgstab A precond jacobi shift 1e-3 on cpu"));
    assert_false(talk_line(&t, "solve bicgstab A precond ilut fill -3 on cpu"));
    assert_non_null(strstr(t.err, "fill is -3: give 0 or more entries per row"));
    talk_close(&t);
}

SUITE();
