/* The format packed, with the host's kernels and on the emulator. */
#include "kits/packed_kit.h"
#include "kits/test.h"

#include <stddef.h>

static int on_cpu_and_emu(void)
{
    static const char *const devices[] = {"cpu", "emu", NULL};
    return packed_tests(devices);
}

SUITE(.run = on_cpu_and_emu);
