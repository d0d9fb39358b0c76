/* CSR to COO on a device: tiles of equal work determine the row of each entry. */
#include "formats/fmt_coo.h"
#include "pack.h"

namespace KERNEL_SPACE
{

/* One block per tile, one thread per entry: neighbouring threads read and write neighbouring entries. */
template <typename T>
__global__ void coo_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, GPTR(int) out_row, GPTR(int) out_col, GPTR(T) out_val)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int64_t at = t.from + k;
        out_row[at] = (int)t.row + row_of[k];
        out_col[at] = col[at];
        out_val[at] = val[at];
    }
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    if (!cut_rows(p, e)) return false;
    LAUNCH_TILES(p, coo_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), PACK_OUT(p, COO_ROW, int), PACK_OUT(p, COO_COL, int), PACK_OUT(p, COO_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(coo) = {
    .format = &format_coo,
    .about = "tiles of entries: a block finds the rows of 2048 steps and writes them with coalesced stores",
    .plan = KERNEL_SPACE::plan_by_shape,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
