/* CSR to SELL-C-sigma on a device: rows are sorted by window and length, one warp per slice finds its width, then
   the slots are written, one thread per slot. */
#include "formats/fmt_sell.h"
#include "pack.h"

namespace KERNEL_SPACE
{

__global__ void sell_perm(int64_t rows, int64_t places, GPTR(const int64_t) sorted, GPTR(int) perm)
{
    int64_t k = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (k < places) perm[k] = k < rows ? (int)sorted[k] : -1;
}

/* One block per TILE slots, one thread per slot: neighbouring threads write neighbouring slots. One block reads
   consecutive elements of the same rows, so their entries stay in the cache. */
template <typename T>
__global__ void sell_pack(int64_t C, int64_t slices, int64_t slots, GPTR(const int) ptr, GPTR(const int) col,
                          GPTR(const T) val, GPTR(const int) perm, GPTR(const int) slice, GPTR(int) out_col,
                          GPTR(T) out_val)
{
    SHARED(int, ends, 2);
    int64_t first = (int64_t)blockIdx.x * TILE, end = min(first + TILE, slots);
    if (threadIdx.x < 2) ends[threadIdx.x] = (int)last_not_above(slice, 0, slices, threadIdx.x ? end - 1 : first);
    __syncthreads(); /* all threads of the block: `ends` is complete */
    for (int64_t g = first + threadIdx.x; g < end; g += PACK_BLOCK) {
        int64_t s = last_not_above(slice, ends[0], ends[1], g), in = g - slice[s];
        int row = perm[s * C + in % C];
        int64_t from = row < 0 ? 0 : ptr[row], n = row < 0 ? 0 : ptr[row + 1] - from, k = in / C;
        out_col[g] = k < n ? col[from + k] : -1;
        out_val[g] = k < n ? val[from + k] : T(0);
    }
}

static int64_t slices_of(const struct packing *p)
{
    return (p->rows + p->S.param[0] - 1) / p->S.param[0];
}

static bool plan(struct packing *p, struct err *e)
{
    const void *ptr = p->A->ptr[CSR_PTR];
    int64_t C = p->S.param[0], slots = 0;
    return sort_by_length(p, ptr, p->rows, p->S.param[1], e) && sum_widths(p, ptr, p->rows, C, C, &slots, e) &&
           sell_sizes(&p->S, slots, e);
}

template <typename T> static bool pack(struct packing *p, struct err *e)
{
    int64_t C = p->S.param[0], slices = slices_of(p), slots = p->S.a[SELL_VAL].n;
    (void)e;
    LAUNCH(p->dev, blocks_for(slices * C, PACK_BLOCK), PACK_BLOCK, sell_perm)
    (p->rows, slices * C, PACK_ROOM(p, order_of(p), p->rows, const int64_t), PACK_OUT(p, SELL_PERM, int));
    launch_pointers(p, ROOM_AT, slices, p->out[SELL_PTR]);
    LAUNCH(p->dev, blocks_for(slots, TILE), PACK_BLOCK, sell_pack<T>)
    (C, slices, slots, PACK_PTR(p), PACK_COL(p), PACK_VAL(p, T), PACK_OUT(p, SELL_PERM, const int),
     PACK_OUT(p, SELL_PTR, const int), PACK_OUT(p, SELL_COL, int), PACK_OUT(p, SELL_VAL, T));
    return true;
}

} // namespace KERNEL_SPACE

PACKER_ENTRY(sell) = {
    .format = &format_sell,
    .about = "a radix sort of the rows by window and length; then one thread per slot searches for its slice",
    .plan = KERNEL_SPACE::plan,
    .pack = {VALUE_TYPES(KERNEL_SPACE::pack), BITS_16(KERNEL_SPACE::pack)},
};
