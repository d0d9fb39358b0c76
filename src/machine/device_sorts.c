/* The kinds of devices that warpspy supports, whether or not this machine has them. */
#include "device_sorts.h"
#include "base/registry.h"

const char device_ranks[] = "ranks";

static const struct device_sort {
    const char *name, *about;
    const char *aliases; /* other names, separated by blanks */
} device_sorts[] = {
    {"cpu", "plain loops on the host, on one thread or on all threads", "host"},
    {"emu", "runs the GPU kernels in an emulator, lane by lane; every access is checked; nothing is timed", "emulator"},
    {"cuda", "a GPU, used through CUDA; cuda:N is GPU number N; cuda is the first GPU", "gpu"},
    {device_ranks, "processes of PETSc on this machine or on many, started by the command `ranks`; for spmv and solve",
     NULL},
    {0},
};

const struct registry device_sort_registry = {device_sorts, sizeof *device_sorts,
                                              offsetof(struct device_sort, aliases)};
