/* CSR to dense on a device: write zeros, then write every entry to its slot. */
#include "formats/fmt_dense.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* One thread per entry of a tile. */
template <typename T>
__global__ void dense_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                           GPTR(const T) val, int64_t rows, GPTR(T) out)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK)
        out[col[t.from + k] * rows + t.row + row_of[k]] = val[t.from + k];
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    if (!cut_rows(p, e)) return false;
    launch_zero<T>(p->dev, p->out[DENSE_VAL], p->S.a[DENSE_VAL].n);
    LAUNCH_TILES(p, dense_pack<T>)(PACK_TILES(p), PACK_VAL(p, T), p->rows, PACK_OUT(p, DENSE_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(dense) = {
    .format = &format_dense,
    .about = "writes zeros, then overwrites them by tiles of entries",
    .plan = KERNEL_SPACE::plan_by_shape,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
