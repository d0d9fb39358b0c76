/* The format packed, with the host's kernels and on the emulator. */
#include "kits/packed_kit.h"

#include <stddef.h>

int main(void)
{
    static const char *const devices[] = {"cpu", "emu", NULL};
    return packed_tests(devices);
}
