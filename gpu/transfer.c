/* transfer_ops_of: streams and asynchronous copies of devices with separate memory. */
#include "machine/transfer.h"
#include "machine/device.h"

#ifdef HAVE_CUDA
extern const struct transfer_ops cuda_transfer; /* transfer.cu */
#endif

const struct transfer_ops *transfer_ops_of(const struct device *d)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return &cuda_transfer;
#endif
    return NULL;
}
