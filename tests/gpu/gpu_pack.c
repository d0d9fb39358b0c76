/* Conversions on cuda:0: all checks that run on emu, and larger matrices of every kind. */
#include "kits/pack_kit.h"
#include "kits/sym_kit.h"
#include "kits/talk.h"
#include "machine/device.h"
#include "matrix/gen.h"

static const char device[] = "cuda:0";

static void test_small(void **state)
{
    pack_check_shapes(device);
    pack_check_tiles(device);
}

static void test_refused(void **state)
{
    pack_check_refused(device);
}

static void large(const char *generator, int64_t a, int64_t b, int64_t c)
{
    struct csr A = {0};
    int64_t param[PARAMS_MAX] = {a, b, c};
    assert_true(generator_find(generator)->make(param, 1, NULL, &A, NULL));
    pack_check(generator, &A, device);
    csr_free(&A);
}

static void test_large(void **state)
{
    large("poisson2d", 500, 401, 0);
    large("poisson3d", 40, 41, 42);
    large("rmat", 16, 16, 0);
    large("circuit", 200000, 4, 0);
    large("random", 100000, 7, 100003);
    large("dense", 700, 0, 0);
}

static void test_command(void **state)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    if (!talk_line(&t, "gen poisson2d 700 as A; convert ell on cuda:0; spmv using sell on cuda:0"))
        fail_msg("%s", t.err);
    assert_non_null(strstr(t.out, "cuda:0 packs it from the csr on the device in"));
    assert_non_null(strstr(t.out, "one SpMV on the device"));
    assert_non_null(strstr(t.out, "packed on"));
    talk_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_command),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip conversions on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
