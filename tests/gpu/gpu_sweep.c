/* Gauss-Seidel and SOR on cuda:0 compared with the emulator, which processes the rows in the same order. The tests
   cover colours with many rows and with few rows, and sweeps with one row per thread and with one row per warp. */
#include "base/mem.h"
#include "base/precision.h"
#include "kits/precond_kit.h"
#include "kits/solve_kit.h"
#include "machine/device.h"
#include "session/matrix.h"
#include "solvers/level_schedule.h"
#include "solvers/solve.h"
#include "solvers/solver.h"

static const char device[] = "cuda:0";

static double *copy_of(const struct solve *v)
{
    double *x = mem_new(v->n, sizeof *x, "a copy", NULL);
    memcpy(x, v->result.x, (size_t)v->n * sizeof *x);
    return x;
}

static void check_sweeps(struct bed *bed, const char *solver, enum precision real)
{
    double *b = random_vector(bed->s.current->csr.rows), size = 0;
    struct solve_options o = {.solver = solver_find(solver), .real = real, .b = b, .maxit = 5, .force = true};
    bed_solve(bed, o, "emu", 1e9);
    double *x = copy_of(bed->s.solve);
    bed_solve(bed, o, device, 1e9);
    const struct solve *v = bed->s.solve;
    assert_int_equal(v->iterations, 5);
    for (int64_t i = 0; i < v->n; i++) size = fmax(size, fabs(x[i]));
    for (int64_t i = 0; i < v->n; i++)
        if (!(fabs(v->result.x[i] - x[i]) <= size * (real == P_F32 ? 1e-4 : 1e-12)))
            fail_msg("%s of %s: x[%lld] is %.17g, not %.17g", solver, v->matrix.name, (long long)i, v->result.x[i],
                     x[i]);
    mem_free(b);
    mem_free(x);
}

static void test_sweeps(void **state)
{
    static const struct problem problems[] = {{.generator = "poisson2d", .p = {301, 300}},
                                              {.generator = "poisson3d", .p = {31, 30, 29}},
                                              {.generator = "band", .p = {3000, 14, 100}},
                                              {.generator = "fem", .p = {60, 50}}};
    static const int narrow[] = {-1, 0, 100};
    for (int i = 0; i < COUNT(problems); i++) {
        struct bed bed;
        bed_make(&bed, &problems[i]);
        for (int k = 0; k < COUNT(narrow); k++) {
            level_schedule_hook(narrow[k]);
            check_sweeps(&bed, "gs", P_F64);
            check_sweeps(&bed, "sor", P_F64);
            check_sweeps(&bed, "sor", P_F32);
        }
        level_schedule_hook(-1);
        bed_free(&bed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sweeps)};
    if (!device_count(DEV_CUDA)) {
        printf("skip the sweeps on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
