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

static void solves_start_again(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(broken); i++) {
        struct talk t;
        char line[200];
        if (!load(&t, broken[i].matrix)) return;
        snprintf(line, sizeof line, "solve %s A on cpu", broken[i].solver);
        talk_says(&t, line, "\"converged\":true");
        const struct solve *v = t.s.solve;
        assert_true(v->result.residual_true <= 2 * v->set.tol);
        assert_true(v->recoveries.n > 0 && v->recoveries.at > 0 && v->recoveries.at < v->iterations);
        assert_null(strstr(t.out, "\"breakdowns\":0,"));
        talk_says(&t, "solve cg A on cpu maxit 1", "\"breakdowns\":null");
        talk_close(&t);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_start_again),
        cmocka_unit_test(force_goes_on),
        cmocka_unit_test(going_back_repeats_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
