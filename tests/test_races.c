/* Races: none of the kernels has one, on any shape, and those that are put in are found. */
#include "../gpu/emu.h"
#include "kernel_loops.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { SLOTS = 1 << 14 };

static void test_kernels_have_none(void **state)
{
    (void)state;
    struct device *d = open_or_fail("emu");
    emu_races(true);
    check_shapes(d, SLOTS);
    emu_races(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, close_devices);
}
