/* CSR to HDIA on a device: openers give the diagonals of each hack, then every entry is written to its slot. */
#include "formats/fmt_hdia.h"
#include "openers.h"

namespace KERNEL_SPACE
{

static bool plan(struct packing *p, struct err *e)
{
    int64_t diagonals = 0;
    if (!count_openers<by_diagonal>(p, p->S.param[0], 1, &diagonals, e)) return false;
    hdia_sizes(&p->S, diagonals);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    (void)e;
    put_openers<by_diagonal>(p, p->S.param[0], 1, p->S.a[HDIA_OFFSETS].n, p->out[HDIA_HACKOFFSETS],
                             p->out[HDIA_OFFSETS]);
    launch_zero<T>(p->dev, p->out[HDIA_DATA], p->S.a[HDIA_DATA].n);
    LAUNCH_TILES(p, bands_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), p->S.param[0], PACK_OUT(p, HDIA_HACKOFFSETS, const int),
     PACK_OUT(p, HDIA_OFFSETS, const int), PACK_OUT(p, HDIA_DATA, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(hdia) = {
    .format = &format_hdia,
    .about = "the first entry of a hack on a diagonal opens the diagonal; prefix sums give the slots",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
