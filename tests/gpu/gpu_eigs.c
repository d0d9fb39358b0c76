/* Eigenvalues on cuda:0: known spectra. */
#include "kits/eigs_kit.h"
#include "machine/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static void known_spectra(void **state)
{
    check_eigs("cuda:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_spectra)};
    if (!device_count(DEV_CUDA)) {
        printf("skip the eigenvalues on a GPU: there is none\n");
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    devices_close();
    return failed;
}
