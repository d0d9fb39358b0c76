/* CSR to SELL-C-sigma on a device: rows are sorted by window and length, one warp per slice finds its width, then
   the slots are written, one thread per slot. */
#include "pack.h"
#include "formats/fmt_sell.h"

namespace KERNEL_SPACE
{

/* Thread i: the key of row i is its window in the upper bits and (longest row - its length) in the lower bits; the
   payload is i. */
__global__ void sell_keys(int64_t rows, int64_t sigma, int64_t longest, int bits, GPTR(const int) ptr,
                          GPTR(uint64_t) key, GPTR(int64_t) with)
{
    int64_t i = (int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x;
    if (i >= rows) return;
    key[i] = (uint64_t)(i / sigma) << bits | (uint64_t)(longest - (ptr[i + 1] - ptr[i]));
    with[i] = i;
}

/* One warp per slice: at[s] = C times the longest row of slice s. No lane returns early, because the shuffles need
   the whole warp. */
__global__ void sell_widths(int64_t rows, int64_t C, int64_t slices, GPTR(const int) ptr, GPTR(const int64_t) sorted,
                            GPTR(int64_t) at)
{
    int64_t s = ((int64_t)blockIdx.x * PACK_BLOCK + threadIdx.x) / WARP;
    int width = 0;
    for (int64_t k = s * C + threadIdx.x % WARP; s < slices && k < min((s + 1) * C, rows); k += WARP)
        width = max(width, ptr[sorted[k] + 1] - ptr[sorted[k]]);
    for (int d = WARP / 2; d > 0; d /= 2) width = max(width, __shfl_down_sync(FULL_MASK, width, d));
    if (s < slices && threadIdx.x % WARP == 0) at[s] = C * width;
}

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

static enum room order_of(const struct packing *p)
{
    return p->sorted ? ROOM_PAYLOAD2 : ROOM_PAYLOAD;
}

/* With windows of one row, there is nothing to sort. */
static bool sort_rows(struct packing *p, struct err *e)
{
    int64_t sigma = p->S.param[1], longest = 0;
    if (!longest_of(p, &longest, e) || !packing_pairs(p, p->rows, e)) return false;
    int bits = bits_of(longest + 1), windows = bits_of((p->rows + sigma - 1) / sigma);
    LAUNCH(p->dev, blocks_for(p->rows, PACK_BLOCK), PACK_BLOCK, sell_keys)
    (p->rows, sigma, longest, bits, PACK_PTR(p), PACK_ROOM(p, ROOM_KEY, p->rows, uint64_t),
     PACK_ROOM(p, ROOM_PAYLOAD, p->rows, int64_t));
    p->sorted = 0;
    return sigma == 1 || packing_sort(p, p->rows, 0, windows + bits, e);
}

static bool plan(struct packing *p, struct err *e)
{
    int64_t slices = slices_of(p), slots = 0;
    if (!sort_rows(p, e) || !packing_room(p, ROOM_AT, slices + 1, sizeof(int64_t), e)) return false;
    LAUNCH(p->dev, blocks_for(slices * WARP, PACK_BLOCK), PACK_BLOCK, sell_widths)
    (p->rows, p->S.param[0], slices, PACK_PTR(p), PACK_ROOM(p, order_of(p), p->rows, const int64_t),
     PACK_ROOM(p, ROOM_AT, slices + 1, int64_t));
    return packing_exclusive_scan(p, ROOM_AT, slices, &slots, e) && sell_sizes(&p->S, slots, e);
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
    VALUE_TYPES(KERNEL_SPACE::pack),
};
