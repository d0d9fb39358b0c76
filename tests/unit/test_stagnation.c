/* `why stagnates`: each cause is found where it was built in, with the right rows and figures, and not elsewhere. */
#include "advice/stagnation.h"
#include "base/base.h"
#include "direct/direct.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "solvers/solve.h"

#include <math.h>
#include <unistd.h>

/* Runs the lines, whose last one solves without convergence, and looks for the causes. */
static void look(struct talk *t, const char *lines, struct stagnation *found)
{
    struct err e = {0};
    talk_open(t, OUT_TEXT);
    if (!talk_line(t, lines)) fail_msg("%s: %s", lines, t->err);
    if (t->s.solve->reason == CONVERGED) fail_msg("%s converges", lines);
    if (!stagnation_of(&t->s, t->s.current, t->s.solve, 1e6, found, &e)) fail_msg("%s: %s", lines, e.text);
}

static const struct evidence *find(const struct stagnation *found, const char *cause)
{
    for (int i = 0; i < found->n; i++)
        if (!strcmp(found->at[i].cause, cause)) return &found->at[i];
    return NULL;
}

static const struct {
    const char *lines, *cause, *says;
} cases[] = {
    {"gen random 60 4 as A; solve cg A on cpu maxit 20", "symmetry", "A is not symmetric"},
    {"gen poisson2d 12 as P; let A = P - 3.05*I; solve cg A on cpu", "indefinite", "; cg needs a definite matrix"},
    {"gen poisson2d 12 as P; let A = P - 3.05*I; solve minres A on cpu maxit 4", "indefinite", "both sides of 0"},
    {"load tests/files/neumann.mtx; solve cg on cpu b random nullspace none", "semidefinite",
     "and one is 0: A is singular"},
    {"gen rmat 6 4; solve gmres on cpu b random maxit 9", "empty", "b is not 0 in"},
    {"gen rmat 6 4; solve gmres on cpu b random maxit 9", "rank", "the structural rank is"},
    {"load tests/golden/singular.mtx; solve gmres on cpu b random", "inconsistent", "with the rank 3 of 4"},
    {"load tests/golden/singular.mtx; solve gmres on cpu b random", "near-null", "in 3 rows"},
    {"gen poisson2d 9 as P; let A = P - 3*I; solve minres A b random on cpu", "inconsistent",
     "leaves a relative residual of"},
    {"gen poisson2d 9 as P; let A = P - 3*I; solve minres A b random on cpu", "near-null", "maps almost to 0"},
    {"gen rmat 6 4; solve bicgstab on cpu maxit 9", "blocks", "couple to nothing else"},
    {"load tests/files/no_diagonal.mtx; solve bicgstab on cpu maxit 5", "diagonal", "an order of the rows fills"},
    {"load samples/1138_bus.mtx; solve cg on cpu maxit 20", "scaling", "3.1e+04 times"},
    {"gen poisson2d 20; solve cg on cpu f32 tol 1e-12 maxit 200", "accuracy", "of fp32"},
    {"gen poisson2d 30; solve gmres m 3 on cpu maxit 60", "restarts", "every 3 iterations"},
    {"gen poisson2d 30; solve cg on cpu maxit 20", "ritz", "the 20 Ritz values of the solve"},
    {"gen poisson2d 30; solve bicgstab on cpu maxit 9", "ritz", "40 Ritz values of A in the Krylov space"},
    {"gen random 90 4 as A; solve bicgstab A on cpu maxit 9", "ritz", "real parts"},
    {"gen poisson2d 30; solve cg on cpu maxit 20", "residual", "90% of ||b - A x||^2"},
    {"gen poisson2d 30; solve cg on cpu maxit 20", "rate", "per iteration in the second half"},
    {"gen poisson2d 30; solve cg on cpu maxit 5", "rate", "5 iterations show no rate yet"},
    {"gen poisson2d 30; solve cg on cpu maxit 1", "rate", "1 iteration shows no rate yet"},
    {"gen poisson2d 30; solve cg on cpu maxit 1", "ritz", "the 1 Ritz value of the solve lies from"},
    {"gen poisson2d 30; solve cg on cpu maxit 20", "residual", "; no single row is the cause"},
    {"load samples/1138_bus.mtx; solve cg on cpu maxit 20", "near-null", "is the cause; multigrid reduces the error"},
    {"load tests/files/hermitian.mtx; solve gmres m 1 on cpu maxit 2", "residual", "||b - A x||"},
};

TEST(each_cause_is_found)
{
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        struct stagnation found;
        look(&t, cases[i].lines, &found);
        const struct evidence *x = find(&found, cases[i].cause);
        if (!x) fail_msg("%s: no %s", cases[i].lines, cases[i].cause);
        if (!strstr(x->text, cases[i].says)) fail_msg("%s: %s", cases[i].lines, x->text);
        talk_close(&t);
    }
}

TEST(every_cause_has_a_case)
{
    for (int k = 0; stagnation_cause(k); k++) {
        bool there = false;
        for (int i = 0; i < COUNT(cases); i++) there |= !strcmp(cases[i].cause, stagnation_cause(k));
        if (!there) fail_msg("no case finds %s", stagnation_cause(k));
    }
}

/* A regular system, given too few iterations, has none of the faults of a matrix. */
TEST(nothing_is_found_in_a_sound_matrix)
{
    static const char *const faults[] = {"symmetry",  "indefinite", "empty",   "rank",    "inconsistent",
                                         "near-null", "blocks",     "scaling", "accuracy"};
    struct talk t;
    struct stagnation found;
    look(&t, "gen poisson2d 15; solve cg on cpu maxit 5", &found);
    for (int i = 0; i < COUNT(faults); i++)
        if (find(&found, faults[i])) fail_msg("%s: %s", faults[i], find(&found, faults[i])->text);
    talk_close(&t);
}

/* Vectors that are spread over most rows point to no row, but to a method. */
TEST(few_rows_are_shown)
{
    static const struct {
        const char *lines, *cause, *next;
    } nexts[] = {
        {"gen poisson2d 30 as P; solve cg P on cpu maxit 20", "residual", ""},
        {"load tests/golden/singular.mtx as S; solve gmres S on cpu b random", "near-null", "print row"},
        {"gen poisson2d 9 as P; let A = P - 3*I; solve minres A b random on cpu", "near-null", ""},
        {"gen poisson2d 20 as P; solve cg P on cpu tol 0 maxit 600 force", "accuracy", "change maxit"},
    };
    for (int i = 0; i < COUNT(nexts); i++) {
        struct talk t;
        struct stagnation found;
        look(&t, nexts[i].lines, &found);
        const struct evidence *x = find(&found, nexts[i].cause);
        assert_non_null(x);
        if (*nexts[i].next ? !strstr(x->next, nexts[i].next) : *x->next) fail_msg("%s: %s", nexts[i].lines, x->next);
        talk_close(&t);
    }
}

/* The command at the end suits the evidence: no preconditioner and no further iterations for a singular matrix. */
TEST(a_singular_matrix_gets_a_direct_solver)
{
    static const struct {
        const char *lines, *next;
    } nexts[] = {
        {"gen poisson2d 9 as P; let A = P - 3*I; solve minres A b random on cpu",
         "solve direct spqr A on cpu b random"},
        {"gen rmat 6 4 as R; solve gmres R on cpu b random maxit 9", "solve direct spqr R"},
        {"gen poisson2d 9 as P; let A = P - 3*I; solve minres A b random on cpu tol 1e-10", "solve direct spqr A"},
        {"load tests/files/neumann.mtx as A; solve cg A b random on emu tol 1e-10 nullspace none",
         "solve direct spqr A b random"},
        {"load tests/files/neumann.mtx as A; solve cg A b random f32 nullspace none",
         "solve direct spqr A b random f64"},
        {"gen poisson2d 30 as P; solve cg P on cpu maxit 5", "change maxit 110; continue"},
    };
    for (int i = 0; i < COUNT(nexts); i++) {
        struct talk t;
        struct stagnation found;
        look(&t, nexts[i].lines, &found);
        if (!strstr(found.next, nexts[i].next)) fail_msg("%s: %s", nexts[i].lines, found.next);
        if (found.singular && !talk_line(&t, found.next)) fail_msg("%s: %s", found.next, t.err);
        talk_close(&t);
    }
}

/* A matrix whose rows differ by 10^32 in size: its Hessenberg matrix has no Ritz values that the QR algorithm finds. */
TEST(other_causes_are_found_without_ritz_values)
{
    enum { N = 100 };
    struct talk t;
    struct stagnation found;
    char path[64], line[200];
    snprintf(path, sizeof path, "/tmp/warpspy-%d.mtx", (int)getpid());
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", N, N, 3 * N - 2);
    for (int i = 0; i < N; i++)
        for (int k = i ? i - 1 : 0; k <= i + 1 && k < N; k++)
            fprintf(f, "%d %d %.17g\n", i + 1, k + 1, (i == k ? 2 : -1) * pow(10, -16 + 16.0 * (i + k) / (N - 1)));
    assert_int_equal(fclose(f), 0);
    snprintf(line, sizeof line, "load %s as A; solve gmres A m 5 on cpu", path);
    look(&t, line, &found);
    assert_non_null(find(&found, "ritz"));
    assert_non_null(find(&found, "scaling"));
    assert_int_equal(remove(path), 0);
    talk_close(&t);
}

/* The number of rows that contain the residual does not depend on the scale of A, although squares of its numbers
   overflow. */
TEST(the_scale_of_a_matrix_changes_no_count)
{
    static const char *const lines[] = {
        "gen poisson2d 12 as P; let A = P - 3*I; solve minres A on cpu maxit 4",
        "gen poisson2d 12 as P; let A = 1e200*P - 3e200*I; solve minres A on cpu maxit 4",
        "gen poisson2d 12 as P; let A = 1e-200*P - 3e-200*I; solve minres A on cpu maxit 4"};
    int rows[COUNT(lines)];
    for (int i = 0; i < COUNT(lines); i++) {
        struct talk t;
        struct stagnation found;
        look(&t, lines[i], &found);
        const struct evidence *x = find(&found, "residual");
        assert_non_null(x);
        assert_int_equal(sscanf(x->text, "90%% of ||b - A x||^2 is in %d rows of 144", &rows[i]), 1);
        assert_int_equal(rows[i], rows[0]);
        talk_close(&t);
    }
    assert_true(rows[0] > 0);
}

/* Causes that are not there: the condition of the first matrix is 9; the numbers of x leave the range of fp64; no
   eigenvalue of a Laplacian is below 0; all eigenvalues of the last matrix are 0. */
TEST(a_cause_that_is_not_there_is_not_found)
{
    static const struct {
        const char *lines, *cause, *says;
    } absent[] = {
        {"gen poisson2d 4 as P; let A = 3e307*P; solve gmres A b random on cpu maxit 1", "near-null", ""},
        {"gen poisson2d 2 as P; let A = 1e-320*P; solve gmres A b random on cpu", "accuracy", ""},
        {"gen poisson2d 2 as P; let A = 1e-320*P; solve gmres A b random on cpu", "residual", ""},
        {"load tests/files/neumann.mtx as A; solve gmres A b random on cpu maxit 1", "ritz", "left of 0"},
        {"gen poisson2d 2 as P; let A = 0*P; solve gmres A b random on cpu", "indefinite", "; eigenvalues on both"},
    };
    for (int i = 0; i < COUNT(absent); i++) {
        struct talk t;
        struct stagnation found;
        look(&t, absent[i].lines, &found);
        const struct evidence *x = find(&found, absent[i].cause);
        if (x && strstr(x->text, absent[i].says)) fail_msg("%s: %s", absent[i].lines, x->text);
        talk_close(&t);
    }
}

/* The evidence and the command agree on the number of iterations. */
TEST(one_number_of_iterations_is_given)
{
    struct talk t;
    struct stagnation found;
    long long needs, limit;
    look(&t, "gen poisson2d 60; solve cg on cpu maxit 10", &found);
    assert_null(strstr(find(&found, "ritz")->text, "iteration"));
    assert_int_equal(sscanf(strstr(find(&found, "rate")->text, "about "), "about %lld", &needs), 1);
    assert_int_equal(sscanf(found.next, "change maxit %lld", &limit), 1);
    if (limit < needs) fail_msg("%lld iterations are needed, but the limit is %lld", needs, limit);
    talk_close(&t);
}

/* b = A * ones is in the range of A, whatever rank a factorisation finds. */
TEST(a_known_solution_shows_that_b_is_in_the_range)
{
    struct talk t;
    struct stagnation found;
    look(&t, "load tests/golden/singular.mtx; solve gmres on cpu tol 1e-30", &found);
    assert_null(find(&found, "inconsistent"));
    talk_close(&t);
}

/* The third column of the matrix is the sum of the first two: its null vector is (1, 1, -1, 0). */
TEST(the_null_vector_has_the_right_rows)
{
    struct talk t;
    struct stagnation found;
    look(&t, "load tests/golden/singular.mtx; solve gmres on cpu b random", &found);
    const struct evidence *x = find(&found, "near-null");
    assert_true(x && x->rows == 3 && x->value < 1e-14);
    for (int i = 0; i < 3; i++) assert_true(x->row[i] < 3);
    x = find(&found, "inconsistent");
    assert_true(fabs(x->value / t.s.solve->result.residual_true - 1) < 1e-6); /* gmres reached the least residual */
    talk_close(&t);
}

/* A = diag(1, small): each x_i has all digits, so b is in the range, and nothing is singular. `scale` repairs it. */
TEST(scaling_makes_no_matrix_singular)
{
    static const double sizes[] = {1e-12, 1e-17, 1e-40};
    for (int i = 0; i < COUNT(sizes); i++) {
        struct talk t;
        struct stagnation found;
        char path[64], line[200];
        snprintf(path, sizeof path, "/tmp/warpspy-diag-%d.mtx", (int)getpid());
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 %.17g\n", sizes[i]);
        assert_int_equal(fclose(f), 0);
        snprintf(line, sizeof line, "load %s as A; solve gmres A b random maxit 1 on cpu", path);
        look(&t, line, &found);
        assert_int_equal(remove(path), 0);
        assert_false(found.singular || found.nearly_singular);
        assert_null(find(&found, "inconsistent"));
        assert_string_equal(find(&found, "near-null")->next, "scale A");
        assert_string_equal(find(&found, "scaling")->next, "scale A");
        assert_true(talk_line(&t, "solve direct A b random") && t.s.direct->met);
        talk_close(&t);
    }
}

/* The least residual of 1 2, 2 4 and b = (1, 0) is 2 / sqrt(5), of any x. */
TEST(the_least_residual_is_bounded)
{
    struct talk t;
    struct stagnation found;
    char path[2][64], line[300];
    double size;
    for (int i = 0; i < 2; i++) {
        snprintf(path[i], sizeof path[i], "/tmp/warpspy-%s-%d.mtx", i ? "b" : "A", (int)getpid());
        FILE *f = fopen(path[i], "w");
        assert_non_null(f);
        fputs(i ? "%%MatrixMarket matrix array real general\n2 1\n1\n0\n"
                : "%%MatrixMarket matrix array real general\n2 2\n1\n2\n2\n4\n",
              f);
        assert_int_equal(fclose(f), 0);
    }
    snprintf(line, sizeof line, "load %s as A; solve gmres A b %s on cpu", path[0], path[1]);
    look(&t, line, &found);
    const struct evidence *x = find(&found, "inconsistent");
    assert_non_null(x);
    assert_true(fabs(x->value - 2 / sqrt(5)) < 1e-12 && found.singular);
    assert_int_equal(sscanf(strstr(x->text, "below "), "below %lf", &size), 1);
    assert_true(size > 1e12);
    talk_close(&t);
    assert_int_equal(remove(path[0]) + remove(path[1]), 0);
}

/* The eigenvalues of the 5-point matrix are 4 - 2 cos(i pi / 31) - 2 cos(j pi / 31). */
TEST(ritz_values_lie_within_the_spectrum)
{
    struct talk t;
    struct stagnation found;
    double pi = acos(-1), low = 4 - 4 * cos(pi / 31), high = 4 + 4 * cos(pi / 31), a, b;
    look(&t, "gen poisson2d 30; solve cg on cpu maxit 20", &found);
    const struct evidence *x = find(&found, "ritz");
    assert_int_equal(sscanf(strstr(x->text, "from "), "from %lf to %lf", &a, &b), 2);
    assert_true(a > 0.999 * low && b < 1.001 * high && a < b && fabs(x->value - a / b) < 1e-3);
    talk_close(&t);
}

TEST(the_command_explains_the_last_solve)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    talk_refuses(&t, "why stagnates", "there is no solve to explain");
    assert_true(talk_line(&t, "gen poisson2d 20 as P; solve cg step on cpu"));
    talk_refuses(&t, "why stagnates", "still paused");
    assert_true(talk_line(&t, "continue"));
    talk_refuses(&t, "why stagnates", "the last solve, cg, converged");
    assert_true(talk_line(&t, "solve cg maxit 6 on cpu"));
    talk_says(&t, "why stagnates", "cg on P: stopped at the limit of 6 iterations");
    talk_says(&t, "why stagnates", "or `advise solver P`.");
    talk_refuses(&t, "why stagnates ell", "`ell` after `stagnates` is a format");
    talk_refuses(&t, "why", "a format, a kernel or `stagnates` is missing");
    talk_refuses(&t, "why not", "a format, a kernel or `stagnates` is missing");
    assert_true(talk_line(&t, "solve direct P"));
    talk_refuses(&t, "why stagnates", "the last solve was direct: cholmod does not iterate");
    talk_says(&t, "solve cg maxit 6 on cpu; why stagnates", "cg on P: stopped at the limit of 6 iterations");
    assert_true(talk_line(&t, "drop P"));
    talk_refuses(&t, "why stagnates", "there is no solve");
    talk_close(&t);
}

static int ticks_left;

static bool tick(struct watch *w, const char *what, int64_t done, int64_t total)
{
    return ticks_left-- > 0;
}

TEST(ctrl_c_keeps_what_was_found)
{
    bool some = false;
    for (int after = 0; after < 2000; after = 1 + after * 3 / 2) {
        struct talk t;
        talk_open(&t, OUT_TEXT);
        assert_true(talk_line(&t, "gen poisson2d 20 as P; let A = P - 3.05*I; solve cg A on cpu"));
        talk_forget(&t);
        t.s.watch = (struct watch){tick, NULL};
        ticks_left = after;
        bool ok = talk_line(&t, "why stagnates");
        if (!ok && !strstr(t.err, "cancelled")) fail_msg("%s", t.err);
        some |= !ok && strstr(t.out, "indefinite");
        talk_close(&t);
    }
    assert_true(some);
}
