/* CSR to BSR on a device: openers give the blocks, then every entry is written to its slot. */
#include "formats/fmt_bsr.h"
#include "openers.h"

namespace KERNEL_SPACE
{

/* One thread per entry of a tile: a binary search in the columns of the block row finds the entry's block. */
template <typename T>
__global__ void bsr_pack(int64_t steps, GPTR(const int) cut, GPTR(const int) ptr, GPTR(const int) col,
                         GPTR(const T) val, int b, GPTR(const int) block_ptr, GPTR(const int) block_col, GPTR(T) out)
{
    SHARED(int, start, TILE + 1);
    SHARED(int, row_of, TILE);
    row_tile t = tile_of<false>(steps, cut);
    rows_of(t, ptr, start, row_of);
    for (int k = threadIdx.x; k < t.n; k += TILE_BLOCK) {
        int row = (int)t.row + row_of[k], c = col[t.from + k], I = row / b;
        int64_t block = place_of_key(block_col, block_ptr[I], block_ptr[I + 1], c / b);
        out[(block * b + row % b) * b + c % b] = val[t.from + k];
    }
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t b = p->S.param[0], blocks = 0;
    if (!count_openers<by_block>(p, b, b, &blocks, e)) return false;
    bsr_sizes(&p->S, blocks);
    return true;
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int b = (int)p->S.param[0];
    (void)e;
    put_openers<by_block>(p, b, b, p->S.a[BSR_COL].n, p->out[BSR_PTR], p->out[BSR_COL]);
    launch_zero<T>(p->dev, p->out[BSR_VAL], p->S.a[BSR_VAL].n);
    LAUNCH_TILES(p, bsr_pack<T>)
    (PACK_TILES(p), PACK_VAL(p, T), b, PACK_OUT(p, BSR_PTR, const int), PACK_OUT(p, BSR_COL, const int),
     PACK_OUT(p, BSR_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(bsr) = {
    .format = &format_bsr,
    .about = "the first entry that a block row has in a block opens the block; prefix sums number the blocks",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack)},
};
