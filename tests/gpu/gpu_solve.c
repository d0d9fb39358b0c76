/* The solvers on cuda:0: all checks that run on cpu and emu, and agreement with both. */
#include "kits/batch_kit.h"
#include "kits/complex_kit.h"
#include "kits/solve_kit.h"
#include "machine/device.h"

static const char device[] = "cuda:0";

static void test_vectors(void **state)
{
    check_vectors(device, P_F64);
    check_vectors(device, P_F32);
    check_cg_sums(device, P_F64);
    check_cg_sums(device, P_F32);
}

static void test_complex(void **state)
{
    check_complex("cuda:0");
    check_complex_files("cuda:0");
}

static void test_known_ends(void **state)
{
    check_known_ends(device, P_F64);
    check_known_ends(device, P_F32);
}

static void test_frozen(void **state)
{
    check_frozen(device, P_F64);
    check_frozen(device, P_F32);
}

static void test_formats(void **state)
{
    check_formats(device, P_F64);
    check_formats(device, P_F32);
}

static void test_kernels(void **state)
{
    check_kernels(device, P_F64);
    check_kernels(device, P_F32);
}

static void test_forms(void **state)
{
    check_forms(device, P_F64);
    check_forms(device, P_F32);
}

static void test_clusters(void **state)
{
    check_clusters(device, P_F64);
    check_clusters(device, P_F32);
}

static void test_host_sums(void **state)
{
    check_host_sums(device, P_F64);
    check_host_sums(device, P_F32);
}

static void test_agreement(void **state)
{
    check_agreement("cpu", device, P_F64);
    check_agreement("cpu", device, P_F32);
    check_agreement("emu", device, P_F64);
    check_agreement("emu", device, P_F32);
}

static void test_batch(void **state)
{
    check_batch(device);
    check_columns(device, T_F64, 70000, 3);
    check_columns(device, T_F32, 3000, 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),   cmocka_unit_test(test_complex),  cmocka_unit_test(test_known_ends),
        cmocka_unit_test(test_frozen),    cmocka_unit_test(test_formats),  cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_forms),     cmocka_unit_test(test_clusters), cmocka_unit_test(test_host_sums),
        cmocka_unit_test(test_agreement), cmocka_unit_test(test_batch),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip the solvers on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
