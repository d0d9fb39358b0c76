/* sym_ops_of and sym_peer_of: the symmetrization kernels that were compiled for a kind of device. */
#include "machine/device.h"
#include "machine/symmetrize.h"

extern const struct sym_ops emu_vec_sym;
#ifdef HAVE_CUDA
extern const struct sym_ops cuda_vec_sym;
extern const struct sym_peer_ops cuda_sym_peer; /* vendor_sym.cu */
#endif

const struct sym_ops *sym_ops_of(const struct device *d)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return &cuda_vec_sym;
#endif
    return d->kind == DEV_EMU ? &emu_vec_sym : NULL;
}

const struct sym_peer_ops *sym_peer_of(const struct device *d)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return &cuda_sym_peer;
#endif
    return NULL;
}
