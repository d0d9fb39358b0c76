/* Dense LU in a build without CUDA: no libraries, and a single stream that runs everything in order. */
#include "base/err.h"
#include "machine/device.h"
#include "machine/lu_ops.h"

#ifndef HAVE_CUDA
static bool gemm(struct device *d, enum type real, struct lu_at A, int64_t j, int w, int64_t below, int64_t from,
                 int64_t to)
{
    return false;
}

static const char *version(void)
{
    return NULL;
}

static bool work(struct device *d, enum type real, int64_t n, int64_t *bytes, struct err *e)
{
    return fail(e, E_UNSUPPORTED, "this build has no CUDA, so cuSOLVER is missing; use the method lu");
}

static bool factor(struct device *d, enum type real, struct lu_at A, void *space, struct err *e)
{
    return fail(e, E_UNSUPPORTED, "this build has no CUDA, so cuSOLVER is missing; use the method lu");
}

static bool side_stream(struct device *d, struct device *side, struct err *e)
{
    *side = *d;
    return true;
}

static void after(struct device *waits, struct device *on) {}

const struct lu_vendor lu_vendor_cuda = {
    .gemm = gemm,
    .blas_version = version,
    .work = work,
    .factor = factor,
    .version = version,
    .side = side_stream,
    .after = after,
};
#endif
