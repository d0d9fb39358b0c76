/* Every kernel on cuda:0, checked by the same loops as on the cpu and the emulator. If the arithmetic is exact, the GPU
   and the emulator must both give the reference's bits, and therefore agree. */
#include <stdio.h>

#include "base/err.h"
#include "formats/format.h"
#include "kits/kernel_loops.h"
#include "kits/spmm_kit.h"
#include "machine/bench.h"
#include "machine/device.h"
#include "machine/kernel.h"
#include "machine/mat.h"
#include "matrix/gen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* SHAPE_SLOTS, FILE_SLOTS: the maximum numbers of slots on the GPU. FILE_NNZ: larger files are skipped. EMU_SLOTS: the
   maximum number of slots on the emulator, which takes seconds for so many slots. */
enum { SHAPE_SLOTS = 5000000, FILE_SLOTS = 50000000, FILE_NNZ = 100000000, EMU_SLOTS = 20000 };

static void test_about(void **state)
{
    struct device *d = open_or_fail("cuda:0");
    struct err e = {0};
    int64_t left, total;
    assert_true(d->ops->memory(d, &left, &total, &e));
    assert_true(left > 0 && left <= total && d->units > 0);
    assert_non_null(strstr(d->about, "multiprocessors"));
    assert_ptr_equal(open_or_fail("cuda"), d);
    print_message("%s: %s\n", d->name, d->about);
}

static void test_shapes(void **state)
{
    check_shapes(open_or_fail("cuda:0"), SHAPE_SLOTS);
}

static void test_agreement(void **state)
{
    check_exact(open_or_fail("cuda:0"), SHAPE_SLOTS);
    check_exact(open_or_fail("emu"), EMU_SLOTS);
}

static void test_narrow(void **state)
{
    check_narrow(open_or_fail("cuda:0"), SHAPE_SLOTS);
}

static void test_deterministic(void **state)
{
    check_deterministic(open_or_fail("cuda:0"), SHAPE_SLOTS, NULL);
}

static void test_repeats(void **state)
{
    enum { LAUNCHES = 100 };
    check_repeats(open_or_fail("cuda:0"), LAUNCHES);
}

/* 100 replays of each graph. */
static void test_chains(void **state)
{
    enum { TIMES = 4, REPLAYS = 25 };
    check_chains(open_or_fail("cuda:0"), SHAPE_SLOTS, TIMES, REPLAYS);
}

static void test_spmm(void **state)
{
    check_spmm(open_or_fail("cuda:0"), EMU_SLOTS, NULL);
}

static void test_uneven(void **state)
{
    check_uneven(open_or_fail("cuda:0"));
}

static void test_files(void **state)
{
    check_files(open_or_fail("cuda:0"), FILE_NNZ, FILE_SLOTS);
}

static void test_times(void **state)
{
    struct device *d = open_or_fail("cuda:0");
    struct err e = {0};
    struct csr A;
    struct stored S;
    struct mat M;
    struct run r;
    int64_t n[PARAMS_MAX] = {700, 700};
    assert_true(generator_find("poisson2d")->make(n, 1, NULL, &A, &e));
    assert_true(format_pack(&A, format_find("csr"), NULL, P_F64, false, &S, &e));
    assert_true(mat_put(&M, &S, d, &e));
    if (!device_ceilings(d, NULL, &e)) fail_msg("%s", e.text);
    if (!bench_kernel(kernel_find("csr-vector"), &A, &M, 0, NULL, &r, &e)) fail_msg("%s", e.text);
    assert_true(r.us > 0 && r.spread_us >= 0 && r.share > 0 && r.reps >= 5);
    print_message("read %.0f, copy %.0f, cache %.0f GB/s; gather %.1f G/s; launch %.2f us\n", d->ceilings.read_gbs,
                  d->ceilings.copy_gbs, d->ceilings.cache_gbs, d->ceilings.gather_gps, d->ceilings.launch_us);
    mat_free(&M);
    stored_free(&S);
    csr_free(&A);
}

static void test_no_room(void **state)
{
    struct device *d = open_or_fail("cuda:0");
    struct err e = {0};
    assert_null(d->ops->alloc(d, INT64_C(1) << 50, "a vector of the test", &e));
    assert_int_equal(e.code, E_MEMORY);
    assert_non_null(strstr(e.text, "a vector of the test"));
    assert_false(d->lost);
    assert_true(d->ops->sync(d, NULL));
}

/* This test comes last because an access to an invalid address causes a sticky error. A reset restores the device, or
   reports that the driver refuses the reset; the host continues in either case. */
static void test_loss(void **state)
{
    struct device *d = open_or_fail("cuda:0");
    struct err e = {0};
    void *nowhere = (void *)(uintptr_t)256;
    struct stored S = {.format = format_find("csr"), .rows = 1, .cols = 1, .nnz = 1, .real = P_F64, .narrays = 3};
    struct mat M = {.of = &S, .dev = d, .ptr = {nowhere, nowhere, nowhere}};
    struct launch L = {.A = &M, .alpha = 1, .x = nowhere, .y = nowhere};
    if (getenv("WARPSPY_NO_FAULTS")) {
        printf("skip: no faults are provoked, as WARPSPY_NO_FAULTS is set\n");
        return;
    }
    bool ok = kernel_launch(kernel_find("csr-scalar"), &L, &e) && d->ops->sync(d, &e);
    assert_false(ok);
    assert_true(d->lost);
    assert_int_equal(e.code, E_DEVICE);
    print_message("%s\n", e.text);
    assert_null(d->ops->alloc(d, 8, "anything", NULL));
    err_clear(&e);
    if (d->ops->reset(d, &e)) {
        check_exact(d, 2000);
        return;
    }
    print_message("%s\n", e.text);
    assert_true(d->lost);
    assert_non_null(strstr(e.text, "cannot be reset"));
    check_exact(open_or_fail("cpu"), 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_about),   cmocka_unit_test(test_shapes),        cmocka_unit_test(test_agreement),
        cmocka_unit_test(test_narrow),  cmocka_unit_test(test_deterministic), cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_repeats), cmocka_unit_test(test_chains),        cmocka_unit_test(test_spmm),
        cmocka_unit_test(test_files),   cmocka_unit_test(test_times),         cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_loss),
    };
    return cmocka_run_group_tests(tests, NULL, close_devices);
}
