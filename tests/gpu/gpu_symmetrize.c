/* Symmetrization and transposition on cuda:0: all checks that run on cpu and emu, and larger matrices of every kind. */
#include "kits/sym_kit.h"
#include "kits/talk.h"
#include "machine/device.h"

static const char device[] = "cuda:0";

static void test_small(void **state)
{
    sym_check_shapes(device);
    sym_check_tiles(device);
    sym_check_values(device);
    sym_check_verdicts(device);
    sym_check_steps(device);
}

static void large(const char *generator, int64_t a, int64_t b)
{
    struct csr A = sym_made(generator, a, b);
    sym_check(generator, &A, device);
    csr_free(&A);
}

static void test_large(void **state)
{
    large("poisson2d", 500, 400);
    large("poisson3d", 40, 40);
    large("rmat", 16, 16);
    large("circuit", 200000, 4);
    large("random", 100000, 7);
}

/* Several runs in immediate succession give the result of a single run. */
static void test_again(void **state)
{
    struct csr A = sym_made("rmat", 14, 12), want = sym_reference(&A, SYM_SUM), S;
    struct sym_options o = {.dev = device_open(device, NULL), .mode = SYM_SUM};
    struct sym *v;
    assert_true(sym_begin(&v, &A, &o, NULL));
    for (int i = 0; i < 20; i++) assert_true(sym_run(v, NULL));
    assert_true(sym_get(v, &S, NULL));
    assert_true(csr_equal(&S, &want));
    sym_free(v);
    csr_free(&S);
    csr_free(&want);
    csr_free(&A);
}

static void test_command(void **state)
{
    struct talk t;
    talk_open(&t, OUT_TEXT);
    if (!talk_line(&t, "gen rmat 12 as A; symmetrize A on cuda:0; transpose A on cuda:0")) fail_msg("%s", t.err);
    assert_non_null(strstr(t.out, "fingerprint"));
    assert_non_null(strstr(t.out, "in SpMVs with A"));
    assert_non_null(strstr(t.out, "A-t"));
    talk_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_command),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip symmetrization on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
