/* Breakdowns: bicgstab and qmrcgstab start again from their x, also when the solve goes back, and `force` goes on
   without a restart. */
#include "kits/collection.h"
#include "kits/mtx_kit.h"
#include "kits/talk.h"
#include "kits/test.h"
#include "matrix/csr.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>
#include <unistd.h>

/* rho or r0.Ap is 0 up to rounding errors at some iteration. */
static const struct broken {
    const char *matrix, *solver;
} broken[] = {{"orsreg_1", "bicgstab"}, {"orsreg_1", "qmrcgstab"}, {"cz308", "bicgstab"}, {"dwt_992", "bicgstab"}};

static bool load(struct talk *t, const char *matrix)
{
    char line[1024];
    const char *folder = collection_folder("breakdowns on the collection");
    if (!folder) return false;
    talk_open(t, OUT_JSON);
    snprintf(line, sizeof line, "load %s/%s.mtx.gz as A", folder, matrix);
    assert_true(talk_line(t, line));
    return true;
}

/* Whether a solve breaks down depends on rounding: with other sums, some of them do not. */
TEST(solves_start_again)
{
    int again = 0;
    if (!collection_folder("breakdowns on the collection")) return;
    for (int i = 0; i < COUNT(broken); i++) {
        struct talk t;
        char line[200];
        assert_true(load(&t, broken[i].matrix));
        snprintf(line, sizeof line, "solve %s A on cpu", broken[i].solver);
        talk_says(&t, line, "\"converged\":true");
        const struct solve *v = t.s.solve;
        assert_true(v->result.residual_true <= 2 * v->set.tol);
        bool broke = v->recoveries.n > 0;
        if (broke) assert_true(v->recoveries.at > 0 && v->recoveries.at < v->iterations);
        assert_int_equal(strstr(t.out, "\"breakdowns\":0,") == NULL, broke);
        again += broke;
        talk_says(&t, "solve cg A on cpu maxit 1", "\"breakdowns\":null");
        talk_close(&t);
    }
    assert_true(again > 0);
}

TEST(force_goes_on)
{
    struct talk t;
    if (!load(&t, "orsreg_1")) return;
    talk_says(&t, "solve bicgstab A on cpu force", "\"converged\":true");
    assert_int_equal(t.s.solve->recoveries.n, 0);
    talk_close(&t);
}

/* The residuals after a restart do not depend on the length of the slices, nor on whether the solve went back. */
TEST(going_back_repeats_a_restart)
{
    struct talk t;
    double residual[2000];
    if (!load(&t, "cz308")) return;
    assert_true(talk_line(&t, "solve bicgstab A on cpu"));
    int64_t n = t.s.solve->iterations, at = t.s.solve->recoveries.at;
    assert_true(n < COUNT(residual) && at < n - 2);
    memcpy(residual, t.s.solve->history.residual, (size_t)(n + 1) * sizeof *residual);
    char line[100];
    snprintf(line, sizeof line, "solve bicgstab A on cpu step; step %d; back %d; step 1; back 1; step %d", (int)at + 2,
             (int)at, (int)n - 4);
    assert_true(talk_line(&t, line));
    const struct solve *v = t.s.solve;
    assert_int_equal(v->recoveries.n, 1);
    assert_int_equal(v->recoveries.at, at);
    assert_memory_equal(v->history.residual, residual, (size_t)(v->iterations + 1) * sizeof *residual);
    talk_close(&t);
}

/* The command that `try` names; NULL: none. */
static const char *next_of(const struct talk *t, char *out, size_t size)
{
    static const char key[] = "\"try\":\"";
    const char *at = strstr(t->out, key);
    if (!at) return NULL;
    at += sizeof key - 1;
    snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
    return out;
}

/* Each solve fails. The command that it proposes can be typed; in the end, one of the proposals solves the system, or
   there is nothing to solve. */
TEST(each_failure_proposes_a_command)
{
    static const struct {
        const char *line, *proposes, *ends;
    } cases[] = {
        {"gen poisson2d 9 as P; let A = P - 3.1*I; solve cg A on cpu b random seed 4",
         "solve minres A on cpu b random seed 4", "\"converged\":true"},
        {"gen poisson2d 40 as A; solve cg A on cpu maxit 30 tol 1e-10", "change maxit 1133; continue",
         "\"converged\":true"},
        {"gen poisson2d 9 as P; let A = P - 3.1*I; stats A; solve jacobi A on cpu", "solve minres A on cpu",
         "\"converged\":true"},
        {"gen poisson2d 9 as P; let A = P - 3.1*I; solve gs A on emu", "solve minres A on emu", "\"converged\":true"},
        {"gen poisson2d 12 as A; solve cg A on cpu tol 1e-18", "solve cg A on cpu tol 2e-14", "\"converged\":true"},
        {"gen poisson2d 12 as P; let A = P - P; solve minres A on cpu b ones", "check A only rank", "\"ok\":true"},
        {"load tests/files/odd.mtx as A; solve bicgstab A on cpu force b ones", "check A only valid", "\"ok\":true"},
    };
    struct talk t;
    for (int i = 0; i < COUNT(cases); i++) {
        char next[300];
        talk_open(&t, OUT_JSON);
        talk_says(&t, cases[i].line, "\"converged\":false");
        if (!next_of(&t, next, sizeof next)) fail_msg("%s: proposes nothing", cases[i].line);
        assert_string_equal(next, cases[i].proposes);
        talk_says(&t, next, cases[i].ends);
        talk_close(&t);
    }
    talk_open(&t, OUT_JSON);
    talk_says(&t, "gen poisson2d 9 as A; solve cg A on cpu", "\"try\":null");
    talk_says(&t, "solve cg A on cpu step; stop", "\"try\":null");
    talk_close(&t);
}

/* What a failed solve says and proposes; the proposal can be typed, and solves the system. */
TEST(proposals_suit_the_matrix)
{
    static const struct {
        const char *file, *line, *says, *proposes;
    } cases[] = {
        /* the factors of ilu0 do not exist */
        {"2 2 4\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n", "solve jacobi A on cpu", "stagnated", "solve cg A precond ic0 on cpu"},
        {"3 3 7\n1 1 1\n1 2 1\n2 1 1\n2 2 1\n2 3 1\n3 2 1\n3 3 1\n", "solve jacobi A on cpu", "diverged",
         "solve minres A on cpu"},
        {"3 3 7\n1 1 1\n1 2 2\n2 1 1\n2 2 2\n2 3 1\n3 2 1\n3 3 1\n", "solve jacobi A on cpu", "",
         "solve gmres A m 3 on cpu"},
        /* not symmetric */
        {"2 2 2\n1 2 1\n2 1 -1\n", "solve minres A on cpu", "A is not symmetric, and minres needs",
         "solve bicgstab A precond ilu0 scaled reorder matching on cpu"},
        /* x has not moved, so a restart from x breaks down again */
        {"2 2 2\n1 2 1\n2 1 -1\n", "solve bicgstab A on cpu", "gmres does not divide by this quantity",
         "solve gmres A m 2 on cpu"},
        {"2 2 4\n1 1 1\n1 2 1e3\n2 1 -1e3\n2 2 1\n", "solve jacobi A on cpu", "diverged",
         "solve bicgstab A precond ilu0 on cpu"},
    };
    char path[64], line[200], next[300];
    snprintf(path, sizeof path, "/tmp/warpspy-%d.mtx", (int)getpid());
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%s", cases[i].file);
        assert_int_equal(fclose(f), 0);
        talk_open(&t, OUT_JSON);
        snprintf(line, sizeof line, "load %s as A; %s", path, cases[i].line);
        talk_says(&t, line, cases[i].says);
        if (!next_of(&t, next, sizeof next)) fail_msg("%d: proposes nothing", i);
        assert_string_equal(next, cases[i].proposes);
        talk_says(&t, next, "\"converged\":true");
        talk_close(&t);
        assert_int_equal(remove(path), 0);
    }
}

/* cg suits a definite matrix, and a tol of 0 is as far out of reach as 1e-20. */
TEST(a_definite_matrix_gets_cg)
{
    static const struct {
        const char *lines, *proposes;
    } cases[] = {
        {"load samples/1138_bus.mtx as A; solve gmres A m 5 on cpu maxit 1000 tol 1e-9",
         "solve cg A precond ic0 on cpu tol 1e-9"},
        {"load samples/1138_bus.mtx as A; solve gmres A m 5 on cpu maxit 1000", "solve cg A precond ic0 on cpu"},
        {"gen poisson2d 10 as A; solve cg A on cpu tol 0", "solve cg A on cpu tol 2e-14"},
        {"gen poisson2d 10 as A; solve cg A on cpu f32 tol 1e-12", "solve cg A on cpu f32 tol 1e-05"},
    };
    for (int i = 0; i < COUNT(cases); i++) {
        struct talk t;
        char next[300];
        talk_open(&t, OUT_JSON);
        talk_says(&t, cases[i].lines, "\"converged\":false");
        if (!next_of(&t, next, sizeof next)) fail_msg("%s: proposes nothing", cases[i].lines);
        assert_string_equal(next, cases[i].proposes);
        talk_says(&t, next, "\"converged\":true");
        talk_close(&t);
    }
}

/* The Hilbert matrix of 12 rows is positive definite, but fp32 makes p'Ap negative. */
TEST(rounding_is_not_taken_for_an_indefinite_matrix)
{
    enum { N = 12 };
    struct talk t;
    char text[8192], line[200];
    int at = snprintf(text, sizeof text, "%%%%MatrixMarket matrix coordinate real general\n%d %d %d\n", N, N, N * N);
    for (int i = 1; i <= N; i++)
        for (int k = 1; k <= N; k++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%d %d %.17g\n", i, k, 1.0 / (i + k - 1));
    const char *path = write_file("hilbert.mtx", text, (size_t)at);
    talk_open(&t, OUT_JSON);
    snprintf(line, sizeof line, "load %s as H; solve cg H f32 on cpu tol 1e-12", path);
    talk_says(&t, line, "rounding errors in fp32: p'Ap = ");
    assert_string_equal(next_of(&t, line, sizeof line), "solve cg H on cpu tol 1e-12 f64");
    talk_says(&t, line, "\"precision\":\"fp64\"");
    talk_close(&t);
}

/* With the collection: from each failure, proposal by proposal, some solver converges, the direct ones among them. */
TEST(proposals_lead_to_a_solution)
{
    static const char *const lines[][2] = {{"sherman4", "solve jacobi A on cpu maxit 200"},
                                           {"bcsstk20", "solve cg A on cpu maxit 300"},
                                           {"gre_343", "solve bicgstab A on cpu"},
                                           {"lshp_406", "solve qmrcgstab A on cpu maxit 50"}};
    if (!collection_folder("breakdowns on the collection")) return;
    for (int i = 0; i < COUNT(lines); i++) {
        struct talk t;
        char next[300];
        assert_true(load(&t, lines[i][0]));
        talk_says(&t, lines[i][1], "\"converged\":false");
        for (int k = 0; k < 4 && next_of(&t, next, sizeof next); k++) {
            print_message("%s: %s\n", lines[i][0], next);
            talk_forget(&t);
            assert_true(talk_line(&t, next));
        }
        if (!strstr(t.out, "\"converged\":true")) fail_msg("%s: %s", lines[i][0], t.out);
        talk_close(&t);
    }
}

SUITE(.teardown = tidy);

/* Definite and not definite are proved; rounding errors may hide the sign of an eigenvalue. */
TEST(definiteness_is_proved)
{
    static const struct {
        int n;
        double a[9];
        enum definiteness is;
    } cases[] = {
        {2, {1, 2, 2, 5}, DEFINITE_POSITIVE},
        {2, {-1, 2, 2, -5}, DEFINITE_NEGATIVE},
        {3, {5, 4, 4, 4, 5, -4, 4, -4, 5}, DEFINITE_NOT},
        {3, {5, -4, -1, -4, 11, -7, -1, -7, 8}, DEFINITE_UNDECIDED}, /* rows that sum to 0 */
        {3, {11, -3, -8, -3, 9, -6, -8, -6, 14}, DEFINITE_UNDECIDED},
        {2,
         {190392490709135, 117669030460994, 117669030460994, 72723460248141},
         DEFINITE_UNDECIDED}, /* determinant -1 */
        {2, {308061521170129, 190392490709135, 190392490709135, 117669030460994}, DEFINITE_UNDECIDED}, /* 1 */
    };
    for (int i = 0; i < COUNT(cases); i++) {
        int row[9], col[9], n = cases[i].n;
        struct facts f = {0};
        struct csr A;
        for (int k = 0; k < n * n; k++) row[k] = k / n, col[k] = k % n;
        assert_true(csr_from_triplets(&A, n, n, n * n, row, col, cases[i].a, NULL, NULL, NULL));
        if (facts_definite(&f, &A) != cases[i].is) fail_msg("matrix %d: %d", i, f.definite);
        csr_free(&A);
    }
}
