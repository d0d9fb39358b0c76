/* The registry of packers, from packers.def: the packers of the emulator, and with CUDA also those that nvcc compiled
   from the same source. */
#include "machine/device.h"
#include "machine/packer.h"

#define PACKER(id) extern const struct packer emu_packer_##id, cuda_packer_##id;
#include "packers.def"
#undef PACKER

#define PACKER(id) &emu_packer_##id,
static const struct packer *const on_emu[] = {
#include "packers.def"
    NULL};
#undef PACKER

#ifdef HAVE_CUDA
#define PACKER(id) &cuda_packer_##id,
static const struct packer *const on_cuda[] = {
#include "packers.def"
    NULL};
#undef PACKER
#endif

static const struct packer *find(const struct packer *const *p, const struct format *f)
{
    while (*p && (*p)->format != f) p++;
    return *p;
}

const struct packer *packer_find(const struct format *f, const struct device *d)
{
    if (d->members) return NULL;
#ifdef HAVE_CUDA
    if (d->kind == DEV_CUDA) return find(on_cuda, f);
#endif
    return d->kind == DEV_EMU ? find(on_emu, f) : NULL;
}
