/* tools_of: the functions that sort and compute prefix sums on a kind of device. */
#include "machine/tools.h"
#include "machine/device.h"

#include <stddef.h>

#ifdef HAVE_CUDA
extern const struct tools cuda_tools; /* tools_cub.cu */
#endif

const struct tools *tools_of(const struct device *d)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return &cuda_tools;
#endif
    return d->kind == DEV_EMU ? &host_tools : NULL;
}
