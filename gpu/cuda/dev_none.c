/* The device `cuda:N` in a build without CUDA: each call returns an error that explains how to build with CUDA. */
#ifndef HAVE_CUDA
#include "gpu/dev.h"

#include "base/err.h"

static bool never(void)
{
    return false;
}

static int none(struct err *e)
{
    fail(e, E_UNSUPPORTED,
         "this build has no CUDA; build with the toolkit (nvcc in PATH or CUDA_HOME set, then `make CUDA=1`), or use "
         "the devices cpu and emu");
    return 0;
}

const struct device_maker maker_cuda = {
    .name = "cuda",
    .kind = DEV_CUDA,
    .numbered = true,
    .likely = never,
    .count = none,
};
#endif
