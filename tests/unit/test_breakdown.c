/* Breakdowns: bicgstab and qmrcgstab start again from their x, also when the solve goes back, and `force` goes on
   without a restart. */
#include "kits/collection.h"
#include "kits/talk.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

#include <math.h>

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
static void solves_start_again(void **state)
{
    int again = 0;
    (void)state;
    for (int i = 0; i < COUNT(broken); i++) {
        struct talk t;
        char line[200];
        if (!load(&t, broken[i].matrix)) return;
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

static void force_goes_on(void **state)
{
    struct talk t;
    (void)state;
    if (!load(&t, "orsreg_1")) return;
    talk_says(&t, "solve bicgstab A on cpu force", "\"converged\":true");
    assert_int_equal(t.s.solve->recoveries.n, 0);
    talk_close(&t);
}

/* The residuals after a restart do not depend on the length of the slices, nor on whether the solve went back. */
static void going_back_repeats_a_restart(void **state)
{
    struct talk t;
    double residual[2000];
    (void)state;
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
static void each_failure_proposes_a_command(void **state)
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
        {"gen poisson2d 9 as P; let A = P - 3.1*I; solve gs A on emu", "solve bicgstab A precond ilu0 on emu",
         "\"converged\":true"},
        {"gen poisson2d 12 as A; solve cg A on cpu tol 1e-18", "solve cg A tol 2e-14", "\"converged\":true"},
        {"gen poisson2d 12 as P; let A = P - P; solve minres A on cpu b ones", "check A only rank", "\"ok\":true"},
        {"load tests/files/odd.mtx as A; solve bicgstab A on cpu force b ones", "check A only valid", "\"ok\":true"},
    };
    struct talk t;
    (void)state;
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

/* With the collection: from each failure, proposal by proposal, some solver converges. */
static void proposals_lead_to_a_solution(void **state)
{
    static const char *const lines[][2] = {{"sherman4", "solve jacobi A on cpu maxit 200"},
                                           {"bcsstk20", "solve cg A on cpu maxit 300"},
                                           {"gre_343", "solve bicgstab A on cpu"},
                                           {"lshp_406", "solve qmrcgstab A on cpu maxit 50"}};
    (void)state;
    for (int i = 0; i < COUNT(lines); i++) {
        struct talk t;
        char next[300];
        if (!load(&t, lines[i][0])) return;
        if (!talk_line(&t, lines[i][1])) fail_msg("%s", t.err);
        for (int k = 0; k < 8 && next_of(&t, next, sizeof next); k++) {
            print_message("%s: %s\n", lines[i][0], next);
            if (!strncmp(next, "solve direct", 12)) break; /* its libraries may be absent */
            talk_forget(&t);
            assert_true(talk_line(&t, next));
        }
        assert_true(!strncmp(next, "solve direct", 12) || strstr(t.out, "\"converged\":true"));
        talk_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_start_again),           cmocka_unit_test(force_goes_on),
        cmocka_unit_test(going_back_repeats_a_restart), cmocka_unit_test(each_failure_proposes_a_command),
        cmocka_unit_test(proposals_lead_to_a_solution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
