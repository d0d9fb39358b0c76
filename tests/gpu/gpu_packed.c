/* The format packed on cuda:0: all checks that run on emu. */
#include "kits/packed_kit.h"
#include "machine/device.h"

#include <stdio.h>

int main(void)
{
    static const char *const devices[] = {"cuda:0", NULL};
    if (device_count(DEV_CUDA)) return packed_tests(devices);
    printf("skip packed on a GPU: there is none\n");
    return 0;
}
