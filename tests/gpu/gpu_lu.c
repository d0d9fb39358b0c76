/* Dense LU on cuda:0: all checks that run on cpu and emu, sizes that reach every level of the blocked method, and our
   own matrix product compared with that of cuBLAS. */
#include <stdio.h>

#include "base/err.h"
#include "base/precision.h"
#include "kits/lu_kit.h"
#include "lu/lu.h"
#include "machine/device.h"
#include "matrix/csr.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char device[] = "cuda:0";
static const enum precision reals[] = {P_F64, P_F32};

static void both(void (*check)(const char *device, enum precision real))
{
    for (int r = 0; r < COUNT(reals); r++) check(device, reals[r]);
}

static void small_sizes(const char *name, enum precision real)
{
    static const int64_t sizes[] = {1, 2, 3, 31, 32, 33, 64, 65, 100, 255, 257, 513};
    lu_check_sizes(name, real, sizes, COUNT(sizes));
}

static void complex_sizes(const char *name, enum precision real)
{
    static const int64_t sizes[] = {1, 2, 3, 31, 33, 64, 100, 257};
    lu_check_complex(name, real, sizes, COUNT(sizes));
}

static void test_sizes(void **state)
{
    both(small_sizes);
    both(complex_sizes);
}

static void test_exact(void **state)
{
    both(lu_check_exact);
}

static void test_singular(void **state)
{
    both(lu_check_singular);
}

static void test_growth(void **state)
{
    both(lu_check_growth);
}

static void test_solutions(void **state)
{
    both(lu_check_solutions);
}

/* Narrow panels, few threads and look-ahead, as on the emulator. */
static void test_levels(void **state)
{
    static const struct lu_hook hooks[] = {
        {8, 32, 0, 1, 0},    {16, 32, 60, 1, 0}, {4, 64, 20, -1, 0},         {64, 32, 0, 1, 0},
        {128, 32, 0, -1, 0}, {2, 0, 1, 1, 0},    {16, 32, 0, 1, 4},          {64, 64, 0, 1, 2},
        {32, 32, 0, 1, 8},   {32, 32, 0, 1, 16}, {LU_OUTERMOST, 0, 0, 1, 0}, {LU_OUTERMOST, 0, 0, -1, 0},
    };
    static const int64_t sizes[] = {1, 33, 100, 300};
    for (int i = 0; i < COUNT(hooks); i++)
        for (int r = 0; r < COUNT(reals); r++) {
            lu_hook = hooks[i];
            lu_check_sizes(device, reals[r], sizes, COUNT(sizes));
            lu_check_exact(device, reals[r]);
            lu_check_singular(device, reals[r]);
        }
    lu_hook = (struct lu_hook){0};
}

/* Every width of a tile or panel that a method of ours accepts. */
static void test_widths(void **state)
{
    struct err e = {0};
    struct csr A;
    struct device *d = device_open(device, &e);
    lu_random(&A, 133, 1);
    for (int m = 0; lu_methods[m]; m++)
        for (int b = 1; lu_runs_on(lu_methods[m], d) && b <= lu_methods[m]->width_most; b *= 2)
            for (int r = 0; r < COUNT(reals); r++) {
                struct lu *v = NULL;
                struct lu_options o = {.method = lu_methods[m], .dev = d, .real = reals[r], .b = b};
                if (!lu_begin(&v, &A, &o, &e) || !lu_factor(v, &e))
                    fail_msg("%s b %d: %s", lu_methods[m]->name, b, e.text);
                lu_check_factors(v);
                lu_free(v);
            }
    csr_free(&A);
}

/* Sizes at which the panel changes its shape, with the default widths: check the backward error of a solve, and that
   each run gives the same bits although the panel runs concurrently with the update. */
static void test_large(void **state)
{
    static const int64_t sizes[] = {1025, 1500, 2050, 4100};
    for (int i = 0; i < COUNT(sizes); i++)
        for (int r = 0; r < COUNT(reals); r++) {
            struct csr A;
            struct err e = {0};
            size_t bytes = (size_t)(sizes[i] * sizes[i]) * sizeof(double);
            double *first = malloc(bytes), *again = malloc(bytes);
            lu_random(&A, sizes[i], 3);
            struct lu *v = lu_done(&A, lu_find("lu"), device_open(device, &e), reals[r]);
            assert_true(lu_get(v, first, &e));
            assert_true(lu_factor(v, &e) && lu_get(v, again, &e));
            assert_memory_equal(first, again, bytes);
            assert_true(lu_measure(v, &e));
            assert_int_equal(v->singular, -1);
            double eps = reals[r] == P_F64 ? 0x1p-52 : 0x1p-23;
            if (!(v->backward <= 4 * sqrt((double)sizes[i]) * eps))
                fail_msg("n = %lld: backward error %g", (long long)sizes[i], v->backward);
            assert_true(v->growth > 1 && v->growth < 1000);
            lu_free(v);
            csr_free(&A);
            free(first);
            free(again);
        }
}

/* If cuSOLVER is available, its results differ from those of our method only in the last bits: both choose the same
   pivots in fp64. */
static void test_peer(void **state)
{
    struct err e = {0};
    struct csr A;
    struct device *d = device_open(device, &e);
    if (!lu_version(lu_find("lu-cusolver"))) skip();
    lu_random(&A, 700, 9);
    struct lu *peer = lu_done(&A, lu_find("lu-cusolver"), d, P_F64);
    for (int i = 0; lu_methods[i]; i++) {
        if (lu_methods[i]->host || lu_methods[i]->vendor) continue;
        struct lu *v = lu_done(&A, lu_methods[i], d, P_F64);
        assert_memory_equal(v->swap, peer->swap, 700 * sizeof *v->swap);
        lu_free(v);
    }
    lu_check_factors(peer);
    lu_free(peer);
    csr_free(&A);
}

/* The emulator runs the same source: the pivots are equal, and the elements agree to rounding. */
static void test_emulator(void **state)
{
    struct err e = {0};
    struct csr A;
    lu_random(&A, 150, 4);
    for (int i = 0; lu_methods[i]; i++) {
        if (lu_methods[i]->host || lu_methods[i]->vendor) continue;
        struct lu *a = lu_done(&A, lu_methods[i], device_open("emu", &e), P_F64);
        struct lu *b = lu_done(&A, lu_methods[i], device_open(device, &e), P_F64);
        double *x = malloc(150 * 150 * sizeof *x), *y = malloc(150 * 150 * sizeof *y);
        assert_memory_equal(a->swap, b->swap, 150 * sizeof *a->swap);
        assert_true(lu_get(a, x, &e) && lu_get(b, y, &e));
        for (int k = 0; k < 150 * 150; k++) assert_true(fabs(x[k] - y[k]) <= 1e-11 * (1 + fabs(x[k])));
        lu_free(a);
        lu_free(b);
        free(x);
        free(y);
    }
    csr_free(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),  cmocka_unit_test(test_exact),     cmocka_unit_test(test_singular),
        cmocka_unit_test(test_growth), cmocka_unit_test(test_solutions), cmocka_unit_test(test_levels),
        cmocka_unit_test(test_large),  cmocka_unit_test(test_peer),      cmocka_unit_test(test_emulator),
        cmocka_unit_test(test_widths),
    };
    if (!device_count(DEV_CUDA)) {
        printf("skip dense LU on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
