/* Devices with several GPUs as members. On a machine with one GPU, cuda:0+0 is tested: two members with streams of
   their own on one GPU. */
#include "kits/multi_kit.h"
#include "machine/device.h"
#include "machine/split.h"
#include "session/command.h"
#include "session/session.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

enum { SLOTS = 20000 };

static void check(const char *device)
{
    assert_true(check_multi_formats(device, T_F64, SLOTS) > 100);
    assert_true(check_multi_formats(device, T_F32, SLOTS) > 100);
    check_multi_solves(device, "cuda:0");
}

static void test_one_gpu_twice(void **state)
{
    (void)state;
    check("cuda:0+0");
    check("cuda:0+0+0");
}

static void test_two_gpus(void **state)
{
    (void)state;
    if (device_count(DEV_CUDA) < 2) {
        print_message("this machine has one GPU: cuda:0+1 is not tested\n");
        skip();
    }
    check("cuda:0+1");
}

static void test_cpu_and_gpu(void **state)
{
    (void)state;
    assert_true(check_multi_formats("cpu+cuda:0", T_F64, SLOTS) > 100);
    check_multi_solves("cpu+cuda:0", "cuda:0");
}

/* The phases of a timeline do not overlap on a member. */
static void test_timeline(void **state)
{
    (void)state;
    struct session s;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_true(nowhere && session_new(&s, nowhere, nowhere, OUT_TEXT, NULL));
    assert_true(run_line(&s, "gen poisson2d 300; timeline on cuda:0+0"));
    const struct timeline *t = s.timeline;
    assert_true(t && t->timed && t->us > 0);
    for (int k = 0; k < t->members; k++)
        for (int f = 0; f < SPLIT_PHASES; f++) {
            assert_true(t->cell[k][f].to >= t->cell[k][f].from);
            assert_true(!f || t->cell[k][f].from >= t->cell[k][f - 1].from);
        }
    session_free(&s);
    fclose(nowhere);
}

static int close_all(void **state)
{
    (void)state;
    devices_close();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_gpu_twice),
        cmocka_unit_test(test_two_gpus),
        cmocka_unit_test(test_cpu_and_gpu),
        cmocka_unit_test(test_timeline),
    };
    return cmocka_run_group_tests(tests, NULL, close_all);
}
