/* Races on cuda:0: no time is counted twice, each solver gives the same result as it does alone, and kernels are timed
   as in `bench`. */
#include "base/clock.h"
#include "commands/race.h"
#include "kits/talk.h"
#include "machine/device.h"
#include "solvers/solve.h"

#include <math.h>

static void open_on_gpu(struct talk *t)
{
    talk_open(t, OUT_TEXT);
    assert_true(talk_line(t, "device cuda:0; gen poisson2d 400"));
}

/* Work that one racer has queued must not run during the turn of another racer: the sum of their times would exceed the
   elapsed time. */
static void turns_do_not_overlap(void **state)
{
    struct talk t;
    open_on_gpu(&t);
    assert_true(talk_line(&t, "solve cg maxit 10")); /* warm-up */
    double start = now_us(), sum = 0;
    if (!talk_line(&t, "race jacobi cg gmres 30 bicgstab maxit 20000 tol 1e-10")) fail_msg("%s", t.err);
    double wall = now_us() - start;
    for (int i = 0; i < t.s.race->n; i++) {
        const struct racer *x = &t.s.race->racer[i];
        assert_true(x->v && x->us > 0 && isfinite(x->us) && x->v->iterations > 0);
        assert_true(x->v->reason != CONVERGED || x->v->result.residual_true <= 2e-10);
        assert_float_equal(x->mark[x->nmarks - 1].us, x->us, 0);
        sum += x->us;
    }
    assert_true(sum <= wall);
    talk_close(&t);
}

static void a_race_solves_as_solve_does(void **state)
{
    struct talk t;
    open_on_gpu(&t);
    assert_true(talk_line(&t, "race gmres 20 cg bicgstab f32"));
    int64_t raced = t.s.race->racer[0].v->iterations;
    double residual = t.s.race->racer[0].v->result.residual_true;
    assert_true(talk_line(&t, "solve gmres m 20 f32"));
    assert_int_equal(t.s.solve->iterations, raced);
    assert_float_equal(t.s.solve->result.residual_true, residual, 1e-3 * residual);
    talk_close(&t);
}

static void kernels_are_timed_as_in_bench(void **state)
{
    struct talk t;
    open_on_gpu(&t);
    assert_true(talk_line(&t, "race csr-vector csr-cusp ell csr-merge"));
    for (int i = 0; i < 4; i++) {
        const struct racer *x = &t.s.race->racer[i];
        assert_true(x->nmarks > 5 && x->best_us > 0 && x->best_us <= x->run.us && x->run.error.ok);
    }
    double raced = t.s.race->racer[1].run.us;
    assert_true(talk_line(&t, "spmv kernel csr-cusp"));
    assert_true(raced < 3 * t.s.runs[0].us && t.s.runs[0].us < 3 * raced);
    talk_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_do_not_overlap),
        cmocka_unit_test(a_race_solves_as_solve_does),
        cmocka_unit_test(kernels_are_timed_as_in_bench),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip races on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
