/* The sorts of devices there can be, whether this machine has them or not. */
#include "device_sorts.h"

static const struct named device_sorts[] = {
    {"cpu", "plain loops on the host, on one thread or all"},
    {"emu", "the GPU's kernels lane by lane in an emulator, every access checked; it has no time"},
    {"cuda", "a GPU by CUDA; cuda:N is the one of that number, cuda the first"},
    {0},
};

const struct registry device_sort_registry = {device_sorts, sizeof *device_sorts};
