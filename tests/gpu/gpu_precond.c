/* The preconditioners on cuda:0: all checks that run on emu, and large matrices. */
#include "kits/amg_kit.h"
#include "kits/precond_kit.h"
#include "machine/device.h"

static const char device[] = "cuda:0";

static void test_applied(void **state)
{
    check_preconds_applied(device, P_F64);
    check_preconds_applied(device, P_F32);
}

static void test_launches(void **state)
{
    check_preconds_launches(device, P_F64);
    check_preconds_launches(device, P_F32);
    check_preconds_long_runs(device);
    check_preconds_guard(device);
}

static void test_triangles(void **state)
{
    check_preconds_triangles(device, P_F64);
    check_preconds_triangles(device, P_F32);
}

static void test_large(void **state)
{
    check_preconds_large(device);
}

static void test_diagonal(void **state)
{
    check_preconds_diagonal(device, P_F64);
    check_preconds_diagonal(device, P_F32);
}

static void test_gain(void **state)
{
    check_preconds_gain(device);
}

/* Levels with rows of all lengths that the kernels take. */
static void test_amg_levels(void **state)
{
    static const struct problem some[] = {{.generator = "poisson2d", .p = {90, 80}},
                                          {.generator = "poisson3d", .p = {40, 40, 40}},
                                          {.generator = "fem", .p = {40, 30}}};
    for (int i = 0; i < COUNT(some); i++) {
        check_amg_levels(&some[i], device, P_F64, 2);
        check_amg_levels(&some[i], device, P_F32, 2);
    }
}

/* A solve on the GPU takes about as many iterations as on the host. Neighbours in the last grid are more than 2^15 rows
   apart, so that its columns do not fit in 16 bits. */
static void test_amg_solves(void **state)
{
    static const struct problem some[] = {{.generator = "poisson2d", .p = {90, 80}},
                                          {.generator = "poisson3d", .p = {40, 40, 40}},
                                          {.generator = "fem", .p = {40, 30}},
                                          {.generator = "poisson2d", .p = {40000, 2}}};
    static const char *const solvers[] = {"cg", "minres", "bicgstab"};
    for (int i = 0; i < COUNT(some); i++)
        for (int k = 0; k < COUNT(solvers); k++) check_amg_iterations(&some[i], solvers[k], device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_applied),   cmocka_unit_test(test_launches),   cmocka_unit_test(test_large),
        cmocka_unit_test(test_triangles), cmocka_unit_test(test_gain),       cmocka_unit_test(test_amg_levels),
        cmocka_unit_test(test_diagonal),  cmocka_unit_test(test_amg_solves),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip the preconditioners on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
